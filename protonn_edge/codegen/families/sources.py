"""The files of a project that come from a folder."""

from __future__ import annotations

from pathlib import Path

NOT_COPIED = ("generated", "host")  # the latter is the program for this computer


def files_below(source: Path, place: str) -> dict[str, bytes | str]:
    """Return the files of a folder, if it exists, that belong into a project at a place."""
    found = ((path, path.relative_to(source)) for path in sorted(source.rglob("*")))
    return {
        f"{place}/{relative.as_posix()}": path.read_bytes()
        for path, relative in found
        if path.is_file() and path.suffix != ".md" and relative.parts[0] not in NOT_COPIED
    }
