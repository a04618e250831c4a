"""A board without the board: firmware runs on libsimavr, its serial line is a TCP port.

`EmulatedBoard` starts it, a small C program (uno.c, core.c, usart.c, pins.c, sensors.c) that is
compiled on first use; `EmulatorStats` is what only an emulator can tell: exact cycles, deepest
stack, faults.
"""

from __future__ import annotations

from protonn_edge.emulator.uno import (
    EmulatedBoard,
    EmulatedUno,
    EmulatorError,
    EmulatorStats,
)

__all__ = ["EmulatedBoard", "EmulatedUno", "EmulatorError", "EmulatorStats"]
