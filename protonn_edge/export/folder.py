"""Put an export into its folder: whole or not at all, and never over what someone else wrote.

The file `MANIFEST` tells what of a folder is an export, in the format of sha256sum. A new export
replaces those files, unless one was edited; whatever else is there stays.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from protonn_edge.errors import InputError

MANIFEST = ".protonn-edge-export"
_MANIFEST_LIMIT_BYTES = 1 << 16
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def check_folder(folder: Path) -> None:
    """Raise `InputError` if an export cannot be put into `folder`.

    It can if there is nothing of that name, an empty folder, or an export whose files are as they
    were written.
    """
    if not folder.is_dir():
        if folder.exists() or folder.is_symlink():
            raise InputError(f"{folder} is not a folder; choose another one for the export")
        return
    if Path.cwd().is_relative_to(folder.resolve()):
        raise InputError(
            f"{folder} is the current folder, or around it, and would be replaced under your feet; "
            "run the command elsewhere"
        )
    if not any(folder.iterdir()):
        return
    written = _manifest(folder)
    if written is None:
        raise InputError(f"{folder} is neither empty nor an export; choose another folder")
    for name, digest in written.items():
        path = folder / name
        if path.exists() and (not path.is_file() or _digest(path.read_bytes()) != digest):
            raise InputError(
                f"{path} was edited since it was exported; copy it to a place of your own, or "
                "choose another folder"
            )


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write an export beside `folder`, then rename it; an old export's files go.

    Parameters
    ----------
    folder : Path
        Where it shall be; missing parents are made.
    files : mapping of str to str
        Texts by their names, with ``/``; written as UTF-8, with line ends as they are.

    Raises
    ------
    InputError
        If `check_folder` has something against the folder, a file that is not the export's is in
        the way, or the folder cannot be written.
    """
    check_folder(folder)
    try:
        target = folder.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".protonn-edge-", dir=target.parent) as scratch:
            fresh = Path(scratch, "new")
            _lay_out(fresh, files, before=target)
            _swap(fresh, target, Path(scratch, "old"))
    except OSError as error:
        raise InputError(
            f"cannot write {folder}: {error.strerror or error}; choose another folder"
        ) from error


def _lay_out(fresh: Path, files: Mapping[str, str], before: Path) -> None:
    """Make the folder as it shall be: what was there and is not the old export's, and the files."""
    if before.is_dir():
        shutil.copytree(before, fresh, symlinks=True)
        _remove(fresh, [*(_manifest(before) or {}), MANIFEST])
    contents = {name: text.encode() for name, text in files.items()}
    manifest = "".join(f"{_digest(data)}  {name}\n" for name, data in sorted(contents.items()))
    for name, data in {**contents, MANIFEST: manifest.encode()}.items():
        path = fresh / name
        if path.exists() or path.is_symlink():
            raise InputError(
                f"{before / name} is not the export's and in its way; move it, or choose another "
                "folder"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove files, and the folders that become empty."""
    for name in names:
        path = folder / name
        path.unlink(missing_ok=True)
        for parent in path.relative_to(folder).parents:
            place = folder / parent
            if place != folder and place.is_dir() and not any(place.iterdir()):
                place.rmdir()


def _swap(fresh: Path, target: Path, old: Path) -> None:
    if target.exists():
        target.rename(old)
    try:
        fresh.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise


def _manifest(folder: Path) -> dict[str, str] | None:
    """Return the digests of an export's files by their names, None if there is no sound list."""
    path = folder / MANIFEST
    if not path.is_file() or path.stat().st_size > _MANIFEST_LIMIT_BYTES:
        return None
    lines = [_LINE.fullmatch(line) for line in path.read_text("utf-8", "replace").splitlines()]
    written = {line[2]: line[1] for line in lines if line is not None}
    sound = len(written) == len(lines) and all(_is_inside(name) for name in written)
    return written if sound else None


def _is_inside(name: str) -> bool:
    """Whether a name in a list, which may be anyone's, is one of a file below the folder."""
    path = PurePosixPath(name)
    return (
        not path.is_absolute() and ".." not in path.parts and "\\" not in name and ":" not in name
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
