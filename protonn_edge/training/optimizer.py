"""Mini-batch optimization of all matrices at once, under their shares of non-zero entries.

Adam (Kingma and Ba, 2015) moves everything together, its steps warmed up and then lowered along a
cosine; after every step each matrix is thresholded to its share (paper, algorithm 1). A share below
1 is reached gradually over the first half of the steps, and where the non-zero entries are is
frozen for the last quarter, so that what remains can settle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.training.objective import LOSSES, Parameters, kernel_values, objective_gradient
from protonn_edge.training.thresholding import support

_DECAY_OF_MEAN = 0.9
_DECAY_OF_SQUARE = 0.999
_WARM_UP_STEPS = 100
_THINNING_ENDS = 0.5
_SUPPORT_FREEZES = 0.75
_EVALUATED_POINTS = 10_000
_ATTEMPTS = 4
_BACK_OFF = 3.0
_VANISHED = 1e-6
_REFERENCE_FEATURES = 16

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Schedule:
    """How long, how fast and under which constraints to train.

    Attributes
    ----------
    loss : str
        A name in `LOSSES`.
    epochs : int
        Passes over the training points.
    batch_size : int
        Points a step.
    learning_rate : float
        Largest step of Adam in the folded parameters. That of V is divided by ``sqrt(D / 16)``, as
        a projected point is a sum over D features.
    input_noise : float
        Deviation of the Gaussian noise added to the normalized inputs, in their unit.
    sparsity : tuple of three floats
        Shares of non-zero entries of V, C and Z, in (0, 1].
    """

    loss: str
    epochs: int
    batch_size: int
    learning_rate: float
    input_noise: float
    sparsity: tuple[float, float, float]


@dataclass(frozen=True)
class EpochReport:
    """What is known after an epoch.

    Attributes
    ----------
    epoch, epochs : int
        The one that ended, counted from 1, and how many there are.
    objective : float
        Mean loss over the epoch's (noisy) batches.
    accuracy : float
        Share of the training points (at most 10,000 of them) classified right, 0 to 1.
    """

    epoch: int
    epochs: int
    objective: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class Trained:
    """What `minimize` found: the parameters, the learning rate that it took, a report per epoch."""

    parameters: Parameters
    learning_rate: float
    history: tuple[EpochReport, ...]


Callback = Callable[[EpochReport], object]


class _DivergedError(Exception):
    """Parameters are no longer numbers, or most points are out of reach of all prototypes."""


def minimize(
    start: Parameters,
    X: Float32,
    y: Indices,
    schedule: Schedule,
    *,
    seed: int,
    callback: Callback | None = None,
) -> Trained:
    """Train from `start`; if it diverges, begin again with a third of the learning rate.

    Parameters
    ----------
    start : Parameters
        float32, gamma folded in.
    X : ndarray of shape (n, D), float32
        Normalized points.
    y : ndarray of shape (n,), int64
        Class indices.
    callback : callable, optional
        Called with an `EpochReport` after every epoch; after a restart it sees epoch 1 again.

    Raises
    ------
    InputError
        If it still diverges after three restarts.
    """
    for attempt in range(_ATTEMPTS):
        rate = schedule.learning_rate / _BACK_OFF**attempt
        try:
            parameters, history = _run(
                start.copy(), X, y, replace(schedule, learning_rate=rate), seed, callback
            )
        except _DivergedError:
            continue
        return Trained(parameters, rate, tuple(history))
    raise InputError(
        f"training diverges at the learning rate {schedule.learning_rate:g} and at "
        f"{rate:.2g} too; try a smaller gamma_numerator or another normalization"
    )


def _run(
    parameters: Parameters,
    X: Float32,
    y: Indices,
    schedule: Schedule,
    seed: int,
    callback: Callback | None,
) -> tuple[Parameters, list[EpochReport]]:
    """Train `parameters` in place and return them with the reports."""
    generator = np.random.default_rng(seed)
    loss = LOSSES[schedule.loss]
    Y = np.eye(parameters.labels.shape[0], dtype=np.float32)[y]
    noise = np.float32(schedule.input_noise) * (X.min(axis=0) < X.max(axis=0))
    steps = schedule.epochs * math.ceil(len(X) / schedule.batch_size)
    adam, sparsifier = _Adam(parameters), _Sparsifier(schedule.sparsity)
    history: list[EpochReport] = []
    step = 0
    for epoch in range(1, schedule.epochs + 1):
        total = 0.0
        for rows in _batches(len(X), schedule.batch_size, generator):
            points = X[rows]
            if schedule.input_noise > 0:
                points += noise * generator.standard_normal(points.shape, dtype=np.float32)
            value, gradient = objective_gradient(parameters, points, Y[rows], loss)
            total += value * len(rows)
            step += 1
            adam.step(parameters, gradient, _rate(schedule.learning_rate, step, steps))
            sparsifier.apply(parameters, step / steps)
        accuracy = _checked_accuracy(parameters, X[:_EVALUATED_POINTS], y[:_EVALUATED_POINTS])
        history.append(EpochReport(epoch, schedule.epochs, total / len(X), accuracy))
        if callback is not None:
            callback(history[-1])
    return parameters, history


def _checked_accuracy(parameters: Parameters, X: Float32, y: Indices) -> float:
    """Return the share of points classified right, unless training has run into the void.

    Steps that are too large throw points and prototypes so far apart that all kernels vanish, and
    with them the gradient that could bring them back.
    """
    kernel = kernel_values(parameters, X @ parameters.projection.T)
    within_reach = float(np.mean(kernel.max(axis=1) > _VANISHED))  # false for NaN, too
    if within_reach < 0.5 or not all(np.isfinite(matrix).all() for matrix in parameters):
        raise _DivergedError
    return float(np.mean((kernel @ parameters.labels.T).argmax(axis=1) == y))


class _Adam:
    """Adam's moments of the gradient."""

    def __init__(self, parameters: Parameters) -> None:
        n_features = parameters.projection.shape[1]
        self._factors = (min(1.0, math.sqrt(_REFERENCE_FEATURES / n_features)), 1.0, 1.0, 1.0)
        self._means = [np.zeros_like(matrix) for matrix in parameters]
        self._squares = [np.zeros_like(matrix) for matrix in parameters]
        self._steps = 0

    def step(self, parameters: Parameters, gradient: Parameters, rate: float) -> None:
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


class _Sparsifier:
    """Keeps V, C and Z within their shares of non-zero entries, over the course of the training."""

    def __init__(self, shares: tuple[float, float, float]) -> None:
        self._shares = shares
        self._frozen: dict[int, NDArray[np.bool_]] = {}

    def apply(self, parameters: Parameters, progress: float) -> None:
        """Threshold in place; `progress` is the share of the steps that are done, 0 to 1."""
        for index, (matrix, share) in enumerate(zip(parameters, self._shares, strict=False)):
            if share >= 1.0:
                continue
            mask = self._frozen.get(index)
            if mask is None:
                mask = support(matrix, _share_at(share, progress))
                if progress >= _SUPPORT_FREEZES:
                    self._frozen[index] = mask
            matrix[...] *= mask


def _share_at(share: float, progress: float) -> float:
    """Return the share that is allowed now: from 1 down to `share`, fast at first (cubic)."""
    left = max(0.0, 1.0 - progress / _THINNING_ENDS)
    return share + (1.0 - share) * left**3


def _rate(highest: float, step: int, steps: int) -> float:
    """Return the learning rate of a step, counted from 1: linear warm-up, then a cosine to zero."""
    warm = min(1.0, step / min(_WARM_UP_STEPS, max(1, steps // 10)))
    return highest * warm * 0.5 * (1.0 + math.cos(math.pi * (step - 1) / steps))


def _batches(count: int, size: int, generator: np.random.Generator) -> Iterator[Indices]:
    order = generator.permutation(count)
    for start in range(0, count, size):
        yield order[start : start + size]
