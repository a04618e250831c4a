"""The classes that a board would report for a recording, with false alarms and missed events.

Events are the runs of a label in the recording, except of the class in which nothing happens. A
report is correct if its windows overlap an event of its class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.codegen.context import as_it_is
from protonn_edge.data.naming import (
    NO_CLASS,
    NO_CLASS_NAME,
    Notice,
    channel_names,
    listed,
)
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.expected import is_same_rate
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.takes.recordings import runs_of
from protonn_edge.extensions.sensing.recordings.recorded import Recording
from protonn_edge.model.features import signal_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.sensor_counts import CountConversion
from protonn_edge.model.signals import Signal
from protonn_edge.policy.confidence.voting import UNDECIDED, Reporter, shares_of
from protonn_edge.system.errors import InputError, InvalidValue, counted, unneeded
from protonn_edge.system.schema import JsonObject

_WINDOWS_AT_ONCE = 4_096
_MOST_SHOWN = 8  # events of a kind
_TAIL = 0.025  # on either side of an interval of 95 %


@dataclass(frozen=True)
class LiveFigures:
    """False alarms and missed events in a recording of some hours."""

    hours: float
    rest: str  # the class in which nothing happens
    events: int
    missed: tuple[tuple[float, str], ...]  # the second of each, and its class
    false_alarms: tuple[tuple[float, str], ...]
    reports: tuple[tuple[float, str], ...]
    notices: tuple[Notice, ...] = ()

    @property
    def per_hour(self) -> tuple[float, float, float]:
        """False alarms per hour, and its interval of 95 % by Poisson's distribution."""
        from scipy.stats import chi2  # slow, and a board's stream needs only reports

        n = len(self.false_alarms)
        ends = chi2.ppf(_TAIL, 2 * n) if n else 0.0, chi2.ppf(1 - _TAIL, 2 * n + 2)
        return n / self.hours, float(ends[0] / 2 / self.hours), float(ends[1] / 2 / self.hours)

    def facts(self) -> list[tuple[str, str]]:
        """Return the figures with their names."""
        rate, low, high = self.per_hour
        alarms = f"{len(self.false_alarms):,} in {60 * self.hours:,.1f} min, {rate:,.1f} per hour"
        confidence = f" (95 % confidence: {low:,.1f} to {high:,.1f})"
        return [
            ("events", f"{counted(self.events, 'run')} of labels other than {self.rest!r}"),
            ("missed events", f"{len(self.missed):,}{_places(self.missed)}"),
            ("false alarms", f"{alarms}{confidence}{_places(self.false_alarms)}"),
        ]

    def to_json(self) -> JsonObject:
        """Return the figures under the names that every JSON of this package uses."""
        figures = asdict(self)
        del figures["notices"]
        return {**figures, "false_alarms_per_hour": self.per_hour}


def _places(events: tuple[tuple[float, str], ...]) -> str:
    """Return a further line with the class and the second of the first events, if there are any."""
    texts = [f"{name} at {at:,.1f} s" for at, name in events[:_MOST_SHOWN]]
    more = ", ..." if len(events) > _MOST_SHOWN else ""
    return f"\n{', '.join(texts)}{more}" if texts else ""


def live_figures(
    model: Model,
    recorded: Recording,
    hop: int,
    votes: int = 1,
    refractory_s: float = 0.0,
    marks: tuple[int, ...] = (),
) -> LiveFigures:
    """Return the reports of a board, with a model of windows, for a labelled recording.

    Windows begin every `hop` samples; see `Reporter`. The board is restarted for each take or
    session. Nothing happens in samples with the most frequent label. Raises `InputError` if the
    recording has other channels, units, classes or another rate than the model, or no whole window.
    """
    signal = signal_of(model.features)
    if signal is None or signal.triggered:
        raise unneeded("--hop", "needs a model that was trained on windows of consecutive samples")
    dataset = recorded.dataset.matched(
        channel_names(model.feature_names, signal.channels), "the recording"
    )
    samples, y = dataset.X_train, dataset.y_train
    rest = dataset.classes[int(np.bincount(y).argmax())]
    rate = _rate(model, signal, dataset, recorded.rate, rest)
    parts = runs_of(np.zeros_like(y), recorded.seams)
    if (longest := max(end - first for first, end in parts)) < signal.samples:
        raise InputError(
            f"the longest gap-free part of the recording has {counted(longest, 'sample')}, "
            f"but a window of the model has {signal.samples:,}; give a longer recording"
        )
    integers, reports = quantize(model), list[tuple[int, str]]()
    counts = _conversion(integers, dataset.instrument, model.instrument)
    reporter = Reporter(votes, round(refractory_s * rate), marks)
    names = {**dict(enumerate(model.classes)), NO_CLASS: NO_CLASS_NAME}
    for first, end in parts:
        reporter.forget()
        if recorded.begins[first]:
            reporter.reported = UNDECIDED
        for at, label, shares in _classified(
            integers, samples[first:end], signal.samples, hop, counts
        ):
            if reporter.report(label, shares, first + at):
                reports.append((first + at, names[reporter.reported]))
    events, missed, right = 0, list[tuple[float, str]](), set[int]()
    reach, ends = signal.samples + (votes - 1) * hop, np.array([end for _, end in parts])
    for first, end in runs_of(y, recorded.begins):
        event = dataset.classes[y[first]]
        if event != rest:
            last = min(end + reach - 1, int(ends[np.searchsorted(ends, end)]))
            reported = {at for at, name in reports if name == event and first < at <= last}
            events, right = events + 1, right | reported
            if not reported:
                missed.append((first / rate, event))
    alarms = [
        each for each in reports if each[1] not in (rest, NO_CLASS_NAME) and each[0] not in right
    ]
    return LiveFigures(
        hours=len(samples) / rate / 3600,
        rest=rest,
        events=events,
        missed=tuple(missed),
        false_alarms=tuple((at / rate, name) for at, name in alarms),
        reports=tuple((at / rate, name) for at, name in reports),
        notices=counts.notices if counts else (),
    )


def _conversion(
    integers: IntegerChain, here: Instrument | None, there: Instrument | None
) -> CountConversion | None:
    """Return the conversion; refuse counts where only decimals of an unknown unit are known."""
    if here is not None and here.sensor and there is None and not as_it_is(integers):
        raise InputError(
            "the model was trained on decimal numbers in an unknown unit, but the recording has "
            f"counts of {here}; declare the unit of the training data, for example with --unit g"
        )
    return CountConversion.of(here, there)


def _rate(
    model: Model, signal: Signal, dataset: Dataset, recorded: float | None, rest: str
) -> float:
    """Return the samples a second; raise `InputError` if a recording is unlike the model's."""
    rate, channels = recorded or signal.rate, dataset.X_train.shape[1]
    here, there = dataset.instrument, model.instrument
    alike = here is None or there is None or not here.is_unlike(there)
    alike = alike or CountConversion.of(here, there) is not None
    if strange := sorted({*dataset.classes} - {rest, *model.classes}):
        raise InvalidValue(
            "the recording",
            f"labels that the model does not have: {listed(strange)}",
            "correct them, or read the classes with --label COLUMN or, of files, --name PATTERN",
        )
    if channels == signal.channels and alike and is_same_rate(rate, signal.rate):
        if rate:
            return rate
        raise InputError("the recording and the model have no sampling rate; add a column of times")
    raise InputError(
        f"the recording ({_described(channels, here, rate, dataset.classes)}) does not match the "
        f"model ({_described(signal.channels, there, signal.rate, model.classes)}); give a "
        "recording like those used to train the model"
    )


def _described(
    channels: int, instrument: Instrument | None, rate: float | None, labels: Sequence[str]
) -> str:
    of = f" of {instrument}" if instrument else ""
    hertz = f" at {rate:g} Hz" if rate else ""
    return f"{counted(channels, 'channel')}{of}{hertz}, labels {listed(labels)}"


def _classified(
    integers: IntegerChain,
    samples: NDArray[np.float32],
    window: int,
    hop: int,
    counts: CountConversion | None,
) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
    """Yield where each window of samples (rows, channels) ends, its class, and its shares (L,).

    Samples of a sensor are quantized as on a board; see `CountConversion`.
    """
    begins = np.arange(0, len(samples) - window + 1, hop)
    for start in range(0, len(begins), _WINDOWS_AT_ONCE):
        some = begins[start : start + _WINDOWS_AT_ONCE]
        windows = samples[some[:, None] + np.arange(window)].reshape(len(some), -1)
        if counts is not None:
            windows = counts.applied(windows, integers)
        labels, scores = integers.answers(integers.quantize(windows))
        shares = shares_of(integers.policy, labels, scores)
        yield from zip((some + window).tolist(), labels.tolist(), shares, strict=True)
