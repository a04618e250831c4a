"""A PlatformIO project folder: its firmware, one generated model, and nothing half written.

Only one command at a time works in a project folder. Its ``build.json`` identifies the plan by
named choices, so that later commands have the same plan without a search, and other programs can
read its costs. The file is not trusted: readers recreate the plan from these choices, and compare
the file with what `build` writes for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from filecmp import cmp
from pathlib import Path

from protonn_edge import __version__
from protonn_edge.chips.boards import Board
from protonn_edge.chips.cores import CORES, EVERY_CORE, WORD_CORES
from protonn_edge.codegen import words
from protonn_edge.codegen.families import board_of, family_in, family_of
from protonn_edge.codegen.families.family import ProjectFiles
from protonn_edge.codegen.families.sources import all_below
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.planner import plan_of
from protonn_edge.codegen.renderer import SOURCES, render_c, render_parts
from protonn_edge.data.naming import listed
from protonn_edge.model import quantization
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.file import checked_bytes, load_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.watch import device_forms, forms_of
from protonn_edge.system import files
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.files import resolved
from protonn_edge.system.folders import InUse, as_named, locked_folder
from protonn_edge.system.schema import Check, JsonObject, nullable, one_of, record_of, text, whole

PLAN_FILE = "build.json"
BUILT_FILE = "built.json"
PARTS_FILE = "parts.h"

GENERATED = Path("firmware", "generated")
"""Where a project has what `build` generates."""

_MODEL = GENERATED / "model.npz"
_PLAN = GENERATED / PLAN_FILE
_SOURCE_FOLDERS = ("firmware", "include", "lib")
_GENERATED_NAMES = (*SOURCES, PARTS_FILE, PLAN_FILE, BUILT_FILE, _MODEL.name)

_FORMAT = 1  # increase it if a key changes; files of other formats are refused
_LARGEST_FILE = 64 << 10
_AGAIN = "run 'protonn-edge build' again"
_ELSEWHERE = "choose another folder with -o"

_READ: dict[str, Check] = {  # the rest is only compared
    "model_sha256": text(64),
    "core": one_of(*CORES, *WORD_CORES),
    "limit_bytes": nullable(whole(1, 1 << 31)),
    "choices": lambda value: isinstance(value, dict) and all(map(text(80), value.values())),
}


@dataclass(frozen=True)
class WrittenPlan:
    """What identifies a plan."""

    model_sha256: str  # the hash of its model
    core: str  # the kind of chip
    limit_bytes: int | None  # see `DevicePlan.limit_bytes`
    choices: Mapping[str, str]  # see `Plan.choices`

    def plan_of(self, model: IntegerChain) -> DevicePlan | None:
        """Return the model's plan with these choices; None if there is none."""
        try:
            if self.core in WORD_CORES:
                every = words.plans_for(model, WORD_CORES[self.core], self.limit_bytes)
                return next((each for each in every if each.choices == self.choices), None)
            plan = plan_of(model, self.choices, CORES[self.core])
        except InputError:
            return None
        plan = replace(plan, limit_bytes=self.limit_bytes)
        return plan if plan.choices == self.choices else None


def plan_text(model: IntegerChain, plan: DevicePlan) -> str:
    """Return the content of ``build.json``: the same for the same model and plan."""
    record = {
        "format": _FORMAT,
        "tool_version": __version__,
        "model_sha256": model.model_sha256,
        "core": plan.core and plan.core.name,
        "limit_bytes": plan.limit_bytes,
        "choices": plan.choices,
        "table_bytes": plan.table_bytes,
        "state_bytes": plan.state_bytes,
        "plan": plan.to_json(),
    }
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def read_plan(path: Path) -> WrittenPlan:
    """Return the plan in ``build.json``; `InputError` if it is missing, damaged or outdated."""
    if not path.exists():
        raise InvalidValue(path, "missing", _AGAIN)
    try:
        record = json.loads(files.read_file(path, limit_bytes=_LARGEST_FILE, remedy=_AGAIN))
    except (ValueError, RecursionError) as error:
        raise not_as_written(path) from error
    if not isinstance(record, dict):
        raise not_as_written(path)
    version = record.get("tool_version")
    if text(80)(version) and version != __version__:
        raise InvalidValue(
            path, f"written by version {version!r}, but this is version {__version__}", _AGAIN
        )
    own: JsonObject = {name: record.get(name) for name in _READ}
    if not record_of(_READ)(own):
        raise not_as_written(path)
    return WrittenPlan(**own)


def not_as_written(path: Path) -> InputError:
    """Return the error for a generated file that differs from what `build` writes for its model."""
    return InvalidValue(path, "not as 'build' writes it for its model", _AGAIN)


def nothing_built(folder: Path, option: str = "--project") -> InputError:
    """Return the error for a folder without a built model, which an option may name.

    The folders in it that have one are listed.
    """
    named = f" with {option}" * bool(option)
    plans = (*folder.glob(f"*/{PLAN_FILE}"), *folder.glob(f"*/{_PLAN}"))
    if below := sorted(plan.relative_to(folder).parts[0] for plan in plans):
        return InputError(
            f"no model was built in {as_named(folder)}, but in {listed(below)} below; name that "
            f"folder{named}"
        )
    return InputError(
        f"no model was built in {as_named(folder)}; run 'protonn-edge build' there, or name the "
        f"folder of a build{named}"
    )


@dataclass(frozen=True)
class Project:
    """A PlatformIO project folder that holds the firmware and one generated model."""

    folder: Path  # where platformio.ini is

    @property
    def built(self) -> bool:
        """Whether `build` has written a model here."""
        return (self.folder / _MODEL).is_file()

    def has(self, model: str) -> bool:
        """Whether the model that was built here has a hash that begins like this."""
        try:
            return self.built and read_plan(self.folder / _PLAN).model_sha256.startswith(model)
        except (InputError, PermissionError):  # of somebody else's folder
            return False

    def model(self) -> Model:
        """Return the float model that the firmware is generated from; `InputError` without one."""
        if not self.built:
            raise nothing_built(self.folder)
        return load_model(self.folder / _MODEL)

    @property
    def newer_models(self) -> list[Path]:
        """Arrays written in or beside it since the build, unless its model is there, too."""
        if not self.built:
            return []
        model, folders = self.folder / _MODEL, dict.fromkeys((self.folder, self.folder.parent))
        every = (each for folder in folders for each in sorted(folder.glob("*.npz")))
        beside = [each for each in every if each.is_file()]
        if any(cmp(each, model, shallow=False) for each in beside):
            return []
        built = model.stat().st_mtime
        return [each for each in beside if each.stat().st_mtime > built]

    def generated(self, board: Board | None = None) -> tuple[IntegerChain, DevicePlan]:
        """Return the reference and its plan.

        Raises `InputError` if nothing was built here yet, a generated file is not what `build`
        writes for the model and the plan in ``build.json``, or a `board`'s chip needs other code.
        """
        model = self.model()
        written = read_plan(self.folder / _PLAN)
        if board is not None:
            self.check_core(written.core, board)
        reference = quantization.quantize(model)
        for form in device_forms().values():
            if form.choice in written.choices.values():
                reference = form.of(reference, model)
        plan = written.plan_of(reference)
        if plan is None:
            raise not_as_written(self.folder / _PLAN)
        self._check_generated(reference, plan)
        return reference, plan

    def check_core(self, core: str, board: Board) -> None:
        """Raise `InputError` if a plan for this kind of chip cannot run on a board."""
        if core != board.core:
            raise InvalidValue(
                as_named(self.folder),
                f"built for {EVERY_CORE[core].chip}, whose code does not run on {board.name}",
                f"build the project again for {board.name}, or choose another board with --board",
            )

    def is_of(self, reference: IntegerChain) -> bool:
        """Whether the folder's model gives exactly this reference, with any plan."""
        model = self.model()
        return any(
            each.model_sha256 == reference.model_sha256
            for each in forms_of(quantization.quantize(model), model)
        )

    def _check_generated(self, reference: IntegerChain, plan: DevicePlan) -> None:
        for name, generated in generated_files(reference, plan).items():
            path, content = self.folder / GENERATED / name, generated.encode()
            same_size = path.is_file() and path.stat().st_size == len(content)
            if not (same_size and path.read_bytes() == content):
                raise not_as_written(path)

    def compile(self, board: Board) -> Path:
        """Compile and link the firmware; return the path of its ELF.

        This may run anything that the folder's settings specify.
        """
        family = family_of(board)
        files.check_no_links(self.folder, [family.product(board).as_posix()])
        product = family.compile(self.folder, board)
        product.touch()  # it is up to date; SCons does not touch it if its content is unchanged
        return product

    def linked(self, board: Board) -> Path | None:
        """Return the firmware's ELF if it was linked after all of its sources were written.

        Nothing is compiled, and nothing in the folder is run.
        """
        family = family_of(board)
        elf = self.folder / family.product(board)
        if not elf.is_file():
            return None
        sources = [self.folder / family.settings]
        for name in _SOURCE_FOLDERS:
            sources += (self.folder / name).rglob("*")
        newest = max(path.lstat().st_mtime for path in sources if path.is_file())
        return elf if elf.stat().st_mtime >= newest else None

    def edited_files(self, board: Board) -> list[str]:
        """Return the names of files that are not as `build` writes them, also new and missing ones.

        They are all files that decide what is compiled, except those that `generated` compares.
        Settings may be those of the project's own board.
        """
        family, mine = family_of(board), own_files(self.folder, board)
        written = family.sources(board)
        for name, content in family.descriptions(board).items():
            if (self.folder / name).is_file():  # others come with the next build
                mine[name], written[name] = (self.folder / name).read_bytes(), content
        of_own_board = family.sources(board_of([self.folder])).get(family.settings, "")
        if mine.get(family.settings) == files.as_bytes(of_own_board):
            written[family.settings] = of_own_board
        written = {name: files.as_bytes(content) for name, content in written.items()}
        every = sorted(mine.keys() | written.keys())
        return [name for name in every if mine.get(name) != written.get(name)]


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Lock a project folder, until this process ends; `InputError` if another holds the lock."""
    try:
        with locked_folder(folder):
            yield
    except InUse as error:
        raise InvalidValue(
            folder,
            "in use by another 'build', 'export' or 'hil'",
            "wait until that command ends, or use another folder",
        ) from error


def generated_files(reference: IntegerChain, plan: DevicePlan) -> dict[str, str]:
    """Return the texts that `build` generates, by file name: plan, C, and parts of firmware."""
    return {
        PLAN_FILE: plan_text(reference, plan),
        PARTS_FILE: render_parts(reference),
        **render_c(reference, plan),
    }


def check_folder(folder: Path, board: Board) -> None:
    """Raise `InputError` if the project's files cannot be put into `folder`.

    `build` checks this first; commands with long operations before a build can check it earlier.
    """
    family = family_of(board)
    if family_in(folder) not in (None, family):
        raise InvalidValue(
            as_named(folder), f"a project for another chip than that of {board.name}", _ELSEWHERE
        )
    family.check_folder(folder, board)
    for path in (folder, folder / "firmware", folder / GENERATED):
        if path.exists() and not path.is_dir():
            raise InvalidValue(path, "a file, but the project needs a folder there", _ELSEWHERE)
    settings = folder / family.settings
    generated = [GENERATED / name for name in _GENERATED_NAMES]
    written = [path.as_posix() for path in (*generated, family.product(board))]
    files.check_no_links(folder, [family.settings, *written, *family.descriptions(board)])
    for path in (settings, *(folder / each for each in generated)):
        if path.exists() and not path.is_file():
            raise InvalidValue(path, "not a file, but the project needs a file there", _ELSEWHERE)


def project_files(
    model: DeviceModel, plan: DevicePlan, board: Board, own: ProjectFiles | None = None
) -> ProjectFiles:
    """Return a complete project, with the files that a folder has of its `own`."""
    family = family_of(board)
    generated: ProjectFiles = dict(generated_files(model.chain, plan))
    generated[_MODEL.name] = checked_bytes(model.floats, _MODEL)
    return {
        **family.sources(board),
        **(own or {}),
        **family.descriptions(board),
        **{f"{GENERATED.as_posix()}/{name}": content for name, content in generated.items()},
    }


def own_files(folder: Path, board: Board) -> ProjectFiles:
    """Return the files of a project that are its user's: sources and settings.

    They are all that may be compiled or included, but for files that `build` generates.
    """
    own = [all_below(folder / name, name) for name in _SOURCE_FOLDERS]
    described = f"boards/{board.platformio_board or board.environment}.json"
    single = (family_of(board).settings, described)
    found: ProjectFiles = {
        name: (folder / name).read_bytes() for name in single if (folder / name).is_file()
    }
    generated = {(GENERATED / name).as_posix() for name in _GENERATED_NAMES}
    every = {name: content for each in (*own, found) for name, content in each.items()}
    return {name: content for name, content in every.items() if name not in generated}


def write_scratch(folder: Path, contents: ProjectFiles) -> Project:
    """Write a whole project into a scratch folder, to compile it."""
    files.write_plainly(folder, contents)
    return Project(folder)


def write_over(
    folder: Path, contents: ProjectFiles, products: Mapping[str, bytes | str] | None = None
) -> Project:
    """Write the files that a project's folder lacks, all generated ones, and products.

    Either all of them are written, or none.
    """
    generated = (f"{GENERATED.as_posix()}/", "boards/")
    new = {
        name: content
        for name, content in contents.items()
        if name.startswith(generated) or not (folder / name).exists()
    }
    files.write_together(folder, new | dict(products or {}))
    return Project(folder)


def sketch_name(folder: Path) -> str:
    """Return the name of the sketch in a folder; `InputError` if the IDE cannot open it."""
    name = resolved(folder).name
    if not name.replace("_", "").replace("-", "").isalnum() or not name.isascii():
        raise InputError(
            f"a sketch is named after its folder, but {name!r} is not a valid name; use -o to "
            "choose a folder whose name has only letters, digits, _ and -"
        )
    return name
