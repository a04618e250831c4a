"""Mini-batch optimization of all matrices together, with limits on their non-zero entries.

Adam (Kingma and Ba, 2015) trains all matrices together, with linear warm-up and cosine decay; after
every step each matrix is thresholded to its share (paper, algorithm 1). A share below 1 is reached
gradually over the first half of the steps, and the supports are fixed in the last quarter, so that
the remaining entries converge. From `QUANTIZATION_BEGINS` on, the loss is that of the integer
model.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.protonn.prototypes.integers import RBF_CUTOFF, cut_rbf, tabulated_rbf
from protonn_edge.training.loop import MiniBatchTraining, factor_of_inputs
from protonn_edge.training.objective import (
    LABEL_LOSSES,
    LOSSES,
    MATRICES,
    OUTLIER_EXPOSURE_LOSSES,
    Loss,
    Matrix,
    Parameters,
    objective_gradient,
)
from protonn_edge.training.points import Batch, Float32, Indices, TrainingSet
from protonn_edge.training.progress import (
    Callback,
    EpochReport,
    Trained,
    accuracies,
    with_back_off,
)
from protonn_edge.training.quantization_aware import QuantizationAware
from protonn_edge.training.thresholding import in_shares_of_rows, support

QUANTIZATION_BEGINS = 0.5

_THINNING_ENDS = 0.5
_SUPPORT_FREEZES = 0.75

Augment = Callable[[Indices, np.random.Generator], Float32]
"""From the row numbers of a batch to its points, augmented and normalized."""


@dataclass(frozen=True)
class JointSchedule:
    """Epochs, step sizes and constraints of training."""

    loss: str  # a name in `LOSSES`
    epochs: int  # passes over the training points
    batch_size: int  # points a step
    # largest step of Adam in the folded parameters; for V it is divided by ``sqrt(D / 16)``, as a
    # projected point is a sum over D features
    learning_rate: float
    # deviation of the Gaussian noise added to the normalized inputs, in their unit
    input_noise: float
    sparsity: tuple[float, float, float]  # shares of non-zero entries of V, C and Z, in (0, 1]
    trained: tuple[str, ...] = MATRICES  # names in `MATRICES`; the others keep their initial values


def minimize(
    start: Parameters,
    data: TrainingSet,
    schedule: JointSchedule,
    *,
    seed: int,
    callback: Callback | None = None,
    quantization: QuantizationAware | None = None,
    augment: Augment | None = None,
) -> Trained:
    """Train from `start`; on divergence, restart with a third of the learning rate.

    - `start`: float32, gamma folded in.
    - `callback`: called with an `EpochReport` after every epoch; from epoch 1 again after a
      restart.
    - `quantization`: rounds parameters and points in the second half of the steps. With it, RBF
      values beyond the integer model's table are 0 from the first step on, so that prototypes stay
      within reach on the device.
    - `augment`: augments the points of a batch.

    Raises `InputError` if it still diverges after three restarts.
    """

    def attempt(rate: float) -> tuple[_JointTraining, list[EpochReport]]:
        run = _JointTraining(start.copy(), data, replace(schedule, learning_rate=rate), seed)
        run.quantization, run.augment = quantization, augment
        run.cutoff = RBF_CUTOFF if quantization is not None else 0.0
        return run, run.train(callback)

    (run, history), rate, restarts = with_back_off(
        attempt,
        schedule.learning_rate,
        "a smaller learning rate, gamma or gamma_numerator, or another normalization",
    )
    return Trained(run.parameters, rate, tuple(history), restarts, run.cutoff)


class _JointTraining(MiniBatchTraining[Parameters]):
    """The training of all matrices together at one learning rate."""

    quantization: QuantizationAware | None = None
    augment: Augment | None = None
    cutoff = 0.0

    def __init__(
        self, parameters: Parameters, data: TrainingSet, schedule: JointSchedule, seed: int
    ) -> None:
        factors = step_factors(parameters, schedule.trained)
        super().__init__(parameters, factors, data, schedule, np.random.default_rng(seed))
        self._data = data
        self._loss = _losses_for(data)[schedule.loss]
        self._sparsifier = Sparsifier(schedule.sparsity)
        self._rounding = False

    def _epoch(self) -> float:
        unrounded = self._source is self._data and self.augment is None
        if self._rounding and self.quantization is not None and unrounded:
            self._source = self._data.through(self.quantization.rounded_points)
        return super()._epoch()

    def _after_step(self, progress: float) -> None:
        self._sparsifier.apply(self.parameters, progress)

    def _tighten(self, progress: float) -> None:
        if self._sparsifier.tightens(progress):
            self._best.forget()

    def _accuracies(self) -> tuple[float, float | None]:
        return accuracies(self.parameters, self._data, self.cutoff)

    def _gradient(self, batch: Batch) -> tuple[float, Parameters]:
        self._begin_rounding_in_time()
        points, Y, weights = self._points(batch), batch.Y, batch.weights
        if self._rounding and self.quantization is not None:
            rounded = self.quantization.rounded(self.parameters)
            if rounded is not None:
                return objective_gradient(
                    rounded, points, Y, self._loss, weights, rbf_of=tabulated_rbf
                )
        rbf_of = cut_rbf if self.cutoff else None
        return objective_gradient(self.parameters, points, Y, self._loss, weights, rbf_of)

    def _points(self, batch: Batch) -> Matrix:
        """Return a batch of points with all changes that training applies."""
        points = batch.X
        if self.augment is not None:
            points = self.augment(batch.rows, self._generator)
        if self._rounding and self.quantization is not None and self._source is self._data:
            points = self.quantization.rounded_points(points)
        return self._noisy(points)

    def _begin_rounding_in_time(self) -> None:
        late = self._adam.steps >= QUANTIZATION_BEGINS * self._steps
        if late and not self._rounding and self.quantization is not None:
            self._rounding = self.quantization.choose_precision(self.parameters)
            if not self._rounding:
                self.quantization = None


def _losses_for(data: TrainingSet) -> dict[str, Loss]:
    if data.multilabel:
        return LABEL_LOSSES
    return OUTLIER_EXPOSURE_LOSSES if data.outlier_exposure else LOSSES


def step_factors(parameters: Parameters, trained: tuple[str, ...] = MATRICES) -> tuple[float, ...]:
    """Return factors on the steps of Adam: smaller for V, and none for fixed matrices."""
    factors = (factor_of_inputs(parameters.projection.shape[1]), 1.0, 1.0)
    moved = (name in trained for name in MATRICES)
    return (*map(operator.mul, factors, moved), 1.0)


class Sparsifier:
    """Keeps matrices within their shares of non-zero entries during training.

    Entries are compared by magnitude; in the matrices with indices `by_row`, relative to the length
    of their row, for rows whose length has no meaning.
    """

    def __init__(self, shares: tuple[float, ...], by_row: tuple[int, ...] = ()) -> None:
        self._shares, self._by_row = shares, by_row
        self._frozen: dict[int, NDArray[np.bool_]] = {}

    def tightens(self, progress: float) -> bool:
        """Whether matrices may have fewer entries now than before."""
        return progress < _SUPPORT_FREEZES and min(self._shares) < 1.0

    def apply(self, parameters: Iterable[Matrix], progress: float) -> None:
        """Threshold in place; `progress` is the share of the steps that are done, 0 to 1."""
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
