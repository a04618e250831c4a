"""What a search maximizes: a figure of the answers on the points of a fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.naming import did_you_mean, label_text, listed
from protonn_edge.errors import InputError, shortened
from protonn_edge.evaluation.accuracy import Quality, confusion_matrix

_FIGURES: dict[str, Callable[[Quality], float]] = {
    "accuracy": lambda quality: quality.accuracy,
    "balanced-accuracy": lambda quality: quality.balanced_accuracy,
    "macro-f1": lambda quality: quality.macro_f1,
}
_RECALL = "recall"


@dataclass(frozen=True)
class Metric:
    """A figure of answers, 0..1."""

    name: str  # as `parse` reads it, such as "macro-f1" or "recall:fault"
    label: int | None = None  # the index of the class whose recall it is

    @classmethod
    def parse(cls, text: str, classes: Sequence[str]) -> Metric:
        """Return the metric of a text; raises `InputError` if it is none for these classes."""
        kind, _, name = text.partition(":")
        if kind == _RECALL and label_text(name) in classes:
            return cls(text, list(classes).index(label_text(name)))
        if kind == _RECALL and name:
            raise InputError(
                f"--metric {shortened(text)} names no class of the data"
                f"; the classes are {listed(classes)}{did_you_mean(name, classes)}"
            )
        if text not in _FIGURES:
            raise InputError(
                f"{shortened(text)!r} is not a metric; give {', '.join(_FIGURES)} or "
                f"{_RECALL}:CLASS{did_you_mean(text, _FIGURES)}"
            )
        return cls(text)

    def __str__(self) -> str:
        return self.name

    def check_folds(self, y: NDArray[np.int64], folds: NDArray[np.int64]) -> None:
        """Refuse folds (n,) of points of classes y (n,) of which one has no such figure."""
        if self.label is not None and len(np.unique(folds[y == self.label])) <= folds.max():
            raise InputError(
                f"--metric {self.name} needs points of this class in every fold, but one has none; "
                "give fewer --folds, or another metric"
            )

    def of(self, found: NDArray[np.int64], actual: NDArray[np.int64], n_classes: int) -> float:
        """Return the figure of the answers for points (n,), n >= 1, of known classes."""
        names = tuple(map(str, range(n_classes)))
        quality = Quality.of(confusion_matrix(found, actual, n_classes), names)
        assert quality is not None
        if self.label is None:
            return _FIGURES[self.name](quality)
        return quality.classes[self.label].recall or 0.0


ACCURACY = Metric("accuracy")
