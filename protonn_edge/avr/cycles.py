"""What an AVR takes for an instruction, and for each way on from it.

The numbers are those of data sheet 8271, chapter 31 (AVRe+; AVRe lacks the products and takes the
same for all else). Where return addresses have 3 bytes, whatever pushes or pops one takes a cycle
more (data sheet 2549, chapter 34).
"""

from __future__ import annotations

from protonn_edge.avr.cores import Core
from protonn_edge.avr.instructions import Decoded

TAKEN_BRANCH = 1
"""What a branch takes more than its instruction if it is taken. A skip takes the words skipped."""

_CYCLES = {
    **dict.fromkeys(("mul", "muls", "mulsu", "fmul", "fmuls", "fmulsu", "adiw", "sbiw"), 2),
    **dict.fromkeys(("ld", "ldd", "lds", "st", "std", "sts", "push", "pop", "sbi", "cbi"), 2),
    **dict.fromkeys(("rjmp", "ijmp", "eijmp"), 2),
    **dict.fromkeys(("lpm", "elpm", "jmp", "rcall", "icall", "eicall"), 3),
    **dict.fromkeys(("call", "ret", "reti"), 4),
}
_WITH_RETURN_ADDRESS = frozenset({"rcall", "icall", "eicall", "call", "ret", "reti"})


def cycles_of(here: Decoded, core: Core) -> int:
    """Return the cycles of an instruction that goes on to the next, or always goes elsewhere."""
    longer = core.return_bytes - 2 if here.name in _WITH_RETURN_ADDRESS else 0
    return _CYCLES.get(here.name, 1) + longer
