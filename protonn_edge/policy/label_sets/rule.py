"""All labels whose scores reach a threshold, in place of one class; and the labels in order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import checks
from protonn_edge.model.head import Head
from protonn_edge.model.policy import FloatRule, IntegerRule, PolicyRule, Units
from protonn_edge.policy.label_sets.figures import LabelFigures
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.figures import Figure
from protonn_edge.system.schema import JsonObject

SEPARATOR = ","
LABEL_RARITY = 4.0
"""Log odds against a label if all RBFs vanish, so that scores need not be negative there."""


class LabelRule(PolicyRule):
    """What the rules of float and integer models have in common."""

    name: ClassVar[str] = "label_sets"
    predicts: ClassVar[str] = "labels"

    threshold: float  # the least score with which a point has a label

    def values(self, scores: Array) -> NDArray[np.int64]:
        """Return sets of labels (n, L), 1 where a point has a label, for scores (n, L)."""
        return (scores >= self.threshold).astype(np.int64)

    def words(self, scores: Array, classes: Sequence[str]) -> list[str]:
        """Return the labels of each point, those with the largest scores first."""
        return _joined(scores, self.values(scores), classes)

    def words_of(self, known: Array, classes: Sequence[str]) -> list[str]:
        """Return the labels of known sets (n, L), in the order of the classes."""
        return _joined(known.astype(np.int64), known != 0, classes)

    def measured(
        self,
        scores: Array,
        known: Array,
        _groups: NDArray[np.int64] | None = None,
    ) -> tuple[list[Figure], JsonObject]:
        """Return how well labels are ranked and chosen, given known sets (n, L)."""
        if not len(scores):
            return [], {}
        figures = LabelFigures.of(scores, self.values(scores), known)
        return figures.figures, {"labels": figures.to_json()}


def _joined(ranks: Array, chosen: Array, classes: Sequence[str]) -> list[str]:
    """Return the labels of each point that are chosen (n, L), those of the largest rank first."""
    order = np.argsort(-ranks, axis=1, kind="stable")
    counts = chosen.sum(axis=1)
    names = [f'"{name}"' if SEPARATOR in name else name for name in classes]
    return [
        SEPARATOR.join(names[label] for label in row[:count])
        for row, count in zip(order.tolist(), counts.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class LabelSets(LabelRule, FloatRule):
    """The threshold of a float model."""

    threshold: float

    def __post_init__(self) -> None:
        check(math.isfinite(self.threshold), "threshold", self.threshold, "a finite number")

    @classmethod
    def of_array(cls, array: Array) -> Self:
        """Return the rule that a model file stores."""
        if array.shape != (1,) or array.dtype.kind != "f":
            raise checks.unlike(array, "threshold", "one number")
        return cls(float(array[0]))

    def to_array(self) -> NDArray[np.float64]:
        """Return the threshold."""
        return np.array([self.threshold], np.float64)

    def in_integers(self, units: Units) -> IntegerLabelSets:
        """Return the smallest integer score that stands for the threshold or more."""
        (low, high), least = units.scores, self.threshold / units.score
        check(low < least <= high, "threshold", least, f"above {low:,}, at most {high:,}")
        return IntegerLabelSets(math.ceil(least))

    def probabilities(
        self, scores: NDArray[np.float64], *, are_logits: bool
    ) -> NDArray[np.float64]:
        """Return the probability of each label (n, L), uncalibrated unless scores are logits."""
        logits = scores - LABEL_RARITY if are_logits else 4.0 * scores - 2.0
        with np.errstate(over="ignore"):
            return 1 / (1 + np.exp(-logits))

    def facts(self, _head: Head) -> list[tuple[str, str]]:
        """Return what a point needs for a label."""
        return [("sets of labels", f"all labels with a score of at least {self.threshold:.6g}")]

    def described(self) -> JsonObject:
        """Return the threshold for JSON."""
        return {"threshold": self.threshold}


@dataclass(frozen=True)
class IntegerLabelSets(LabelRule, IntegerRule):
    """The threshold of integer scores."""

    c_functions: ClassVar[tuple[str, ...]] = ("has_label", "top")
    hashed: ClassVar[bool] = True

    threshold: int
