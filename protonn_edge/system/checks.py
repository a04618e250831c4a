"""Checks of single values. An error has a place, a reason and, if the caller knows it, a remedy."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from protonn_edge.system.errors import DoesNotFit, InvalidValue, shortened

if TYPE_CHECKING:  # the wheel is built where NumPy is not
    from protonn_edge.system.arrays import Array


def check(holds: bool, place: object, found: object, expected: object, remedy: str = "") -> None:
    """Refuse what was found at a place unless a condition `holds`."""
    if not holds:
        raise InvalidValue(place, f"{_shown(found)}, expected {_shown(expected)}", remedy)


def check_range(place: object, value: float, low: float, high: float, remedy: str = "") -> None:
    """Refuse a number outside `low` to `high`, and NaN."""
    check(low <= value <= high, place, value, f"{_shown(low)} to {_shown(high)}", remedy)


def check_most(place: object, number: int, most: int, what: str = "", remedy: str = "") -> None:
    """Refuse a number of things, such as "samples", above a limit."""
    found = f"{number:,} {what}".rstrip()
    check(number <= most, place, found, f"at most {most:,}", remedy)


def check_choice(
    place: object, value: object, choices: Collection[object], remedy: str = ""
) -> None:
    """Refuse a value that is none of the `choices`."""
    names = ", ".join(map(str, choices))
    check(value in choices, place, repr(value), f"one of {names}", remedy)


def check_enough(
    what: str, needed: float, has: str, available: int, unit: str, remedy: str
) -> None:
    """Raise `DoesNotFit` if something needs more of a resource than a board or a user has."""
    if needed > available:
        raise DoesNotFit(f"{what} needs {needed:,.0f} {unit}, but {has} {available:,}; {remedy}")


def check_shape(place: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Refuse a shape other than the `wanted` one."""
    check(shape == wanted, place, f"shape {shape}", str(wanted))


def check_kind(place: str, array: Array, kinds: str, dimensions: int) -> None:
    """Refuse an array of other kinds of numbers (NumPy's letters), or of other dimensions."""
    what = {"b": "truths", "i": "integers", "u": "integers", "f": "numbers", "U": "texts"}
    wanted = f"{what[kinds[0]]} in {dimensions} dimension{'s' * (dimensions != 1)}"
    fits = array.dtype.kind in kinds and array.ndim == dimensions
    check(fits, place, f"{array.dtype.name} of shape {array.shape}", wanted)


def _shown(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return shortened(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
