"""Folders of takes: a file, or a folder, for each class; tables of samples and WAV files.

A file's class is its name up to the first dot, as in Edge Impulse's ``circle.1.csv``; in a folder
for each class it is the folder's name. Folders ``training`` and ``testing`` divide the takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.notices import listed
from protonn_edge.errors import InputError

TABLES = (".csv", ".tsv")
WAVES = (".wav",)

_MOST_TAKES = 100_000
_PARTS = {"training": False, "train": False, "testing": True, "test": True}
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Take:
    """A file of samples of one class.

    Attributes
    ----------
    path : Path
    name : str
        The path below the folder.
    label : str
    tested : bool
        Whether it is for testing.
    """

    path: Path
    name: str
    label: str
    tested: bool

    @property
    def is_wave(self) -> bool:
        """Whether it is a WAV file."""
        return self.path.suffix.lower() in WAVES


def label_of(path: Path) -> str:
    """Return the class in a file's name."""
    return label_text(path.name.split(".", 1)[0])


def takes_in(folder: Path) -> list[Take]:
    """Return the takes of a folder, in the order of their names; numbers count as numbers.

    Raises
    ------
    InputError
        If there are none, or files beside folders.
    """
    files, folders = _entries(folder)
    if folders and {each.name.lower() for each in folders} <= set(_PARTS) and not files:
        found = [
            take
            for part in folders
            for take in _of_part(part, folder, tested=_PARTS[part.name.lower()])
        ]
    else:
        found = list(_of_part(folder, folder, tested=False))
    if not found:
        raise InputError(
            f"{folder} has no samples; give a file or a folder for each class, of .csv or .wav"
        )
    if len(found) > _MOST_TAKES:
        raise InputError(f"{folder} has {len(found):,} files, the limit is {_MOST_TAKES:,}")
    return found


def unread_in(folder: Path, takes: Sequence[Take]) -> tuple[list[str], list[str]]:
    """Return the names of other files in a folder of takes, and of folders without any take."""
    read = {take.path for take in takes}
    parents = {parent for path in read for parent in path.parents}
    inside = sorted(parent for parent in parents if parent.is_relative_to(folder))
    entries = sorted((path for parent in inside for path in parent.iterdir()), key=_order)
    known = read | parents
    others = [path for path in entries if path not in known]
    shown = [path for path in others if not path.name.startswith((".", "_"))]
    files, folders = (
        [path.relative_to(folder).as_posix() for path in shown if path.is_dir() == wanted]
        for wanted in (False, True)
    )
    return files, folders


def _of_part(folder: Path, root: Path, *, tested: bool) -> Iterator[Take]:
    files, folders = _entries(folder)
    if files and folders:
        raise InputError(
            f"{folder} has files, such as {files[0].name!r}, and folders, such as "
            f"{folders[0].name!r}; give either a file or a folder for each class"
        )
    for path in files:
        yield Take(path, path.relative_to(root).as_posix(), label_of(path), tested)
    for each in folders:
        inside, deeper = _entries(each)
        if deeper:
            raise InputError(
                f"{each} has folders of its own, {listed(path.name for path in deeper)}; give a "
                "folder for each class, with its files"
            )
        for path in inside:
            yield Take(path, path.relative_to(root).as_posix(), label_text(each.name), tested)


def _entries(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of samples and the subfolders of a folder."""
    try:
        entries = sorted(folder.iterdir(), key=_order)
    except OSError as error:
        raise InputError(
            f"cannot read {folder}: {error.strerror}; check its permissions"
        ) from error
    shown = [entry for entry in entries if not entry.name.startswith((".", "_"))]
    files = [path for path in shown if path.suffix.lower() in (*TABLES, *WAVES)]
    return files, [path for path in shown if path.is_dir() and path not in files]


def _order(path: Path) -> list[tuple[int, str]]:
    """Return the sort key of a path, by which 2 comes before 10."""
    parts = _DIGITS.split(path.name.lower())
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]
