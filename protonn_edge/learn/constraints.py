"""Whether the value of a parameter is one of those that its declaration allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from protonn_edge.learn import parameters as declared
from protonn_edge.model.features import Features
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError

# The words of declarations, with the values that they stand for.
_WORDS: Mapping[Any, tuple[str, Callable[[Any], bool]]] = {
    None: ("None", lambda value: value is None),
    callable: ("callable", callable),
    "boolean": ("a truth value", lambda value: isinstance(value, bool | np.bool_)),
    "array-like": ("an array", lambda value: hasattr(value, "__len__") and not np.isscalar(value)),
    "random_state": (
        "a seed from 0 to 4,294,967,295, a RandomState or None",
        lambda value: (
            value is None
            or isinstance(value, np.random.RandomState)
            or (isinstance(value, Integral) and 0 <= int(value) < 2**32)
        ),
    ),
    declared.MODEL: ("a Model", lambda value: isinstance(value, Model)),
    declared.FEATURES: ("Features", lambda value: isinstance(value, Features)),
}


def check_parameters(owner: object, parameters: Mapping[str, declared.Parameter]) -> None:
    """Raise `InputError` for the first parameter that has none of its declared values."""
    for name, each in parameters.items():
        value = getattr(owner, name)
        if not any(_allows(one, value) for one in each.values):
            allowed = " or ".join(map(_described, each.values))
            raise InputError(
                f"The {name!r} parameter of {type(owner).__name__} is {repr(value)[:60]}, but "
                f"must be {allowed}; give such a value"
            )


def _allows(one: Any, value: Any) -> bool:
    """Return whether a value is one of those that a declaration lists together."""
    if isinstance(one, declared.Number):
        kind: type[Any] = Integral if one.type is int else Real
        if not isinstance(value, kind) or isinstance(value, bool):  # True counts as 1
            return False
        high = math.inf if one.high is None else one.high
        above = value > one.low if one.closed in ("right", "neither") else value >= one.low
        below = value < high if one.closed in ("left", "neither") else value <= high
        return bool(above and below)
    if isinstance(one, declared.Choices):
        return isinstance(value, str | Integral) and value in one.values
    if isinstance(one, declared.Subset):
        is_sequence = isinstance(value, tuple | list) and 0 < len(value) == len(
            set(map(str, value))
        )
        return is_sequence and all(word in one.words for word in value)
    if isinstance(one, declared.Sides):  # how many, the points show
        return isinstance(value, tuple)
    return isinstance(value, one) if isinstance(one, type) else _WORDS[one][1](value)


def _described(one: Any) -> str:
    """Return the values that a declaration lists together, in words."""
    if isinstance(one, declared.Number):
        ends = f"in the range {one.low:,} to {'infinity' if one.high is None else f'{one.high:,}'}"
        left_out = [
            end
            for end, side in ((one.low, "left"), (one.high, "right"))
            if end is not None and one.closed not in ("both", side)
        ]
        without = f", without {' and '.join(f'{end:,}' for end in left_out)}" if left_out else ""
        return f"{'an integer' if one.type is int else 'a number'} {ends}{without}"
    if isinstance(one, declared.Choices):
        return " or ".join(map(repr, one.values))
    if isinstance(one, declared.Subset):
        return f"a tuple of one or more of {', '.join(map(repr, one.words))}"
    if isinstance(one, declared.Sides):
        return "a tuple"
    return f"of the type {one.__name__}" if isinstance(one, type) else _WORDS[one][0]
