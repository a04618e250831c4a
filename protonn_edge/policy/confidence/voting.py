"""The word for the last windows: the class of the largest mean share, or "unknown".

A window gives each class a share in whole per cent, the softmax of `Confidence`; together they are
100. A window that is like none of the classes gives nothing to any. The mean of the last windows
(soft voting) is again in whole per cent, and what is missing to 100 is the share of "none of
these". The word is the class of the largest mean among those whose mean reaches their mark, if it
exceeds "none of these"; else "unknown".

Everything is whole numbers, and templates/export/voting.j2 has the same in C. Quotients are rounded
down, and each passes its rest on to the next one; the leader, the class of the largest share, gets
what the others leave. So shares always add up to 100, and no other share exceeds the leader's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.policy import IntegerPolicy
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_choice

UNDECIDED = 254
"""The word before there are enough windows."""

WHOLE = 100  # per cent


def shares_of(policy: IntegerPolicy, answers: Array, scores: Array) -> NDArray[np.uint8]:
    """Return the share of each class (n, L) in windows, in per cent, 0..100.

    `answers` (n,) and integer `scores` (n, L) are those of the windows. Without `Confidence`, the
    answer has all. A window whose answer is no class has none.
    """
    n, n_classes = scores.shape
    confidence = policy.find(Confidence)
    leaders = scores.argmax(axis=1)
    if confidence is None:
        parts = np.zeros((n, n_classes), np.int64)
        parts[np.arange(n), leaders] = 1
    else:
        parts = confidence.parts(scores)
    shares = divided(WHOLE * parts, parts.sum(axis=1), leaders)
    shares[np.asarray(answers) >= n_classes] = 0
    return shares.astype(np.uint8)


def divided(amounts: Array, by: Array, leaders: Array) -> NDArray[np.int64]:
    """Return amounts (n, k) divided by `by` (n,), in whole numbers that add up to 100 per row.

    Each row passes its rests on, except to its leader (n,), which gets what the others leave.
    """
    rows = np.arange(len(amounts))
    others = np.array(amounts, np.int64)
    others[rows, leaders] = 0
    ends = others.cumsum(axis=1) // np.asarray(by)[:, None]
    shares: NDArray[np.int64] = np.diff(ends, axis=1, prepend=0)
    shares[rows, leaders] = WHOLE - ends[:, -1]
    return shares


@dataclass
class Reporter:
    """The word of a board for consecutive windows.

    - `votes`: the windows of the mean. There is no word before more than half of them.
    - `refractory`: samples for which the word remains.
    - `marks`: the least mean of each class to be the word, in per cent; 0 if empty.
    - `reported`: the word: a class, or `NO_CLASS`, at first `UNDECIDED`.
    - `shares`: the mean of each class, in per cent.
    """

    votes: int = 1
    refractory: int = 0
    marks: Sequence[int] = ()
    reported: int = UNDECIDED
    shares: tuple[int, ...] = ()
    _recent: list[Array] = field(default_factory=list)
    _reported_at: int = 0

    def report(self, label: int, shares: Array, end: int) -> bool:
        """Take a window's answer and shares (L,); return whether the word is news.

        The window ends before the sample number `end`.
        """
        self._recent = [*self._recent, np.asarray(shares, np.int64)][-self.votes :]
        n, sums = len(self._recent), np.sum(self._recent, axis=0)
        ahead = np.flatnonzero(sums == sums.max())
        leader = label if label in ahead else int(ahead[0])
        amounts = np.append(sums, WHOLE * n - sums.sum())
        (means,) = divided(amounts[None], np.array([n]), np.array([leader])).tolist()
        self.shares = tuple(means[:-1])
        word = word_of(self.shares, leader, self.marks)
        if 2 * n <= self.votes or word == self.reported:
            return False
        if self.reported != UNDECIDED and end - self._reported_at < self.refractory:
            return False
        self.reported, self._reported_at = word, end
        return True

    def forget(self) -> None:
        """Forget the windows before a gap; the word stays."""
        self._recent = []


def word_of(shares: Sequence[int], leader: int, marks: Sequence[int]) -> int:
    """Return the word for mean shares (L,) with this leader, which wins a tie; else the first."""
    word, most = NO_CLASS, WHOLE - sum(shares)  # "none of these" has what is left
    for label in (leader, *range(len(shares))):
        if shares[label] > most and shares[label] >= (marks[label] if marks else 0):
            word, most = label, shares[label]
    return word


def marks_of(given: Sequence[tuple[str, int]], classes: Sequence[str]) -> tuple[int, ...]:
    """Return the mark of each class; a mark without a class is that of all others.

    Returns nothing if no mark is above 0. Raises `InputError` if a class is unknown.
    """
    marks = dict.fromkeys(classes, 0)
    for name, percent in sorted(given):  # "" is all of them, and first
        if name:
            check_choice("--mark", name, classes)
        marks |= {name: percent} if name else dict.fromkeys(classes, percent)
    return tuple(marks.values()) if any(marks.values()) else ()
