"""Checks of single values. An error has a place and a reason; the caller adds what to do."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from protonn_edge.errors import InvalidValue, shortened


def check(holds: bool, place: str, found: object, expected: str) -> None:
    """Refuse what was found at a place unless a condition `holds`."""
    if not holds:
        raise InvalidValue(place, f"{_shown(found)}, expected {expected}")


def check_range(place: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside `low` to `high`, and NaN."""
    check(low <= value <= high, place, value, f"{_shown(low)} to {_shown(high)}")


def check_choice(place: str, value: object, choices: Collection[object]) -> None:
    """Refuse a value that is none of the `choices`."""
    check(value in choices, place, repr(value), f"one of {', '.join(map(str, choices))}")


def check_shape(place: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Refuse a shape other than the `wanted` one."""
    check(shape == wanted, place, f"shape {shape}", str(wanted))


def check_kind(place: str, array: Any, kinds: str, dimensions: int) -> None:
    """Refuse an array of other kinds of numbers (NumPy's letters), or of other dimensions."""
    what = {"b": "truths", "i": "integers", "u": "integers", "f": "numbers", "U": "texts"}
    wanted = f"{what[kinds[0]]} in {dimensions} dimension{'s' * (dimensions != 1)}"
    fits = array.dtype.kind in kinds and array.ndim == dimensions
    check(fits, place, f"{array.dtype.name} of shape {array.shape}", wanted)


def _shown(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return shortened(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
