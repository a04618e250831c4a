"""Build a project: quantize, choose a plan, render, compile, check and try.

``build`` creates the project in a scratch folder, and copies the files to the project folder only
if the firmware fits, all of them or none, so that a failed build leaves the folder unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from protonn_edge.chips.boards import Board, board_of
from protonn_edge.codegen.families import family_of, read_program
from protonn_edge.codegen.families.family import NoCompiler, ProjectFiles
from protonn_edge.codegen.plan import DevicePlan, Plan
from protonn_edge.codegen.planner import SPARE_BYTES, Limits, device_plans
from protonn_edge.codegen.projects.checks import (
    OverBudget,
    Usage,
    check_budget,
    check_estimate,
    check_linked,
)
from protonn_edge.codegen.projects.folder import (
    Project,
    check_folder,
    exclusive,
    own_files,
    project_files,
    write_over,
    write_scratch,
)
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.codegen.verification.tryout import NOT_TRIED, Tried, try_firmware
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.model import Model
from protonn_edge.system.extensions import check_memories
from protonn_edge.system.facts_repr import FactsRepr
from protonn_edge.system.folders import scratch_folder


@dataclass(frozen=True, eq=False)
class BuildOptions:
    """Restrictions on the choice of a plan, and whether the result is tried."""

    # memory that the firmware may use, SRAM including the stack; by default all of the board's
    flash_bytes: int | None = None
    sram_bytes: int | None = None
    # the kernel that the plan is named after; by default the fastest that fits
    kernel: str | None = None
    plan: DevicePlan | None = None  # the only plan to consider
    # whether `build` runs the program before it writes it; see `codegen.verification.tryout`
    tries: bool = True

    def within(self, board: Board) -> Board:
        """Return the board with its memory limited to what the firmware may use."""
        if self.flash_bytes is None and self.sram_bytes is None:
            return board
        return replace(
            board,
            name=f"{board.name} with your limits",
            flash_bytes=min(board.flash_bytes, self.flash_bytes or board.flash_bytes),
            sram_bytes=min(board.sram_bytes, self.sram_bytes or board.sram_bytes),
        )

    def plans_for(self, model: DeviceModel, board: Board) -> Sequence[DevicePlan]:
        """Return the plans to build for a board: the fastest that may fit first.

        Those that are expected to exceed the flash by little may fit once they are linked.
        """
        if self.plan is not None:
            return [self.plan]
        return device_plans(
            model.chain,
            Limits.of(board),
            kernel=self.kernel,
            spare_bytes=SPARE_BYTES,
        )


def build(
    model: Model | DeviceModel,
    board: Board | str,
    folder: Path | str,
    options: BuildOptions | None = None,
) -> Build:
    """Quantize, render, compile, check and try a model; then write the project to `folder`.

    Existing firmware files are kept; generated ones are replaced. A board may be given by its name,
    and a model with its integers, which are otherwise made of it.

    Returns
    -------
    Build
        The chosen plan, the memory that the linked firmware uses, and the result of trying it.

    Raises
    ------
    CheckFailed
        If the firmware does not fit the board (`OverBudget` once it was linked), violates a check
        (see `checks`), or answers another score than NumPy on the emulated board (`WrongAnswers`);
        nothing is written then.
    InputError
        If the folder has other files in place of the project's, is in use by another process, or
        cannot be written.

    If only an upload has the compiler, the project is written, but was neither linked nor tried.
    """
    board, folder = board_of(board), Path(folder)
    check_folder(folder, board)
    try:
        return _built(model, board, folder, options)
    except NoCompiler as error:  # an upload has another one
        return _uncompiled(with_integers(model), board, folder, options, str(error))


def _uncompiled(
    model: DeviceModel, board: Board, folder: Path, options: BuildOptions | None, reason: str
) -> Build:
    """Write a project for a compiler that is not here, with the plan that comes first."""
    plan = (options or BuildOptions()).plans_for(model, board)[0]
    with exclusive(folder):
        write_over(folder, project_files(model, plan, board, own_files(folder, board)))
    return Build(plan, None, PossibleCycles.by_clock(board), Tried(left_out=reason))


def _built(
    model: Model | DeviceModel, board: Board, folder: Path, options: BuildOptions | None
) -> Build:
    with exclusive(folder), trial_build(model, board, folder, options) as trial:
        tried = NOT_TRIED
        if options is None or options.tries:
            # Settings decide where a program goes, but hardly what it does.
            unchanged = {*trial.project.edited_files(board)} <= {family_of(board).settings}
            tried = try_firmware(trial.model, trial.plan, trial.elf, board, unchanged=unchanged)
        write_over(folder, trial.files, family_of(board).more_products(trial.program))
    return Build(trial.plan, trial.usage, trial.possible, tried)


@dataclass(frozen=True)
class Build(FactsRepr):
    """The plan of a firmware that fits, its memory once linked, and how it was tried."""

    plan: DevicePlan
    usage: Usage | None  # None if a compiler is missing, so that it was only written
    possible: PossibleCycles  # of a prediction, as the firmware measures it
    tried: Tried

    def facts(self) -> dict[str, str]:
        """Return the sizes of the firmware."""
        usage = self.usage
        memory = (
            {}
            if usage is None
            else {
                "flash": f"{usage.flash_bytes:,} B",
                "SRAM": f"{usage.sram_bytes:,} B and {usage.stack_bytes:,} B of stack",
            }
        )
        return {
            **memory,
            **self.plan.facts(),
            "bound": f"{self.possible.most:,} cycles, {self.possible.why}",
            "tried": str(self.tried),
        }


@dataclass(frozen=True)
class Trial:
    """A project in a scratch folder with firmware that fits: program, model, plan, costs."""

    project: Project
    files: ProjectFiles  # all of the project's
    program: Any  # a `LinkedFirmware`
    model: DeviceModel
    plan: DevicePlan
    usage: Usage
    possible: PossibleCycles

    @property
    def elf(self) -> Path:
        """The ELF file of the firmware."""
        return Path(self.program.path)


@contextmanager
def trial_build(
    model: Model | DeviceModel,
    board: Board,
    folder: Path | None = None,
    options: BuildOptions | None = None,
) -> Iterator[Trial]:
    """Build a model in a temporary folder, with the firmware of a project's folder, if any.

    The plans are built one after another, the fastest that are expected to fit first: the size of a
    plan is only known after linking. Raises the errors of `build`.
    """
    options, device_model = options or BuildOptions(), with_integers(model)
    check_memories(device_model.chain, board)
    family_of(board).check_model(device_model, board)
    own, failures = {} if folder is None else own_files(folder, board), list[OverBudget]()
    board = options.within(board)
    with scratch_folder() as scratch:
        for number, plan in enumerate(options.plans_for(device_model, board)):
            check_estimate(plan, board, device_model.remedies)
            contents = project_files(device_model, plan, board, own)
            project = write_scratch(scratch / f"project_{number}", contents)
            program = read_program(project.compile(board), board)
            try:
                usage = check_budget(program, board, device_model.remedies)
            except OverBudget as failure:
                failures.append(failure)
                continue
            check_linked(program, plan, board, device_model.remedies)
            possible = PossibleCycles.of_program(program, plan, board)
            yield Trial(project, contents, program, device_model, plan, usage, possible)
            return
    raise min(failures, key=lambda failure: failure.usage.flash_bytes)


def try_plan(model: DeviceModel, plan: Plan, board: Board) -> Tried:
    """Try a plan's C in the serial firmware, for other firmware; raises as `try_firmware` does."""
    with scratch_folder() as scratch:
        elf = write_scratch(scratch, project_files(model, plan, board)).compile(board)
        try:
            check_budget(read_program(elf, board), board, model.remedies)
        except OverBudget as error:
            return Tried(left_out=f"for the serial line, {error}")
        return try_firmware(model, plan, elf, board)
