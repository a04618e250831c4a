"""An Arduino Uno without the board: firmware runs on libsimavr, its serial line is a TCP port.

`EmulatedUno` starts the board, a small C program (uno.c, core.c, usart.c) that is compiled on first
use; `EmulatorStats` is what only an emulator can tell: exact cycles, the deepest stack, faults.
"""

from __future__ import annotations

from protonn_edge.emulator.uno import EmulatedUno, EmulatorError, EmulatorStats

__all__ = ["EmulatedUno", "EmulatorError", "EmulatorStats"]
