"""What the page draws: curves with few points, and the answers of a model to held-out points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.cli.tables import points_for
from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.data.files.arrays import FILE_LIMIT_BYTES
from protonn_edge.data.naming import NO_CLASS, NO_LABEL, answer_name
from protonn_edge.data.options import TableOptions
from protonn_edge.data.roles.groups import OWN_GROUPS as GROUPS
from protonn_edge.data.units import split_unit, units_of
from protonn_edge.extensions.sensing.editing.edits import TakeEditor
from protonn_edge.extensions.sensing.editing.takes import EditableRecording
from protonn_edge.extensions.studio.facts import recording_at
from protonn_edge.extensions.studio.places import WindowPlaces
from protonn_edge.learn.evaluation.accuracy import Quality, confusion_matrix, wilson_interval
from protonn_edge.model.expected import known_image_shape
from protonn_edge.model.features import signal_of
from protonn_edge.model.file import load_model
from protonn_edge.model.model import Model
from protonn_edge.model.policy import about_answers
from protonn_edge.model.quantization import answers_of
from protonn_edge.policy.confidence.voting import shares_of
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.figures import Figure, facts_of
from protonn_edge.system.schema import JsonObject

_VALUES, _LEAST, _MOST = 80_000, 40, 300  # of all curves; pairs of the least and most of a curve
_SURE = "confidence_percent"
_SHOWN = 12  # points of a cell of the matrix, at least
_MOST_SHARES = 50_000
_TRIED, _TRIED_VALUES = (40, 240), 200_000  # points that can be tried, and values of all of them
_MOST_COLUMNS, _STEPS = 200, 48  # of a point, and answers along the range of one
_NAMED = 12  # values of a point that has more columns


def extremes_of(
    path: Path, version: str, number: int, part: slice, columns: int
) -> list[list[int]]:
    """Return a part of a take: the least and the largest value of each channel in each column."""
    values = recording_at(path, version).take(number).values[part]
    return [thinned(channel, columns).tolist() for channel in values.T]


def curves(path: Path, version: str) -> JsonObject:
    """Return the takes of a recording as curves, and how to scale their channels."""
    recording = recording_at(path, version)
    takes, channels = recording.takes, recording.channels
    n = max(1, len(takes) * max(1, len(channels)))
    pairs = int(np.clip(_VALUES // (2 * n), _LEAST, _MOST))
    return {
        "version": version,
        "channels": [*channels],
        "scales": scales(recording),
        "rate": recording.rate,
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


SILENT: Any = _Silent()


@dataclass(frozen=True, eq=False)
class Tested:
    """A model's answers to the points of a file that training held out, in integers if it can."""

    data: Path
    model: Model
    points: Any  # `ModelPoints`
    answers: Array  # (n,), of models of classes
    scores: Array
    policy: Any

    @classmethod
    def of(cls, model_file: Path, data: Path) -> Tested:
        """Test a model; tables are read as in its training."""
        model = load_model(model_file)
        points = points_for(model, data, TableOptions(), SILENT, labels="optional")
        answers, scores, form = answers_of(model, points.X)
        return cls(data, model, points, answers, scores, form.policy)

    @property
    def sessions(self) -> list[str] | None:
        """The session or person of each point (n,); None if they are not known."""
        points = self.points
        if points.sessions is not None:
            return [*points.sessions]
        if points.groups is None or self.data.suffix.lower() != ".npz":
            return None
        with ArrayArchive(self.data, limit_bytes=FILE_LIMIT_BYTES) as archive:
            named = archive.read(GROUPS) if GROUPS in archive.names else np.empty(0)
        names = np.unique(named.astype(str))  # by which groups are numbered
        if points.groups.max(initial=0) >= len(names):
            return None
        found: list[str] = names[points.groups].tolist()
        return found

    @property
    def known(self) -> Array:
        """Which points (n,) are of a class of the model."""
        known: Array = ~np.isin(self.points.y, (NO_LABEL, NO_CLASS))
        return known

    def measured(self) -> tuple[list[Figure], JsonObject]:
        """Return the figures of answers that are no classes, for display and as JSON."""
        points = self.points
        found: tuple[list[Figure], JsonObject] = self.policy.measured(
            self.scores, points.values, points.groups
        )
        return found


def accuracy(model_file: Path, data: Path) -> JsonObject:
    """Return how good a model is: the ``share`` that is right, or a ``value`` with its errors.

    Of sets of labels, it is the share of the labels that are given, with their ``recall``.
    """
    tested = Tested.of(model_file, data)
    points = tested.points
    told: JsonObject = {"n": len(points.X), "share": None}
    if tested.model.policy.predicts != "class":
        more = tested.measured()[1] if points.values is not None else {}
        if labels := more.get("labels"):
            return told | {"share": labels["precision"], "recall": labels["recall"]}
        errors, interval = more.get("errors") or {}, more.get("interval") or {}
        value = {"error": errors.get("mae"), "mean_error": errors.get("mean_mae")}
        value |= {"bound": interval.get("half_width"), "n": told["n"]}
        value["unit"] = split_unit(tested.model.classes[0])[1]
        return told | {"value": value if errors else None}
    n, right = int(tested.known.sum()), int((tested.answers == points.y)[tested.known].sum())
    names = sorted({*(tested.sessions or ())})
    low, high = wilson_interval(right, n) if n else (0.0, 1.0)
    share = right / n if n else None
    return {"n": n, "right": right, "share": share, "low": low, "high": high, "sessions": names}


def figures(model_file: Path, data: Path) -> JsonObject:
    """Return a model's answers to the points of a file that training held out."""
    tested = Tested.of(model_file, data)
    model, points = tested.model, tested.points
    own = _of_classes(tested, WindowPlaces.of(data)) if model.policy.predicts == "class" else None
    return {**(own or _of_values(tested)), "held": len(points.X), "ranges": _ranges(points.X)}


def _of_values(tested: Tested) -> JsonObject:
    """Return the answers that are numbers or sets, the furthest ones from the truth first."""
    model, points, policy = tested.model, tested.points, tested.policy
    facts = [*facts_of(tested.measured()[0]), *about_answers(policy)]
    if points.values is None:
        return {"facts": facts, "pairs": [], "points": []}
    found, names = policy.values(tested.scores), model.classes
    apart = np.abs(points.values - found).reshape(len(found), -1).sum(axis=1)
    known, is_number = _words(policy, points.values, names), np.ndim(found) == 1
    said = policy.words(tested.scores, names) if is_number else _words(policy, found, names)
    told = [
        {"actual": known[at], "said": said[at], **drawn(model, points.X[at])}
        for at in np.argsort(-apart, kind="stable")[: _tried(points.X)].tolist()
    ]
    pairs = np.stack([points.values, found], axis=1)[:500].tolist() if is_number else []
    return {"facts": facts, "pairs": pairs, "points": told}


def _tried(X: Array) -> int:
    """Return how many of some points (n, D) can be tried: fewer if they have many values."""
    return int(np.clip(_TRIED_VALUES // max(1, X.shape[1]), *_TRIED))


def _ranges(X: Array) -> list[list[float]]:
    """Return the least and the largest value of each feature, if they are few."""
    few = X.shape[1] <= _MOST_COLUMNS and len(X)
    return np.stack([X.min(axis=0), X.max(axis=0)], axis=1).tolist() if few else []


def what_if(model_file: Path, x: Any, ranges: Any) -> JsonObject:
    """Return the answer to a point (D,), and those along the range of each of its values alone."""
    model = load_model(model_file)
    try:
        point, ends = (np.array(each, np.float64) for each in (x, ranges))
    except (TypeError, ValueError) as error:
        raise InputError("the values are no numbers; reload the page") from error
    D = len(model.feature_names)
    if point.shape != (D,) or ends.shape != (D, 2) or not 0 < D <= _MOST_COLUMNS:
        raise InputError(f"the model has {D:,} values; reload the page")
    if not all((np.abs(each) <= np.finfo(np.float32).max).all() for each in (point, ends)):
        raise InputError("the values are too large; reload the page")
    X = np.tile(point.astype(np.float32), (1 + D * _STEPS, 1))
    along = np.linspace(ends[:, 0], ends[:, 1], _STEPS).T
    for column in range(D):
        X[1 + column * _STEPS :][:_STEPS, column] = along[column]
    words, sure = said_of(model, X)
    strips = [words[1 + column * _STEPS :][:_STEPS] for column in range(D)]
    return {"said": words[0], "sure": sure[0], "strips": strips}


def said_of(model: Model, X: Array) -> tuple[list[str], list[float | None]]:
    """Return what a model answers to points (n, D), and how sure it is, if it knows that."""
    answers, scores, form = answers_of(model, X)
    policy: Any = form.policy
    if policy.predicts == "class":
        words = [answer_name(model.classes, answer) for answer in answers.tolist()]
        return words, _sureness(policy, scores)
    if policy.predicts == "labels":
        return _words(policy, policy.values(scores), model.classes), [None] * len(X)
    return list(policy.words(scores, model.classes)), [None] * len(X)


def _words(policy: Any, values: Array, classes: Sequence[str]) -> list[str]:
    """Return numbers (n,), or sets (n, L) in the order of the classes, as texts."""
    rule = next(each for each in policy.rules if each.predicts != "class")
    return [text.replace(",", ", ") for text in rule.words_of(values, classes)]


def _sureness(policy: Any, scores: Array) -> list[float | None]:
    """Return how sure answers are (n,), in per cent; None where a model does not know that."""
    found = {name: each for rule in policy.rules for name, each in rule.figures(scores).items()}
    return list(found.get(_SURE, [None] * len(scores)))


def _of_classes(tested: Tested, places: WindowPlaces) -> JsonObject:
    model, points, known = tested.model, tested.points, tested.known
    n, y, answers = model.n_classes, points.y, tested.answers
    said = np.where(answers == NO_CLASS, n, answers)
    counts = confusion_matrix(said[known], y[known], n + 1)[:n]
    quality = Quality.of(counts, model.classes)
    cells, sure = dict[str, list[Any]](), _sureness(tested.policy, tested.scores)
    most = max(_SHOWN, _tried(points.X) // max(1, int(np.count_nonzero(counts))))
    for at in np.flatnonzero(known).tolist():
        cell = cells.setdefault(f"{y[at]} {said[at]}", [])
        if len(cell) < most:
            place = places.at(int(points.rows[at]))
            cell.append({**drawn(model, points.X[at]), "at": place, "sure": sure[at]})
    return {
        "classes": [*model.classes],
        "matrix": counts.tolist(),
        "quality": None if quality is None else quality.to_json(),
        "cells": cells,
        "tested": _shares(tested, known, y, said),
        "by_session": _by_session(tested.sessions, known, said == y),
    }


def _shares(tested: Tested, known: Array, y: Array, said: Array) -> list[list[int]]:
    """Return the class, the answer and the shares of points; of many, of the first ones."""
    some = np.flatnonzero(known)[: _MOST_SHARES // (tested.model.n_classes + 2)]
    shares = shares_of(tested.policy, tested.answers[some], tested.scores[some])
    rows: list[list[int]] = np.column_stack([y[some], said[some], shares]).tolist()
    return rows


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


def drawn(model: Model, point: Array) -> JsonObject:
    """Return a point as curves of a window's channels, as an image, or as named values."""
    signal, shape = signal_of(model.features), known_image_shape(model)
    if signal is not None:
        columns = point.reshape(-1, signal.channels).T
        return {"curves": [thinned(column, 60).tolist() for column in columns]}
    if shape is not None and shape[0] * shape[1] == len(point):
        return {"image": point.tolist(), "width": shape[1]}
    named = zip(model.feature_names or map(str, range(len(point))), point.tolist(), strict=False)
    values = [[name, f"{value:.6g}"] for name, value in named]
    is_small = len(model.feature_names) == len(point) <= _MOST_COLUMNS
    return {
        "values": values[: None if is_small else _NAMED],
        "x": point.tolist() if is_small else None,
    }
