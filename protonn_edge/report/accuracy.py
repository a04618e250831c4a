"""Accuracy and the confusion matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix as sklearn_confusion_matrix

Labels = NDArray[np.int64]


def share_right(predicted: Labels, actual: Labels) -> float:
    """Return the share of labels (n,), n >= 1, that agree, 0..1."""
    return float(np.mean(predicted == actual))


def confusion_matrix(predicted: Labels, actual: Labels, n_classes: int) -> NDArray[np.int64]:
    """Return counts (L, L): row the actual class, column the predicted one."""
    counts: NDArray[np.int64] = sklearn_confusion_matrix(
        actual, predicted, labels=np.arange(n_classes)
    ).astype(np.int64)
    return counts
