"""The one loop of all training by mini-batches: Adam, its step sizes, epochs, and the best of them.

Adam is by Kingma and Ba (2015), here with linear warm-up and cosine decay of the step size.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from protonn_edge.training.objective import Matrix
from protonn_edge.training.points import Batch, Float32, TrainingSet
from protonn_edge.training.progress import (
    BestEpoch,
    Callback,
    DivergedError,
    EpochReport,
    was_stopped,
)

WARM_UP_STEPS = 100

_DECAY_OF_MEAN = 0.9
_DECAY_OF_SQUARE = 0.999
_REFERENCE_INPUTS = 16

Arrays = TypeVar("Arrays", bound=Iterable[Matrix])
Gradient = Callable[[Batch], tuple[float, Iterable[Matrix]]]
"""From a batch to its mean loss, and the derivatives with respect to the parameters."""


class Adam(Generic[Arrays]):
    """Parameters that move, with the moments of their gradient.

    Parameters
    ----------
    parameters : iterable of ndarray, float32
        What moves, in place.
    factors : sequence of float
        A factor on the steps of each.

    Attributes
    ----------
    steps : int
        Steps that are done.
    """

    def __init__(self, parameters: Arrays, factors: Sequence[float]) -> None:
        self.parameters, self.steps = parameters, 0
        self._factors = factors
        self._means = [np.zeros_like(matrix) for matrix in parameters]
        self._squares = [np.zeros_like(mean) for mean in self._means]

    def epoch(
        self,
        batches: Iterable[Batch],
        gradient: Gradient,
        rate: Callable[[int], float],
        after_step: Callable[[], object],
    ) -> float:
        """Step once for each batch and return the mean loss of a point on the way.

        - `rate`: from the number of a step, from 1, to the learning rate.
        - `after_step`: makes the parameters what they have to be.
        """
        total, points = 0.0, 0
        for batch in batches:
            loss, slopes = gradient(batch)
            total += loss * len(batch.rows)
            points += len(batch.rows)
            self._step(slopes, rate(self.steps + 1))
            after_step()
        return total / points

    def _step(self, gradient: Iterable[Matrix], rate: float) -> None:
        """Move the parameters against `gradient`, each entry by about `rate`."""
        self.steps += 1
        rate /= 1.0 - _DECAY_OF_MEAN**self.steps
        unbias = np.float32(1.0 / (1.0 - _DECAY_OF_SQUARE**self.steps))
        for matrix, slope, mean, square, factor in zip(
            self.parameters, gradient, self._means, self._squares, self._factors, strict=True
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


def noisy(points: Float32, noise: Float32, generator: np.random.Generator) -> Float32:
    """Return points (b, D), changed in place by Gaussian noise of a deviation for each feature."""
    points += noise * generator.standard_normal(points.shape, dtype=np.float32)
    return points


class Timing(Protocol):
    """Epochs, points a step, the largest step, and the deviation of noise on the inputs."""

    @property
    def epochs(self) -> int: ...  # noqa: D102
    @property
    def batch_size(self) -> int: ...  # noqa: D102
    @property
    def learning_rate(self) -> float: ...  # noqa: D102
    @property
    def input_noise(self) -> float: ...  # noqa: D102


class MiniBatchTraining(ABC, Generic[Arrays]):
    """One training from start to end at one learning rate; moves `parameters` in place.

    - `factors`: on the steps of each.
    """

    def __init__(
        self,
        parameters: Arrays,
        factors: Sequence[float],
        data: TrainingSet,
        timing: Timing,
        generator: np.random.Generator,
    ) -> None:
        self.parameters = parameters
        self._source, self._generator = data, generator
        self._timing = timing
        self._noise = np.float32(timing.input_noise) * data.changing
        self._steps = timing.epochs * math.ceil(len(data) / timing.batch_size)
        self._adam = Adam(parameters, factors)
        self._best = BestEpoch(parameters)

    @property
    def _progress(self) -> float:
        """The share of the steps that are done."""
        return self._adam.steps / self._steps

    def train(self, callback: Callback | None) -> list[EpochReport]:
        """Go through all epochs and return their reports; if it is stopped, keep the best one."""
        history = self._best.through(self._epochs(), callback)
        if was_stopped(history):
            self._tighten(1.0)
            self._after_step(1.0)
        return history

    def _epochs(self) -> Iterator[EpochReport]:
        epochs = self._timing.epochs
        for epoch in range(1, epochs + 1):
            try:
                objective = self._epoch()
                self._check(epoch, objective)
                self._tighten(epoch / epochs)
                accuracy, test_accuracy = self._accuracies()
            except DivergedError as error:
                error.epoch = epoch
                raise
            yield EpochReport(epoch, epochs, objective, accuracy, test_accuracy=test_accuracy)

    def _epoch(self) -> float:
        """Go through the points once and return the mean loss on the way."""
        return self._adam.epoch(
            self._source.batches(self._timing.batch_size, self._generator),
            self._gradient,
            lambda step: rate_at(self._timing.learning_rate, step, self._steps),
            lambda: self._after_step(self._progress),
        )

    def _noisy(self, points: Float32) -> Float32:
        if self._timing.input_noise > 0:
            return noisy(points, self._noise, self._generator)
        return points

    @abstractmethod
    def _gradient(self, batch: Batch) -> tuple[float, Iterable[Matrix]]:
        """Return the mean loss of a batch, and the derivatives of it."""

    def _after_step(self, progress: float) -> None:
        """Make the parameters what they have to be; `progress` is the share of the steps done."""

    def _check(self, epoch: int, objective: float) -> None:
        """Refuse parameters that have diverged."""

    def _tighten(self, progress: float) -> None:
        """Begin limits that are due; `progress` is the share of the epochs that are done."""

    @abstractmethod
    def _accuracies(self) -> tuple[float, float | None]:
        """Return the accuracy for the training points, and for those to report on, if any."""
