"""The answers to expect of a model, by which a device may judge its own in the field.

For each answer, three things are examined: the margin (the largest score minus the second largest),
the sum of all scores, and the runner-up (the class with the second largest score). A model file has
their usual values; neither they nor a watch change an answer, or the hash of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.checks import check_type
from protonn_edge.model.integer_stage import IntArray, run_through
from protonn_edge.model.watch import watchable_inputs
from protonn_edge.system.errors import InvalidValue

UNUSUAL_SHARE = 0.01
_BINS_OF_FILES = 8
MOST_CLASSES = 15  # with more, the counters would not fit 64 bytes
FEWEST_POINTS = 100
MOST_WATCHED, FEWEST_WATCHED = 8, 4  # inputs, unless there are fewer

_POOLED = 10  # weight, in points, of all classes' deviation in that of each class
_FULL = 0xFFFF
_STATISTICS = 2

Float64 = NDArray[np.float64]

_CALIBRATE_AGAIN = "calibrate the model again"


@dataclass(frozen=True, eq=False)
class ExpectedAnswers:
    """Statistics of the answers to expect, in the float model's units."""

    array: ClassVar[str] = "observation.expected"

    low: Float64  # (L, 2): of the margin, and of the sum of scores, for each class
    high: Float64  # likewise
    edges: Float64  # (7,): edges of the margin's bins
    runners_up: NDArray[np.bool_]  # (L, L): whether a runner-up is usual for a class
    watched: range  # an even number of the classifier's inputs, up to its end
    moving: NDArray[np.bool_]  # (L,): whether no watched input is ever 0 for a class

    @classmethod
    def of(cls, chain: Any, Q: NDArray[np.uint8]) -> ExpectedAnswers | None:
        """Measure quantized points Q (n, features) not used in training; None if too few.

        None also for a model that `why_unobserved` refuses.
        """
        if len(Q) < FEWEST_POINTS or why_unobserved(chain):
            return None
        scores = chain.scores(Q)
        units = chain.score_scale * 256.0 ** shifted_bytes(chain)
        values = statistics(scores, shifted_bytes(chain))
        classes, runners_up = ranked(scores)
        even = np.arange(len(Q)) % 2 == 0
        excess = np.empty(len(Q))
        for half in (even, ~even):
            mean, deviation = _moments(values[half], classes[half], chain.n_classes)
            other = classes[~half]
            excess[~half] = (np.abs(values[~half] - mean[other]) / deviation[other]).max(axis=1)
        mean, deviation = _moments(values, classes, chain.n_classes)
        reach = np.quantile(excess, 1 - UNUSUAL_SHARE) * deviation
        edges = np.ceil(np.quantile(values[:, 0], np.arange(1, _BINS_OF_FILES) / _BINS_OF_FILES))
        counts = np.zeros((chain.n_classes, chain.n_classes))
        np.add.at(counts, (classes, runners_up), 1)
        total = counts.sum(axis=1, keepdims=True)
        usual = (counts >= UNUSUAL_SHARE * total) | (total < FEWEST_POINTS)
        low, high = np.floor(mean - reach) * units, np.ceil(mean + reach) * units
        zero = (
            run_through(chain.feature_stages, Q)[
                :, : watchable_inputs(chain.features, chain.n_inputs)
            ]
            == 0
        )
        return cls(low, high, edges * units, usual, *_watched(zero, classes, chain.n_classes))

    def to_array(self) -> Float64:
        """Return all numbers in one vector, as a model file stores them."""
        watched = np.array([self.watched.start, self.watched.stop, self.watched.step])
        parts = (self.low, self.high, self.edges, self.runners_up, watched, self.moving)
        return np.concatenate([part.ravel() for part in parts])

    @classmethod
    def of_array(cls, array: Float64, n_classes: int, n_inputs: int) -> ExpectedAnswers:
        """Rebuild from the vector of `to_array`; `InputError` if its length or order is wrong."""
        sizes = _STATISTICS * n_classes
        ends = np.cumsum([sizes, sizes, _BINS_OF_FILES - 1, n_classes**2, 3]).tolist()
        check_type(array, cls.array, "f8")
        if array.shape != (ends[4] + n_classes,) or not np.isfinite(array).all():
            raise InvalidValue(cls.array, "of other classes", _CALIBRATE_AGAIN)
        low, high, edges, runners_up, place, moving = np.split(array, ends)
        if (low > high).any() or (np.diff(edges) < 0).any():
            raise InvalidValue(cls.array, "not sorted", _CALIBRATE_AGAIN)
        start, stop, step = np.clip(place, 0, _FULL).astype(int).tolist()
        watched = range(start, stop, max(1, step))
        number, last = len(watched), watched[-1] if watched else n_inputs - 1
        if number > MOST_WATCHED or number % 2 or not n_inputs - watched.step <= last < n_inputs:
            raise InvalidValue(cls.array, "of other inputs", _CALIBRATE_AGAIN)
        low, high = low.reshape(-1, _STATISTICS), high.reshape(-1, _STATISTICS)
        runners_up = runners_up.reshape(n_classes, -1) != 0
        return cls(low, high, edges, runners_up, watched, moving != 0)


def why_unobserved(chain: Any) -> str | None:
    """Return the reason why a model cannot be observed, None if it can."""
    if chain.policy.predicts == "value":
        return "a model that predicts a number, but only models of classes"
    if not 2 <= chain.n_classes <= MOST_CLASSES:
        plural = "es" if chain.n_classes > 1 else ""
        return (
            f"a model of {chain.n_classes} class{plural}, but only models of 2 to {MOST_CLASSES} "
            "classes"
        )
    if getattr(chain.own_stages[-1], "voters", None) is not None:
        return "a model that learns on the device, because its scores change as it does"
    return None


def _watched(
    zero: NDArray[np.bool_], classes: IntArray, n_classes: int
) -> tuple[range, NDArray[np.bool_]]:
    """Choose equidistant inputs that are never 0 for some classes; return them and these classes.

    `zero` (n, D) marks the inputs of points that are 0. As many points as possible belong to these
    classes, and as many of the inputs as possible are 0 for a share of `UNUSUAL_SHARE` of all.
    """
    total, n_inputs = np.bincount(classes, minlength=n_classes), zero.shape[1]
    usual = np.broadcast_to(total[:, None] < FEWEST_POINTS, (n_classes, n_inputs)).copy()
    np.logical_or.at(usual, classes, zero)
    often = zero.mean(axis=0) >= UNUSUAL_SHARE
    found, most = (range(0), np.zeros(n_classes, bool)), 0
    least = -(-n_inputs // MOST_WATCHED)
    for step in range(max(1, least), max(least, n_inputs // FEWEST_WATCHED) + 1):
        places = np.arange(step)[:, None] + np.arange(0, n_inputs, step)  # a row for each start
        there = places < n_inputs
        there[:, 0] &= there.sum(axis=1) % 2 == 0
        places = np.minimum(places, n_inputs - 1)
        moving = ~(usual[:, places] & there).any(axis=2)
        gains = (total @ moving) * (often[places] & there).sum(axis=1)
        start = int(gains.argmax())
        if gains[start] > most:
            watched = range(n_inputs)[start::step]
            found = watched[len(watched) % 2 :], moving[:, start]
            most = int(gains[start])
    return found


def shifted_bytes(chain: Any) -> int:
    """Return how many lowest bytes to drop so that differences of scores fit 16 bits."""
    low, high = chain.own_stages[-1].output.ends
    return next(count for count in range(3) if (high >> 8 * count) - (low >> 8 * count) <= _FULL)


def ranked(scores: IntArray) -> tuple[IntArray, IntArray]:
    """Return the classes (n,) with the largest and second largest of scores (n, L)."""
    best, runners_up = np.argsort(-scores, axis=1, kind="stable")[:, :2].T
    return best, runners_up


def statistics(scores: IntArray, shifted_bytes: int) -> IntArray:
    """Return the margin and the sum, (n, 2), of scores (n, L)."""
    short = np.sort(scores >> 8 * shifted_bytes, axis=1)
    return np.stack([short[:, -1] - short[:, -2], short.sum(axis=1)], axis=1)


def _moments(values: IntArray, classes: IntArray, n_classes: int) -> tuple[Float64, Float64]:
    """Return each class's mean and deviation, (L, 2) each, of values (n, 2)."""
    present = np.bincount(classes, minlength=n_classes)[:, None]
    pooled = np.broadcast_to(values.mean(axis=0), (n_classes, _STATISTICS))
    sums, squares = np.zeros_like(pooled), np.zeros_like(pooled)
    np.add.at(sums, classes, values)
    mean = np.where(present > 0, sums / np.maximum(present, 1), pooled)
    np.add.at(squares, classes, np.square(values - mean[classes]))
    usual = squares.sum(axis=0) / len(values)
    return mean, np.maximum(np.sqrt((squares + _POOLED * usual) / (present + _POOLED)), 0.5)
