"""What a value read from a JSON file may be: checks that are put together to a schema.

Such a file may be damaged, or changed by hand. It is checked once, when it is read, so that
whatever goes on with its values can rely on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]  # whether a value is as it must be


def whole(low: int, high: int) -> Check:
    """Check for an integer from `low` to `high`."""
    return lambda value: type(value) is int and low <= value <= high


def number(low: float, high: float) -> Check:
    """Check for an integer or a float from `low` to `high`, which NaN is not."""
    return lambda value: type(value) in (int, float) and low <= value <= high


def text(most: int) -> Check:
    """Check for a text of up to `most` characters."""
    return lambda value: isinstance(value, str) and len(value) <= most


def one_of(*choices: str | None) -> Check:
    """Check for one of some texts, or None where that is among them."""
    return lambda value: isinstance(value, str | None) and value in choices


def optional(holds: Check) -> Check:
    """Check for None, or what another check holds for."""
    return lambda value: value is None or holds(value)


def list_of(holds: Check, most: int) -> Check:
    """Check for a list of up to `most` values, each of which a check holds for."""
    return lambda value: (
        isinstance(value, list) and len(value) <= most and all(holds(each) for each in value)
    )


def record_of(checks: Mapping[str, Check]) -> Check:
    """Check for a record with these keys and no others, each with a check of its own."""
    return lambda value: (
        isinstance(value, dict)
        and value.keys() == checks.keys()
        and all(holds(value[name]) for name, holds in checks.items())
    )
