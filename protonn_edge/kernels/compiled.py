"""What the compiler makes of the C around listings, in a few figures for all kernels.

The cycles of a listing are counted. The C around it is compiled only after a plan is chosen, so a
kernel states what this C does: how many functions it calls, how many turns its loops take, and what
it divides. The figures are means of avr-gcc 5.4 at -O2 over the programs of `tests/conformance`,
which compares the plans of these programs with the emulator.
"""

from __future__ import annotations

from collections.abc import Iterable

from protonn_edge.avr.cores import Core
from protonn_edge.kernels.listing import Listing, cycles_of

CALL_CYCLES = 35
"""A call of a function, with the arguments, pointers and variables that it fetches and stores."""

TURN_CYCLES = 8
"""A turn of a loop that moves, clears or compares a byte."""

DIVISION_CYCLES = 650
"""A division of 32 bits, or a square root, one bit after the other."""

SAVED_CYCLES = cycles_of("push") + cycles_of("pop")
"""Saving a register that belongs to the caller."""

SET_CYCLES = cycles_of("ldi") + cycles_of("sts")
"""Setting a byte of a variable to a constant."""

STAGE_BYTES = 300
"""Flash of the C around the listings of a stage."""

# Time of the compiler's loops on a chip without a multiplier, relative to the assembly: of loops
# without products, and with products. Stages on the emulated ATtiny85 were within 50 % of it.
_SLOWER, _SLOWER_WITH_PRODUCTS = 3.0, 9.0


def calls(number: float, core: Core) -> float:
    """Return the cycles of calls of functions."""
    return number * (CALL_CYCLES + core.call_cycles)


def slower(listings: Iterable[Listing]) -> float:
    """Return how many times the cycles of listings C takes on a chip without a multiplier."""
    return _SLOWER_WITH_PRODUCTS if any(each.multiplies for each in listings) else _SLOWER
