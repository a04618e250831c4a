"""Adam (Kingma and Ba, 2015), with linear warm-up and cosine decay of the step size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from protonn_edge.training.objective import Matrix

WARM_UP_STEPS = 100

_DECAY_OF_MEAN = 0.9
_DECAY_OF_SQUARE = 0.999
_REFERENCE_INPUTS = 16


class Adam:
    """Adam's moments of the gradient.

    Parameters
    ----------
    parameters : iterable of ndarray, float32
        The parameters to train.
    factors : sequence of float
        A factor on the steps of each.
    """

    def __init__(self, parameters: Iterable[Matrix], factors: Sequence[float]) -> None:
        self._factors = factors
        self._means = [np.zeros_like(matrix) for matrix in parameters]
        self._squares = [np.zeros_like(mean) for mean in self._means]
        self._steps = 0

    def step(self, parameters: Iterable[Matrix], gradient: Iterable[Matrix], rate: float) -> None:
        """Move `parameters`, in place, against `gradient`, each entry by about `rate`."""
        self._steps += 1
        rate /= 1.0 - _DECAY_OF_MEAN**self._steps
        unbias = np.float32(1.0 / (1.0 - _DECAY_OF_SQUARE**self._steps))
        for matrix, slope, mean, square, factor in zip(
            parameters, gradient, self._means, self._squares, self._factors, strict=True
        ):
            mean[...] += np.float32(1.0 - _DECAY_OF_MEAN) * (slope - mean)
            square[...] += np.float32(1.0 - _DECAY_OF_SQUARE) * (slope * slope - square)
            scale = np.sqrt(unbias * square) + np.float32(1e-8)
            matrix[...] -= np.float32(rate * factor) * mean / scale


def factor_of_inputs(n_inputs: int) -> float:
    """Return the step factor of a matrix by the number of inputs that its products sum over."""
    return min(1.0, math.sqrt(_REFERENCE_INPUTS / n_inputs))


def rate_at(highest: float, step: int, steps: int) -> float:
    """Return the learning rate of a step, from 1: linear warm-up, then a cosine to zero."""
    warm = min(1.0, step / min(WARM_UP_STEPS, max(1, steps // 10)))
    return highest * warm * 0.5 * (1.0 + math.cos(math.pi * (step - 1) / steps))
