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
from protonn_edge.codegen import make_plan, render_c
from protonn_edge.errors import InputError
from protonn_edge.files import write_atomically
from protonn_edge.model import ProtoNNModel, load_model, save_model
from protonn_edge.quantization import IntegerModel, quantize
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

    def model(self) -> ProtoNNModel:
        """Return the float model that the firmware was generated from.

        Raises
        ------
        InputError
            If nothing was built here yet.
        """
        path = self.folder / _MODEL
        if not path.is_file():
            raise InputError(
                f"no model was built in {self.folder}; run "
                "'protonn-edge build --board uno model.npz' there first"
            )
        return load_model(path)

    def compile(self, board: Board) -> Path:
        """Build the firmware with PlatformIO and return the path of its ELF."""
        return build_firmware(self.folder, board.platformio_board)


def build(model: ProtoNNModel, board: Board, folder: Path) -> tuple[IntegerModel, Usage]:
    """Quantize, render, compile and check a model; then put the project into `folder`.

    Files of the firmware that are there already stay as they are; the generated ones are replaced.

    Returns
    -------
    tuple of IntegerModel and Usage
        The arithmetic that was rendered, and what the linked firmware takes of the board.

    Raises
    ------
    CheckFailed
        If the firmware does not fit the board; nothing is written then.
    """
    integer_model = quantize(model)
    check_estimate(make_plan(integer_model), board)
    with tempfile.TemporaryDirectory(prefix="protonn-edge-") as scratch:
        trial = _write_project(model, integer_model, Path(scratch, "project"), firmware_of=folder)
        usage = measure_usage(trial.compile(board))
        usage.check(board)
        _copy_over(trial, Project(folder))
    return integer_model, usage


@contextmanager
def scratch_build(model: ProtoNNModel, board: Board) -> Iterator[tuple[Project, Usage]]:
    """Build a model in a folder that is gone afterwards: for `verify` and the tests."""
    with tempfile.TemporaryDirectory(prefix="protonn-edge-") as scratch:
        folder = Path(scratch, "project")
        _, usage = build(model, board, folder)
        yield Project(folder), usage


def _write_project(
    model: ProtoNNModel, integer_model: IntegerModel, folder: Path, firmware_of: Path
) -> Project:
    """Write a whole project, with the firmware of `firmware_of` where that folder has its own."""
    shutil.copytree(
        resource("firmware"),
        folder / "firmware",
        ignore=shutil.ignore_patterns("generated", "*.md"),
    )
    shutil.copyfile(resource("platformio.ini"), folder / "platformio.ini")
    own = firmware_of / "firmware"
    if own.is_dir():
        ignore = shutil.ignore_patterns("generated")
        shutil.copytree(own, folder / "firmware", dirs_exist_ok=True, ignore=ignore)
    if (firmware_of / "platformio.ini").is_file():
        shutil.copyfile(firmware_of / "platformio.ini", folder / "platformio.ini")
    for name, text in render_c(integer_model).items():
        write_atomically(folder / _GENERATED / name, text)
    save_model(model, folder / _MODEL)
    return Project(folder)


def _copy_over(built: Project, target: Project) -> None:
    """Copy what `target` lacks, and everything that was generated."""
    sources = [built.folder / "platformio.ini", *sorted((built.folder / "firmware").rglob("*"))]
    for source in sources:
        relative = source.relative_to(built.folder)
        destination = target.folder / relative
        generated = relative.is_relative_to(_GENERATED)
        if source.is_file() and (generated or not destination.exists()):
            write_atomically(destination, source.read_bytes())
