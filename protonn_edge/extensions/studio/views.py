"""What the page draws: curves with few points, and the answers of a model to held-out points."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.cli.tables import points_for
from protonn_edge.data.naming import NO_CLASS, NO_LABEL
from protonn_edge.data.options import options_of
from protonn_edge.data.units import units_of
from protonn_edge.extensions.sensing.editing.edits import TakeEditor
from protonn_edge.extensions.sensing.editing.takes import EditableRecording, read_takes
from protonn_edge.extensions.studio.folder import next_step
from protonn_edge.learn.evaluation.accuracy import Quality, confusion_matrix, wilson_interval
from protonn_edge.learn.evaluation.figures import accuracy_figure, quality_figures
from protonn_edge.model.features import signal_of
from protonn_edge.model.file import load_model
from protonn_edge.model.model import Model, known_image_shape
from protonn_edge.model.policy import about_answers
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.figures import Figure, facts_of
from protonn_edge.system.schema import JsonObject

_VALUES, _LEAST, _MOST = 80_000, 40, 300  # of all curves; pairs of the least and most of a curve
_SHOWN = 12  # points of a cell of the matrix
_READING = threading.Lock()


def columns_of(path: Path, version: str, number: int, part: slice, columns: int) -> list[list[int]]:
    """Return a part of a take: the least and the largest value of each channel in each column."""
    values = _recording(path, version).take(number).values[part]
    return [thinned(channel, columns).tolist() for channel in values.T]


def _recording(path: Path, version: str) -> EditableRecording:
    """Return a recording, which is read once for all tabs as long as it does not change."""
    with _READING:
        return _read(path, version)


@lru_cache(maxsize=1)
def _read(path: Path, _: str) -> EditableRecording:
    return read_takes(path)


def curves(path: Path, version: str) -> JsonObject:
    """Return the takes of a recording as curves, and how to scale their channels."""
    recording = _recording(path, version)
    takes, channels = recording.takes, recording.channels
    n = max(1, len(takes) * max(1, len(channels)))
    pairs = int(np.clip(_VALUES // (2 * n), _LEAST, _MOST))
    return {
        "version": version,
        "channels": [*channels],
        "scales": scales(recording),
        "rate": recording.rate,
        "units": recording.units,
        "next": next_step(recording),
        "undo": TakeEditor(recording.path).undoable[-1:],
        "takes": [
            {
                "label": take.label,
                "session": take.session,
                "n": take.n,
                "curves": [thinned(column, pairs).tolist() for column in take.values.T],
            }
            for take in takes
        ],
    }


def scales(recording: EditableRecording) -> list[list[float]]:
    """Return the range of each channel: that of all takes, shared by channels of one unit."""
    takes = [take.values for take in recording.takes if take.n]
    if not takes:
        return [[0.0, 1.0] for _ in recording.channels]
    low = np.min([values.min(axis=0) for values in takes], axis=0)
    high = np.max([values.max(axis=0) for values in takes], axis=0)
    try:
        units = units_of(recording.units, recording.channels)
    except InputError:
        units = {}
    kinds = [units[name].text if name in units else "" for name in recording.channels]
    same = [[i for i, other in enumerate(kinds) if other == kind] for kind in kinds]
    return [[float(low[others].min()), float(high[others].max())] for others in same]


def thinned(values: Array, pairs: int) -> Array:
    """Return the least and the most of each of some parts; all values (n,), if there are few."""
    if len(values) <= 2 * pairs:
        return values
    starts = np.linspace(0, len(values), pairs, endpoint=False).astype(np.int64)
    ends = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return np.stack(ends, axis=1).reshape(-1)


class _Silent:
    """Takes the notices about data, which the command has printed already."""

    def notice(self, notices: Any) -> None:
        """Leave them out."""


def figures(model_file: Path, data: Path, read: Mapping[str, str]) -> JsonObject:
    """Return a model's answers to the points of a file that training held out, in integers.

    `read` has options for reading the data, by their names, such as "label".
    """
    model = load_model(model_file)
    quiet: Any = _Silent()
    table = options_of({name: [text] for name, text in read.items() if text})
    points = points_for(model, data, table, quiet, labels="optional")
    X = points.X
    scores: Array
    if why_floats_alone(model) is None:
        integers = quantize(model)
        answers, scores = integers.answers(integers.quantize(X))
        policy: Any = integers.policy
    else:
        answers, scores = model.answers(X)
        policy = model.policy
    record: JsonObject = {"model": model_file.name, "data": data.name, "n": len(X)}
    record["trained_on"] = points.trained_on
    if model.policy.predicts != "class":
        measured, _ = policy.measured(scores, points.values, points.groups)
        facts = [*facts_of(measured), *about_answers(policy)]
        pairs: list[Any] = []
        if points.values is not None and np.ndim(points.values) == 1:
            found = policy.values(scores)
            pairs = np.stack([points.values, found], axis=1)[:500].tolist()
        return record | {"facts": facts, "pairs": pairs}
    return record | _of_classes(model, X, points.y, answers, points.table.sessions)


def _of_classes(model: Model, X: Array, y: Array, answers: Array, sessions: object) -> JsonObject:
    n = model.n_classes
    known = (y != NO_LABEL) & (y != NO_CLASS)
    said = np.where(answers == NO_CLASS, n, answers)
    counts = confusion_matrix(said[known], y[known], n + 1)[:n]
    quality = Quality.of(counts, model.classes)
    cells: dict[str, list[Any]] = {}
    for at in np.flatnonzero(known).tolist():
        cell = cells.setdefault(f"{y[at]} {said[at]}", [])
        if len(cell) < _SHOWN:
            cell.append(_drawn(model, X[at]))
    return {
        "classes": [*model.classes],
        "matrix": counts.tolist(),
        "facts": [] if quality is None else facts_of(_figures(quality)),
        "quality": None if quality is None else quality.to_json(),
        "cells": cells,
        "by_session": _by_session(sessions, known, said == y),
    }


def _figures(quality: Quality) -> list[Figure]:
    return [accuracy_figure(quality.accuracy, quality.n), *quality_figures(quality)]


def _by_session(sessions: Any, known: Array, right: Array) -> list[JsonObject]:
    """Return the accuracy of each session or person, with its interval."""
    if sessions is None or len(sessions) != len(known):
        return []
    names = np.array(sessions)
    rows = []
    for name in np.unique(names[known]).tolist():
        of = known & (names == name)
        n, good = int(of.sum()), int(right[of].sum())
        rows.append({"name": name, "n": n, "right": good, "interval": wilson_interval(good, n)})
    return rows if len(rows) > 1 else []


def _drawn(model: Model, point: Array) -> JsonObject:
    """Return a point as curves of a window's channels, as an image, or as named values."""
    signal, shape = signal_of(model.features), known_image_shape(model)
    if signal is not None:
        columns = point.reshape(-1, signal.channels).T
        return {"curves": [thinned(column, 60).tolist() for column in columns]}
    if shape is not None and shape[0] * shape[1] == len(point):
        return {"image": point.tolist(), "width": shape[1]}
    named = zip(model.feature_names or map(str, range(len(point))), point.tolist(), strict=False)
    return {"values": [[name, f"{value:.6g}"] for name, value in list(named)[:12]]}
