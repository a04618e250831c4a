"""Check that firmware fits its board, and contains nothing forbidden.

The budget is checked twice. Before compiling, a lower bound refuses models that cannot fit. After
linking, the ELF file and the stack analysis give the exact figures.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.families.family import LinkedFirmware
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.model.head import FEWER_FEATURES, Remedies
from protonn_edge.system.checks import check_enough
from protonn_edge.system.errors import DoesNotFit
from protonn_edge.system.schema import JsonObject


def _flash_remedy(remedies: Remedies) -> str:
    return f"try {', '.join(remedies.flash)}, or {FEWER_FEATURES}"


@dataclass(frozen=True)
class Usage:
    """Memory of a board that a linked firmware uses, in bytes."""

    flash_bytes: int  # code and constants, with the initial values of variables
    sram_bytes: int  # static variables
    stack_bytes: int  # worst case of the stack, interrupts included, or what is reserved for it
    stack_path: tuple[str, ...]  # the functions on that deepest path; none if it is reserved

    @property
    def stack_name(self) -> str:
        """What the bytes of the stack are."""
        return "stack, worst case" if self.stack_path else "stack, reserved"

    @property
    def memory_bytes(self) -> int:
        """SRAM of variables and the stack."""
        return self.sram_bytes + self.stack_bytes

    def to_json(self, board: Board) -> JsonObject:
        """Return the fields with the board's limits, and whether the firmware fits them."""
        limits = {"flash_bytes": board.flash_bytes, "sram_bytes": board.sram_bytes}
        fits = self.flash_bytes <= board.flash_bytes and self.memory_bytes <= board.sram_bytes
        return {"fits": fits, **asdict(self), "limits": limits}

    def check(self, board: Board, remedies: Remedies) -> None:
        """Raise `OverBudget` with the number, the limit and a remedy if it does not fit."""
        if self.flash_bytes > board.flash_bytes:
            raise OverBudget(
                self,
                f"the firmware needs {self.flash_bytes:,} B of flash, but {board.name} has "
                f"{board.flash_bytes:,} B; {_flash_remedy(remedies)}",
            )
        if self.memory_bytes > board.sram_bytes:
            raise OverBudget(
                self,
                f"the firmware needs {self.memory_bytes:,} B of SRAM (variables "
                f"{self.sram_bytes:,} B, stack {self.stack_bytes:,} B), but {board.name} has "
                f"{board.sram_bytes:,} B; try {remedies.sram}",
            )


def usage_record(usage: Usage | None, board: Board) -> JsonObject:
    """Return the fields of a usage for JSON; nulls if nothing was linked."""
    return {"fits": None, "limits": None} if usage is None else usage.to_json(board)


class OverBudget(DoesNotFit):
    """The linked firmware does not fit; `usage` has the figures."""

    def __init__(self, usage: Usage, sentence: str) -> None:
        super().__init__(sentence)
        self.usage = usage


def check_estimate(plan: DevicePlan, board: Board, remedies: Remedies) -> None:
    """Raise `CheckFailed` if tables or variables alone are too large, or pushes are too slow."""
    check_enough(
        "the model",
        plan.table_bytes,
        f"{board.name} has",
        board.flash_bytes,
        "B of flash for its tables alone",
        _flash_remedy(remedies),
    )
    check_enough(
        "the model",
        plan.state_bytes,
        f"{board.name} has",
        board.sram_bytes,
        "B of SRAM for its variables alone",
        f"try {remedies.sram}",
    )
    family_of(board).check_plan(plan, board, remedies)


def check_budget(program: LinkedFirmware, board: Board, remedies: Remedies) -> Usage:
    """Return the usage of a linked firmware; raise `OverBudget` if it does not fit."""
    usage = measure_usage(program, board)
    usage.check(board, remedies)
    return usage


def measure_usage(program: LinkedFirmware, board: Board) -> Usage:
    """Return the usage of a linked firmware."""
    stack, sections = family_of(board).stack(program, board), program.sections
    return Usage(sections.flash_bytes, sections.sram_bytes, stack.bytes, stack.path)


def check_linked(
    program: LinkedFirmware, plan: DevicePlan, board: Board, remedies: Remedies
) -> None:
    """Raise `CheckFailed` if a linked firmware violates a rule of its board's family."""
    family_of(board).check_program(program, plan, board, remedies)
