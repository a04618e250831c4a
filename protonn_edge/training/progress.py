"""What training reports while it runs, and what it hands back: the same for every optimizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from protonn_edge.rows import Sparse
from protonn_edge.training.objective import Matrix, Parameters, kernel_values
from protonn_edge.training.points import Indices, TrainingSet

_EVALUATED_POINTS = 10_000
_EVALUATED_SCORES = 2**28  # products of a prototype and a label, at least 1,000 points
_VANISHED = 1e-6


@dataclass(frozen=True)
class EpochReport:
    """What is known after an epoch, or after the epochs of one parameter's pass.

    Attributes
    ----------
    epoch, epochs : int
        The one that ended, counted from 1, and how many there are.
    objective : float
        Mean loss: over the epoch's (noisy) batches, or over the training points after a pass.
    accuracy : float
        Share of the training points (at most 10,000 of them) classified right, 0 to 1; a point with
        a set of labels is, if the highest score is that of one of them.
    parameter : {"", "Z", "B", "W"}
        The matrix whose pass ended; empty where all are trained at once.
    test_accuracy : float or None
        Share of the points of `evaluate_on` classified right; None if there are none.
    """

    epoch: int
    epochs: int
    objective: float
    accuracy: float
    parameter: str = ""
    test_accuracy: float | None = None


@dataclass(frozen=True, eq=False)
class Trained:
    """What an optimizer found: the parameters, the learning rate that it took, its reports."""

    parameters: Parameters
    learning_rate: float
    history: tuple[EpochReport, ...]


Callback = Callable[[EpochReport], object]


class DivergedError(Exception):
    """Parameters are no longer numbers, or most points are out of reach of all prototypes."""


def accuracies(parameters: Parameters, data: TrainingSet) -> tuple[float, float | None]:
    """Return the shares of training and of test points classified right.

    Raises
    ------
    DivergedError
        If training has run into the void: steps that are too large throw points and prototypes so
        far apart that all kernels vanish, and with them the gradient that could bring them back.
    """
    labels = parameters.labels
    count = min(_EVALUATED_POINTS, max(1_000, _EVALUATED_SCORES // labels.size))
    y, kernel = data.y[:count], _kernel(parameters, data.X[:count])
    within_reach = float(np.mean(kernel.max(axis=1) > _VANISHED))  # false for NaN, too
    if within_reach < 0.5 or not all(np.isfinite(matrix).all() for matrix in parameters):
        raise DivergedError
    accuracy = _share_right(kernel @ labels.T, y)
    if data.test is None:
        return accuracy, None
    X, y = data.test
    return accuracy, _share_right(_kernel(parameters, X) @ labels.T, y)


def _share_right(scores: Matrix, y: Indices | Sparse) -> float:
    found = scores.argmax(axis=1)
    if issparse(y):
        return float(y[np.arange(len(found)), found].mean())
    return float(np.mean(found == y))


def _kernel(parameters: Parameters, X: Matrix | Sparse) -> Matrix:
    return kernel_values(parameters, X @ parameters.projection.T)
