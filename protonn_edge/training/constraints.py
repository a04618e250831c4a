"""Declared parameters as estimators have them: constraints of scikit-learn, and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, Options, StrOptions

from protonn_edge.training.parameters import Choices, Number, Parameter, Sides, Subset


class _Some(Options):
    """A sequence of some of several words."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        super().__init__(tuple, set())

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value is one."""
        return (
            isinstance(val, tuple | list)
            and 0 < len(val) == len(set(map(str, val)))
            and all(word in self.words for word in val)
        )

    def __str__(self) -> str:
        return f"a tuple of some of {', '.join(map(repr, self.words))}"


def constraints(parameters: Mapping[str, Parameter]) -> dict[str, list[Any]]:
    """Return the value of ``_parameter_constraints``."""
    return {name: list(map(_constraint, each.values)) for name, each in parameters.items()}


def _constraint(values: Any) -> Any:
    """Return scikit-learn's form of what a parameter may be."""
    if isinstance(values, Number):
        number = Integral if values.type is int else Real
        return Interval(number, values.low, values.high, closed=values.closed)
    if isinstance(values, Choices):
        words = all(isinstance(each, str) for each in values.values)
        return StrOptions(set(values.values)) if words else Options(Integral, set(values.values))
    if isinstance(values, Subset):
        return _Some(values.words)
    return tuple if isinstance(values, Sides) else values  # its length depends on the points


_PARAMETERS = "Parameters\n----------\n"
_NEXT_SECTION = re.compile(r"^[A-Z]\w+\n-+\n", re.MULTILINE)


def with_parameters_of_bases(cls: type) -> str | None:
    """Return a class's docstring, with the parameters that the docstrings of its bases describe."""
    if not cls.__doc__ or "__doc__" not in vars(cls):
        return cls.__doc__
    before, _, after = _sections(cls.__doc__)
    described: dict[str, str] = {}
    for base in cls.__mro__:
        for entry in filter(None, re.split(r"\n(?=\S)", _sections(vars(base).get("__doc__"))[1])):
            name = entry.partition(" : ")[0]
            described.setdefault(name, _with_default(entry, getattr(cls, name, None)))
    return f"{before}\n\n{_PARAMETERS}" + "\n".join(described.values()) + f"\n\n{after}"


def _with_default(entry: str, value: Any) -> str:
    """Return the entry of a parameter with the default of a class, which may not be its base's."""
    given = re.search("default=(.*)", entry)
    if not isinstance(value, str | int | float) or given is None:
        return entry
    if ast.literal_eval(given[1]) == value:
        return entry
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return entry.replace(given[0], f"default={text}", 1)


def _sections(text: str | None) -> tuple[str, str, str]:
    """Return what a docstring has before, in and after its section of parameters."""
    before, found, rest = inspect.cleandoc(text or "").partition(_PARAMETERS)
    if not found:
        rest, before = before, ""
    following = _NEXT_SECTION.search(rest)
    place = len(rest) if following is None else following.start()
    inside, after = rest[:place].strip(), rest[place:]
    return (before.strip(), inside, after) if found else (inside, "", after)
