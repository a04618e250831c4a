"""The common part of commands for a board, real or emulated: port, emulator, EEPROM."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from protonn_edge.chips.boards import Board
from protonn_edge.cli.command import Output, option
from protonn_edge.cli.paths import MODEL, GivenPath
from protonn_edge.codegen.export.folder import written_in
from protonn_edge.codegen.families import families, family_of
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.data.naming import Notice, listed
from protonn_edge.model.file import load_model
from protonn_edge.system.errors import InputError

EMULATOR = option(
    "The emulator of the board; avr8js, under Node.js, emulates only the Uno's chip.  [default: "
    "simavr, or avr8js if only avr8js is installed]",
    click.Choice([name for family in families() for name in family.emulators]),
)
EEPROM = option(
    "Keep the emulated board's EEPROM in FILE from one run to the next. Without FILE, an emulated "
    "board starts with an erased EEPROM.",
    GivenPath(dir_okay=False),
    metavar="FILE",
)


def about_newer_models(folder: Path) -> Iterator[Notice]:
    """Yield a warning if a model was trained since the firmware in its folder was built.

    Of models beside the folder, only those with the same classes may be for it.
    """
    project, to_folder = Project(folder), "" if folder == Path() else f" -o {folder}"
    newer = [*filter(MODEL.includes, project.newer_models)]
    classes = project.model().classes if newer else ()
    for path in newer:
        if path.parent != folder and _classes_in(path) != classes:
            continue
        text = (
            f"{path} is newer than the firmware in {folder}, which was built from another model; "
            f"for the newer one, run 'protonn-edge build {path}{to_folder}' first"
        )
        yield Notice("older_build", text, warning=True)
        return


def about_edited_files(folder: Path, board: Board) -> Iterator[Notice]:
    """Yield a warning if a project has sources that are not as the package wrote them.

    Those that `Project.generated` refuses are not among them, nor is the file of settings.
    """
    edited = Project(folder).edited_files(board) if Project(folder).built else []
    edited = [name for name in edited if name != family_of(board).settings]
    edited = edited or written_in(folder).edited_in(folder)
    if edited:
        verb = "are" if edited[1:] else "is"
        text = f"in {folder}, {listed(edited)} {verb} not as protonn-edge writes it"
        yield Notice(
            "edited_files", f"{text}; the firmware may answer in another way", warning=True
        )


def _classes_in(path: Path) -> tuple[str, ...] | None:
    """Return the classes of a model, which may have nothing to do with the project, if whole."""
    try:
        return load_model(path).classes
    except InputError:
        return None


def chosen_emulator(out: Output, name: str | None, board: Board) -> str:
    """Return the name of the emulator for a board; print a notice for the slower one."""
    family = family_of(board)
    if name is not None and name not in family.emulators:
        raise InputError(
            f"{name} does not emulate {board.name}; choose {' or '.join(family.emulators)}"
        )
    found, remark = family.find_emulator(name, board)
    if remark:
        out.say(remark)
    return found
