"""The Pareto fronts of accuracy against flash and against cycles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from protonn_edge.boards import Board
from protonn_edge.tuning.limits import Figures
from protonn_edge.tuning.store import Record


@dataclass(frozen=True)
class Candidate:
    """A complete trial.

    Attributes
    ----------
    record : Record
        The trial's measurements.
    figures : Figures
        Its memory and cycles.
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
            "is_default": self.record.is_default,
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
