"""Checks of a linked firmware besides its size, in the program itself.

An integer build contains no floating-point code, not even from libraries. Constants stay in flash.
Interrupts are never disabled so long that the serial line loses a byte.
"""

from __future__ import annotations

from protonn_edge.avr.interrupts import MaskedSpans, masked_spans
from protonn_edge.avr.program import LinkedProgram, constants_in_sram, float_routines
from protonn_edge.boards import Board
from protonn_edge.chain.remedies import Remedies
from protonn_edge.codegen import Float32Plan, Plan
from protonn_edge.codegen.planner import READABLE_BYTES
from protonn_edge.errors import CheckFailed
from protonn_edge.kernels.kernel import CHUNK_CYCLES
from protonn_edge.quantization import DeviceModel, IntegerChain

_NAMES_SHOWN = 3
_SOFTWARE = "software"

# The linker puts constants before the code, which begins with this.
_BEHIND_CONSTANTS = "__ctors_start"


def check_linked(
    program: LinkedProgram, model: DeviceModel, plan: Plan | Float32Plan, board: Board
) -> None:
    """Check a linked firmware; its object files lie below the same folder.

    A float build may compute in floats.

    Raises `CheckFailed` if it computes in floats, has constants in SRAM, or disables interrupts for
    too long.
    """
    if isinstance(model, IntegerChain):
        check_no_floats(program)
    check_constants_in_flash(program)
    check_constants_within_reach(program, model.all_remedies)
    if board.serial != _SOFTWARE:  # such a line is idle while anything is computed
        check_interrupts(program, plan, board)


def check_no_floats(program: LinkedProgram) -> None:
    """Raise `CheckFailed` if a routine for floats is linked into the firmware."""
    found = float_routines(program)
    if found:
        raise CheckFailed(
            f"the firmware computes in floats, with {_listed(found)} linked into it; keep to "
            "integers in firmware/, or build with --precision float32"
        )


def check_constants_in_flash(program: LinkedProgram) -> None:
    """Raise `CheckFailed` if constants take SRAM that flash could hold.

    These are constants without PROGMEM, string literals, and anything with an initial value in the
    generated source. What the linker has removed does not count.
    """
    found, folder = constants_in_sram(program, all_of="pnn_model."), program.path.parent
    if found:
        size = sum(len(constants.contents) for constants in program.initial_values)
        names = _listed([f"{name} ({path.relative_to(folder)})" for name, path in found])
        raise CheckFailed(
            f"the {size:,} B of SRAM with initial values include constants that flash could hold: "
            f"{names}; declare them PROGMEM and read them with pgm_read_byte()"
        )


def check_constants_within_reach(program: LinkedProgram, remedies: Remedies) -> None:
    """Raise `CheckFailed` if constants lie beyond the 64 kB that the generated code can read."""
    ends = [each.address for each in program.symbols if each.name == _BEHIND_CONSTANTS]
    if ends and max(ends) > READABLE_BYTES:
        raise CheckFailed(
            f"constants reach up to {max(ends):,} B of flash, but can be read only up to "
            f"{READABLE_BYTES:,}; try {' or '.join(remedies.flash)}"
        )


def check_interrupts(program: LinkedProgram, plan: Plan | Float32Plan, board: Board) -> None:
    """Raise `CheckFailed` if a byte on the serial line could wait too long for its handler."""
    spans, limit = spans_without_interrupts(program, plan), receiver_limit(board)
    if spans.worst_delay > limit:
        raise CheckFailed(
            f"a byte on the serial line may wait {spans.worst_delay:,} cycles because of "
            f"{spans.program.where} ({spans.program.cycles:,} with interrupts disabled) and the "
            f"interrupt handlers, at {board.baud:,} baud more than {limit:,} lose one; disable "
            "interrupts for less"
        )


def spans_without_interrupts(program: LinkedProgram, plan: Plan | Float32Plan) -> MaskedSpans:
    """Return how long a firmware disables interrupts, for any features."""
    if isinstance(plan, Plan) and plan.buffered:  # pushed with interrupts enabled, the line idle
        return masked_spans(program, {})
    bounds = {
        "pnn_begin": plan.begin_cycles,
        "pnn_push_many": max(CHUNK_CYCLES, plan.push.call + plan.push.value),
    }
    return masked_spans(program, bounds)


def receiver_limit(board: Board) -> int:
    """Return the cycles after which an unread byte is lost.

    The chip holds two bytes and a third in its shift register; the first must be fetched before the
    fourth begins, two bytes' time after the first was complete (datasheet 8271, 20.7.4).
    """
    bit_cycles = 8 * round(board.clock_hz / (8 * board.baud))  # as the UART divides the clock
    return 2 * 10 * bit_cycles


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
