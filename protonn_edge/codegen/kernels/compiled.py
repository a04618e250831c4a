"""What the compiler makes of the C around listings, in a few figures for all kernels.

The C around listings is compiled only after a plan is chosen, so a kernel states what this C does:
how many functions it calls, how many turns its loops take, and what it divides. The figures are
means of avr-gcc 5.4 at -O2 over the programs of `tests/laws/conformance`, whose cycles on the
emulator plans may differ from by some half.
"""

from __future__ import annotations

import numpy as np

from protonn_edge.chips.cores import Core

CALL_CYCLES = 35
"""A call of a function, with the arguments, pointers and variables that it fetches and stores."""

TURN_CYCLES = 8
"""A turn of a loop that moves, clears or compares a byte."""

DIVISION_CYCLES = 650
"""A division of 32 bits, or a square root, one bit after the other."""


def bytes_of(*types: str) -> int:
    """Return the bytes of variables of these types of C, such as "uint8_t"."""
    return sum(np.dtype(name.removesuffix("_t")).itemsize for name in types)


def calls(number: float, core: Core) -> float:
    """Return the cycles of calls of functions."""
    return number * (CALL_CYCLES + core.call_cycles)
