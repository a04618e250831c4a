"""``protonn-edge upload``: Upload a project's firmware to the board."""

from __future__ import annotations

from pathlib import Path

from protonn_edge.cli.command import OUTPUT, Output, argument, command, option
from protonn_edge.cli.devices import about_edited_files, about_newer_models
from protonn_edge.cli.options import PATH, PORT
from protonn_edge.codegen.families import board_of, family_in
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.system.errors import InputError, lacking
from protonn_edge.system.folders import as_named
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.shell import command_line


@command("upload", examples=("", "--port /dev/ttyACM0"))
def upload_command(
    folder: Path = argument(PATH, metavar="[FOLDER]", default=Path()),
    port: str | None = PORT,
    environment: str | None = option(
        "The section [env:NAME] of platformio.ini to use.  [default: the first in default_envs]",
        metavar="NAME",
    ),
    out: Output = OUTPUT,
) -> None:
    """Compile the project in FOLDER and upload it to the board.

    FOLDER is a project that 'build' wrote, by default the current folder. The port is
    detected automatically. PlatformIO compiles and uploads, with its own compiler or an installed
    one. You can also upload to a board that 'emulate --bootloader' emulates. For a Pico, the file
    .uf2 is copied to its drive, whose folder --port may name.
    """
    out.finish(upload(out, folder, port, environment))


def upload(
    out: Output, folder: Path, port: str | None = None, environment: str | None = None
) -> JsonObject:
    """Upload a project, and print the port; return both for the JSON object."""
    if folder.is_file():
        line = command_line(["protonn-edge", "build", str(folder), "-o", "project"])
        raise InputError(f"{folder} is a file; name a folder that 'build' wrote, as with: {line}")
    family = family_in(folder)
    if family is None:
        raise lacking(as_named(folder), "project", "name a folder that 'build' wrote")
    out.notice(about_newer_models(folder))
    project = Project(folder)
    if project.built:
        project.generated()  # refuses generated files that were edited, as all commands do
    out.notice(about_edited_files(folder, board_of([folder])))
    begun = family.upload(folder, port, environment)
    out.say(f"uploading {folder} to {begun.shown}: {begun.why}")
    with out.status(f"uploading to {begun.shown}"):
        begun.run()
    out.say("uploaded")
    return {
        "folder": str(folder),
        "environment": begun.environment,
        "port": begun.where,
        "why": begun.why,
    }


def upload_line(folder: Path, environment: str) -> str:
    """Return the command that uploads a project, to copy and run."""
    words = ["protonn-edge", "upload", *([] if folder == Path() else [str(folder)])]
    family = family_in(folder)
    return command_line([*words, *(family.upload_words(folder, environment) if family else ())])
