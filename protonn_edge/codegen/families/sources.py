"""The files of a project that come from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from protonn_edge.system.files import resources

_FOR_THIS_COMPUTER = "firmware/host/"  # which settings exclude
_GENERATED = "firmware/generated/"


def files_of_every_firmware(names: Sequence[str], place: str) -> dict[str, bytes | str]:
    """Return some files of the AVRs' firmware that others share, for a place in a project."""
    found = ((name, folder / name) for name in names for folder in resources("firmware"))
    return {f"{place}/{name}": path.read_bytes() for name, path in found if path.is_file()}


def files_below(source: Path, place: str) -> dict[str, bytes | str]:
    """Return the files of a folder, if it exists, that belong into a project at a place."""
    return {
        name: content
        for name, content in all_below(source, place).items()
        if not name.startswith(_GENERATED)
    }


def all_below(source: Path, place: str) -> dict[str, bytes | str]:
    """Return the files of a project's folder, with generated ones; links to folders as b""."""
    found = ((f"{place}/{path.relative_to(source).as_posix()}", path) for path in source.rglob("*"))
    return {
        name: path.read_bytes() if path.is_file() else b""
        for name, path in sorted(found)
        if (path.is_file() or path.is_symlink())
        and path.suffix != ".md"
        and not name.startswith(_FOR_THIS_COMPUTER)
    }
