"""The log of a folder: what was done, and what commands said about the files that they wrote.

``.studio.jsonl`` has a line per ended command. It is no state, only memory: it has the command
lines, and the notices about a file as long as that has the bytes that the command wrote or read.
Anyone can edit or delete it, so lines that are none are left out.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from protonn_edge.extensions.studio.facts import identity
from protonn_edge.extensions.studio.words import PAGE, names_in
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import read_file, write_atomically
from protonn_edge.system.schema import Check, JsonObject, list_of, record_of, text, whole

LOG_FILE = ".studio.jsonl"

_LIMIT_BYTES = 8 << 20
_MOST, _KEPT = 500, 200  # entries of the file, of which the page gets the last ones
_LONGEST_RECORD = 10_000  # letters
_FIGURES = ("accuracy", "n", "quality", "value", "data", "error", "notices", "mismatches")

_NOTICE: dict[str, Check] = {
    "kind": text(100),
    "text": text(5_000),
    "warning": lambda value: type(value) is bool,
    "columns": list_of(text(1_000), 10_000),
}
_ENTRY: dict[str, Check] = {
    "at": text(40),
    "number": whole(0, 1 << 40),
    "stage": text(20),
    "action": text(40),
    "line": text(10_000),
    "state": text(20),
    "record": lambda value: (
        isinstance(value, dict) and isinstance(value.get("notices", []), list) and _is_json(value)
    ),
    "files": lambda value: (
        isinstance(value, dict) and all(map(text(300), [*value, *value.values()]))
    ),
}


class Log:
    """The log in a folder; what cannot be written is forgotten when the studio ends."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / LOG_FILE
        self._lock = threading.Lock()
        self._entries = list(self._read())

    def _read(self) -> Iterator[JsonObject]:
        try:
            content = read_file(self._path, limit_bytes=_LIMIT_BYTES, may_be_empty=True)
        except InputError:
            return
        for line in content.decode("utf-8", "replace").splitlines()[-_MOST:]:
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if record_of(_ENTRY)(entry):
                yield entry

    def add(self, report: JsonObject, files: Sequence[str]) -> None:
        """Add an ended command by its last report, and the files that it read and wrote."""
        record = dict(report.get("record") or {})
        if len(json.dumps(record, default=str)) > _LONGEST_RECORD:
            record = {name: record[name] for name in _FIGURES if name in record}
        entry: JsonObject = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            **{name: report.get(name, "") for name in ("stage", "action", "line", "state")},
            "number": report.get("number", 0),
            "record": record if _is_json(record) else {},
            "files": {name: identity(self._folder / name) for name in files},
        }
        with self._lock:
            self._entries.append(entry)
            self._write(entry)

    def _write(self, entry: JsonObject) -> None:
        line = json.dumps(entry, allow_nan=False) + "\n"
        try:
            if len(self._entries) >= _MOST or not self._path.exists():
                self._entries = self._entries[-_MOST // 2 :]
                lines = [json.dumps(each, allow_nan=False) + "\n" for each in self._entries]
                write_atomically(self._path, "".join(lines))
                return
            with self._path.open("ab") as file:
                file.write(line.encode())
        except (InputError, OSError):
            pass  # it is only memory

    def entries(self) -> list[JsonObject]:
        """Return the last entries for the page, the oldest first."""
        return [_shown(entry) for entry in self._entries[-_KEPT:]]

    def latest(self, *actions: str) -> str:
        """Return which of some actions was the last one that was done; empty for none."""
        done = (one["action"] for one in reversed(self._entries) if one["state"] == "done")
        return next((action for action in done if action in actions), "")

    def records_of(self, name: str, sha256: str) -> Iterator[JsonObject]:
        """Yield the entries about a file's bytes, the newest first, one per action.

        Those with an error are left out: the file stays as it was, and so do its notices.
        """
        seen = set[str]()
        for entry in reversed(self._entries):
            is_of_file = sha256 and entry["files"].get(name) == sha256
            if is_of_file and "error" not in entry["record"] and entry["action"] not in seen:
                seen.add(entry["action"])
                yield entry

    def notices_of(self, name: str, sha256: str) -> list[JsonObject]:
        """Return the notices of the commands about a file's bytes, in words of the page."""
        found = list[JsonObject]()
        for entry in self.records_of(name, sha256):
            for notice in entry["record"].get("notices", ()):
                if record_of(_NOTICE)(notice):
                    text, action = notice["text"], entry["action"]
                    shown = {**notice, "text": PAGE.worded(text), "action": action}
                    shown["names"] = names_in(text)
                    found += [shown] * (shown not in found)
        return found


def _is_json(value: object) -> bool:
    """Whether a value that was read as JSON has no number, such as NaN, that JSON lacks."""
    try:
        return bool(json.dumps(value, allow_nan=False))
    except (ValueError, RecursionError):
        return False


def _shown(entry: JsonObject) -> JsonObject:
    """Return an entry without its record."""
    error = entry["record"].get("error")
    shown = {name: value for name, value in entry.items() if name not in ("record", "files")}
    return {**shown, "files": [*entry["files"]], "error": error}
