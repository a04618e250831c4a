"""The alternatives: what accuracy costs in flash and in cycles, and which of them to take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from protonn_edge.boards import Board
from protonn_edge.errors import InputError
from protonn_edge.tuning.limits import Figures
from protonn_edge.tuning.store import Record

_KINDS = ("best", "smallest-within", "fastest-within")
_DEFAULT_POINTS = 0.5


@dataclass(frozen=True)
class Candidate:
    """A complete trial.

    Attributes
    ----------
    record : Record
        What was measured.
    figures : Figures
        What it takes.
    accuracy : float
        Mean over the folds, 0..1.
    """

    record: Record
    figures: Figures
    accuracy: float

    def to_json(self, board: Board) -> dict[str, Any]:
        """Return the candidate with its latency and energy on the board."""
        figures = self.figures
        return {
            "trial": self.record.number,
            "accuracy": self.accuracy,
            "fold_accuracies": list(self.record.accuracies),
            **figures.to_json(),
            "worst_ms": board.milliseconds(figures.worst_cycles),
            "mean_ms": board.milliseconds(figures.mean_cycles),
            "mean_mj": board.millijoules(figures.mean_cycles),
            "settings": dict(self.record.settings),
        }


def candidates(records: Iterable[Record]) -> list[Candidate]:
    """Return the complete trials, by their numbers."""
    complete = [record for record in records if record.outcome == "complete" and record.figures]
    return [
        Candidate(record, record.figures, record.accuracy)
        for record in sorted(complete, key=lambda record: record.number)
        if record.figures is not None
    ]


def flash_of(candidate: Candidate) -> float:
    """Return the flash of a candidate."""
    return candidate.figures.flash_bytes


def cycles_of(candidate: Candidate) -> float:
    """Return the mean cycles of a candidate."""
    return candidate.figures.mean_cycles


def front(found: Sequence[Candidate], cost: Callable[[Candidate], float]) -> list[Candidate]:
    """Return the candidates that are more accurate than all that cost no more, cheapest first."""
    ordered = sorted(found, key=lambda each: (cost(each), -each.accuracy, each.record.number))
    kept: list[Candidate] = []
    for each in ordered:
        if not kept or each.accuracy > kept[-1].accuracy:
            kept.append(each)
    return kept


def front_json(found: Sequence[Candidate], board: Board) -> dict[str, Any]:
    """Return both fronts under the names of their costs."""
    return {
        "accuracy_by_flash": [each.to_json(board) for each in front(found, flash_of)],
        "accuracy_by_cycles": [each.to_json(board) for each in front(found, cycles_of)],
    }


@dataclass(frozen=True)
class Choice:
    """Which candidate to take.

    Attributes
    ----------
    kind : {"best", "smallest-within", "fastest-within"}
        The most accurate, or the one of least flash, or cycles, that is nearly as accurate.
    points : float
        How many percentage points below the best that may be.
    """

    kind: str = "best"
    points: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Return the choice that a text such as ``smallest-within 0.5`` names.

        Raises
        ------
        InputError
            If it names none.
        """
        found = re.fullmatch(r"\s*([a-z-]+)(?:[\s=]+(\d{1,3}(?:\.\d{1,6})?))?\s*", text)
        kind = found[1] if found else ""
        if found is None or kind not in _KINDS or (kind == "best" and found[2]):
            raise InputError(
                f"{text!r} is no choice; say best, 'smallest-within 0.5' or 'fastest-within 0.5' "
                "(percentage points)"
            )
        if kind == "best":
            return cls()
        return cls(kind, _DEFAULT_POINTS if found[2] is None else float(found[2]))

    def __str__(self) -> str:
        return self.kind if self.kind == "best" else f"{self.kind} {self.points:g}"

    def ranked(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates, the one to take first and then what to take instead of it."""
        best = max(each.accuracy for each in found)
        costs = {"smallest-within": flash_of, "fastest-within": cycles_of}
        near = [each for each in found if each.accuracy >= best - self.points / 100 - 1e-12]
        rest = [each for each in found if each not in near]
        by_accuracy = sorted(rest, key=lambda each: (-each.accuracy, each.record.number))
        cost = costs.get(self.kind, flash_of)
        return [
            *sorted(near, key=lambda each: (cost(each), -each.accuracy, each.record.number)),
            *by_accuracy,
        ]
