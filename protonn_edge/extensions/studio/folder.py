"""What is in the folder: recordings, tables, models and projects, by what is in each file."""

from __future__ import annotations

import contextlib
import hashlib
import stat
from functools import lru_cache
from pathlib import Path

from protonn_edge.codegen.export.folder import LIVE, LOGGER, written_in
from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.data.files.arrays import FILE_LIMIT_BYTES
from protonn_edge.data.takes.images import has_images
from protonn_edge.device.results import is_results
from protonn_edge.extensions.sensing.editing.takes import is_recording
from protonn_edge.extensions.studio.actions import names_in
from protonn_edge.extensions.studio.sample import PLAYED_MARK
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_SOUNDS = (".wav", ".csv", ".tsv", ".json", ".cbor")
_BY_ENDING = {
    ".html": "page", ".svm": "points", ".toml": "sensor", ".wav": "sound", ".zip": "zip"
}  # fmt: skip
_OF_A_COMMAND = b"# protonn-edge"  # such as a power meter's trace


def listing(folder: Path) -> list[JsonObject]:
    """Return the files and folders that the page can use, with their kinds."""
    found = []
    for name in names_in(folder):
        path = folder / name
        with contextlib.suppress(OSError):  # it was removed in the meantime
            if kind := kind_of(path):
                size, at = path.stat().st_size, path.stat().st_mtime
                found.append({"name": name, "kind": kind, "size": size, "at": at})
    return found


def kind_of(path: Path) -> str:
    """Return what a file or a folder is for the page; empty for others."""
    try:
        stamp = path.stat()
        if stat.S_ISDIR(stamp.st_mode):
            return _kind_of_folder(path)
        if stat.S_ISREG(stamp.st_mode):  # a pipe would have no end
            return _kind_of_file(path, stamp.st_mtime_ns, stamp.st_size)
    except OSError:
        pass
    return ""


@lru_cache(maxsize=1000)
def _kind_of_file(path: Path, *_: int) -> str:
    """Return the kind of a file, by its first bytes; cached as long as it does not change."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        try:
            with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
                return "points" if {"X", "X_train"} & {*archive.names} else "model"
        except InputError:
            return "model"  # whose error is shown
    if suffix not in (".csv", ".tsv"):
        return _BY_ENDING.get(suffix, "")
    for kind, is_one in (("recording", is_recording), ("results", is_results)):
        if is_one(path):
            return kind
    with path.open("rb") as file:
        begin = file.read(len(PLAYED_MARK))
    kinds = {PLAYED_MARK: "samples"}
    return kinds.get(begin, "" if begin.startswith(_OF_A_COMMAND) else "table")


def _kind_of_folder(path: Path) -> str:
    if (path / "platformio.ini").is_file():
        kinds = {LIVE: "live", LOGGER: "logger"}
        return kinds.get(written_in(path).kind or "", "project")
    if has_images(path):
        return "images"
    inside = (each for below in ("*", "*/*", "*/*/*") for each in path.glob(below))  # of parts
    return "takes" if any(each.suffix.lower() in _SOUNDS for each in inside) else ""


def version_of(path: Path) -> str:
    """Return a text that changes whenever a file, or a file of a folder, does."""
    version = hashlib.sha256()
    for each in [path, *sorted(path.rglob("*"))]:
        one = each.stat() if each.exists() else each.lstat()  # of a link that leads nowhere
        stamp = f"{each} {one.st_ino} {one.st_mtime_ns} {one.st_size}\n"
        version.update(stamp.encode(errors="replace"))
    return version.hexdigest()
