"""Training reports and results, the same for every optimizer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from protonn_edge.learn.objective import Parameters
from protonn_edge.model.head import Head
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array


@dataclass(frozen=True)
class EpochReport:
    """Report after an epoch, or after the epochs of a pass over one matrix.

    For a network that is learned before the classifier, an epoch is a pass over the images.
    """

    # the epoch that ended, from 1, and the total
    epoch: int
    epochs: int
    # mean loss: over the epoch's (noisy) batches, or over the training points after a pass
    objective: float
    # share of the training points (at most 1,000 of them) classified correctly, 0 to 1; a point
    # with a set of labels counts as correct if one of its labels has the highest score; of numbers,
    # R2, at most 1; NaN for a `network`
    accuracy: float = math.nan
    # the same of the points in `evaluate_on`; None without such points
    test_accuracy: float | None = None
    parameter: str = ""  # the matrix of the pass; empty if all are trained together
    # the iteration of the pass, from 1, and the total; 0 without passes
    iteration: int = 0
    iterations: int = 0
    network: str = ""  # the network being learned; empty for the classifier

    @property
    def place(self) -> str:
        """The progress of the training, in words."""
        what = f"passes over the {self.network}" if self.network else "epochs"
        return f"{self.epoch:,} of {self.epochs:,} {what}"


@dataclass(frozen=True)
class Restart:
    """A training attempt that was abandoned and restarted with smaller steps."""

    learning_rate: float  # of the failed attempt
    epoch: int  # of the failure, counted from 1
    reason: str  # the reason, as part of a sentence
    lowered_to: float  # the learning rate of the next attempt

    def __str__(self) -> str:
        return (
            f"training diverged at the learning rate {self.learning_rate:.3g} in epoch "
            f"{self.epoch:,} ({self.reason}), so it was restarted at {self.lowered_to:.3g}"
        )


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of an optimizer."""

    parameters: Parameters
    learning_rate: float  # the final one, after restarts
    history: tuple[EpochReport, ...]  # its reports, without abandoned attempts'
    restarts: tuple[Restart, ...] = ()  # the abandoned attempts
    cutoff: float = 0.0  # RBF values below this counted as 0


@dataclass(frozen=True, eq=False)
class Learned:
    """What a learner returns."""

    head: Head
    history: tuple[EpochReport, ...]  # at least one
    restarts: tuple[Restart, ...] = ()  # the abandoned attempts
    remarks: tuple[str, ...] = ()  # remarks for the user, such as that training did not converge
    # more fields for the model's record, JSON-compatible
    facts: Mapping[str, object] = field(default_factory=dict)
    inputs: InputStatistics | None = None  # those that the head needs in place of the points'

    @classmethod
    def at_once(
        cls, head: Head, report: EpochReport, callback: Callback | None, **known: Any
    ) -> Self:
        """Return the result of a training without epochs, after its only report."""
        if callback is not None:
            with suppress(TrainingStopped):  # nothing is left to stop
                callback(report)
        return cls(head, (report,), **known)


Callback = Callable[[EpochReport], object]


class TrainingStopped(KeyboardInterrupt):
    """When raised, for example in a callback, ends a training with its best epoch so far.

    Before the first epoch has ended, it propagates from `fit`. Like Ctrl-C, it is not an error.
    """


class BestEpoch:
    """The arrays of the epoch with the best training accuracy so far, the latest among equals."""

    def __init__(self, arrays: Iterable[Array]) -> None:
        self._arrays = tuple(arrays)
        self._kept: tuple[Array, ...] = ()
        self._accuracy = -math.inf  # R2 may be far below 0

    def forget(self) -> None:
        """Prefer any later epoch, because limits have become tighter."""
        self._accuracy = -math.inf

    def through(
        self, reports: Iterator[EpochReport], callback: Callback | None
    ) -> list[EpochReport]:
        """Run a training that reports its epochs; return the reports.

        If it is stopped, the arrays get the values of the best epoch, if there is one.
        """
        history: list[EpochReport] = []
        try:
            for report in reports:
                if report.accuracy >= self._accuracy:
                    kept = tuple(array.copy() for array in self._arrays)
                    self._kept, self._accuracy = kept, report.accuracy
                history.append(report)
                if callback is not None:
                    callback(report)
        except TrainingStopped:
            if not history:
                raise
            for array, best in zip(self._arrays, self._kept, strict=True):
                array[...] = best
        return history


def was_stopped(history: Sequence[EpochReport]) -> bool:
    """Return whether a training that reported these epochs was stopped before its last one."""
    return history[-1].epoch < history[-1].epochs


class DivergedError(Exception):
    """Parameters are not finite, or most points are out of reach of all prototypes."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.epoch = 0  # set by the caller, who counts epochs
