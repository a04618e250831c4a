"""Which of the candidates to take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protonn_edge.errors import InputError
from protonn_edge.tuning.front import Candidate, cycles_of, flash_of

_BEST, _DEFAULT = "best", "default-within"
_COSTS = {"smallest-within": flash_of, "fastest-within": cycles_of}
_CHANCE = "chance"
_USUAL_POINTS = 0.5

AMOUNT = rf"\d{{1,3}}(?:\.\d{{1,6}})?|{_CHANCE}"
"""Pattern of how far below the best a choice may be."""


@dataclass(frozen=True)
class Choice:
    """Which candidate to take.

    Attributes
    ----------
    kind : {"best", "default-within", "smallest-within", "fastest-within"}
        The most accurate; or of those nearly as accurate the most accurate one that the search
        began with (if there is none, the most accurate of all), the one of least flash, or the one
        of least cycles.
    points : float or None
        How many percentage points below the best that may be; None: `lead_by_chance`.
    """

    kind: str = _BEST
    points: float | None = 0.0

    @classmethod
    def usual(cls, in_groups: bool) -> Choice:
        """Return what is chosen if nothing is said.

        Folds of a few people rank trials by these people, and the best of many trials suits them
        by luck. A default, made for no one in particular, is left for what is ahead by more.
        """
        return cls(_DEFAULT, None) if in_groups else cls()

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Return the choice that a text such as ``smallest-within 0.5`` names.

        Raises
        ------
        InputError
            If it names none.
        """
        found = re.fullmatch(rf"\s*([a-z-]+)(?:[\s=]+({AMOUNT}))?\s*", text)
        if found and found[1] == _BEST and not found[2]:
            return cls()
        if not found or found[1] not in (_DEFAULT, *_COSTS):
            raise InputError(
                f"{text!r} is no choice; say best, 'smallest-within 0.5', 'fastest-within 0.5' "
                f"(percentage points) or 'default-within {_CHANCE}'"
            )
        if found[2] == _CHANCE:
            return cls(found[1], None)
        return cls(found[1], _USUAL_POINTS if found[2] is None else float(found[2]))

    def __str__(self) -> str:
        if self.kind == _BEST:
            return self.kind
        return f"{self.kind} {_CHANCE if self.points is None else format(self.points, 'g')}"

    def ranked(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates, the one to take first and then what to take instead of it."""
        below = lead_by_chance(found) if self.points is None else self.points / 100
        least = max(each.accuracy for each in found) - below - 1e-12
        cost = _COSTS.get(self.kind, _inaccuracy_of if self.kind == _DEFAULT else flash_of)

        def order(each: Candidate) -> tuple[float, ...]:
            is_near = each.accuracy >= least
            if self.kind == _DEFAULT:
                is_near &= each.record.is_default
            first = (0.0, cost(each)) if is_near else (1.0, 0.0)
            return (*first, -each.accuracy, each.record.number)

        return sorted(found, key=order)


def _inaccuracy_of(candidate: Candidate) -> float:
    return 1 - candidate.accuracy


def lead_by_chance(found: Sequence[Candidate]) -> float:
    """Return how far the best of the candidates is ahead by luck if all are equally good, 0..1.

    Its mean over K folds has an error of s / sqrt(K), where s is the deviation that neither a
    trial's mean nor a fold's explains (the residual of a two-way analysis of variance). Of n such
    means the largest is ahead by sqrt(2 ln n) errors.
    """
    accuracies = np.array([each.record.accuracies for each in found])
    n, folds = accuracies.shape
    if n < 2:
        return 0.0
    of_fold, of_trial = accuracies.mean(axis=0), accuracies.mean(axis=1, keepdims=True)
    residuals = accuracies - of_fold - of_trial + accuracies.mean()
    variance = float(np.sum(residuals**2)) / ((n - 1) * (folds - 1))
    return float(np.sqrt(variance / folds * 2 * np.log(n)))


def most_accurate(found: Sequence[Candidate]) -> Candidate:
    """Return the candidate that is ahead in the folds, the earliest of equals."""
    return max(found, key=lambda each: (each.accuracy, -each.record.number))
