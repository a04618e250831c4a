"""What firmware for an AVR must not contain, and how fast it must take features and bytes.

An integer build contains no floating-point code, not even from libraries; constants stay in flash;
and interrupts are never disabled so long that the serial line loses a byte.
"""

from __future__ import annotations

from protonn_edge.chips.avr.interrupts import masked_spans
from protonn_edge.chips.avr.program import LinkedProgram, constants_in_sram, float_routines
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families.avr.paths import longest_pushes
from protonn_edge.codegen.plan import DevicePlan, Plan
from protonn_edge.codegen.planner import READABLE_BYTES
from protonn_edge.model.head import Remedies
from protonn_edge.system.checks import check_enough
from protonn_edge.system.errors import CheckFailed, InputError

# Receiving and decoding a byte take the rest of the 1,389 cycles between two bytes; measured on the
# emulator with a model that takes a given time per feature.
_FEATURE_CYCLES_LIMIT = 1_000

# The linker puts constants before the code, which begins with this.
_BEHIND_CONSTANTS = "__ctors_start"
_NAMES_SHOWN = 3


def check_program(
    program: LinkedProgram, plan: DevicePlan, board: Board, remedies: Remedies
) -> None:
    """Check a linked firmware; its object files lie below the same folder.

    Raises `CheckFailed` if an integer build computes in floats, constants are in SRAM, features
    arrive faster than they are pushed, or interrupts are disabled for too long.
    """
    if isinstance(plan, Plan):
        check_no_floats(program)
        if not plan.buffered:
            check_pace(program, plan, board, remedies)
    check_constants_in_flash(program)
    check_constants_within_reach(program, remedies)
    check_interrupts(program, board)


def check_no_floats(program: LinkedProgram) -> None:
    """Raise `CheckFailed` if a routine for floats is linked into the firmware."""
    routines = float_routines(program)
    if routines:
        raise CheckFailed(
            f"the firmware contains floating-point routines ({_listed(routines)}); use only "
            "integers in firmware/"
        )


def check_constants_in_flash(program: LinkedProgram) -> None:
    """Raise `CheckFailed` if constants take SRAM that flash could hold.

    These are constants without PROGMEM, string literals, and anything with an initial value in the
    generated source. What the linker has removed does not count.
    """
    misplaced, folder = constants_in_sram(program, all_of="pnn_model."), program.path.parent
    if misplaced:
        size = sum(len(constants.contents) for constants in program.initial_values)
        names = _listed([f"{name} ({path.relative_to(folder)})" for name, path in misplaced])
        raise CheckFailed(
            f"the {size:,} B of initialized SRAM include constants that could be in flash: "
            f"{names}; declare them PROGMEM and read them with pgm_read_byte()"
        )


def check_constants_within_reach(program: LinkedProgram, remedies: Remedies) -> None:
    """Raise `CheckFailed` if constants lie beyond the 64 kB that the generated code can read."""
    ends = [each.address for each in program.symbols if each.name == _BEHIND_CONSTANTS]
    if ends and max(ends) > READABLE_BYTES:
        raise CheckFailed(
            f"constants extend to byte {max(ends):,} of flash, but the code can read only the "
            f"first {READABLE_BYTES:,} bytes; try {' or '.join(remedies.flash)}"
        )


def check_pace(program: LinkedProgram, plan: Plan, board: Board, remedies: Remedies) -> None:
    """Raise `CheckFailed` if the features of some point arrive faster than they are pushed.

    Those that arrive during a push wait in the receiver's ring, which holds more of them than a
    chunk at this pace.
    """
    try:
        longest = longest_pushes(program, plan, board)
    except (CheckFailed, InputError):  # a stage without facts, or firmware of the user's
        return
    check_enough(
        "the model",
        longest.cycles / plan.feed.values,
        f"at {board.baud:,} baud, the serial line leaves",
        _FEATURE_CYCLES_LIMIT,
        "cycles for each feature",
        f"try {remedies.cycles}",
    )


def check_interrupts(program: LinkedProgram, board: Board) -> None:
    """Raise `CheckFailed` if a byte on the serial line could wait too long for its handler."""
    spans, limit = masked_spans(program), receiver_limit(board)
    if spans.worst_delay > limit:
        raise CheckFailed(
            f"a byte on the serial line may wait {spans.worst_delay:,} cycles because of the "
            f"interrupt handlers and {spans.program.where} ({spans.program.cycles:,} cycles with "
            f"interrupts disabled), but at {board.baud:,} baud a byte is lost after {limit:,} "
            "cycles; disable interrupts for a shorter time"
        )


def receiver_limit(board: Board) -> int:
    """Return the cycles after which an unread byte is lost.

    The chip holds two bytes and a third in its shift register; the first must be fetched before the
    fourth begins, two bytes' time after the first was complete (data sheet 8271, 20.7.4).
    """
    bit_cycles = 8 * round(board.clock_hz / (8 * board.baud))  # as the UART divides the clock
    return 2 * 10 * bit_cycles


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
