"""What was dropped on the page, in a scratch folder until it is kept, all of it or nothing.

Files lie there under numbers, so that no name can lead anywhere. The folder is removed when the
sheet is closed, when the studio ends, or, if that is killed, when the next one begins.
"""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from protonn_edge.extensions.studio.dropped import HIDDEN, DroppedFile
from protonn_edge.system.errors import InputError, InvalidValue, cannot_write, counted
from protonn_edge.system.folders import scratch_folder

MOST_FILES, MOST_BYTES = 20_000, 1 << 32
MOST_UNPACKED_BYTES = 512 << 20
MANIFEST = ".studio.json"
"""The file that makes a ZIP a project of the studio."""

_LONGEST_NAME, _MANIFEST_BYTES = 1_000, 8 << 20
_PIECE = 1 << 20
_DISK_LEFT_BYTES = 64 << 20


class Body(Protocol):
    """The body of a request."""

    def read(self, n: int, /) -> bytes:
        """Return up to n bytes, fewer at its end only."""

    def readline(self, n: int, /) -> bytes:
        """Return a line of up to n bytes."""


@dataclass
class Drop:
    """Files that were dropped together."""

    folder: Path
    files: list[DroppedFile] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)  # names, and why they are left out
    packed_in: list[str] = field(default_factory=list)  # the names of the ZIPs
    hidden: int = 0
    is_project: bool = False  # one ZIP of the studio
    _stack: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def received(cls, place: Path, body: Body, length: int) -> Drop:
        """Receive files in a scratch folder in a place; nothing stays if that fails.

        The body is a line of JSON, [[name, bytes], ...], and then the bytes of all files.
        """
        stack = ExitStack()
        try:
            drop = cls(stack.enter_context(scratch_folder(place)), _stack=stack)
            for name, path in drop._written(body, length):
                drop._add(path, name)
            drop._unpack()
            drop.files.sort(key=lambda each: each.name)
        except OSError as error:
            stack.close()
            if isinstance(error, ConnectionError | TimeoutError):
                raise
            raise cannot_write(place, error) from error
        except BaseException:
            stack.close()
            raise
        return drop

    def close(self) -> None:
        """Remove the files that were not kept."""
        self._stack.close()

    def _written(self, body: Body, length: int) -> Iterator[tuple[str, Path]]:
        manifest, start = _manifest(body, length)
        total = sum(size for _, size in manifest)
        if total != length - start:
            raise InputError("the files have changed while they were sent; drop them again")
        free = shutil.disk_usage(self.folder).free
        if total > free - _DISK_LEFT_BYTES:
            raise InputError(
                f"the files have {total:,} bytes, but the disk has {free:,} left; free some space"
            )
        for number, (name, size) in enumerate(manifest):
            path = self._place(number, name)
            with path.open("wb") as file:
                _copy(body, file, size)
            yield name, path

    def _place(self, number: int, name: str) -> Path:
        ending = PurePosixPath(name).suffix.lower()
        usual = ending.isascii() and ending[1:].isalnum() and len(ending) < 8
        return self.folder / f"{number}{ending if usual else ''}"

    def _add(self, path: Path, name: str) -> None:
        if HIDDEN.search(name):
            self.hidden += 1
            return
        found = DroppedFile.examined(path, name)
        if found.kind == "text" and path.suffix not in (".csv", ".tsv"):
            # readers choose by the ending
            found = DroppedFile.examined(path.rename(path.with_suffix(".csv")), name)
        if found.reason:
            self.left.append((name, found.reason))
        else:
            self.files.append(found)

    def _unpack(self) -> None:
        """Replace ZIPs by their files; of several ones, each has a folder called like it."""
        packed = [each for each in self.files if each.kind == "zip"]
        self.files = [each for each in self.files if each.kind != "zip"]
        self.packed_in = [each.name for each in packed]
        room = MOST_UNPACKED_BYTES
        for each in packed:
            above = f"{PurePosixPath(each.name).stem}/" if len(packed) > 1 else ""
            try:
                room -= self._unpacked(each, above, room)
            except InputError as error:
                self.left.append((each.name, str(error)))
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError):
                self.left.append((each.name, "cannot be opened. The archive is not whole"))
            each.path.unlink()

    def _unpacked(self, packed: DroppedFile, above: str, room: int) -> int:
        """Unpack a ZIP whose sizes fit, and return its bytes; links and ways out are left out."""
        with zipfile.ZipFile(packed.path) as archive:
            entries = [each for each in archive.infolist() if not each.is_dir()]
            alone = not self.files and self.packed_in == [packed.name]
            self.is_project = alone and MANIFEST in archive.namelist()
            total = sum(each.file_size for each in entries)
            if len(entries) > MOST_FILES:
                raise InputError(f"has {len(entries):,} files, and the limit is {MOST_FILES:,}")
            if total > room:
                limit = MOST_UNPACKED_BYTES >> 20
                raise InputError(f"is too large. Unpacked, it has more than {limit} MB")
            for number, entry in enumerate(entries):
                name = above + entry.filename
                if why := _unsafe(entry):
                    self.left.append((name, why))
                    continue
                path = self._place(number, name).with_stem(f"{packed.path.stem}-{number}")
                try:
                    with archive.open(entry) as source, path.open("wb") as file:
                        _copy(source, file, entry.file_size)
                except (zipfile.BadZipFile, NotImplementedError, InputError, ValueError):
                    self.left.append((name, "cannot be unpacked. The archive is damaged there"))
                    path.unlink(missing_ok=True)
                else:
                    self._add(path, name)
            inside = [each for each in self.files if each.kind == "zip"]
            self.left += [(each.name, "is a ZIP inside of a ZIP. Unpack it") for each in inside]
            self.files = [each for each in self.files if each.kind != "zip"]
        return total


def _unsafe(entry: zipfile.ZipInfo) -> str:
    """Return why an entry of a ZIP is not unpacked; empty if it is."""
    path = PurePosixPath(entry.filename)
    if not path.parts:
        return "has no name"
    if ".." in path.parts or path.is_absolute() or "\\" in entry.filename or ":" in path.parts[0]:
        return "leads out of its archive"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "is a link"
    if entry.flag_bits & 1:
        return "is encrypted. Unpack it with its password"
    return ""


def _manifest(body: Body, length: int) -> tuple[Sequence[tuple[str, int]], int]:
    """Return the names and sizes of the files that follow, and how long this line was."""
    line = body.readline(min(length, _MANIFEST_BYTES))
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError("the list of files is no JSON; reload the page") from error
    fits = isinstance(given, list) and all(map(_is_entry, given))
    if not fits:
        raise InputError("the list of files has no names and sizes; reload the page")
    if len(given) > MOST_FILES:
        what, limit = counted(len(given), "file"), f"more than {MOST_FILES:,}"
        raise InvalidValue("the drop", f"{what}, {limit}", "drop them in parts")
    return [(name, size) for name, size in given], len(line)


def _is_entry(entry: object) -> bool:
    match entry:
        case [str(name), int(size)] if 0 < len(name) <= _LONGEST_NAME and "\0" not in name:
            return type(size) is int and 0 <= size <= MOST_BYTES
    return False


def _copy(source: Body | IO[bytes], file: IO[bytes], size: int) -> None:
    """Copy exactly `size` bytes, piece by piece."""
    while size > 0:
        piece = source.read(min(size, _PIECE))
        if not piece:
            raise InputError("the drop was stopped; nothing was added")
        file.write(piece)
        size -= len(piece)
