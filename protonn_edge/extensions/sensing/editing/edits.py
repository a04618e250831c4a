"""Edits of takes, and their undoing. An edit replaces a few bytes, and remembers them.

What edits replaced is in a hidden file beside the recording, an edit a line. It holds the old and
the new bytes and their place, so that the last edit can be undone also when takes were recorded
since. If the recording has other bytes there, another program has changed it: nothing is undone.

An edit is remembered first, and then made in one step: a file is replaced, removed or renamed. So a
program that is stopped leaves the recording as it was before the edit or after it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from protonn_edge.data.tables.cells import check_labels
from protonn_edge.extensions.sensing.editing.takes import (
    RECORDING_LIMIT_BYTES,
    EditableRecording,
    EditableTake,
    read_takes,
    with_sizes,
)
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue, counted, printable
from protonn_edge.system.files import (
    AppendedFile,
    check_no_links,
    move_file,
    read_file,
    remove_file,
    write_atomically,
)
from protonn_edge.system.schema import JsonObject

_MOST_EDITS = 100  # that can be undone
_LIMIT_BYTES = 1 << 28
_CONTEXT_BYTES = 128


@dataclass(frozen=True)
class Replacement:
    """Bytes of a file, as Latin-1, and what replaces them; None where there is no file."""

    file: str  # below the folder, or beside the recording
    at: int
    old: str | None
    new: str | None

    @property
    def undone(self) -> Replacement:
        """What takes it back."""
        return Replacement(self.file, self.at, self.new, self.old)

    def fits(self, content: bytes | None) -> bool:
        """Whether a file's content has the bytes that would be replaced."""
        if content is None or self.old is None:
            return content is None and self.old is None
        return content.startswith(self.old.encode("latin-1"), self.at)

    def applied(self, content: bytes | None) -> bytes | None:
        """Return a file's content after the replacement; raises `CheckFailed` if it is another."""
        if not self.fits(content):
            raise CheckFailed(f"another program has changed {self.file}; nothing is undone")
        if self.new is None:
            return None
        before, end = content or b"", self.at + len(self.old or "")
        return before[: self.at] + self.new.encode("latin-1") + before[end:]


@dataclass(frozen=True)
class TakeEdit:
    """An edit, in words, and what it replaces."""

    words: str
    replaced: tuple[Replacement, ...]

    @classmethod
    def parse(cls, line: str) -> TakeEdit:
        """Return the edit of a line; raises `ValueError`, `TypeError` or `KeyError` for others."""
        record = json.loads(line)
        if not all(map(_is_replacement, record["replaced"])):
            raise TypeError(line)
        replaced = tuple(Replacement(**each) for each in record["replaced"])
        return cls(printable(str(record["words"])), replaced)


class RecordedFiles:
    """The files of a recording: one, or those below a folder; and what edits replace in them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def has(self, name: str) -> bool:
        """Whether a name, which may be anyone's, can be one of these files."""
        if not self.path.is_dir():
            return name == self.path.name
        path = Path(name)
        return not path.anchor and ".." not in path.parts

    def place(self, name: str) -> Path:
        """Return the path of a file."""
        return self.path / name if self.path.is_dir() else self.path.with_name(name)

    def found(self, name: str) -> bytes | None:
        """Return the content of a file, None if there is none."""
        return self.content(name) if self.place(name).is_file() else None

    def content(self, name: str) -> bytes:
        """Return the content of a file."""
        return read_file(self.place(name), limit_bytes=RECORDING_LIMIT_BYTES, may_be_empty=True)

    @staticmethod
    def replacement(file: str, content: bytes, begin: int, end: int, new: bytes) -> Replacement:
        """Return a replacement with some bytes around it, by which its place is known again."""
        first, last = max(0, begin - _CONTEXT_BYTES), end + _CONTEXT_BYTES
        around = content[first:begin], content[end:last]
        fresh = around[0] + new + around[1]
        return Replacement(
            file, first, content[first:last].decode("latin-1"), fresh.decode("latin-1")
        )

    def pieces(self, take: EditableTake, parts: list[tuple[int, int]]) -> list[Replacement]:
        """Return what removes parts of a take's samples."""
        content = self.content(take.file)
        if not len(take.rows):
            raise InvalidValue(
                take.file, "not one row per sample, so it cannot be cut", "use another program"
            )
        spans = [(int(take.rows[a]), int(take.rows[b])) for a, b in parts if a < b]
        if not spans:
            raise InvalidValue("the part", "the whole take", "give a shorter part")
        begin, end = spans[0][0], spans[-1][1]
        inner = [begin, *(place for span in spans for place in span), end]
        kept = b"".join(content[a:b] for a, b in zip(inner[::2], inner[1::2], strict=True))
        if take.file.lower().endswith(".wav"):
            removed = end - begin - len(kept)
            kept = with_sizes(content[:begin] + kept + content[end:], removed)
            begin, end = 0, len(content)
        return [self.replacement(take.file, content, begin, end, kept)]

    def removal(self, recording: EditableRecording, take: EditableTake) -> list[Replacement]:
        """Return what removes a take."""
        if not recording.is_folder:
            return self.pieces(take, [(0, take.n)])
        return [Replacement(take.file, 0, self.content(take.file).decode("latin-1"), None)]

    def moved(self, take: EditableTake, label: str) -> list[Replacement]:
        """Return what gives the file of a take the name, or the folder, of another class."""
        old = Path(take.file)
        if "/" in label or label.startswith("."):
            raise InvalidValue("--label", f"{label!r}", "give a name that a folder can have")
        if len(old.parts) > 1:
            new = old.parent.with_name(label) / old.name
        else:
            new = old.with_name(f"{label}{old.name[len(old.name.split('.', 1)[0]) :]}")
        number = 2
        while self.place(new.as_posix()).exists():
            new = new.with_name(f"{new.name.split('.', 1)[0]}.{number}{old.suffix}")
            number += 1
        content = self.content(take.file).decode("latin-1")
        return [
            Replacement(new.as_posix(), 0, None, content),
            Replacement(take.file, 0, content, None),
        ]


class TakeEditor:
    """Edits the takes of a recording, one edit at a time; `InputError` if it is being recorded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = RecordedFiles(path)
        self._undo = path.with_name(f".{path.name}.undo")

    def cut(self, number: int, begin: int, end: int) -> str:
        """Remove the samples from `begin` to before `end` of a take, from 1."""
        with self._locked() as recording:
            take, begin, end = _part_of(recording, number, begin, end)
            words = f"removed {counted(end - begin, 'sample')} of take {number}, {take.label}"
            if end - begin == take.n:
                return self._apply(words, self._files.removal(recording, take))
            return self._apply(words, self._files.pieces(take, [(begin, end)]))

    def keep(self, number: int, begin: int, end: int) -> str:
        """Remove all samples of a take, but those from `begin` to before `end`."""
        with self._locked() as recording:
            take, begin, end = _part_of(recording, number, begin, end)
            words = f"kept {end - begin:,} of {counted(take.n, 'sample')} of take {number}"
            return self._apply(
                f"{words}, {take.label}", self._files.pieces(take, [(0, begin), (end, take.n)])
            )

    def delete(self, number: int) -> str:
        """Remove a take."""
        with self._locked() as recording:
            take = recording.take(number)
            words = f"deleted take {number}, {take.label}"
            return self._apply(words, self._files.removal(recording, take))

    def rename(self, number: int, label: str | None = None, session: str | None = None) -> str:
        """Give a take another class, another session, or both."""
        given = [each for each in (label, session) if each is not None]
        check_labels(given, "--label and --session", distinct=False)
        with self._locked() as recording:
            take = recording.take(number)
            new = (label or take.label, session or take.session)
            words = f"take {number} is now {', '.join(filter(None, new))}"
            if recording.is_folder:
                if session is not None:
                    raise InputError(
                        "the files of a folder have no column of sessions; rename the files, and "
                        "omit --session"
                    )
                return self._apply(words, self._files.moved(take, new[0]))
            text = io.StringIO()
            csv.writer(text, lineterminator="").writerow(new)
            content = self._files.content(take.file)
            begin, end = int(take.rows[0]), int(take.rows[-1])
            first = content[begin : int(take.rows[1])]
            before = len(first) - len(_tail(first, take.values.shape[1]))
            lines = (
                content[int(one) + before : int(other)]
                for one, other in zip(take.rows[:-1], take.rows[1:], strict=True)
            )
            prefix = text.getvalue().encode() + b","
            fresh = b"".join(prefix + line for line in lines)
            return self._apply(
                words, [self._files.replacement(take.file, content, begin, end, fresh)]
            )

    def undo(self) -> str:
        """Undo the last edit that is not undone yet."""
        edits = self._edits()
        with self._locked(reads=False):
            while edits:
                edit = edits.pop()
                made = [each for each in edit.replaced if not self._is_undone(each)]
                if not made:
                    continue  # the program was stopped before it made this edit
                self._write([each.undone for each in reversed(made)])
                self._remember(edits)
                return f"undid the edit {edit.words!r}"
        self._remember(edits)
        raise InputError(f"there is no edit of {self.path} to undo; edit a take first")

    @property
    def undoable(self) -> list[str]:
        """The edits that can be undone, in words, the last one at the end."""
        return [each.words for each in self._edits()]

    @contextmanager
    def _locked(self, *, reads: bool = True) -> Iterator[EditableRecording]:
        """Yield the recording, which nobody else writes to meanwhile."""
        if self.path.is_dir():
            yield read_takes(self.path)
            return
        if not self.path.is_file():
            raise InputError(f"{self.path} does not exist; name a recording, or a folder of takes")
        with AppendedFile(self.path, flag=""):
            yield read_takes(self.path) if reads else EditableRecording(self.path, [], (), None)

    def _apply(self, words: str, replaced: list[Replacement]) -> str:
        """Make an edit; what it replaces is remembered before."""
        self._remember([*self._edits(), TakeEdit(words, tuple(replaced))])
        self._write(replaced)
        return words

    def _write(self, replaced: list[Replacement]) -> None:
        contents: dict[str, bytes | None] = {}
        if self.path.is_dir():
            check_no_links(self.path, [each.file for each in replaced])
        for each in replaced:
            before = contents.get(each.file, self._files.found(each.file))
            contents[each.file] = each.applied(before)
        gone = {name for name, content in contents.items() if content is None}
        for name, content in contents.items():
            if content is None:
                continue
            same = next((old for old in gone if self._files.found(old) == content), None)
            if same is None:
                write_atomically(self._files.place(name), content)
            else:
                move_file(self._files.place(same), self._files.place(name))
                gone.remove(same)
        for name in gone:
            remove_file(self._files.place(name))

    def _is_undone(self, replacement: Replacement) -> bool:
        """Whether a file is as it was before a replacement, and cannot be as it was after it."""
        content = self._files.found(replacement.file)
        return replacement.fits(content) and not replacement.undone.fits(content)

    def _edits(self) -> list[TakeEdit]:
        """Return the edits that can be undone; none if the file is damaged, or of other files."""
        if not self._undo.is_file():
            return []
        content = read_file(self._undo, limit_bytes=_LIMIT_BYTES, may_be_empty=True)
        try:
            edits = [TakeEdit.parse(line) for line in content.decode().splitlines()]
        except (ValueError, TypeError, KeyError, RecursionError):
            return []
        names = (each.file for edit in edits for each in edit.replaced)
        return edits if all(map(self._files.has, names)) else []

    def _remember(self, edits: list[TakeEdit]) -> None:
        lines = [json.dumps(asdict(each)) + "\n" for each in edits[-_MOST_EDITS:]]
        while sum(map(len, lines)) > _LIMIT_BYTES:
            lines.pop(0)
        write_atomically(self._undo, "".join(lines))


def _is_replacement(record: JsonObject) -> bool:
    """Whether a JSON value has the types of a replacement."""
    texts = (record[name] is None or isinstance(record[name], str) for name in ("old", "new"))
    return isinstance(record["file"], str) and type(record["at"]) is int and all(texts)


def _part_of(
    recording: EditableRecording, number: int, begin: int, end: int
) -> tuple[EditableTake, int, int]:
    """Return a take, and the part of its samples; `InvalidValue` for none."""
    take = recording.take(number)
    begin, end = max(0, begin), min(end, take.n)
    if begin >= end:
        raise InvalidValue("the part", "no samples", f"give numbers from 0 to {take.n:,}")
    return take, begin, end


def _tail(line: bytes, channels: int) -> bytes:
    """Return the part of a row behind its label and session: the time and the values."""
    return b",".join(line.rsplit(b",", channels + 1)[1:])
