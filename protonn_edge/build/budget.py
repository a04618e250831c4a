"""The budget gate: does the firmware fit the board?

It is checked twice. Before compiling, a lower bound rejects models that cannot fit. After linking,
the ELF file and the stack analysis give the exact figures.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from protonn_edge.avr.program import LinkedProgram
from protonn_edge.avr.stack import worst_case_stack
from protonn_edge.boards import Board
from protonn_edge.chain.remedies import FEWER_FEATURES, Remedies
from protonn_edge.errors import CheckFailed

# Receiving and decoding a byte take the rest of the 1,389 cycles between two bytes; measured on the
# emulator with a model that takes a given time per feature.
_FEATURE_CYCLES_LIMIT = 1_000


def _flash_remedy(remedies: Remedies) -> str:
    return f"try {', '.join(remedies.flash)}, or {FEWER_FEATURES}"


def _sram_remedy(remedies: Remedies, board: Board) -> str:
    if board.serial == "software":  # it cannot wait, so all features of a point are buffered
        return f"try {remedies.sram}, or fewer features"
    return f"try {remedies.sram}"


@dataclass(frozen=True)
class Usage:
    """Memory of a board that a linked firmware uses, in bytes."""

    flash_bytes: int  # code and constants, with the initial values of variables
    sram_bytes: int  # static variables
    stack_bytes: int  # worst case of the stack, interrupts included
    stack_path: tuple[str, ...]  # the functions on that deepest path

    def to_json(self) -> dict[str, Any]:
        """Return the usage with the field names of this package's JSON."""
        return asdict(self)

    def check(self, board: Board, remedies: Remedies) -> None:
        """Raise `OverBudget` with the number, the limit and a remedy if it does not fit."""
        if self.flash_bytes > board.flash_bytes:
            raise OverBudget(
                self,
                f"needs {self.flash_bytes:,} B flash, {board.name} has {board.flash_bytes:,}; "
                f"{_flash_remedy(remedies)}",
            )
        needed = self.sram_bytes + self.stack_bytes
        if needed > board.sram_bytes:
            raise OverBudget(
                self,
                f"needs {needed:,} B SRAM (static {self.sram_bytes:,} + stack "
                f"{self.stack_bytes:,}), {board.name} has {board.sram_bytes:,}; "
                f"{_sram_remedy(remedies, board)}",
            )


class OverBudget(CheckFailed):
    """The linked firmware does not fit; `usage` has the figures."""

    def __init__(self, usage: Usage, sentence: str) -> None:
        super().__init__(sentence)
        self.usage = usage


class Estimate(Protocol):
    """Estimates of a plan before compiling; see `codegen.Plan`."""

    @property
    def table_bytes(self) -> int:
        """Flash of the constant tables."""

    @property
    def state_bytes(self) -> int:
        """SRAM of the model's own variables."""

    @property
    def fed_feature_cycles(self) -> float:
        """Bound of the cycles per feature as it arrives."""


def check_estimate(plan: Estimate, board: Board, remedies: Remedies) -> None:
    """Raise `CheckFailed` if tables or variables alone are too large, or a push is too slow."""
    if plan.table_bytes > board.flash_bytes:
        raise CheckFailed(
            f"needs {plan.table_bytes:,} B flash for its tables alone, {board.name} has "
            f"{board.flash_bytes:,}; {_flash_remedy(remedies)}"
        )
    if plan.state_bytes > board.sram_bytes:
        raise CheckFailed(
            f"needs {plan.state_bytes:,} B SRAM for its variables alone, {board.name} has "
            f"{board.sram_bytes:,}; {_sram_remedy(remedies, board)}"
        )
    if plan.fed_feature_cycles > _FEATURE_CYCLES_LIMIT:
        raise CheckFailed(
            f"needs {plan.fed_feature_cycles:,.0f} cycles for each feature, but the serial line "
            f"leaves {_FEATURE_CYCLES_LIMIT:,} at {board.baud:,} baud; try {remedies.cycles}"
        )


def check_budget(program: LinkedProgram, board: Board, remedies: Remedies) -> Usage:
    """Return the usage of a linked firmware; raise `OverBudget` if it does not fit."""
    sections = program.sections
    if board.cpu.wraps_at and sections.flash_bytes > board.flash_bytes:
        # Short jumps wrap around at the end of the flash, which does not apply to programs that are
        # too large: the stack of such code cannot be analysed.
        usage = Usage(sections.flash_bytes, sections.sram_bytes, 0, ())
    else:
        usage = measure_usage(program)
    usage.check(board, remedies)
    return usage


def measure_usage(program: LinkedProgram) -> Usage:
    """Return the usage of a linked firmware; its .su files are below the same folder."""
    stack = worst_case_stack(program, sorted(program.path.parent.rglob("*.su")))
    sections = program.sections
    return Usage(sections.flash_bytes, sections.sram_bytes, stack.bytes, stack.path)
