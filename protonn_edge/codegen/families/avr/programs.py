"""What `avr` reads in linked programs, and what firmware must not contain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from protonn_edge.chips.avr.program import LinkedProgram, Sections, read_program, read_share
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families.avr.checks import check_program
from protonn_edge.codegen.families.avr.code import AVRCode
from protonn_edge.codegen.families.avr.paths import prediction_paths
from protonn_edge.codegen.families.family import ReadsPrograms, Stack
from protonn_edge.codegen.plan import DevicePlan, Plan
from protonn_edge.model.head import Remedies
from protonn_edge.system.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from protonn_edge.chips.avr.paths import Paths


class ReadsAVRPrograms(ReadsPrograms):
    """Linked programs of AVRs."""

    proves = True

    def read(self, elf: Path) -> LinkedProgram:
        return read_program(elf)

    def follow(self, program: LinkedProgram) -> AVRCode:
        return AVRCode(program)

    def share(self, elf: Path) -> Sections:
        return read_share(elf, min(elf.parent.rglob("pnn_model*.o")))

    def stack(self, program: Any, board: Board) -> Stack:
        if board.cpu.wraps_at and program.sections.flash_bytes > board.flash_bytes:
            # Short jumps wrap around at the end of the flash, which does not apply to programs that
            # are too large: the stack of such code cannot be analysed.
            return Stack(0)
        worst = worst_case_stack(program, sorted(program.path.parent.rglob("*.su")))
        return Stack(worst.bytes, worst.path)

    def check_program(
        self, program: LinkedProgram, plan: DevicePlan, board: Board, remedies: Remedies
    ) -> None:
        check_program(program, plan, board, remedies)

    def paths(self, program: LinkedProgram, plan: DevicePlan, board: Board) -> Paths:
        assert isinstance(plan, Plan), "only such a plan has proven cycles"
        return prediction_paths(program, plan, board)

    def bound(
        self, program: LinkedProgram, plan: DevicePlan, board: Board
    ) -> tuple[int, int] | None:
        if not isinstance(plan, Plan) or not plan.core.multiplies:
            return None
        try:
            paths = prediction_paths(program, plan, board)
        except (CheckFailed, InputError):  # a stage without facts, or firmware of the user's
            return None
        return paths.shortest.cycles, paths.longest.cycles
