"""The classes that a board would report, from the samples of its logger, in the board's integers.

So a model can be tried on live samples before anything is uploaded. Windows begin and restart as in
templates/sensors/windows.j2: none spans a missing sample, and after one, or a reset, the next
sample begins a window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import answer_name
from protonn_edge.extensions.sensing.recorder import Samples
from protonn_edge.extensions.sensing.windowing import Windowing
from protonn_edge.policy.confidence.voting import UNDECIDED, Reporter, shares_of
from protonn_edge.system.errors import InputError


@dataclass(frozen=True)
class StreamAnswer:
    """The answer for a window of a stream, with the names that `monitor` shows."""

    first: int  # the number of its first sample, counted from the board's reset
    label: str
    reported: str | None  # the class reported for the last windows; None before there is one
    scores: dict[str, int]
    shares: dict[str, int]  # of the last windows, in per cent; what is missing to 100 is of none
    value: str | None = None  # the number that the model predicts, if it does


def reporter_of(windowing: Windowing) -> Reporter:
    """Return what reports classes of consecutive windows as the board does."""
    return Reporter(windowing.votes, windowing.refractory, windowing.marks)


class StreamClassifier:
    """Classifies the windows of a logger's samples; `InputError` if windows begin at a sound."""

    def __init__(self, windowing: Windowing) -> None:
        if windowing.triggered:
            raise InputError(
                "the windows of this model begin with a sound, which only the board's firmware "
                "detects; build and upload it, and use 'monitor'"
            )
        self.windowing = windowing
        self._reporter = reporter_of(windowing)
        self._waiting = np.empty((0, len(windowing.used)), np.int16)
        self._first: int | None = None  # the number of the first waiting sample
        self._skip = 0  # samples before the next window

    def feed(self, samples: Samples) -> Iterator[StreamAnswer]:
        """Yield the answers for the windows that these samples complete."""
        values = samples.values[:, self.windowing.used]
        expected = None if self._first is None else self._first + len(self._waiting)
        if expected is not None and samples.first != expected:
            self._reporter.forget()
            if samples.first < expected:  # a reset
                self._reporter = reporter_of(self.windowing)
            expected = None
        if expected is None:
            self._first, self._waiting, self._skip = samples.first, values[:0], 0
        self._waiting = np.concatenate([self._waiting, values])
        while self._is_complete():
            assert self._first is not None, "there are samples"
            yield self._answer(self._first, self._waiting[: self.windowing.window])
            self._skip = self.windowing.hop

    def _is_complete(self) -> bool:
        """Forget the samples before the next window; return whether all of its own are there."""
        skipped = min(self._skip, len(self._waiting))
        self._waiting = self._waiting[skipped:]
        self._skip -= skipped
        self._first = (self._first or 0) + skipped
        return not self._skip and len(self._waiting) >= self.windowing.window

    def _answer(self, first: int, window: NDArray[np.int16]) -> StreamAnswer:
        model = self.windowing.model
        inputs = model.raw_inputs.quantize(window.reshape(1, -1))
        labels, scores = model.answers(inputs)
        (label,), (shares,) = labels, shares_of(model.policy, labels, scores)
        self._reporter.report(int(label), shares, first + len(window))
        reported = self._reporter.reported
        values = model.policy.words(scores, model.classes)
        names = dict(zip(model.classes, map(int, scores[0]), strict=True))
        return StreamAnswer(
            first,
            answer_name(model.classes, int(label)),
            None if reported == UNDECIDED else answer_name(model.classes, reported),
            names,
            dict(zip(model.classes, self._reporter.shares, strict=True)),
            None if values is None else values[0],
        )
