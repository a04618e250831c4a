"""Accuracy with its interval, the confusion matrix, figures per class, precision at k."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, NO_LABEL, answer_names
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.device.results import Result
    from protonn_edge.model.integer_chain import IntegerChain

Labels = NDArray[np.int64]

_Z_95 = 1.959964  # of the normal distribution, two-sided


def is_labelled(y: Labels) -> bool:
    """Return whether points (n,) have labels."""
    return bool((y != NO_LABEL).any())


def share_right(predicted: Labels, actual: Labels) -> float:
    """Return the share of labels (n,), n >= 1, that agree, 0..1."""
    return float(np.mean(predicted == actual))


def wilson_interval(right: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, given that `right` of n >= 1 points were correct.

    E. B. Wilson's interval (1927) stays within 0..1 and is valid for shares near 1, too.
    """
    share, z2 = right / n, _Z_95**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z_95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def deviations_above(first: float, n: int, second: float, m: int) -> float:
    """Return by how many standard deviations a share of n >= 1 points exceeds another one, of m.

    With both of 1, the usual deviation would be 0. So one point that is right and one that is wrong
    are added to each (A. Agresti and B. Caffo, 2000).
    """
    common = (first * n + second * m + 2) / (n + m + 4)
    return (first - second) / math.sqrt(common * (1 - common) * (1 / n + 1 / m))


def confusion_matrix(predicted: Labels, actual: Labels, n_classes: int) -> NDArray[np.int64]:
    """Return counts (L, L) of labels (n,), n >= 0: row the actual class, column the predicted."""
    cells = np.bincount(actual * n_classes + predicted, minlength=n_classes**2)
    counts: NDArray[np.int64] = cells.astype(np.int64).reshape(n_classes, n_classes)
    return counts


def share_of(answers: Labels, answer: int) -> float:
    """Return the share of answers (n,), n >= 1, that are this one, 0..1."""
    return float(np.mean(answers == answer))


def answer_matrix(results: Sequence[Result], model: IntegerChain) -> NDArray[np.int64]:
    """Return the answers' confusion matrix (L, L), or (L, L + 1) with answers that are no class.

    The last column then counts the points of each class with the answer "unknown". If there are
    points of no class, the matrix is (L + 1, L + 1), and they are in the last row.
    """
    n = model.n_classes
    labelled = [each for each in results if each.label != NO_LABEL]
    answered = [(r.predicted, r.label) for r in labelled if r.predicted is not None]
    pairs = np.array(answered, np.int64).reshape(-1, 2)
    pairs[pairs == NO_CLASS] = n
    counts = confusion_matrix(pairs[:, 0], pairs[:, 1], n + 1)
    rows = n + int(any(result.label == NO_CLASS for result in results))
    return counts[:rows] if model.policy.other_answers else counts[:n, :n]


def frequent_confusions(counts: NDArray[np.int64], most: int) -> list[tuple[int, int, int]]:
    """Return the most common mistakes: the true class, the answer, and the number of points."""
    counts = counts[:, : len(counts)]
    wrong = counts - np.diag(counts.diagonal())
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = [divmod(int(place), len(counts)) for place in order]
    return [
        (actual, said, int(wrong[actual, said])) for actual, said in pairs if wrong[actual, said]
    ]


@dataclass(frozen=True)
class ClassFigures:
    """The figures of a class."""

    n: int  # points of the class
    # share of points classified as the class that are of it, 0..1; None without either
    precision: float | None
    # share of the class's points that are classified as it, 0..1; None without any
    recall: float | None

    @property
    def f1(self) -> float | None:
        """2 PR / (P + R), 0 for a class that is never right; None for a class without points."""
        if self.recall is None:
            return None
        precision = self.precision or 0.0
        both = precision + self.recall
        return 2 * precision * self.recall / both if both else 0.0


def class_figures(counts: NDArray[np.int64]) -> list[ClassFigures]:
    """Return the figures of each class from the confusion matrix (L, L), or with "unknown"."""
    figures = []
    for right, said, actual in zip(
        counts.diagonal(), counts[:, : len(counts)].sum(axis=0), counts.sum(axis=1), strict=True
    ):
        precision = float(right / said) if said and actual else None
        figures.append(
            ClassFigures(int(actual), precision, float(right / actual) if actual else None)
        )
    return figures


@dataclass(frozen=True)
class Quality:
    """How good answers are, from their confusion matrix."""

    names: tuple[str, ...]  # of the classes that points may have
    n: int  # points
    accuracy: float  # share of right answers, 0..1
    interval: tuple[float, float]  # its 95 % interval, Wilson's
    largest: int  # the most frequent class, by index
    baseline: float  # the accuracy of always answering that
    balanced_accuracy: float  # the mean recall of the classes that have points
    macro_f1: float  # the mean F1 of these
    classes: list[ClassFigures]

    @classmethod
    def of(cls, counts: NDArray[np.int64], classes: Sequence[str]) -> Quality | None:
        """Return the figures of a confusion matrix (L, L), or with "unknown"; None for none."""
        if not counts.any():
            return None
        names = answer_names(len(counts), classes)
        figures, n, right = class_figures(counts), int(counts.sum()), int(counts.diagonal().sum())
        present = [each for each in figures if each.recall is not None]
        recall = float(np.mean([each.recall or 0.0 for each in present]))
        f1 = float(np.mean([each.f1 or 0.0 for each in present]))
        largest = int(counts.sum(axis=1).argmax())
        share, interval, baseline = right / n, wilson_interval(right, n), figures[largest].n / n
        return cls(names, n, share, interval, largest, baseline, recall, f1, figures)

    def to_json(self) -> JsonObject:
        """Return the figures with the field names of this package's JSON."""
        per_class = zip(self.names, self.classes, strict=True)
        return {
            "accuracy_interval": list(self.interval),
            "baseline": self.baseline,
            "balanced_accuracy": self.balanced_accuracy,
            "macro_f1": self.macro_f1,
            "per_class": [
                {"class": name, **asdict(each), "f1": each.f1} for name, each in per_class
            ],
        }
