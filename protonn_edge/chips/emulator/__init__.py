"""Emulated boards: firmware runs in an emulator, with a TCP port as its serial line.

`EmulatedBoard` starts a small C program on libsimavr (uno.c and others), compiled on first use, or
avr8js under Node.js (emulator.js of the scripts of pages); `find_program` chooses. `EmulatorStats`
has the figures that only an emulator can measure: exact cycles, deepest stack, faults.
"""

from __future__ import annotations

from protonn_edge.chips.emulator.board import EmulatorError, EmulatorStats
from protonn_edge.chips.emulator.uno import EmulatedBoard, EmulatedUno

__all__ = ["EmulatedBoard", "EmulatedUno", "EmulatorError", "EmulatorStats"]
