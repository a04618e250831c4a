"""The loop that all training by mini-batches shares: Adam, step sizes, epochs, the best epoch.

Adam (Kingma and Ba, 2015) is used with linear warm-up and cosine decay of the step size.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.noise import Noise, neighbour_noise
from protonn_edge.learn.objective import Matrix
from protonn_edge.learn.parameters import MiniBatchParameters
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.progress import (
    BestEpoch,
    DivergedError,
    EpochReport,
    Restart,
    was_stopped,
)
from protonn_edge.learn.sparsity import Sparsifier
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.system.errors import InputError

_WARM_UP_STEPS = 100

_DECAY_OF_MEAN = 0.9
_DECAY_OF_SQUARE = 0.999
_REFERENCE_INPUTS = 16
_LARGEST_BATCH = 128
# With 200 epochs, training then ends after 40,000 steps. On 100,000 points with 10 classes that are
# hard to separate, ProtoNN classifies as many test points correctly as with all 78,200 steps; with
# half of them, 0.3 to 0.5 points fewer.
_MOST_STEPS_AN_EPOCH = 200
# If training diverges, the learning rate is divided by this, up to this many times.
_BACK_OFF, _ATTEMPTS = 3.0, 4

Gradient = Callable[[Indices], tuple[float, Iterable[Matrix]]]
"""Maps the rows of a step to their mean loss and the derivatives by the parameters."""


class Steps(NamedTuple):
    """The steps of a training on n points."""

    n: int
    batch_size: int
    epochs: int
    learning_rate: float
    most: float = math.inf  # steps of an epoch

    @property
    def an_epoch(self) -> int:
        """The number of steps of an epoch: all points once, or some of very many."""
        return int(min(math.ceil(self.n / self.batch_size), self.most))

    @property
    def total(self) -> int:
        """The number of all steps."""
        return self.epochs * self.an_epoch

    def rows(self, generator: np.random.Generator) -> Iterator[Indices]:
        """Yield the rows of one step after another: all in random order, again and again."""
        while True:
            order = generator.permutation(self.n)
            for start in range(0, self.n, self.batch_size):
                yield order[start : start + self.batch_size]

    @property
    def rates(self) -> NDArray[np.float64]:
        """The learning rate of each step: linear warm-up, then a cosine to zero."""
        done = np.arange(self.total)
        warm = np.minimum(1.0, (done + 1) / min(_WARM_UP_STEPS, max(1, self.total // 10)))
        decay = 0.5 * (1 + np.cos(np.pi * done / self.total))
        return np.asarray(self.learning_rate * warm * decay)


def descend(
    parameters: Iterable[Matrix],
    factors: Sequence[float],
    steps: Steps,
    generator: np.random.Generator,
    gradient: Gradient,
    after_step: Callable[[float], object] = lambda _: None,
) -> Iterator[float]:
    """Move parameters in place, and yield the mean loss of each epoch.

    - `factors`: on the step of each parameter.
    - `after_step`: called with the share of the steps that are done.
    """
    adam, rows, step = _Adam(tuple(parameters), factors), steps.rows(generator), 0
    an_epoch, total, rates = steps.an_epoch, steps.total, steps.rates.tolist()
    for _ in range(steps.epochs):
        losses, points = 0.0, 0
        for batch in islice(rows, an_epoch):
            loss, slopes = gradient(batch)
            losses += loss * len(batch)
            points += len(batch)
            adam.move(slopes, rates[step])
            step += 1
            after_step(step / total)
        yield losses / points


class _Adam:
    """Moves parameters in place, each with a step factor and moments of its gradient.

    Matrices are small, and a call of NumPy takes longer than its sums: one call is for all.
    """

    def __init__(self, parameters: Sequence[Matrix], factors: Sequence[float]) -> None:
        self._parameters, self._steps = parameters, 0
        sizes = [matrix.size for matrix in parameters]
        self._factors = np.repeat(np.array(factors, dtype=np.float32), sizes)
        self._mean = np.zeros(sum(sizes), dtype=np.float32)
        self._square = np.zeros_like(self._mean)
        self._slope, self._moves = np.empty_like(self._mean), np.empty_like(self._mean)

    def move(self, gradient: Iterable[Matrix], rate: float) -> None:
        """Move the parameters against `gradient`, each entry by about `rate`."""
        self._steps += 1
        rate /= 1.0 - _DECAY_OF_MEAN**self._steps
        unbias = np.float32(1.0 / (1.0 - _DECAY_OF_SQUARE**self._steps))
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
        for matrix in self._parameters:
            matrix[...] -= moves[start : start + matrix.size].reshape(matrix.shape)
            start += matrix.size


def factor_of_inputs(n_inputs: int) -> float:
    """Return the step factor of a matrix by the number of inputs that its products sum over."""
    return min(1.0, math.sqrt(_REFERENCE_INPUTS / n_inputs))


def points_a_step(points: int, steps: int, least: int) -> int:
    """Return the batch size for this number of steps an epoch, if batches have enough points."""
    return min(_LARGEST_BATCH, max(least, points // steps))


Settings = TypeVar("Settings", bound=MiniBatchParameters)


def settled(
    settings: Settings, data: TrainingSet, generator: np.random.Generator, batch_size: int
) -> Settings:
    """Return settings in which a batch size (by default this) or noise of "auto" is a number.

    The distances of normalized points choose the noise; see `neighbour_noise`.
    """
    noise, size = settings.input_noise, settings.batch_size
    if noise == "auto":
        noise = neighbour_noise(data.points.X, generator, data.space.normalizer.kind)
    size = batch_size if size == "auto" else int(size)
    return settings.frozen(batch_size=size, input_noise=float(noise))


Arrays = TypeVar("Arrays", bound=Iterable[Matrix])


class MiniBatchTraining(ABC, Generic[Arrays]):
    """One training at one learning rate; moves `parameters` in place, with these step factors."""

    def __init__(
        self,
        parameters: Arrays,
        factors: Sequence[float],
        data: TrainingSet,
        settings: MiniBatchParameters,
        generator: np.random.Generator,
    ) -> None:
        self.parameters, self._generator = parameters, generator
        self._data, self._factors, self.settings = data, factors, settings
        size = int(settings.batch_size)
        self._noise = Noise(float(settings.input_noise), data.points.X, size, generator)
        self._steps = Steps(
            len(data), size, settings.epochs, settings.learning_rate, _MOST_STEPS_AN_EPOCH
        )
        self._best = BestEpoch(parameters)
        self._sparsifier = Sparsifier(())  # none, unless a kind has shares
        self._progress = 0.0  # the share of the steps that are done

    def train(self) -> list[EpochReport]:
        """Run all epochs and return their reports; if training is stopped, keep the best epoch."""
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is checked
            history = self._best.through(self._reports(), self.settings.callback)
        if was_stopped(history):
            self._tighten(1.0)
            self._constrain(1.0)
        return history

    def _reports(self) -> Iterator[EpochReport]:
        epochs = self.settings.epochs
        losses = descend(
            *(self.parameters, self._factors, self._steps),
            *(self._generator, self._gradient, self._constrain),
        )
        for epoch, loss in enumerate(losses, start=1):
            try:
                self._check(epoch, loss)
                self._tighten(epoch / epochs)
                accuracy, test_accuracy = self._accuracies()
            except DivergedError as error:
                error.epoch = epoch
                raise
            yield EpochReport(epoch, epochs, loss, accuracy, test_accuracy=test_accuracy)

    def _points(self, rows: Indices) -> Float32:
        """Return the points of a step, moved and with noise."""
        return self._noise.add(self._data.moved(rows, self._generator), self._generator)

    @abstractmethod
    def _gradient(self, rows: Indices) -> tuple[float, Iterable[Matrix]]:
        """Return the mean loss of the points of a step, and the derivatives of it."""

    def _constrain(self, progress: float) -> None:
        """Apply the constraints to the parameters; `progress` is the share of the steps done."""
        self._progress = progress
        self._sparsifier.apply(self.parameters, progress)

    def _check(self, _epoch: int, loss: float) -> None:
        if not all(np.isfinite(each).all() for each in (*self.parameters, loss)):
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
    for attempt in range(_ATTEMPTS):
        rate = learning_rate / _BACK_OFF**attempt
        try:
            return (run := begin(rate)), tuple(run.train()), tuple(restarts)
        except DivergedError as error:
            restarts.append(Restart(rate, error.epoch, str(error), rate / _BACK_OFF))
    raise InputError(
        f"training diverges at the learning rate {learning_rate:g}, and also at {rate:.2g} "
        f"({restarts[-1].reason}); try {remedies}"
    )
