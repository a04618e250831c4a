"""Send test points to a device one by one and compare what it answers with the integer model."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.errors import InputError
from protonn_edge.hil.results import Result
from protonn_edge.hil.connection import NoReplyError
from protonn_edge.hil.session import Prediction, Session

_LOST_IN_A_ROW = 3


def run(
    session: Session,
    Q: NDArray[np.uint8],
    y: ArrayLike,
    expected_scores: ArrayLike | None = None,
    *,
    sink: Callable[[Result], None] | None = None,
    skip: Collection[int] = (),
    tolerance: int = 0,
) -> list[Result]:
    """Classify test points on the device.

    Parameters
    ----------
    session : Session
        An open one.
    Q : ndarray of uint8, shape (n, n_features)
        Quantized test points, from `IntegerModel.quantize`.
    y : array_like of int, shape (n,)
        Index of each point's true class.
    expected_scores : array_like of int, shape (n, n_classes), optional
        From `IntegerModel.scores`. If given, the device is asked for its scores, and a point whose
        scores or whose class (the first with the highest score) differ is marked a mismatch.
    sink : callable, optional, keyword-only
        Called with each result as it arrives: `ResultsFile.append`, a progress bar.
    skip : collection of int, keyword-only
        Rows to leave out, because an earlier run has their results.
    tolerance : int, keyword-only
        By how much scores may differ, see `differs`; only those of a float build may.

    Returns
    -------
    list of Result
        In the order of the rows, without those skipped. A point that got no answer is in it, marked
        as lost.

    Raises
    ------
    InputError
        If the arrays do not fit each other.
    NoReplyError
        If three points in a row got no answer: the device is gone.
    LinkError, ProtocolError
        As `Session.predict`.
    """
    labels = np.asarray(y)
    expected = None if expected_scores is None else np.asarray(expected_scores)
    _check_shapes(Q, labels, expected)
    results: list[Result] = []
    lost_in_a_row = 0
    for index in range(len(Q)):
        if index in skip:
            continue
        try:
            answer = session.predict(Q[index], with_scores=expected is not None)
        except NoReplyError:
            lost_in_a_row += 1
            result = Result(index, int(labels[index]), None, None)
        else:
            lost_in_a_row = 0
            mismatch = None if expected is None else _differs(answer, expected[index], tolerance)
            result = Result(
                index, int(labels[index]), answer.label, answer.cycles, mismatch, answer.scores
            )
        results.append(result)
        if sink is not None:
            sink(result)
        if lost_in_a_row == _LOST_IN_A_ROW:
            raise NoReplyError(
                f"{_LOST_IN_A_ROW} test points in a row, up to index {index}, got no answer; see "
                "that the board is connected and powered, then go on with --resume"
            )
    return results


def differs(
    expected: NDArray[np.int64],
    labels: NDArray[np.int64],
    scores: NDArray[np.int64],
    tolerance: int = 0,
) -> NDArray[np.bool_]:
    """Say which answers differ from the reference.

    Parameters
    ----------
    expected, scores : ndarray of int64, shape (n, n_classes)
        The reference's scores and an execution's.
    labels : ndarray of int64, shape (n,)
        The execution's classes.
    tolerance : int
        By how much a score may differ. The class must then be one whose expected score comes that
        near to the largest, twice over; without tolerance it is the first of the largest.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    wrong: NDArray[np.bool_] = (np.abs(scores - expected) > tolerance).any(axis=1)
    if tolerance == 0:
        wrong |= labels != expected.argmax(axis=1)
    else:
        chosen = np.take_along_axis(expected, labels[:, None], axis=1)[:, 0]
        wrong |= expected.max(axis=1) - chosen > 2 * tolerance
    return wrong


def _differs(answer: Prediction, expected: NDArray[np.int64], tolerance: int) -> bool:
    scores = np.array([answer.scores], np.int64)
    if scores.shape != (1, len(expected)):
        return True
    return bool(differs(expected[None], np.array([answer.label]), scores, tolerance)[0])


def _check_shapes(
    Q: NDArray[np.uint8], labels: NDArray[np.int64], expected: NDArray[np.int64] | None
) -> None:
    if Q.ndim != 2 or labels.shape != (len(Q),):
        raise InputError(
            f"test points have shape {Q.shape} and labels {labels.shape}, must have (n, features) "
            "and (n,); give one label per row"
        )
    if expected is not None and (expected.ndim != 2 or len(expected) != len(Q)):
        raise InputError(
            f"expected scores have shape {expected.shape}, must have ({len(Q)}, classes); compute "
            "them from the same rows"
        )
