"""The folder in which a model becomes firmware: a PlatformIO project with the model inside.

``build`` makes it whole in a scratch folder and moves the files over only when the firmware fits,
so that a build that fails leaves the folder as it was.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.boards import Board
from protonn_edge.budget import Usage, check_estimate, measure_usage
from protonn_edge.codegen import SOURCES, plan_for, render_c
from protonn_edge.errors import InputError
from protonn_edge.files import write_atomically
from protonn_edge.linkage import check_linked
from protonn_edge.model import ProtoNNModel, load_model, save_model
from protonn_edge.quantization import PRECISIONS, DeviceModel, device_model
from protonn_edge.resources import resource
from protonn_edge.toolchain.platformio import build_firmware

_GENERATED = Path("firmware", "generated")
_MODEL = _GENERATED / "model.npz"


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
        """Whether `build` has put a model here."""
        return (self.folder / _MODEL).is_file()

    def model(self) -> ProtoNNModel:
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

    def device_model(self) -> DeviceModel:
        """Return the reference of what was generated from the model, in integers or in floats.

        Raises
        ------
        InputError
            If nothing was built here yet, or a generated file is not what the model renders to.
        """
        model = self.model()
        changed = []
        for precision in PRECISIONS:
            reference = device_model(model, precision)
            others = [path for path, text in self._rendered(reference) if not _holds(path, text)]
            if not others:
                return reference
            changed.append(others)
        path = min(changed, key=len)[0]
        raise InputError(f"{path} is not what 'build' writes for its model; run it again")

    def _rendered(self, reference: DeviceModel) -> list[tuple[Path, str]]:
        sources = render_c(reference).items()
        return [(self.folder / _GENERATED / name, text) for name, text in sources]

    def compile(self, board: Board) -> Path:
        """Build the firmware with PlatformIO and return the path of its ELF."""
        return build_firmware(self.folder, board.platformio_board)


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def build(model: ProtoNNModel, board: Board, folder: Path, precision: str = "int8") -> Usage:
    """Quantize, render, compile and check a model; then put the project into `folder`.

    Files of the firmware that are there already stay as they are; the generated ones are replaced.

    Returns
    -------
    Usage
        What the linked firmware takes of the board.

    Raises
    ------
    CheckFailed
        If the firmware does not fit the board (`OverBudget` once it was linked) or does what it
        must not (see `linkage`); nothing is written then.
    InputError
        If the folder holds something else where the project's files belong.
    """
    check_folder(folder, board)
    with trial_build(model, board, folder, precision) as trial:
        _copy_over(trial.project, Project(folder))
    return trial.usage


@dataclass(frozen=True)
class Trial:
    """A project in a scratch folder whose firmware fits: its ELF file, and what that takes."""

    project: Project
    elf: Path
    usage: Usage


@contextmanager
def trial_build(
    model: ProtoNNModel,
    board: Board,
    firmware_of: Path | None = None,
    precision: str = "int8",
) -> Iterator[Trial]:
    """Build a model in a folder that is gone afterwards; raises as `build` does.

    Parameters
    ----------
    model : ProtoNNModel
        The model to build.
    board : Board
        The board that it must fit.
    firmware_of : Path, optional
        A project folder whose own firmware and settings are taken, where it has them.
    precision : {"int8", "float32"}
        That of the parameters on the device; floats are there for comparison.
    """
    reference = device_model(model, precision)
    check_estimate(plan_for(reference), board)
    with tempfile.TemporaryDirectory(prefix="protonn-edge-") as scratch:
        project = _write_project(model, reference, Path(scratch, "project"), firmware_of)
        elf = project.compile(board)
        usage = measure_usage(elf)
        usage.check(board)
        check_linked(elf, reference, board)
        yield Trial(project, elf, usage)


def check_folder(folder: Path, board: Board) -> None:
    """Raise `InputError` if the project's files cannot be put into `folder`.

    `build` looks before it does anything; what takes long before a build may look earlier.
    """
    if "$" in str(folder.absolute()):
        raise InputError(f"{folder.absolute()} has a $, which PlatformIO replaces; use another -o")
    for path in (folder, folder / "firmware", folder / _GENERATED):
        if path.exists() and not path.is_dir():
            raise InputError(f"{path} is a file, the project needs a folder there; use another -o")
    settings = folder / "platformio.ini"
    for path in (settings, folder / _MODEL, *(folder / _GENERATED / name for name in SOURCES)):
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a file, but the project's is; use another -o")
    section = f"[env:{board.platformio_board}]"
    if settings.is_file() and section not in settings.read_text("utf-8", errors="replace"):
        raise InputError(f"{settings} has no {section}; use another -o, or add that environment")


def _write_project(
    model: ProtoNNModel, reference: DeviceModel, folder: Path, firmware_of: Path | None
) -> Project:
    """Write a whole project, with the files of `firmware_of` where that folder has its own."""
    _copy_tree(resource("firmware"), folder / "firmware")
    settings = resource("platformio.ini")
    if firmware_of is not None:
        for name in ("firmware", "include", "lib"):
            _copy_tree(firmware_of / name, folder / name)
        if (firmware_of / "platformio.ini").is_file():
            settings = firmware_of / "platformio.ini"
    _copy(settings, folder / "platformio.ini")
    for name, text in render_c(reference).items():
        write_atomically(folder / _GENERATED / name, text)
    save_model(model, folder / _MODEL)
    return Project(folder)


def _copy_tree(source: Path, target: Path) -> None:
    """Copy the files of a source folder, if there is one, without generated ones and texts."""
    for path in sorted(source.rglob("*")):
        relative = path.relative_to(source)
        if path.is_file() and path.suffix != ".md" and relative.parts[0] != _GENERATED.name:
            _copy(path, target / relative)


def _copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, destination)


def _copy_over(built: Project, target: Project) -> None:
    """Copy what `target` lacks, and everything that was generated."""
    sources = [built.folder / "platformio.ini", *sorted((built.folder / "firmware").rglob("*"))]
    for source in sources:
        relative = source.relative_to(built.folder)
        destination = target.folder / relative
        generated = relative.is_relative_to(_GENERATED)
        if source.is_file() and (generated or not destination.exists()):
            write_atomically(destination, source.read_bytes())
