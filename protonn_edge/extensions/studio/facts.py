"""What the files of a folder state: their sensor and classes, and what each was made from.

Files are told apart by the SHA-256 of their contents, so that copies, touched files and other
clocks change nothing. Everything is read once, as long as a file does not change.
"""

from __future__ import annotations

import contextlib
import re
import struct
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.built import built_file, built_in
from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.data.files.arrays import FILE_LIMIT_BYTES, source_of
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.division import Division, digest_of
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.takes.images import IMAGES, read_gray
from protonn_edge.data.takes.takes import SAMPLES, WAVES, takes_in
from protonn_edge.device.results import EMULATED, read_results
from protonn_edge.extensions.sensing.editing.takes import EditableRecording, read_takes
from protonn_edge.extensions.studio.folder import version_of
from protonn_edge.model.features import signal_of
from protonn_edge.model.file import load_model
from protonn_edge.model.head import title_of
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, ProtoNNEdgeError
from protonn_edge.system.schema import JsonObject

BY_PERSON = "{class}/{person}-{take}"
"""The pattern of names of takes that were added with their persons."""

SOUND_HZ = 8_000.0
"""The samples a second of sound that an Uno hears."""

_PERSON = re.compile(r"([^-]+)-\d+")
_RUN = re.compile(rb'<meta name="run" content="([0-9a-f-]{1,80})">')
_MOST_FILES, _MOST_BYTES = 20_000, 1 << 28  # of a folder
_MOST_CLASSES = 500
_MOST_HASHED = 1 << 30  # bytes of a file
_HEAD_BYTES = 4096  # of a report, which has its run
_READING = threading.Lock()
# what content of other types or shapes than a file of its kind has may raise
_OF_ODD_CONTENT = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)


def facts_of(path: Path, kind: str) -> JsonObject:
    """Return what a file or folder of a kind states; only an ``error`` if it cannot be read."""
    read = _READERS.get(kind)
    if read is None:
        return {}
    try:
        if read is _of_project:  # two small files in a folder that compilers fill
            return read(path)
        return dict(_facts(path, version_of(path), read)) if _is_small(path) else {}
    except (ProtoNNEdgeError, OSError) as error:
        return {"error": str(error).replace(str(path), path.name)}
    except _OF_ODD_CONTENT as error:
        return {"error": f"{path.name} cannot be read: {error}"}


@lru_cache(maxsize=1000)
def _facts(path: Path, _: str, read: Callable[[Path], JsonObject]) -> Mapping[str, object]:
    return read(path)


def _is_small(path: Path) -> bool:
    """Whether a folder can be read whenever the page asks; files always are."""
    total = 0
    for number, each in enumerate(path.rglob("*")):
        with contextlib.suppress(OSError):
            total += each.lstat().st_size
        if number == _MOST_FILES or total > _MOST_BYTES:
            return False
    return True


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of a folder's files; empty if unreadable or too large."""
    try:
        is_small = _is_small(path) and path.stat().st_size <= _MOST_HASHED
        return _digest(path, version_of(path)) if is_small else ""
    except (ProtoNNEdgeError, OSError):
        return ""


def identity(path: Path) -> str:
    """Return the `digest` of a file or, since compilers write into projects, of its build."""
    if (path / "platformio.ini").is_file():
        return digest(built_file(path))
    return digest(path)


@lru_cache(maxsize=1000)
def _digest(path: Path, _: str) -> str:
    return digest_of(path)


def reading_of(folder: Path) -> TableOptions:
    """Return how a folder of takes is read: its pattern of names, and the rate of its sounds."""
    files = [path for path in folder.rglob("*") if path.suffix.lower() in SAMPLES]
    persons = [_PERSON.fullmatch(path.stem) for path in files]
    pairs = {(path.parent, each[1]) for path, each in zip(files, persons, strict=True) if each}
    recur = all(persons) and len(pairs) > len({person for _, person in pairs})
    is_fast = any(map(_is_fast_sound, files))
    return TableOptions(
        name=BY_PERSON if recur else None, sample_rate=SOUND_HZ if is_fast else None
    )


def _is_fast_sound(path: Path) -> bool:
    """Whether a file has sound with more samples a second than a board hears."""
    if path.suffix.lower() not in WAVES:
        return False
    with path.open("rb") as file:
        head = file.read(28)
    known = len(head) == 28 and head[12:16] == b"fmt "
    return not known or struct.unpack_from("<I", head, 24)[0] > SOUND_HZ


def recording_at(path: Path, version: str) -> EditableRecording:
    """Return a recording, which is read once for all tabs as long as it does not change."""
    with _READING:
        return _recording(path, version)


@lru_cache(maxsize=2)
def _recording(path: Path, _: str) -> EditableRecording:
    return read_takes(path, reading_of(path) if path.is_dir() else None)


def _of_recording(path: Path) -> JsonObject:
    recording = recording_at(path, version_of(path))
    takes, reading = recording.takes, reading_of(path) if path.is_dir() else TableOptions()
    return {
        "names": reading.name,
        "sampled": reading.sample_rate,
        "units": recording.units,
        "sensors": _names(recording.sensor),
        "rate": recording.rate,
        "channels": [*recording.channels],
        "takes": len(takes),
        "classes": dict(Counter(take.label for take in takes)),
        "sessions": dict(Counter(take.session for take in takes if take.session)),
    }


def _names(sensor: str) -> list[str]:
    """Return the sensors in the text of a file, such as ``a0, a1``."""
    return [name for name in sensor.split(", ") if name]


def _of_points(path: Path) -> JsonObject:
    if path.suffix.lower() != ".npz":
        dataset = load_dataset(path)
        counts = {"n_train": len(dataset.X_train), "n_test": len(dataset.X_test)}
        return {"classes": _class_counts(dataset.y_train, dataset.classes), **counts}
    source = source_of(path)
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        own = {
            name: archive.read(name)
            for name in ("y_train", "y", "y_test", "class_names", "sample_rate", "sensor")
            if name in archive.names
        }
    labels = np.atleast_1d(own.get("y_train", own.get("y", ())))
    rate, sensor = own.get("sample_rate", np.empty(0)), own.get("sensor")
    return {
        "source": source or None,
        "n_train": len(labels),
        "n_test": len(np.atleast_1d(own.get("y_test", ()))),
        "classes": _class_counts(labels, _texts(own.get("class_names", ()))),
        "rate": float(rate.flat[0]) if rate.size and rate.dtype.kind in "fiu" else None,
        "sensors": [] if sensor is None else _names(str(sensor)),
        "window": source.get("window"),
    }


def _class_counts(labels: Array, names: Sequence[str]) -> dict[str, int]:
    """Return the points of each class; of labels that are no classes, the names without points."""
    is_of_classes = labels.ndim == 1 and labels.dtype.kind in "iuU"
    values, counts = np.unique(labels if is_of_classes else (), return_counts=True)
    called = [str(each) for each in values]
    if names and labels.dtype.kind != "U":  # indices of the names; reading refuses others
        indices = range(len(names))
        called = [names[each] for each in values.tolist() if each in indices]
    if not 0 < len(called) == len(values) <= _MOST_CLASSES:
        return dict.fromkeys(names, 0)
    return dict(zip(called, counts.tolist(), strict=True))


def _texts(names: ArrayLike) -> list[str]:
    texts: list[str] = np.atleast_1d(names).astype(np.str_).ravel().tolist()
    return texts


def _of_model(path: Path) -> JsonObject:
    model = load_model(path)
    integers = None if why_floats_alone(model) else quantize(model)
    signal, division = signal_of(model.features), Division.of_record(model.record)
    settings = model.record.get("settings")
    sensor = "" if model.instrument is None else model.instrument.sensor or ""
    return {
        "title": title_of(model),
        "classes": list(model.classes),
        "predicts": model.policy.predicts,
        "sha256": None if integers is None else integers.model_sha256,
        "sensors": _names(sensor),
        "rate": None if signal is None else signal.rate,
        "window": None if signal is None else signal.samples,
        "teachable": settings.get("teachable") if isinstance(settings, dict) else 0,
        "rejects": any(rule.name == "rejection" for rule in model.policy.rules),
        "kinds": model.record.get("kinds"),
        "points_sha256": None if division is None else division.sha256,
        "source_sha256": None if division is None else division.source,
        "label": None if division is None else division.label,
        "read": [] if division is None else division.read,
    }


def _of_images(path: Path) -> JsonObject:
    takes = takes_in(path, suffixes=IMAGES)
    height, width = read_gray(takes[0].path, path, None).shape
    classes = Counter(take.label for take in takes)
    return {"classes": dict(classes), "height": height, "width": width}


def _of_project(path: Path) -> JsonObject:
    facts = built_in(path)
    try:
        board = load_board(facts.get("board", ""))
    except InputError:
        return {}
    flash, sram = facts.get("flash_bytes"), facts.get("sram_bytes")
    stack = facts.get("stack_bytes") or 0
    cycles = (facts.get("response") or {}).get("cycles", (facts.get("cycles") or {}).get("most"))
    return facts | {
        "title": board.title,
        "flash_limit": board.flash_bytes,
        "sram_limit": board.sram_bytes,
        "flash_share": None if flash is None else flash / board.flash_bytes,
        "sram_share": None if sram is None else (sram + stack) / board.sram_bytes,
        "ms": None if cycles is None else board.milliseconds(cycles),
    }


def _of_results(path: Path) -> JsonObject:
    run = read_results(path)
    results, origin = run.results, run.origin
    return {
        "run": str(origin or ""),
        "model16": origin.model if origin else "",
        "n": len(results),
        "points": origin.points if origin else 0,
        "mismatches": sum(bool(one.mismatch) for one in results),
        "emulated": all(one.device.startswith(EMULATED) for one in results),
    }


def _of_page(path: Path) -> JsonObject:
    with path.open("rb") as file:
        run = _RUN.search(file.read(_HEAD_BYTES))
    return {"run": run[1].decode() if run else ""}


_READERS: Mapping[str, Callable[[Path], JsonObject]] = {
    "recording": _of_recording,
    "takes": _of_recording,
    "images": _of_images,
    "points": _of_points,
    "model": _of_model,
    "live": _of_project,
    "project": _of_project,
    "logger": _of_project,
    "results": _of_results,
    "page": _of_page,
}
