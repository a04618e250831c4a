"""Put an export into its folder, completely or not at all, and never over other files.

The file `MANIFEST` lists an export's files, in the format of sha256sum. A new export replaces them,
unless one was edited; other files stay. Projects of other commands are written in the same way: a
comment above the list names the kind, and one kind never replaces another.

While files are replaced, the list has the old and the new ones, so that an export which is killed
can be repeated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from protonn_edge.codegen.projects.folder import exclusive
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import (
    MODEL_LIMIT_BYTES,
    as_bytes,
    check_no_links,
    read_file,
    write_atomically,
    write_together,
)
from protonn_edge.system.folders import is_scratch

MANIFEST = ".protonn-edge-export"
EXPORT, LOGGER, LIVE = "an export", "a logger", "firmware with a sensor"
"""The kinds of such folders."""

_READERS = {LOGGER: "'protonn-edge record'", LIVE: "'protonn-edge monitor'"}
_MANIFEST_LIMIT_BYTES = 1 << 16
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class Manifest(NamedTuple):
    """A folder's list: its kind, and the SHA-256 that files may have, by name."""

    kind: str | None = None
    digests: Mapping[str, frozenset[str]] = {}

    def edited_in(self, folder: Path) -> list[str]:
        """Return the names of files that are there, but are not as they were written."""
        files = ((name, folder / name, digests) for name, digests in self.digests.items())
        return [
            name
            for name, path, digests in files
            if path.exists() and (not path.is_file() or _digest(_read(path)) not in digests)
        ]

    def whole_in(self, folder: Path) -> dict[str, str]:
        """Return the SHA-256 of each file; `InputError` if one is missing, or of another export."""
        for name, digests in self.digests.items():
            if len(digests) != 1 or not (folder / name).is_file():
                raise InvalidValue(
                    folder / name, "not of the same export as the other files", "export again"
                )
        return {name: next(iter(digests)) for name, digests in self.digests.items()}


def check_folder(folder: Path, kind: str = EXPORT) -> None:
    """Raise `InputError` if an export, or another `kind`, cannot be put into `folder`.

    It can if `folder` does not exist, is empty, or contains an export of that kind with unchanged
    files and no symbolic links.
    """
    if not folder.is_dir():
        if folder.exists() or folder.is_symlink():
            raise InvalidValue(folder, "not a folder", f"choose a folder for {kind}")
        return
    if all(map(is_scratch, folder.iterdir())):
        return
    written = written_in(folder)
    if written.kind is None:
        raise InvalidValue(folder, f"neither empty nor {kind}", "choose another folder")
    if written.kind != kind:
        raise InvalidValue(
            folder,
            f"it contains {written.kind}, which cannot be replaced by {kind}",
            "remove this folder, or choose another one",
        )
    check_no_links(folder, written.digests)
    for name in written.edited_in(folder):
        raise InvalidValue(
            folder / name, "edited after the export", "move it elsewhere, or choose another folder"
        )


def check_project(folder: Path, wanted: str | None = None) -> None:
    """Refuse a project with firmware for another command.

    `wanted` is `LOGGER`, `LIVE`, or by default a project that 'build' writes for points.
    """
    kind = written_in(folder).kind
    if kind == wanted or (wanted is None and kind not in _READERS):
        return
    build = "build" if wanted is None else "build --sensor"
    if kind not in _READERS:
        raise InvalidValue(
            folder,
            f"it does not contain {wanted}",
            f"name the folder that 'protonn-edge {build}' wrote",
        )
    without = " without --sensor" if wanted is None else ""
    raise InvalidValue(
        folder,
        f"it contains {kind}, which only {_READERS[kind]} reads",
        f"use {_READERS[kind]}, or name the folder that 'protonn-edge {build}' wrote{without}",
    )


def write_folder(folder: Path, files: Mapping[str, str | bytes], kind: str = EXPORT) -> None:
    """Write an export, or another `kind`; old files are removed once the new ones exist.

    Missing parent folders are created. `files` maps names with ``/`` to bytes or texts, which are
    written as UTF-8 with unchanged line ends. Raises `InputError`, and changes nothing, if
    `check_folder` does, another file is in the way, or the folder cannot be written.
    """
    check_folder(folder, kind)
    with exclusive(folder):
        check_folder(folder, kind)
        before, contents = written_in(folder).digests, _digests(files)
        for name in files:
            path = folder / name
            if name not in before and (path.exists() or path.is_symlink()):
                raise InvalidValue(
                    path,
                    f"not part of {kind}, but it would be overwritten",
                    "move the file, or choose another folder",
                )
        old = [(digest, name) for name, digests in before.items() for digest in digests]
        meanwhile = _manifest([*contents, *old], kind)
        write_together(folder, {MANIFEST: meanwhile, **files}, remove=before)
        write_atomically(folder / MANIFEST, _manifest(contents, kind))


def listed(files: Mapping[str, str | bytes], kind: str = EXPORT) -> dict[str, str | bytes]:
    """Return files by name together with their list."""
    return {**files, MANIFEST: _manifest(_digests(files), kind)}


def _digests(files: Mapping[str, str | bytes]) -> list[tuple[str, str]]:
    return [(_digest(as_bytes(content)), name) for name, content in files.items()]


def _manifest(contents: Iterable[tuple[str, str]], kind: str) -> str:
    """Return the list of files, each with its SHA-256."""
    head = "" if kind == EXPORT else f"# {kind}\n"
    lines = sorted({(name, digest) for digest, name in contents})
    return head + "".join(f"{digest}  {name}\n" for name, digest in lines)


def written_in(folder: Path) -> Manifest:
    """Return a folder's list; empty if there is no sound one."""
    path = folder / MANIFEST
    if not path.is_file() or path.stat().st_size > _MANIFEST_LIMIT_BYTES:
        return Manifest()
    texts = _read(path).decode("utf-8", "replace").splitlines()
    said = {f"# {kind}": kind for kind in (LOGGER, LIVE)}
    kind = said.get(texts[0] if texts else "", EXPORT)
    lines = [_LINE.fullmatch(text) for text in texts[kind != EXPORT :]]
    names = [line[2] for line in lines if line is not None]
    if len(names) < len(lines) or not all(map(_is_inside, names)):
        return Manifest()
    digests = {
        name: frozenset(line[1] for line in lines if line is not None and line[2] == name)
        for name in names
    }
    return Manifest(kind, digests)


def _is_inside(name: str) -> bool:
    """Whether a name in a list, which may be anyone's, is one of a file below the folder."""
    path = PurePosixPath(name)
    return (
        not path.is_absolute() and ".." not in path.parts and "\\" not in name and ":" not in name
    )


def _read(path: Path) -> bytes:
    return read_file(path, limit_bytes=MODEL_LIMIT_BYTES, may_be_empty=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
