"""Each dropped file alone: what it is by its first bytes, and why it cannot be used, if so."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.data.tables.tables import RawTable
from protonn_edge.data.takes.images import read_gray
from protonn_edge.extensions.sensing.recordings.waves import Wave, read_wave
from protonn_edge.system.errors import InputError

HEAD_BYTES, WHOLE_BYTES = 1 << 18, 4 << 20  # of a table that is read for the sheet, and most of one
HIDDEN = re.compile(r"(^|/)(\.(?!\.?/)[^/]*|__MACOSX|Thumbs\.db|desktop\.ini)(/|$)", re.IGNORECASE)
"""Files that systems keep beside others, which nobody means to drop."""

PLAIN = TableOptions(normal="any", missing=SHOWN)
NAMES = {"picture": "a picture", "sound": "a sound", "text": "text", "zip": "a ZIP"}
_OWN = (".npz", ".svm", ".toml")  # which the package alone reads and writes
_ADVICE = {
    "is a spreadsheet. Save it as CSV there (File, Save as), and drop the CSV": "xlsx xls ods "
    "numbers",
    "is compressed sound. Save it as WAV first": "mp3 m4a aac ogg opus flac",
    "is a kind of picture that cannot be read here. Save it as PNG or JPEG": "heic heif avif tif "
    "tiff gif",
    "is a film. Save single pictures of it as PNG or JPEG": "mp4 mov avi mkv webm",
    "is a document. A table must be CSV": "pdf doc docx ppt pptx odt",
    "is an archive of a kind that cannot be opened here. Unpack it, or pack it as a ZIP": "gz tgz "
    "tar bz2 xz zst 7z rar",
    "is data of another program. Save it as CSV": "json jsonl xml html htm npy mat db sqlite "
    "parquet h5 pkl",
}
_ADVICE_OF = {f".{name}": text for text, names in _ADVICE.items() for name in names.split()}
_MOST_COLUMNS = 2_000  # of a table that is looked at
_KIND_OF = {
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".bmp", ".webp"), "picture"),
    **dict.fromkeys((".csv", ".tsv", ".txt"), "text"),
    ".wav": "sound",
    ".zip": "zip",
}


@dataclass(frozen=True)
class DroppedFile:
    """A dropped file, which lies under a number until it is kept."""

    path: Path
    name: str  # as it was dropped, with its folders
    kind: str = ""  # ``picture``, ``sound``, ``text``, ``zip`` or ``own``; empty if unusable
    reason: str = ""  # why it is left out: a clause whose subject is the file

    @classmethod
    def examined(cls, path: Path, name: str) -> DroppedFile:
        """Return a file with its kind, or with the reason why it has none."""
        with path.open("rb") as file:
            kind = _kind_of(file.read(4096))
        ending = PurePosixPath(name).suffix.lower()
        found = cls(path, name)
        if kind == "empty":
            return replace(found, reason="is empty")
        if ending in _ADVICE_OF and kind not in ("picture", "sound"):
            return replace(found, reason=_ADVICE_OF[ending])
        if ending in _OWN and kind in ("zip", "text"):
            return replace(found, kind="own")
        if kind == "":
            return replace(found, reason="is neither text nor a picture nor a sound")
        return replace(found, kind=kind, reason=_unreadable(path, kind))

    @property
    def base(self) -> str:
        """Its name without folders."""
        return PurePosixPath(self.name).name

    @property
    def ending(self) -> str:
        """The ending under which it is kept."""
        ending = PurePosixPath(self.name).suffix.lower()
        usual = {"text": ".csv", "sound": ".wav", "picture": self.path.suffix}
        return ending if self.kind == "own" or ending in (".tsv",) else usual.get(self.kind, ending)

    @property
    def really(self) -> str:
        """What it is if its ending states something else; else empty."""
        stated = _KIND_OF.get(PurePosixPath(self.name).suffix.lower(), self.kind)
        return "" if self.kind in (stated, "own") else NAMES[self.kind]

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.path.stat().st_size

    @cached_property
    def table(self) -> RawTable:
        """Its columns; of a large table, those of its first rows."""
        return table_at(self.path)

    @cached_property
    def rows(self) -> int:
        """Its rows; of a large table, an estimate."""
        share = min(1.0, HEAD_BYTES / self.size) if self.size > WHOLE_BYTES else 1.0
        return round(self.table.n / share)

    @cached_property
    def wave(self) -> Wave:
        """Its sound."""
        return read_wave(self.path)


@lru_cache(maxsize=64)
def table_at(path: Path) -> RawTable:
    """Return the columns of a text table, or of the first rows of a large one."""
    if path.stat().st_size > WHOLE_BYTES:
        head = path.with_name(f"{path.stem}-head{path.suffix}")
        with path.open("rb") as file:
            content = file.read(HEAD_BYTES)
        head.write_bytes(content[: content.rfind(b"\n") + 1] or content)
        path = head
    opened = opened_table(path, PLAIN)
    if len(opened.names) > _MOST_COLUMNS:
        raise InputError(
            f"{path} has {len(opened.names):,} columns, and the limit is {_MOST_COLUMNS:,}; leave "
            "some of them out"
        )
    return RawTable.read([opened], PLAIN)


def _kind_of(head: bytes) -> str:
    """Return the kind of a file by its first bytes; empty for one of no known kind."""
    if not head:
        return "empty"
    if head[:4] == b"\x89PNG" or (head[:2] in (b"\xff\xd8", b"BM") and b"\0" in head[:64]):
        return "picture"
    if head[:4] == b"RIFF" and head[8:12] in (b"WAVE", b"WEBP"):
        return "sound" if head[8:12] == b"WAVE" else "picture"
    if head[:2] == b"PK":
        return "zip"
    is_wide = head[:2] in (b"\xff\xfe", b"\xfe\xff")  # text in UTF-16
    return "" if b"\0" in head and not is_wide else "text"


def _unreadable(path: Path, kind: str) -> str:
    """Return why a file of a kind cannot be read; empty if it can."""
    try:
        if kind == "picture":
            read_gray(path, path.parent, None)
        elif kind == "sound":
            if not len(read_wave(path).values):
                return "has no sound in it"
        elif kind == "text":
            return _no_table(table_at(path))
    except InputError as error:
        return clause_of(str(error), path, kind)
    return ""


def _no_table(table: RawTable) -> str:
    if len(table.columns) < 2 or not table.n:
        return "has text, but no rows and columns"
    return ""


def clause_of(sentence: str, path: Path, kind: str) -> str:
    """Return the sentence of a reader as a clause whose subject is the file."""
    if kind == "picture":
        return "cannot be read as a picture: it is damaged, or ends too early"
    text, _, advice = sentence.partition("; ")
    if found := re.fullmatch(r".*: ([\d,]+) samples, expected the ([\d,]+) of its header", text):
        return f"ends too early: {found[1]} of {found[2]} samples are there"
    if kind == "text" and "one column" in text:
        return "has text, but no rows and columns"
    for own in (str(path), path.name):
        text = text.replace(own, "it")
    line = re.match(r"it:(\d+)", text)
    text = re.sub(r"^it(:\d+)?(, with the columns .*, (?=lacks)|: | )", "", text)
    text += f" (line {line[1]})" if line else ""
    text = text if text.startswith(("has ", "is ", "lacks ", "was ")) else f"cannot be read: {text}"
    is_of_page = advice and "--" not in advice and "=" not in advice
    return f"{text}. {advice[:1].upper()}{advice[1:]}" if is_of_page else text
