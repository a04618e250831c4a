"""The loop that all training by mini-batches shares: Adam, step sizes, epochs, the best epoch.

Adam (Kingma and Ba, 2015) is used with linear warm-up and cosine decay of the step size. Hard
thresholding keeps a matrix within its share of non-zero entries: a share below 1 is reached
gradually over the first half of the steps, and the supports are fixed in the last quarter, so that
the remaining entries converge.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.normalization import neighbour_noise
from protonn_edge.learn.objective import Matrix
from protonn_edge.learn.parameters import MiniBatchParameters
from protonn_edge.learn.points import Indices, Points
from protonn_edge.learn.progress import (
    ATTEMPTS,
    BACK_OFF,
    BestEpoch,
    DivergedError,
    EpochReport,
    Restart,
    was_stopped,
)
from protonn_edge.learn.transforms import Noise
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

WARM_UP_STEPS = 100

_DECAY_OF_MEAN = 0.9
_DECAY_OF_SQUARE = 0.999
_REFERENCE_INPUTS = 16
_THINNING_ENDS = 0.5
_SUPPORT_FREEZES = 0.75
_LARGEST_BATCH, _SMALLEST_BATCH = 128, 16
# With 200 epochs, training then ends after 40,000 steps. On 100,000 points with 10 classes that are
# hard to separate, ProtoNN classifies as many test points correctly as with all 78,200 steps; with
# half of them, 0.3 to 0.5 points fewer.
_MOST_STEPS_AN_EPOCH = 200

Arrays = TypeVar("Arrays", bound=Iterable[Matrix])
Settings = TypeVar("Settings", bound=MiniBatchParameters)
Gradient = Callable[[Points], tuple[float, Iterable[Matrix]]]
"""Maps a batch to its mean loss and the derivatives by the parameters."""


def kept_entries(size: int, fraction: float) -> int:
    """Return how many of `size` entries a share of `fraction` keeps, at least 1.

    The paper's constraint is ``||A||_0 <= lambda * size(A)``. A small constant is added for
    products such as 0.3 * 10, which are rounded to just below an integer.
    """
    return min(size, max(1, math.floor(fraction * size + 1e-9)))


def support(matrix: NDArray[np.float32], fraction: float) -> NDArray[np.bool_]:
    """Return where the largest entries of `matrix` are (ProtoNN paper, section 4, ``HT_s``).

    There are exactly ``kept_entries(matrix.size, fraction)`` of them, for a fraction in (0, 1];
    among equal magnitudes the first in C order.
    """
    keep = kept_entries(matrix.size, fraction)
    magnitudes = np.abs(matrix).ravel()
    chosen = np.zeros(matrix.size, dtype=np.bool_)
    if keep == matrix.size:
        chosen[:] = True
    else:
        limit = np.partition(magnitudes, matrix.size - keep)[matrix.size - keep]
        chosen[magnitudes > limit] = True
        ties = np.flatnonzero(magnitudes == limit)
        chosen[ties[: keep - int(chosen.sum())]] = True
    return chosen.reshape(matrix.shape)


def hard_threshold(matrix: NDArray[np.float32], fraction: float) -> NDArray[np.float32]:
    """Return `matrix` with all but its largest entries set to zero; see `support`."""
    return np.where(support(matrix, fraction), matrix, np.float32(0.0))


def in_shares_of_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a matrix with rows normalized to length 1; zero rows are unchanged."""
    lengths: NDArray[np.float32] = np.linalg.norm(matrix, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return matrix / lengths


class Sparsifier:
    """Keeps matrices within their shares of non-zero entries during training.

    Entries are compared by magnitude; in the matrices with indices `by_row`, relative to the length
    of their row, since that length has no meaning.
    """

    def __init__(self, shares: tuple[float, ...], by_row: tuple[int, ...] = ()) -> None:
        self._shares, self._by_row = shares, by_row
        self._frozen: dict[int, NDArray[np.bool_]] = {}

    def tightens(self, progress: float) -> bool:
        """Whether matrices may have to lose entries at this point."""
        return progress < _SUPPORT_FREEZES and min(self._shares, default=1.0) < 1.0

    def apply(self, parameters: Iterable[Array], progress: float) -> None:
        """Threshold in place; `progress` is the share of steps done, 0 to 1."""
        for index, (matrix, share) in enumerate(zip(parameters, self._shares, strict=False)):
            if share >= 1.0:
                continue
            mask = self._frozen.get(index)
            if mask is None:
                compared = in_shares_of_rows(matrix) if index in self._by_row else matrix
                mask = support(compared, _share_at(share, progress))
                if progress >= _SUPPORT_FREEZES:
                    self._frozen[index] = mask
            matrix[...] *= mask


def _share_at(share: float, progress: float) -> float:
    """Return the current limit: it decreases from 1 to `share`, fast at first (cubic)."""
    left = max(0.0, 1.0 - progress / _THINNING_ENDS)
    return share + (1.0 - share) * left**3


class Adam(Generic[Arrays]):
    """Moves parameters in place, each with a step factor and moments of its gradient."""

    def __init__(self, parameters: Arrays, factors: Sequence[float]) -> None:
        self.parameters, self.steps = parameters, 0
        sizes = [matrix.size for matrix in parameters]
        self._factors = np.repeat(np.array(factors, dtype=np.float32), sizes)
        self._mean = np.zeros(sum(sizes), dtype=np.float32)
        self._square = np.zeros_like(self._mean)
        self._slope, self._moves = np.empty_like(self._mean), np.empty_like(self._mean)

    def epoch(
        self,
        batches: Iterable[Points],
        gradient: Gradient,
        rate: Callable[[int], float],
        after_step: Callable[[], object],
    ) -> float:
        """Take a step for each batch, at that step's rate, and return the mean loss of a point."""
        total, points = 0.0, 0
        for batch in batches:
            loss, slopes = gradient(batch)
            total += loss * len(batch)
            points += len(batch)
            self._step(slopes, rate(self.steps + 1))
            after_step()
        return total / points

    def _step(self, gradient: Iterable[Matrix], rate: float) -> None:
        """Move the parameters against `gradient`, each entry by about `rate`."""
        self.steps += 1
        rate /= 1.0 - _DECAY_OF_MEAN**self.steps
        unbias = np.float32(1.0 / (1.0 - _DECAY_OF_SQUARE**self.steps))
        # Matrices are small, and a call of NumPy takes longer than its sums: one call is for all.
        slope, moves, mean, square = self._slope, self._moves, self._mean, self._square
        np.concatenate([matrix.ravel() for matrix in gradient], out=slope)
        np.subtract(slope, mean, out=moves)
        moves *= np.float32(1.0 - _DECAY_OF_MEAN)
        mean += moves
        slope *= slope
        slope -= square
        slope *= np.float32(1.0 - _DECAY_OF_SQUARE)
        square += slope
        np.multiply(square, unbias, out=slope)
        np.sqrt(slope, out=slope)
        slope += np.float32(1e-8)
        np.multiply(self._factors, np.float32(rate), out=moves)
        moves *= mean
        moves /= slope
        start = 0
        for matrix in self.parameters:
            matrix[...] -= moves[start : start + matrix.size].reshape(matrix.shape)
            start += matrix.size


def rows_of_steps(n: int, size: int, generator: np.random.Generator) -> Iterator[Indices]:
    """Yield the rows of one step after another: all n points in random order, again and again."""
    while True:
        order = generator.permutation(n)
        for start in range(0, n, size):
            yield order[start : start + size]


def steps_an_epoch(n: int, size: int) -> int:
    """Return the number of steps of an epoch: each of n points once, or some of very many."""
    return min(math.ceil(n / size), _MOST_STEPS_AN_EPOCH)


def factor_of_inputs(n_inputs: int) -> float:
    """Return the step factor of a matrix by the number of inputs that its products sum over."""
    return min(1.0, math.sqrt(_REFERENCE_INPUTS / n_inputs))


def rate_at(highest: float, step: int, steps: int) -> float:
    """Return the learning rate of a step, from 1: linear warm-up, then a cosine to zero."""
    warm = min(1.0, step / min(WARM_UP_STEPS, max(1, steps // 10)))
    return highest * warm * 0.5 * (1.0 + math.cos(math.pi * (step - 1) / steps))


def points_a_step(points: int, steps: int) -> int:
    """Return the batch size; few points are learned better with many steps per epoch."""
    return min(_LARGEST_BATCH, max(_SMALLEST_BATCH, points // steps))


def settled(
    settings: Settings, points: Points, generator: np.random.Generator, batch_size: int
) -> Settings:
    """Return settings in which a batch size (by default this) or noise of "auto" is a number.

    The distances of normalized points choose the noise; see `neighbour_noise`.
    """
    noise, size = settings.input_noise, settings.batch_size
    if noise == "auto":
        kind = "standard" if points.space is None else points.space.normalizer.kind
        noise = neighbour_noise(points.X, generator, kind)
    size = batch_size if size == "auto" else int(size)
    return settings.frozen(batch_size=size, input_noise=float(noise))


class MiniBatchTraining(ABC, Generic[Arrays]):
    """One training at one learning rate; moves `parameters` in place, with these step factors."""

    def __init__(
        self,
        parameters: Arrays,
        factors: Sequence[float],
        data: Points,
        settings: MiniBatchParameters,
        generator: np.random.Generator,
    ) -> None:
        self.parameters, self._generator = parameters, generator
        self._data = self._source = data
        self.settings, self._batch_size = settings, int(settings.batch_size)
        self._noise = Noise(float(settings.input_noise), self._batch_size, generator).fit(data)
        self._rows = rows_of_steps(len(data), self._batch_size, generator)
        self._steps_an_epoch = steps_an_epoch(len(data), self._batch_size)
        self._steps = settings.epochs * self._steps_an_epoch
        self._adam = Adam(parameters, factors)
        self._best = BestEpoch(parameters)
        self._sparsifier = Sparsifier(())  # none, unless a kind has shares

    @property
    def _progress(self) -> float:
        return self._adam.steps / self._steps

    def train(self) -> list[EpochReport]:
        """Run all epochs and return their reports; if training is stopped, keep the best epoch."""
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is checked
            history = self._best.through(self._epochs(), self.settings.callback)
        if was_stopped(history):
            self._tighten(1.0)
            self._after_step(1.0)
        return history

    def _epochs(self) -> Iterator[EpochReport]:
        epochs = self.settings.epochs
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
        """Pass over the points once, or over some of very many, and return the mean loss."""
        return self._adam.epoch(
            (
                self._source.step(rows, self._generator)
                for rows in islice(self._rows, self._steps_an_epoch)
            ),
            self._gradient,
            lambda step: rate_at(self.settings.learning_rate, step, self._steps),
            lambda: self._after_step(self._progress),
        )

    def _noisy(self, batch: Points) -> Points:
        return self._noise.apply(batch, self._generator)

    @abstractmethod
    def _gradient(self, batch: Points) -> tuple[float, Iterable[Matrix]]:
        """Return the mean loss of a batch, and the derivatives of it."""

    def _after_step(self, progress: float) -> None:
        """Apply the constraints to the parameters; `progress` is the share of the steps done."""
        self._sparsifier.apply(self.parameters, progress)

    def _check(self, epoch: int, objective: float) -> None:  # noqa: ARG002
        if not all(np.isfinite(each).all() for each in (*self.parameters, objective)):
            raise DivergedError("a parameter is no longer a finite number")

    def _tighten(self, progress: float) -> None:
        """Impose the limits that are due; `progress` is the share of epochs done."""
        if self._sparsifier.tightens(progress):
            self._best.forget()

    @abstractmethod
    def _accuracies(self) -> tuple[float, float | None]:
        """Return the accuracy for the training points, and for those to report on, if any."""


Run = TypeVar("Run", bound=MiniBatchTraining[Any])


def with_back_off(
    begin: Callable[[float], Run],
    learning_rate: float,
    remedies: str = "a smaller learning rate, or another normalization",
) -> tuple[Run, tuple[EpochReport, ...], tuple[Restart, ...]]:
    """Train at a learning rate; if training diverges, restart with a third of it.

    Returns the finished training, its reports, and the abandoned attempts. Raises `InputError`,
    ending with the remedies, if training still diverges after three restarts.
    """
    restarts: list[Restart] = []
    for attempt in range(ATTEMPTS):
        rate = learning_rate / BACK_OFF**attempt
        try:
            return (run := begin(rate)), tuple(run.train()), tuple(restarts)
        except DivergedError as error:
            restarts.append(Restart(rate, error.epoch, str(error), rate / BACK_OFF))
    raise InputError(
        f"training diverges at the learning rate {learning_rate:g}, and also at {rate:.2g} "
        f"({restarts[-1].reason}); try {remedies}"
    )
