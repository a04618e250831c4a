"""Classify test points on one or several devices, each point once, and compare with the reference.

Each device has a thread that takes points from a common queue, so faster devices take more; the
unanswered points of a lost device are returned to the queue.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.device.protocol import StatsReply
from protonn_edge.device.results import Result
from protonn_edge.device.session import Prediction, Session
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.checks import check_kind, check_shape
from protonn_edge.system.errors import ProtoNNEdgeError, counted

_WAKE_S = 0.2  # so that Ctrl-C is noticed
_FAULTS = {4: "a brown-out", 8: "the watchdog"}  # that cause resets
_END_S = 10.0  # for a thread with a device that no longer answers


@dataclass(frozen=True)
class DeviceShare:
    """A device's share of a run."""

    device: str  # its name, or the URL of its port
    n: int  # points that it answered
    seconds: float  # how long it took
    cycles_mean: float | None  # cycles of a prediction; None if it answered or counted none
    retried: int  # requests
    reopened: int  # how often the line was
    stats: StatsReply | None  # the device's own counters; None if it was lost
    loss: str | None = None  # the error with which it was lost

    @property
    def points_per_s(self) -> float:
        """Points per second of wall time."""
        return self.n / self.seconds if self.seconds > 0 else 0.0

    @property
    def reset_fault(self) -> str | None:
        """What reset the board last, if that was a fault."""
        return None if self.stats is None else _FAULTS.get(self.stats.reset_cause)

    @property
    def troubles(self) -> tuple[str, ...]:
        """Faults of the line or the board although points were answered, for a list."""
        counts = {"retried request": self.retried, "reopened line": self.reopened}
        if self.stats is not None:
            counts |= {"overrun": self.stats.overruns, "dropped frame": self.stats.frames_dropped}
        troubles = [counted(count, name) for name, count in counts.items() if count]
        if self.reset_fault is not None:
            troubles.append(f"a reset by {self.reset_fault}")
        if troubles and self.stats is not None:  # else they belong to opening the port
            troubles.append(f"{counted(self.stats.resets, 'reset')} since power-on")
        return tuple(troubles)


_End = tuple[DeviceShare, BaseException | None]  # of a device's work: the error that ended it


@dataclass(frozen=True)
class Run:
    """The results of a run."""

    # In the order of the rows, without those skipped. Points that no device answered despite
    # retries are included, marked as lost.
    results: list[Result]
    shares: list[DeviceShare]  # one for each device


@dataclass(frozen=True, eq=False)
class ReferenceAnswers:
    """The reference's answers to n points, with which executions are compared.

    Attributes
    ----------
    scores : ndarray of int64, shape (n, n_classes)
    classes : ndarray of int64, shape (n,), optional
        Given if they do not follow from the scores alone, as with rules of a policy; compared
        without tolerance.
    tolerance : int
        Tolerated difference of a score, only for float builds. The expected score of the class must
        then be within twice the tolerance of the largest; without tolerance, the class is the first
        with the largest score.
    """

    scores: NDArray[np.int64]
    classes: NDArray[np.int64] | None = None
    tolerance: int = 0

    @classmethod
    def of(cls, model: IntegerChain, Q: NDArray[np.uint8]) -> Self:
        """Return a model's answers to quantized points Q (n, D)."""
        classes, scores = model.answers(Q)
        return cls(scores, classes, model.score_tolerance)

    def differs(self, labels: NDArray[np.int64], scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which answers (n,) of an execution differ, by its classes and scores."""
        wrong: NDArray[np.bool_] = (np.abs(scores - self.scores) > self.tolerance).any(axis=1)
        if self.tolerance == 0:
            right = self.scores.argmax(axis=1) if self.classes is None else self.classes
            wrong |= labels != right
            return wrong
        classified = labels < self.scores.shape[1]  # unlike `NO_CLASS`
        places = np.where(classified, labels, 0)[:, None]
        chosen = np.take_along_axis(self.scores, places, axis=1)[:, 0]
        wrong |= ~classified | (self.scores.max(axis=1) - chosen > 2 * self.tolerance)
        return wrong

    def differs_at(self, row: int, label: int, scores: Sequence[int]) -> bool:
        """Return whether the answer to one point differs."""
        if len(scores) != self.scores.shape[1]:
            return True
        classes = None if self.classes is None else self.classes[[row]]
        one = ReferenceAnswers(self.scores[[row]], classes, self.tolerance)
        return bool(one.differs(np.array([label]), np.array([scores], np.int64))[0])


def run(
    sessions: Sequence[Session],
    Q: NDArray[np.uint8],
    y: ArrayLike,
    expected: ReferenceAnswers | None = None,
    *,
    sink: Callable[[Result], None] | None = None,
    skip: Collection[int] = (),
) -> Run:
    """Classify test points on devices.

    Parameters
    ----------
    sessions : sequence of Session
        Open sessions, one for each device; all devices must have the same model.
    Q : ndarray of uint8, shape (n, n_features)
        Quantized test points, from `IntegerChain.quantize`.
    y : array_like of int, shape (n,)
        Index of each point's true class.
    expected : ReferenceAnswers, optional
        If given, devices are asked for their scores, and a point is marked a mismatch if its scores
        or its class differ.
    sink : callable, optional, keyword-only
        Called with each result as it arrives: `ResultsFile.append`, a progress bar.
    skip : collection of int, keyword-only
        Rows to omit, because an earlier run has their results.

    Raises
    ------
    InputError
        If the arrays do not fit each other.
    CheckFailed
        If points are left: the error of the last device, see `Session.predict`.
    """
    labels = np.asarray(y)
    check_kind("points", Q, "iu", 2)
    check_shape("labels", labels.shape, (len(Q),))
    if expected is not None:
        check_shape("expected scores", expected.scores.shape[:-1], (len(Q),))
    rows = _RowQueue(row for row in range(len(Q)) if row not in skip)
    arrivals: queue.SimpleQueue[Result | _End] = queue.SimpleQueue()
    threads = [
        threading.Thread(
            target=_work, args=(session, rows, Q, labels, expected, arrivals.put), daemon=True
        )
        for session in sessions
    ]
    results: list[Result] = []
    ends: list[_End] = []
    try:
        for thread in threads:
            thread.start()
        while len(ends) < len(sessions):
            try:
                arrival = arrivals.get(timeout=_WAKE_S)
            except queue.Empty:
                continue
            if not isinstance(arrival, Result):
                ends.append(arrival)
                continue
            results.append(arrival)
            if sink is not None:
                sink(arrival)
    finally:
        rows.close()
        for thread in threads:
            thread.join(_END_S)
    losses = [loss for _, loss in ends if loss is not None]
    bugs = [loss for loss in losses if not isinstance(loss, ProtoNNEdgeError)]
    if bugs or (losses and not rows.all_answered):
        raise (bugs or losses)[-1]
    order = [session.name for session in sessions]
    return Run(
        sorted(results, key=lambda result: result.index),
        sorted((share for share, _ in ends), key=lambda share: order.index(share.device)),
    )


class _RowQueue:
    """Rows to answer, for several threads; each is answered once."""

    def __init__(self, rows: Iterator[int]) -> None:
        self._rows = list(rows)[::-1]
        self._unanswered = len(self._rows)
        self._closed = False
        self._changed = threading.Condition()

    @property
    def all_answered(self) -> bool:
        return self._unanswered == 0

    def wait(self) -> bool:
        """Return whether there is a row to take, once this is certain."""
        with self._changed:
            self._changed.wait_for(lambda: self._rows or self._closed or self.all_answered)
            return bool(self._rows) and not self._closed

    def take(self) -> int | None:
        """Return the next row, or None if there is none at the moment."""
        with self._changed:
            return self._rows.pop() if self._rows and not self._closed else None

    def answered(self) -> None:
        with self._changed:
            self._unanswered -= 1
            self._changed.notify_all()

    def give_back(self, rows: Collection[int]) -> None:
        """Return rows that were taken but not answered."""
        with self._changed:
            self._rows += sorted(rows, reverse=True)
            self._changed.notify_all()

    def close(self) -> None:
        """Stop all threads from taking or waiting for rows."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _work(
    session: Session,
    rows: _RowQueue,
    Q: NDArray[np.uint8],
    labels: NDArray[np.int64],
    expected: ReferenceAnswers | None,
    arrived: Callable[[Result | _End], None],
) -> None:
    """Let a device answer rows until none are left or it is lost."""
    taken: set[int] = set()

    def inputs() -> Iterator[tuple[int, NDArray[np.uint8]]]:
        while (row := rows.take()) is not None:
            taken.add(row)
            yield row, Q[row]

    began, n, cycles, stats, loss = time.monotonic(), 0, 0, None, None
    try:
        while rows.wait():
            for row, prediction in session.stream(inputs(), with_scores=expected is not None):
                arrived(_result(row, int(labels[row]), session.name, prediction, expected))
                taken.discard(row)
                rows.answered()
                if prediction is not None:
                    n, cycles = n + 1, cycles + prediction.cycles
        ended = time.monotonic()
        stats = session.stats()
    except BaseException as error:  # noqa: BLE001  (the waiting thread raises it)
        ended = time.monotonic()
        loss = error
        rows.give_back(taken)
    share = DeviceShare(
        session.name,
        n,
        ended - began,
        cycles / n if n and session.device.counts == "cycles" else None,
        session.retried,
        session.reopened,
        stats,
        None if loss is None else str(loss),
    )
    arrived((share, loss))


def _result(
    row: int, label: int, device: str, answer: Prediction | None, expected: ReferenceAnswers | None
) -> Result:
    if answer is None:
        return Result(row, label, None, None, device=device)
    mismatch = None
    if expected is not None:
        mismatch = expected.differs_at(row, answer.label, answer.scores or ())
    return Result(row, label, answer.label, answer.cycles, mismatch, answer.scores, device)


@dataclass(frozen=True)
class DeviceComparison:
    """Differences between devices on the same points."""

    n: int  # points that each classified
    # points with differing classes or scores; anything but 0 is a bug or a broken board
    answers_differ: int
    cycles_differ: int  # points with differing cycles


def compare_devices(sessions: Sequence[Session], Q: NDArray[np.uint8]) -> DeviceComparison:
    """Classify quantized points Q (n, D) on each device; raises as `Session.predict` does."""
    answers: list[list[Prediction]] = [
        [session.predict(row, with_scores=True) for row in Q] for session in sessions
    ]
    points = list(zip(*answers, strict=True))
    return DeviceComparison(
        n=len(points),
        answers_differ=sum(len({(p.label, p.scores) for p in point}) > 1 for point in points),
        cycles_differ=sum(len({p.cycles for p in point}) > 1 for point in points),
    )
