"""Schemas for values from a JSON file, composed of checks.

Such a file may be damaged or edited by hand. It is checked once, when it is read, so that the code
that uses its values can rely on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

_SURROGATE = re.compile("[\ud800-\udfff]")

JsonObject: TypeAlias = dict[str, Any]  # values that JSON can hold, by their names
Check = Callable[[Any], bool]  # whether a value is allowed


def whole(low: int, high: int) -> Check:
    """Check for an integer from `low` to `high`."""
    return lambda value: type(value) is int and low <= value <= high


def number(low: float, high: float) -> Check:
    """Check for an integer or a float from `low` to `high`; NaN does not pass."""
    return lambda value: type(value) in (int, float) and low <= value <= high


def text(most: int) -> Check:
    """Check for a text of up to `most` characters; lone surrogates, unwritable, do not pass."""
    return lambda value: (
        isinstance(value, str) and len(value) <= most and not _SURROGATE.search(value)
    )


def one_of(*choices: str | None) -> Check:
    """Check for one of the `choices`, which may include None."""
    return lambda value: isinstance(value, str | None) and value in choices


def nullable(holds: Check) -> Check:
    """Check for None, or a value that passes another check."""
    return lambda value: value is None or holds(value)


def list_of(holds: Check, most: int) -> Check:
    """Check for a list of up to `most` values that pass a check."""
    return lambda value: (
        isinstance(value, list) and len(value) <= most and all(holds(each) for each in value)
    )


def record_of(checks: Mapping[str, Check]) -> Check:
    """Check for a record with exactly these keys, each with its own check."""
    return lambda value: (
        isinstance(value, dict)
        and value.keys() == checks.keys()
        and all(holds(value[name]) for name, holds in checks.items())
    )
