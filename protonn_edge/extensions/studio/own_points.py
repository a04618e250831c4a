"""A model's answers to dropped files, of which nothing is kept.

Files are read as the data of the model's training: tables with their columns, pictures scaled to
its size, takes and sounds cut into windows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from protonn_edge.cli.tables import points_for
from protonn_edge.data.naming import channel_names
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.expected import is_same_rate
from protonn_edge.data.takes.images import read_gray
from protonn_edge.extensions.sensing.recordings.recorded import read_recording
from protonn_edge.extensions.studio.dropped import NAMES, DroppedFile, clause_of
from protonn_edge.extensions.studio.facts import recording_at
from protonn_edge.extensions.studio.incoming import Drop
from protonn_edge.extensions.studio.views import SILENT, drawn, said_of, thinned
from protonn_edge.model.expected import known_image_shape
from protonn_edge.model.features import signal_of
from protonn_edge.model.file import load_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import modules_named
from protonn_edge.model.signals import Signal
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_MOST_FILES, _MOST_ROWS = 60, 40
_PAIRS = 300  # of the least and the most of a drawn take
_TAKES = {"sound": "recordings of sounds (WAV)", "text": "recordings of a sensor (CSV)"}


def answers_to(model_file: Path, drop: Drop) -> JsonObject:
    """Return the ``points`` of a drop with their answers, and why files are ``left`` out."""
    model = load_model(model_file)
    wanted, kinds, answer = _way(model)
    points, left = list[JsonObject](), [*drop.left]
    for file in drop.files:
        if file.kind not in kinds or len(points) >= _MOST_FILES:
            what = NAMES.get(file.kind, "a file of another kind")
            many = f"was left out: {_MOST_FILES} are answered at once"
            left.append((file.name, f"is {what}" if file.kind not in kinds else many))
            continue
        try:
            points += answer(model, file)
        except InputError as error:
            left.append((file.name, clause_of(str(error), file.path, file.kind)))
    return {"points": points, "left": left, "wanted": wanted}


_Answer = Callable[[Model, DroppedFile], list[JsonObject]]


def _way(model: Model) -> tuple[str, Mapping[str, str] | tuple[str, ...], _Answer]:
    """Return what a model answers to, the kinds of such files, and how it answers to one."""
    if signal_of(model.features) is not None:
        is_sound = model.instrument is not None and model.instrument.sensor == "microphone"
        return _TAKES["sound" if is_sound else "text"], _TAKES, _of_take
    if known_image_shape(model) is not None:
        return "pictures (PNG or JPEG)", ("picture",), _of_picture
    return f"tables (CSV) with its {len(model.feature_names)} columns", ("text",), _of_rows


def _of_picture(model: Model, file: DroppedFile) -> list[JsonObject]:
    pixels = read_gray(file.path, file.path.parent, known_image_shape(model))
    point = pixels.reshape(1, -1).astype(np.float32)
    words, sure = said_of(model, point)
    return [{"name": file.base, "said": words[0], "sure": sure[0], **drawn(model, point[0])}]


def _of_rows(model: Model, file: DroppedFile) -> list[JsonObject]:
    found = points_for(model, file.path, TableOptions(), SILENT, labels="ignorable")
    X = found.X[:_MOST_ROWS]
    names = [f"row {row + 1} of {file.base}" for row in found.rows[:_MOST_ROWS].tolist()]
    words, sure = said_of(model, X)
    return [
        {"name": name, "said": words[at], "sure": sure[at], **drawn(model, X[at])}
        for at, name in enumerate(names)
    ]


def _of_take(model: Model, file: DroppedFile) -> list[JsonObject]:
    """Return a take with the answers to its windows; most of them are the answer to the take."""
    signal = signal_of(model.features)
    assert signal is not None
    rate = signal.rate if file.kind == "sound" else None
    recorded = read_recording(file.path, TableOptions(labelled="any", sample_rate=rate))
    if not is_same_rate(recorded.rate, signal.rate):
        raise InputError(
            f"{file.path} has {recorded.rate or 0:,.4g} samples a second, and the model looks at "
            f"{signal.rate or 0:,.4g}"
        )
    names = channel_names(model.feature_names, signal.channels)
    dataset = recorded.dataset.matched(names, str(file.path))
    if dataset.n_features != signal.channels:
        raise InputError(f"{file.path} has {dataset.n_features} channels, not {signal.channels}")
    here, there = dataset.instrument, model.instrument
    if here is not None and there is not None and here.is_unlike(there):
        raise InputError(f"{file.path} was recorded with {here}, and the model with {there}")
    values = dataset.X_train
    answers = answers_in(model, values)
    if not answers:
        raise InputError(f"{file.path} is shorter than a window of {signal.samples:,} samples")
    said, n = Counter(each["label"] for each in answers).most_common(1)[0]
    sure = [each["sure"] for each in answers if each["label"] == said and each["sure"] is not None]
    curves = [thinned(channel, _PAIRS).tolist() for channel in values.T]
    return [
        {
            "name": file.base, "said": said, "sure": float(np.mean(sure)) if sure else None,
            "curves": curves, "n": len(values), "answers": answers, "agree": n,
        }
    ]  # fmt: skip


def take_answers(model_file: Path, path: Path, version: str, take: int) -> JsonObject:
    """Return what a model answers to the windows of a take of a recording."""
    model, values = load_model(model_file), recording_at(path, version).take(take).values
    signal = signal_of(model.features)
    if signal is None or signal.triggered:
        raise InputError("this model does not look at windows of samples at any time")
    if values.shape[1] != signal.channels:
        raise InputError(f"the model looks at {signal.channels} channels; train it on these takes")
    return {"answers": answers_in(model, values)}


def answers_in(model: Model, values: Array) -> list[JsonObject]:
    """Return what a model answers to the windows of a take (n, channels), one after the other."""
    signal = signal_of(model.features)
    assert signal is not None
    firsts = _begins(model, signal, values)
    X = np.array([values[first : first + signal.samples].ravel() for first in firsts], np.float32)
    if not len(X):
        return []
    told = zip(firsts, *said_of(model, X), strict=True)
    return [
        {"first": first, "n": signal.samples, "label": word, "sure": sure}
        for first, word, sure in told
    ]


def _begins(model: Model, signal: Signal, values: Array) -> list[int]:
    """Return where windows begin: each half of one, or where a sound does."""
    if not signal.triggered:
        return [*range(0, len(values) - signal.samples + 1, max(1, signal.samples // 2))]
    onsets = [getattr(stage, "onset", None) for stage in quantize(model).feature_stages]
    for module in modules_named("onset"):
        clips = module.at_onsets(values, signal.samples, onsets[0])
        return [int(first) for first in clips.begins(0, len(values))]
    raise InputError("this model answers where an event begins, which the board finds")
