"""A board without the board: firmware runs in an emulator, its serial line is a TCP port.

`EmulatedBoard` starts it: a small C program on libsimavr (uno.c and others) that is compiled on
first use, or avr8js under Node.js (web/emulator.js); `find_program`
says which. `EmulatorStats` is what only an emulator can tell: exact cycles, deepest stack, faults.
"""

from __future__ import annotations

from protonn_edge.emulator.uno import EmulatedBoard, EmulatedUno, EmulatorError, EmulatorStats

__all__ = ["EmulatedBoard", "EmulatedUno", "EmulatorError", "EmulatorStats"]
