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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protonn_edge import __version__, codegen, quantization
from protonn_edge.avr.cores import CORES
from protonn_edge.boards import Board
from protonn_edge.chain.file import checked_bytes, load_model
from protonn_edge.chain.model import Model
from protonn_edge.codegen import DevicePlan, render_c
from protonn_edge.codegen.planner import plan_of
from protonn_edge.codegen.renderer import render_parts
from protonn_edge.errors import InputError, InvalidValue
from protonn_edge.extensions import brought, forms_of
from protonn_edge.quantization import DeviceModel, IntegerChain
from protonn_edge.system import files
from protonn_edge.system.files import resolved, resource, write_atomically
from protonn_edge.system.folders import InUse, locked_folder
from protonn_edge.system.schema import Check, list_of, number, one_of, record_of, text
from protonn_edge.toolchain.platformio import build_firmware, description_file, environment_section

ProjectFiles = dict[str, bytes | str]
"""The contents of a project's files, by their names below its folder, with ``/``."""

PLAN_FILE = "build.json"
PARTS_FILE = "parts.h"

_GENERATED = Path("firmware", "generated")
_MODEL = _GENERATED / "model.npz"
_PLAN = _GENERATED / PLAN_FILE
_SETTINGS = "platformio.ini"
_SETTINGS_LIMIT_BYTES = 1 << 20
_SOURCE_FOLDERS = ("firmware", "include", "lib")
_NOT_COPIED = (_GENERATED.name, "host")  # the latter is the program for this computer

_FORMAT = 1  # increase it if a key changes; files of other formats are refused
_LARGEST_FILE = 64 << 10
_AGAIN = "run 'protonn-edge build' again"
_ELSEWHERE = "choose another folder with -o"

_MEAN = number(0, 1e15)
_STAGES = list_of(lambda each: isinstance(each, dict) and _MEAN(each.get("mean")), most=100)
_READ: dict[str, Check] = {  # the rest is only compared
    "model_sha256": text(64),
    "core": one_of(*CORES, None),
    "choices": lambda value: isinstance(value, dict) and all(map(text(80), value.values())),
    "plan": lambda value: isinstance(value, dict) and _STAGES(value.get("stages", [])),
}


@dataclass(frozen=True)
class WrittenPlan:
    """What identifies a plan."""

    model_sha256: str  # the hash of its model
    core: str | None  # the kind of chip for which cycles are counted; None for a float build
    choices: Mapping[str, str]  # see `Plan.choices`
    # mean cycles of each stage, which depend on the points that the plan was made for
    means: tuple[float, ...]

    def plan_of(self, model: IntegerChain) -> DevicePlan | None:
        """Return the model's plan with these choices; None if there is none."""
        if model.score_tolerance:
            return codegen.device_plans(model)[0]
        if self.core is None:
            return None
        try:
            plan = plan_of(model, self.choices, CORES[self.core])
        except InputError:
            return None
        if plan.choices != self.choices or len(plan.steps) != len(self.means):
            return None
        return plan.with_means(self.means)


def plan_text(model: IntegerChain, plan: DevicePlan) -> str:
    """Return the content of ``build.json``: the same for the same model and plan."""
    record = {
        "format": _FORMAT,
        "tool_version": __version__,
        "model_sha256": model.model_sha256,
        "core": plan.core and plan.core.name,
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
    own: dict[str, Any] = {name: record.get(name) for name in _READ}
    if not record_of(_READ)(own):
        raise not_as_written(path)
    stages = own.pop("plan").get("stages", [])
    return WrittenPlan(**own, means=tuple(stage["mean"] for stage in stages))


def not_as_written(path: Path) -> InputError:
    """Return the error for a generated file that differs from what `build` writes for its model."""
    return InvalidValue(path, "not as 'build' writes it for its model", _AGAIN)


def nothing_built(folder: Path, option: str = "--project") -> InputError:
    """Return the error for a folder without a built model, which an option names."""
    return InputError(
        f"no model was built in {folder}; run 'protonn-edge build --board uno model.npz' there, or "
        f"name the folder of a build with {option}"
    )


@dataclass(frozen=True)
class Project:
    """A PlatformIO project folder that holds the firmware and one generated model."""

    folder: Path  # where platformio.ini is

    @property
    def built(self) -> bool:
        """Whether `build` has written a model here."""
        return (self.folder / _MODEL).is_file()

    def model(self) -> Model:
        """Return the float model that the firmware is generated from; `InputError` without one."""
        if not self.built:
            raise nothing_built(self.folder.absolute())
        return load_model(self.folder / _MODEL)

    def generated(self, board: Board | None = None) -> tuple[IntegerChain, DevicePlan]:
        """Return the reference, in integers or floats, and its plan.

        Raises `InputError` if nothing was built here yet, a generated file is not what `build`
        writes for the model and the plan in ``build.json``, or a `board`'s chip needs other code.
        """
        model = self.model()
        written = read_plan(self.folder / _PLAN)
        if board is not None and written.core not in (board.core, None):
            raise InvalidValue(
                self.folder.absolute(),
                f"built for {CORES[written.core].chip}, whose code does not run on {board.name}",
                f"build the project again for {board.name}, or choose another board with --board",
            )
        reference = quantization.quantize(model)
        for choice, form_of in brought("device model").values():
            if choice in written.choices.values():
                reference = form_of(reference, model)
        plan = written.plan_of(reference)
        if plan is None:
            raise not_as_written(self.folder / _PLAN)
        self._check_generated(reference, plan)
        return reference, plan

    def is_of(self, reference: IntegerChain) -> bool:
        """Whether the folder's model gives exactly this reference, with any plan."""
        model = self.model()
        return any(
            each.model_sha256 == reference.model_sha256
            for each in forms_of(quantization.quantize(model), model)
        )

    def _check_generated(self, reference: IntegerChain, plan: DevicePlan) -> None:
        for name, generated in generated_files(reference, plan).items():
            path, content = self.folder / _GENERATED / name, generated.encode()
            same_size = path.is_file() and path.stat().st_size == len(content)
            if not (same_size and path.read_bytes() == content):
                raise not_as_written(path)

    def compile(self, board: Board) -> Path:
        """Build with PlatformIO; return the path of the firmware's ELF.

        PlatformIO runs anything that the folder's platformio.ini specifies.
        """
        files.check_no_links(self.folder, [_product(board).as_posix()])
        product = build_firmware(self.folder, board.environment)
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

    def has_own_sources(self) -> bool:
        """Whether its hand-written sources are this package's, and no others."""
        more = [each for name in _SOURCE_FOLDERS[1:] for each in (self.folder / name).rglob("*")]
        own, mine = _sources(resource("firmware")), _sources(self.folder / "firmware")
        return own == mine and not any(each.is_file() for each in more)


def _sources(folder: Path) -> dict[Path, bytes]:
    """Return what is compiled from a folder, without generated files, by relative paths."""
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in paths.items()
        if name.parts[0] not in {*_NOT_COPIED, "test"} and name.suffix != ".md"
    }


def _product(board: Board) -> Path:
    """Return the path of PlatformIO's linked program below the project folder."""
    return Path(".pio", "build", board.environment, "firmware.elf")


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
    if "$" in str(folder.absolute()):
        raise InvalidValue(
            folder.absolute(), "it contains a $, which PlatformIO would replace", _ELSEWHERE
        )
    for path in (folder, folder / "firmware", folder / _GENERATED):
        if path.exists() and not path.is_dir():
            raise InvalidValue(path, "a file, but the project needs a folder there", _ELSEWHERE)
    settings = folder / _SETTINGS
    generated = [
        _GENERATED / name for name in (*codegen.SOURCES, PARTS_FILE, PLAN_FILE, _MODEL.name)
    ]
    description_name = f"boards/{board.environment}.json"
    written = [path.as_posix() for path in (*generated, _product(board))]
    files.check_no_links(folder, [_SETTINGS, *written, description_name])
    for path in (settings, *(folder / each for each in generated)):
        if path.exists() and not path.is_file():
            raise InvalidValue(path, "not a file, but the project needs a file there", _ELSEWHERE)
    section = f"[env:{board.environment}]"
    if settings.is_file():
        files.check_file(settings, limit_bytes=_SETTINGS_LIMIT_BYTES, may_be_empty=True)
        if section not in settings.read_text("utf-8", errors="replace"):
            raise InvalidValue(settings, f"no {section}", f"add this section, or {_ELSEWHERE}")


def _settings_for(board: Board) -> str:
    """Return a new project's platformio.ini, which builds for the board by default."""
    stock = resource(_SETTINGS).read_text(encoding="utf-8")
    if f"[env:{board.environment}]" not in stock:
        stock += f"\n{environment_section(board)}"
    return stock.replace("default_envs = uno", f"default_envs = {board.environment}")


def project_files(
    model: DeviceModel, plan: DevicePlan, board: Board, own: ProjectFiles | None = None
) -> ProjectFiles:
    """Return a complete project, with the files that a folder has of its `own`."""
    generated: ProjectFiles = dict(generated_files(model.chain, plan))
    generated[_MODEL.name] = checked_bytes(model.floats, _MODEL)
    return {
        **_sources_below(resource("firmware"), "firmware"),
        _SETTINGS: _settings_for(board),
        **(own or {}),
        **description_file(board),
        **{f"{_GENERATED.as_posix()}/{name}": content for name, content in generated.items()},
    }


def own_files(folder: Path) -> ProjectFiles:
    """Return the files of a project that are its user's: sources and settings."""
    own = [_sources_below(folder / name, name) for name in _SOURCE_FOLDERS]
    settings = folder / _SETTINGS
    found = {_SETTINGS: settings.read_bytes()} if settings.is_file() else {}
    return {name: content for each in (*own, found) for name, content in each.items()}


def _sources_below(source: Path, place: str) -> dict[str, bytes]:
    """Return the files of a folder, if it exists, that belong into a project."""
    found = ((path, path.relative_to(source)) for path in sorted(source.rglob("*")))
    return {
        f"{place}/{relative.as_posix()}": path.read_bytes()
        for path, relative in found
        if path.is_file() and path.suffix != ".md" and relative.parts[0] not in _NOT_COPIED
    }


def write_scratch(folder: Path, contents: ProjectFiles) -> Project:
    """Write a whole project into a scratch folder, to compile it."""
    for name, content in contents.items():
        write_atomically(folder / name, content)
    return Project(folder)


def write_over(folder: Path, contents: ProjectFiles) -> Project:
    """Write the files that a project's folder lacks, and all generated ones: all or nothing."""
    generated = (f"{_GENERATED.as_posix()}/", "boards/")
    new = {
        name: content
        for name, content in contents.items()
        if name.startswith(generated) or not (folder / name).exists()
    }
    files.write_together(folder, new)
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
