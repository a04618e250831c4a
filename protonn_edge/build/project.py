"""A PlatformIO project folder with the firmware and a generated model.

``build`` creates the project in a scratch folder, and copies the files to the project folder only
if the firmware fits, all of them or none, so that a failed build leaves the folder unchanged. Only
one command at a time works in a project folder.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from protonn_edge.avr.program import read_program
from protonn_edge.boards import Board, board_of
from protonn_edge.boards.environment import description_file, environment_section
from protonn_edge.build.budget import OverBudget, Usage, check_budget, check_estimate
from protonn_edge.build.linkage import check_linked
from protonn_edge.build.plan_file import (
    PLAN_FILE,
    not_as_written,
    plan_text,
    read_plan,
)
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.file import load_model, save_model
from protonn_edge.chain.model import Model
from protonn_edge.codegen import (
    HOST_MAIN,
    SOURCES,
    Float32Plan,
    Limits,
    Plan,
    make_float32_plan,
    make_plan,
    plans,
    render_c,
)
from protonn_edge.errors import InputError
from protonn_edge.quantization import (
    DeviceModel,
    Float32Model,
    IntegerChain,
    device_model,
    precisions_of,
)
from protonn_edge.system.files import check_file, check_no_links, write_atomically, write_together
from protonn_edge.system.lock import InUse, locked_folder
from protonn_edge.system.resources import resource
from protonn_edge.system.scratch import scratch_folder
from protonn_edge.system.shown import Shown
from protonn_edge.toolchain.platformio import build_firmware
from protonn_edge.verification.tryout import NOT_TRIED, Tried, try_firmware, try_on_host

_GENERATED = Path("firmware", "generated")
_MODEL = _GENERATED / "model.npz"
_PLAN = _GENERATED / PLAN_FILE
_SETTINGS = "platformio.ini"
_SETTINGS_LIMIT_BYTES = 1 << 20
_SOURCE_FOLDERS = ("firmware", "include", "lib")
_RAW_INPUTS = "PNN_RAW_INPUTS"


@dataclass(frozen=True)
class Project:
    """A PlatformIO project folder that holds the firmware and one generated model.

    Attributes
    ----------
    folder : Path
        Where platformio.ini is.
    """

    folder: Path

    @property
    def built(self) -> bool:
        """Whether `build` has written a model here."""
        return (self.folder / _MODEL).is_file()

    def model(self) -> Model:
        """Return the float model that the firmware was generated from.

        Raises
        ------
        InputError
            If nothing was built here yet.
        """
        if not self.built:
            raise InputError(
                f"no model was built in {self.folder}; run "
                "'protonn-edge build --board uno model.npz' there first"
            )
        return load_model(self.folder / _MODEL)

    def generated(self) -> tuple[DeviceModel, Plan | Float32Plan]:
        """Return what was generated: the reference, in integers or floats, and its plan.

        Raises
        ------
        InputError
            If nothing was built here yet, or a generated file is not what `build` writes for the
            model and the plan in ``build.json``.
        """
        model = self.model()
        written = read_plan(self.folder / _PLAN)
        if written.precision in precisions_of(model):
            reference = device_model(model, written.precision)
            plan = written.plan_of(reference)
            if plan is not None:
                self._check_generated(reference, plan)
                return reference, plan
        raise not_as_written(self.folder / _PLAN)

    def is_of(self, reference: DeviceModel) -> bool:
        """Whether the folder's model gives exactly this reference, with any plan."""
        model = self.model()
        return any(
            device_model(model, precision).model_sha256 == reference.model_sha256
            for precision in precisions_of(model)
        )

    def _check_generated(self, reference: DeviceModel, plan: Plan | Float32Plan) -> None:
        for name, text in generated_files(reference, plan).items():
            path, content = self.folder / _GENERATED / name, text.encode()
            same_size = path.is_file() and path.stat().st_size == len(content)
            if not (same_size and path.read_bytes() == content):
                raise not_as_written(path)

    def compile(self, board: Board) -> Path:
        """Build with PlatformIO; return the path of the firmware's ELF, or the host's program.

        PlatformIO runs anything that the folder's platformio.ini specifies.
        """
        check_no_links(self.folder, [_product(board).as_posix()])
        product = build_firmware(self.folder, board.environment, product=_product(board).name)
        product.touch()  # it is up to date; SCons does not touch it if its content is unchanged
        return product

    def linked(self, board: Board) -> Path | None:
        """Return the firmware's ELF if it was linked after all of its sources were written.

        Nothing is compiled, and nothing in the folder is run.
        """
        elf = self.folder / _product(board)
        if not elf.is_file():
            return None
        sources = [self.folder / _SETTINGS]
        for name in _SOURCE_FOLDERS:
            sources += (self.folder / name).rglob("*")
        newest = max(path.lstat().st_mtime for path in sources if path.is_file())
        return elf if elf.stat().st_mtime >= newest else None


def _product(board: Board) -> Path:
    """Return the path of PlatformIO's linked program below the project folder."""
    program = "program.exe" if sys.platform == "win32" else "program"
    name = "firmware.elf" if board.is_chip else program
    return Path(".pio", "build", board.environment, name)


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Lock a project folder exclusively; the lock is released however this process ends.

    Raises
    ------
    InputError
        If another process holds it, or it cannot be created.
    """
    try:
        with locked_folder(folder):
            yield
    except InUse as error:
        raise InputError(
            f"another build or hil is writing to {folder}; wait for it, or use another folder"
        ) from error


def generated_files(reference: DeviceModel, plan: Plan | Float32Plan) -> dict[str, str]:
    """Return the texts that `build` generates, by file name: the plan and its C."""
    return {PLAN_FILE: plan_text(reference, plan), **render_c(reference, plan)}


@dataclass(frozen=True, eq=False)
class BuildOptions:
    """Restrictions on the choice of a plan, and whether the result is tried.

    Attributes
    ----------
    flash_bytes, sram_bytes : int, optional
        Memory that the firmware may use, SRAM including the stack; by default all of the board's.
    kernel : str, optional
        The kernel that the plan is named after; by default the fastest that fits.
    activity : Activity, optional
        Activity for mean cycles; by default the model's, on its training points.
    precision : {"int8", "float32"}
        Number format of W, B and Z on the device; floats are for comparison and have one plan.
    plan : Plan or Float32Plan, optional
        The only plan to consider.
    tries : bool
        Whether `build` runs what it made before it writes it; see `verification.tryout`.
    """

    flash_bytes: int | None = None
    sram_bytes: int | None = None
    kernel: str | None = None
    activity: Activity | None = None
    precision: str = "int8"
    plan: Plan | Float32Plan | None = None
    tries: bool = True

    def within(self, board: Board) -> Board:
        """Return the board with its memory limited to what the firmware may use."""
        if self.flash_bytes is None and self.sram_bytes is None:
            return board
        return replace(
            board,
            name=f"{board.name} within your limits",
            flash_bytes=min(board.flash_bytes, self.flash_bytes or board.flash_bytes),
            sram_bytes=min(board.sram_bytes, self.sram_bytes or board.sram_bytes),
        )


def build(
    model: Model, board: Board | str, folder: Path | str, options: BuildOptions | None = None
) -> Build:
    """Quantize, render, compile, check and try a model; then write the project to `folder`.

    Existing firmware files are kept; generated ones are replaced. A board may be given by its name.

    Returns
    -------
    Build
        The chosen plan, the memory that the linked firmware uses, and how it was tried.

    Raises
    ------
    CheckFailed
        If the firmware does not fit the board (`OverBudget` once it was linked), violates a check
        (see `linkage`), or answers another score than NumPy on the emulated board (`WrongAnswers`);
        nothing is written then.
    InputError
        If the folder has other files in place of the project's, another process is writing to it,
        or it cannot be written.
    """
    board, folder = board_of(board), Path(folder)
    check_folder(folder, board)
    with (
        exclusive(folder),
        trial_build(model, board, firmware_of=folder, options=options) as trial,
    ):
        tried = NOT_TRIED
        if options is None or options.tries:
            unchanged = _has_own_sources(trial.project)
            tried = try_firmware(
                model, trial.reference, trial.plan, trial.elf, board, unchanged=unchanged
            )
        _copy_over(trial.project, Project(folder))
    return Build(trial.plan, trial.usage, tried)


def build_for_host(
    model: Model, board: Board, folder: Path, options: BuildOptions | None = None
) -> HostBuild:
    """Render a model, compile it for this computer, and write the project to `folder`.

    The program reads the features of points from its standard input and prints classes and scores
    (``firmware/host/main.c``). There is no budget, as there is no chip.

    Returns
    -------
    HostBuild
        The program, and how it was tried.

    Raises
    ------
    CheckFailed
        If the compiler refuses it, or it answers another score than NumPy; nothing is written then.
    InputError
        If the folder has other files in place of the project's, another process is writing to it,
        it cannot be written, or a restriction is for a chip.
    """
    options = options or BuildOptions()
    if options.flash_bytes is not None or options.sram_bytes is not None:
        board.check_is_chip("flash or SRAM")
    check_folder(folder, board)
    reference = device_model(model, options.precision)
    plan: Plan | Float32Plan
    if isinstance(reference, Float32Model):
        plan = make_float32_plan(reference)
    else:
        plan = make_plan(reference, kernel=options.kernel)
    with exclusive(folder), scratch_folder() as scratch:
        project = _write_project(model, reference, plan, scratch, folder, board)
        program = project.compile(board)
        tried = try_on_host(model, reference, program) if options.tries else NOT_TRIED
        _copy_over(project, Project(folder))
        return HostBuild(Project(folder).compile(board), tried)


@dataclass(frozen=True)
class Build(Shown):
    """The plan of a firmware that fits, its linked size, and how it was tried."""

    plan: Plan | Float32Plan
    usage: Usage
    tried: Tried

    def facts(self) -> dict[str, str]:
        """Return the sizes of the firmware."""
        usage = self.usage
        return {
            "flash": f"{usage.flash_bytes:,} B",
            "SRAM": f"{usage.sram_bytes:,} B and {usage.stack_bytes:,} B of stack",
            **self.plan.facts(),
            "tried": str(self.tried),
        }


class HostBuild(NamedTuple):
    """A program for this computer, and how it was tried."""

    program: Path
    tried: Tried


@dataclass(frozen=True)
class Trial:
    """A project in a scratch folder whose firmware fits: its ELF file, model, plan and sizes."""

    project: Project
    elf: Path
    reference: DeviceModel
    plan: Plan | Float32Plan
    usage: Usage


@contextmanager
def trial_build(
    model: Model,
    board: Board,
    firmware_of: Path | None = None,
    options: BuildOptions | None = None,
) -> Iterator[Trial]:
    """Build a model in a temporary folder; raises as `build` does.

    Parameters
    ----------
    model : Model
        The model to build.
    board : Board
        The board that it must fit.
    firmware_of : Path, optional
        A project folder whose firmware and settings are used, if it has them.
    options : BuildOptions, optional
        Restrictions on the choice of a plan, and the precision.
    """
    board.check_is_chip("flash and SRAM")
    options = options or BuildOptions()
    allowed = options.within(board)
    with scratch_folder() as scratch:
        yield _first_that_fits(model, allowed, options, scratch, firmware_of)


@contextmanager
def raw_input_build(
    model: Model, reference: DeviceModel, plan: Plan | Float32Plan, board: Board
) -> Iterator[Path]:
    """Build firmware that accepts raw integers, in a temporary folder.

    It is this package's own firmware with the switch described in ``firmware/prediction.h``, even
    if a user has changed theirs.

    Yields
    ------
    Path
        The ELF file.

    Raises
    ------
    OverBudget
        If it does not fit the board: ``pnn_quantize`` and its tables take flash.
    """
    with scratch_folder() as scratch:
        project = _write_project(model, reference, plan, scratch, None, board)
        elf = build_firmware(project.folder, board.environment, define=_RAW_INPUTS)
        check_budget(read_program(elf), board, model.all_remedies)
        yield elf


def try_plan(model: Model, reference: IntegerChain, plan: Plan, board: Board) -> Tried:
    """Try a plan's C in the serial firmware, for firmware that takes its inputs elsewhere.

    Raises
    ------
    WrongAnswers
        If it answers another score than NumPy on the emulated board.
    """
    with scratch_folder() as scratch:
        project = _write_project(model, reference, plan, scratch, None, board)
        elf = project.compile(board)
        try:
            check_budget(read_program(elf), board, model.all_remedies)
        except OverBudget as error:
            return Tried(left_out=f"the serial firmware {error}")
        return try_firmware(model, reference, plan, elf, board)


def _first_that_fits(
    model: Model, board: Board, options: BuildOptions, scratch: Path, firmware_of: Path | None
) -> Trial:
    """Build one plan after another; the size of a plan is only known after linking."""
    reference = device_model(model, options.precision)
    failures: list[OverBudget] = []
    activity = options.activity or model.activity
    for plan in _choices(reference, board, options, activity):
        check_estimate(plan, board, model.all_remedies)
        folder = scratch / f"project_{len(failures)}"
        project = _write_project(model, reference, plan, folder, firmware_of, board)
        elf = project.compile(board)
        program = read_program(elf)
        try:
            usage = check_budget(program, board, model.all_remedies)
        except OverBudget as failure:
            failures.append(failure)
            continue
        check_linked(program, reference, plan, board)
        return Trial(project, elf, reference, plan, usage)
    raise min(failures, key=lambda failure: failure.usage.flash_bytes)


def _choices(
    reference: DeviceModel, board: Board, options: BuildOptions, activity: Activity | None
) -> Sequence[Plan | Float32Plan]:
    """Return the plans to try: the fastest that are expected to fit first."""
    if options.plan is not None:
        return [options.plan]
    if isinstance(reference, Float32Model):
        return [make_float32_plan(reference)]
    limits = Limits.of(board)
    return plans(reference, limits, kernel=options.kernel, activity=activity)


def check_folder(folder: Path, board: Board) -> None:
    """Raise `InputError` if the project's files cannot be put into `folder`.

    `build` checks this first; commands with long operations before a build can check it earlier.
    """
    if "$" in str(folder.absolute()):
        raise InputError(
            f"{folder.absolute()} contains a $, which PlatformIO substitutes; use another -o"
        )
    for path in (folder, folder / "firmware", folder / _GENERATED):
        if path.exists() and not path.is_dir():
            raise InputError(
                f"{path} is a file, but the project needs a folder there; use another -o"
            )
    settings = folder / _SETTINGS
    generated = [_GENERATED / name for name in (*SOURCES, PLAN_FILE, _MODEL.name)]
    description_name = f"boards/{board.environment}.json"
    names = [path.as_posix() for path in (*generated, _product(board))]
    check_no_links(folder, [_SETTINGS, *names, description_name])
    for path in (settings, *(folder / each for each in generated)):
        if path.exists() and not path.is_file():
            raise InputError(
                f"{path} is not a file, but the project needs a file there; use another -o"
            )
    section = f"[env:{board.environment}]"
    if settings.is_file():
        check_file(settings, limit_bytes=_SETTINGS_LIMIT_BYTES, may_be_empty=True)
        if section not in settings.read_text("utf-8", errors="replace"):
            raise InputError(
                f"{settings} has no {section}; use another -o, or add that environment"
            )


def _settings_for(board: Board) -> str:
    """Return a new project's platformio.ini, which builds for the board by default."""
    text = resource(_SETTINGS).read_text(encoding="utf-8")
    if f"[env:{board.environment}]" not in text:
        text += f"\n{environment_section(board)}"
    return text.replace("default_envs = uno", f"default_envs = {board.environment}")


def _write_project(
    model: Model,
    reference: DeviceModel,
    plan: Plan | Float32Plan,
    folder: Path,
    firmware_of: Path | None,
    board: Board,
) -> Project:
    """Write a complete project, using files of `firmware_of` if that folder has its own."""
    if board.is_chip:
        _copy_tree(resource("firmware"), folder / "firmware")
    else:
        write_atomically(folder / "firmware" / "host" / "main.c", HOST_MAIN.read_bytes())
    own_settings = None
    if firmware_of is not None:
        for name in _SOURCE_FOLDERS:
            _copy_tree(firmware_of / name, folder / name)
        own_settings = firmware_of / _SETTINGS
    if own_settings is not None and own_settings.is_file():
        write_atomically(folder / _SETTINGS, own_settings.read_bytes())
    else:
        write_atomically(folder / _SETTINGS, _settings_for(board))
    for name, text in description_file(board).items():
        write_atomically(folder / name, text)
    for name, text in generated_files(reference, plan).items():
        write_atomically(folder / _GENERATED / name, text)
    save_model(model, folder / _MODEL)
    return Project(folder)


def _copy_tree(source: Path, target: Path) -> None:
    """Copy the files of a source folder, if it exists, without generated files and texts."""
    for path in sorted(source.rglob("*")):
        relative = path.relative_to(source)
        if path.is_file() and path.suffix != ".md" and relative.parts[0] != _GENERATED.name:
            write_atomically(target / relative, path.read_bytes())


def _has_own_sources(project: Project) -> bool:
    """Whether the firmware's hand-written sources are this package's, which have the protocol."""
    own = resource("firmware")
    return all(
        path.read_bytes() == (project.folder / "firmware" / path.relative_to(own)).read_bytes()
        for path in own.rglob("*.[ch]")
        if path.relative_to(own).parts[0] != _GENERATED.name
    )


def _copy_over(built: Project, target: Project) -> None:
    """Copy files missing in `target`, and all generated files: all or nothing."""
    folders = [built.folder / "firmware", built.folder / "boards"]
    sources = [path for folder in folders for path in sorted(folder.rglob("*"))]
    sources.append(built.folder / _SETTINGS)
    contents: dict[str, bytes | str] = {}
    for source in sources:
        relative = source.relative_to(built.folder)
        generated = relative.is_relative_to(_GENERATED) or relative.is_relative_to("boards")
        if source.is_file() and (generated or not (target.folder / relative).exists()):
            contents[relative.as_posix()] = source.read_bytes()
    write_together(target.folder, contents)
