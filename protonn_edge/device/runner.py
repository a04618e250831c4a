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
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.device.protocol import StatsReply
from protonn_edge.device.results import Result
from protonn_edge.device.session import Prediction, Session
from protonn_edge.errors import InputError, ProtoNNEdgeError, counted

_WAKE_S = 0.2  # so that Ctrl-C is noticed
_FAULTS = {4: "a brown-out", 8: "the watchdog"}  # that cause resets
_END_S = 10.0  # for a thread whose device no longer answers


@dataclass(frozen=True)
class DeviceShare:
    """A device's share of a run."""

    device: str  # the URL of its port
    n: int  # points that it answered
    seconds: float  # how long it took
    cycles_mean: float | None  # cycles of a prediction; None if it answered none
    retried: int  # requests
    reopened: int  # how often the line was
    stats: StatsReply | None  # the device's own counters; None if it was lost
    loss: str | None = None  # the error with which it was lost

    @property
    def points_per_s(self) -> float:
        """Points per second of wall time."""
        return self.n / self.seconds if self.seconds > 0 else 0.0

    @property
    def troubles(self) -> tuple[str, ...]:
        """What went wrong on the line or the board although points were answered, for a list."""
        counts = {"retried request": self.retried, "reopened line": self.reopened}
        if self.stats is not None:
            counts |= {"overrun": self.stats.overruns, "dropped frame": self.stats.frames_dropped}
        found = [counted(count, name) for name, count in counts.items() if count]
        if self.stats is not None and self.stats.reset_cause in _FAULTS:
            found.append(f"a reset by {_FAULTS[self.stats.reset_cause]}")
        if found and self.stats is not None:  # else they are those of opening the port
            found.append(f"{counted(self.stats.resets, 'reset')} since power-on")
        return tuple(found)


@dataclass(frozen=True)
class Run:
    """What a run gave."""

    # In the order of the rows, without those skipped. Points that no device answered despite
    # retries are included, marked as lost.
    results: list[Result]
    shares: list[DeviceShare]  # one for each device


def run(
    sessions: Sequence[Session],
    Q: NDArray[np.uint8],
    y: ArrayLike,
    expected_scores: ArrayLike | None = None,
    *,
    sink: Callable[[Result], None] | None = None,
    skip: Collection[int] = (),
    tolerance: int = 0,
    expected_classes: ArrayLike | None = None,
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
    expected_scores : array_like of int, shape (n, n_classes), optional
        From `IntegerChain.scores`. If given, devices are asked for their scores, and a point whose
        scores or whose class (the first with the highest score) differ is marked a mismatch.
    sink : callable, optional, keyword-only
        Called with each result as it arrives: `ResultsFile.append`, a progress bar.
    skip : collection of int, keyword-only
        Rows to omit, because an earlier run has their results.
    tolerance : int, keyword-only
        Tolerated difference of scores, see `differs`; only for float builds.
    expected_classes : array_like of int, shape (n,), optional, keyword-only
        From `IntegerChain.answers`, where they do not follow from the scores alone: of a model that
        rejects.

    Raises
    ------
    InputError
        If the arrays do not fit each other.
    CheckFailed
        The error of the last device, as `Session.predict`, if points are left.
    """
    reference = _Reference.of(Q, y, expected_scores, expected_classes, tolerance)
    rows = _RowQueue(row for row in range(len(Q)) if row not in skip)
    arrivals: queue.SimpleQueue[Result | _Finished] = queue.SimpleQueue()
    threads = [
        threading.Thread(
            target=_work, args=(session, rows, Q, reference, arrivals.put), daemon=True
        )
        for session in sessions
    ]
    results: list[Result] = []
    ends: list[_Finished] = []
    try:
        for thread in threads:
            thread.start()
        while len(ends) < len(sessions):
            try:
                arrival = arrivals.get(timeout=_WAKE_S)
            except queue.Empty:
                continue
            if isinstance(arrival, _Finished):
                ends.append(arrival)
                continue
            results.append(arrival)
            if sink is not None:
                sink(arrival)
    finally:
        rows.close()
        for thread in threads:
            thread.join(_END_S)
    _check_losses([end.loss for end in ends if end.loss is not None], rows.all_answered)
    order = [session.url for session in sessions]
    return Run(
        sorted(results, key=lambda result: result.index),
        sorted((end.share for end in ends), key=lambda share: order.index(share.device)),
    )


def _check_losses(losses: list[BaseException], all_answered: bool) -> None:
    """Raise what a device was lost with, if it is no error of a device, or points are left."""
    bugs = [loss for loss in losses if not isinstance(loss, ProtoNNEdgeError)]
    if bugs or (losses and not all_answered):
        raise (bugs or losses)[-1]


class _Finished(NamedTuple):
    """The end of a device's work, and the error that it was lost with."""

    share: DeviceShare
    loss: BaseException | None


class _Reference(NamedTuple):
    """What the answers should be."""

    labels: NDArray[np.int64]
    scores: NDArray[np.int64] | None
    classes: NDArray[np.int64] | None
    tolerance: int

    @classmethod
    def of(
        cls,
        Q: NDArray[np.uint8],
        y: ArrayLike,
        scores: ArrayLike | None,
        classes: ArrayLike | None,
        tolerance: int,
    ) -> Self:
        """Return the reference for points Q; `InputError` if the arrays do not fit each other."""
        labels = np.asarray(y)
        expected = None if scores is None else np.asarray(scores)
        if Q.ndim != 2 or labels.shape != (len(Q),):
            raise InputError(
                f"test points have shape {Q.shape} and labels {labels.shape}, must have (n, "
                "features) and (n,); give one label per row"
            )
        if expected is not None and (expected.ndim != 2 or len(expected) != len(Q)):
            raise InputError(
                f"expected scores have shape {expected.shape}, must have ({len(Q)}, classes); "
                "compute them from the same rows"
            )
        return cls(labels, expected, None if classes is None else np.asarray(classes), tolerance)

    def result(self, row: int, device: str, answer: Prediction | None) -> Result:
        label = int(self.labels[row])
        if answer is None:
            return Result(row, label, None, None, device=device)
        mismatch = None if self.scores is None else self._mismatches(row, answer)
        return Result(row, label, answer.label, answer.cycles, mismatch, answer.scores, device)

    def _mismatches(self, row: int, answer: Prediction) -> bool:
        assert self.scores is not None, "there is something to compare with"
        scores, expected = np.array([answer.scores], np.int64), self.scores[[row]]
        if scores.shape != expected.shape:
            return True
        classes = None if self.classes is None else self.classes[[row]]
        labels = np.array([answer.label])
        return bool(differs(expected, labels, scores, self.tolerance, classes)[0])


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
    reference: _Reference,
    arrived: Callable[[Result | _Finished], None],
) -> None:
    """Let a device answer rows until none are left or it is lost."""
    taken: set[int] = set()

    def inputs() -> Iterator[tuple[int, NDArray[np.uint8]]]:
        while (row := rows.take()) is not None:
            taken.add(row)
            yield row, Q[row]

    began, n, cycles, stats, loss = time.monotonic(), 0, 0, None, None
    with_scores = reference.scores is not None
    try:
        while rows.wait():
            for row, prediction in session.stream(inputs(), with_scores=with_scores):
                arrived(reference.result(row, session.url, prediction))
                taken.discard(row)
                rows.answered()
                if prediction is not None:
                    n, cycles = n + 1, cycles + prediction.cycles
        ended = time.monotonic()
        stats = session.stats()
    except BaseException as error:  # noqa: BLE001  (whoever waits for this thread raises it)
        ended = time.monotonic()
        loss = error
        rows.give_back(taken)
    share = DeviceShare(
        session.url,
        n,
        ended - began,
        cycles / n if n else None,
        session.retried,
        session.reopened,
        stats,
        None if loss is None else str(loss),
    )
    arrived(_Finished(share, loss))


def differs(
    expected: NDArray[np.int64],
    labels: NDArray[np.int64],
    scores: NDArray[np.int64],
    tolerance: int = 0,
    classes: NDArray[np.int64] | None = None,
) -> NDArray[np.bool_]:
    """Return which answers differ from the reference.

    Parameters
    ----------
    expected, scores : ndarray of int64, shape (n, n_classes)
        The reference's scores and an execution's.
    labels : ndarray of int64, shape (n,)
        The execution's classes.
    tolerance : int
        Tolerated difference of a score. The class must then have an expected score within twice the
        tolerance of the largest; without tolerance it is the first of the largest.
    classes : ndarray of int64, shape (n,), optional
        The reference's classes, where they do not follow from the scores alone; for executions
        without tolerance.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    wrong: NDArray[np.bool_] = (np.abs(scores - expected) > tolerance).any(axis=1)
    if tolerance == 0:
        wrong |= labels != (expected.argmax(axis=1) if classes is None else classes)
    else:
        known = labels < expected.shape[1]  # unlike `UNKNOWN`
        chosen = np.take_along_axis(expected, np.where(known, labels, 0)[:, None], axis=1)[:, 0]
        wrong |= ~known | (expected.max(axis=1) - chosen > 2 * tolerance)
    return wrong


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
