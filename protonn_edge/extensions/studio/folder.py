"""What is in the folder: recordings, tables, models and projects, and which one is older."""

from __future__ import annotations

import contextlib
import hashlib
import stat
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export.folder import LIVE, LOGGER, written_in
from protonn_edge.data.archive import ArrayArchive
from protonn_edge.data.arrays import FILE_LIMIT_BYTES
from protonn_edge.data.images import has_images
from protonn_edge.extensions.sensing.editing.takes import EditableRecording, is_recording
from protonn_edge.extensions.studio.actions import names_in
from protonn_edge.model.file import load_model
from protonn_edge.model.head import title_of
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.system.errors import InputError, ProtoNNEdgeError
from protonn_edge.system.schema import JsonObject

_FEW_CLASSES, _FEW_TAKES = 2, 3
_SOUNDS = (".wav", ".csv", ".tsv", ".json", ".cbor")


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
            return ""
    if suffix in (".csv", ".tsv"):
        if is_recording(path):
            return "recording"
        with path.open("rb") as file:
            begin = file.read(200)
        return "results" if begin.startswith(b"# protonn-edge") else "table"
    return {".html": "page", ".wav": "sound"}.get(suffix, "")


def _kind_of_folder(path: Path) -> str:
    if (path / "platformio.ini").is_file():
        kinds = {LIVE: "live", LOGGER: "logger"}
        return kinds.get(written_in(path).kind or "", "project")
    if has_images(path):
        return "images"
    inside = [*path.iterdir(), *path.glob("*/*")]
    return "takes" if any(each.suffix.lower() in _SOUNDS for each in inside) else ""


def model_facts(path: Path) -> JsonObject:
    """Return what the page shows of a model."""
    stamp = path.stat()
    return {**_model_facts(path, stamp.st_mtime_ns, stamp.st_size), "at": stamp.st_mtime}


@lru_cache(maxsize=200)
def _model_facts(path: Path, *_: int) -> Mapping[str, object]:
    try:
        model = load_model(path)
        integers = None if why_floats_alone(model) else quantize(model)
    except ProtoNNEdgeError as error:
        return {"name": path.name, "error": str(error)}
    return {
        "name": path.name,
        "kind": title_of(model),
        "classes": list(model.classes),
        "predicts": model.policy.predicts,
        "inputs": model.n_inputs,
        "bytes": None if integers is None else integers.model_bytes,
        "sha256": None if integers is None else integers.model_sha256,
        "sensor": _sensor_of(model),
    }


def _sensor_of(model: Model) -> str:
    return "" if model.instrument is None else model.instrument.sensor or ""


def version_of(path: Path) -> str:
    """Return a text that changes whenever a file, or a file of a folder, does."""
    version = hashlib.sha256()
    for each in [path, *sorted(path.rglob("*"))]:
        one = each.stat() if each.exists() else each.lstat()  # of a link that leads nowhere
        version.update(
            f"{each} {one.st_ino} {one.st_mtime_ns} {one.st_size}\n".encode(errors="replace")
        )
    return version.hexdigest()


def board_limits(name: str) -> JsonObject:
    """Return the memory of a board, for bars."""
    board = load_board(name)
    limits = {"flash_bytes": board.flash_bytes, "sram_bytes": board.sram_bytes}
    return {"name": board.name, "title": board.title, **limits}


def next_step(recording: EditableRecording | None) -> str:
    """Return in a sentence what a recording needs next before a model can be trained."""
    takes = Counter(take.label for take in recording.takes) if recording else Counter[str]()
    if not takes:
        return "Record three takes of a first class."
    few = {label: _FEW_TAKES - n for label, n in takes.items() if n < _FEW_TAKES}
    if few:
        label, n = next(iter(few.items()))
        return f"Record {_WORDS[n]} more {'take' if n == 1 else 'takes'} of {label}."
    if len(takes) < _FEW_CLASSES:
        return "Record three takes of a second class."
    return "There are enough takes to train a model; more of them make it better."


_WORDS = ("no", "one", "two", "three")
