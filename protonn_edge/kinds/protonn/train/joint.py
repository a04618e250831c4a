"""Mini-batch optimization of all matrices together, with limits on non-zero entries.

Adam (Kingma and Ba, 2015) trains all matrices together, with linear warm-up and cosine decay. After
every step, each matrix is thresholded to its share of non-zero entries (paper, algorithm 1; see
`Sparsifier`). From `QUANTIZATION_BEGINS` on, the loss is computed with rounded parameters and
points; see `QuantizationAware`.
"""

from __future__ import annotations

import operator

import numpy as np

from protonn_edge.kinds.protonn.parameters import ProtoNNParameters
from protonn_edge.kinds.protonn.prototypes.integers import RBF_CUTOFF, cut_rbf, tabulated_rbf
from protonn_edge.kinds.protonn.train.rounding import QuantizationAware
from protonn_edge.kinds.protonn.train.voters import DrawnVoters
from protonn_edge.learn import objective
from protonn_edge.learn.loop import (
    MiniBatchTraining,
    Sparsifier,
    factor_of_inputs,
    with_back_off,
)
from protonn_edge.learn.points import Points
from protonn_edge.learn.progress import Trained, accuracies

QUANTIZATION_BEGINS = 0.5


def minimize(
    start: objective.Parameters,
    data: Points,
    settings: ProtoNNParameters,
    *,
    seed: int,
    quantization: QuantizationAware | None = None,
    voters: DrawnVoters | None = None,
) -> Trained:
    """Train from `start`; if training diverges, restart with a third of the learning rate.

    - `start`: in float32, with gamma folded in.
    - `settings`: see `settled`. After a restart, their callback starts again at epoch 1.
    - `quantization`: rounds parameters and points in the second half of the steps. With it, RBF
      values beyond the integer model's table are 0 from the first step on, so that prototypes stay
      within reach on the device.
    - `voters`: draws points of a batch that vote for others.

    Raises `InputError` if it still diverges after three restarts.
    """

    def begin(rate: float) -> _JointTraining:
        run = _JointTraining(start.copy(), data, settings.frozen(learning_rate=rate), seed)
        run.quantization, run.voters = quantization, voters
        run.cutoff = RBF_CUTOFF if quantization is not None else 0.0
        return run

    run, history, restarts = with_back_off(
        begin,
        settings.learning_rate,
        "a smaller learning rate, gamma or gamma_numerator, or another normalization",
    )
    rate = run.settings.learning_rate
    return Trained(run.with_its_labels(), rate, history, restarts, run.cutoff)


class _JointTraining(MiniBatchTraining[objective.Parameters]):
    """The training of all matrices together at one learning rate."""

    quantization: QuantizationAware | None = None
    voters: DrawnVoters | None = None
    cutoff = 0.0

    def __init__(
        self,
        parameters: objective.Parameters,
        data: Points,
        settings: ProtoNNParameters,
        seed: int,
    ) -> None:
        factors = step_factors(parameters, settings.trained)
        super().__init__(parameters, factors, data, settings, np.random.default_rng(seed))
        self._loss = settings.loss_for(data)
        self._sparsifier = Sparsifier(settings.sparsity)
        self._rounding = False

    def _epoch(self) -> float:
        unrounded = self._source is self._data and not self._data.moved_by
        if self._rounding and self.quantization is not None and unrounded:
            self._source = self._data.through(self.quantization.rounded_points)
        return super()._epoch()

    def with_its_labels(self) -> objective.Parameters:
        """Return the trained parameters; if labels are coarse, in the steps of the training."""
        if not self._rounding or self.quantization is None:
            return self.parameters
        return self.quantization.with_its_labels(self.parameters)

    def _accuracies(self) -> tuple[float, float | None]:
        return accuracies(self.parameters, self._data, self.cutoff)

    def _gradient(self, batch: Points) -> tuple[float, objective.Parameters]:
        late = self._adam.steps >= QUANTIZATION_BEGINS * self._steps
        if late and not self._rounding and self.quantization is not None:
            self._rounding = self.quantization.choose_widths(self.parameters)
            if not self._rounding:
                self.quantization = None
        points = self._points(batch)
        voters = None
        if self.voters is not None:
            largest = float(np.abs(self.parameters.labels).max())
            assert batch.rows is not None
            voters = self.voters.drawn(batch.rows, largest, self._generator)
        parameters, rbf_of = self.parameters, cut_rbf if self.cutoff else None
        if self._rounding and self.quantization is not None:
            rounded = self.quantization.rounded(self.parameters)
            if rounded is not None:
                parameters, rbf_of = rounded, tabulated_rbf
        return objective.objective_gradient(
            parameters, points, batch.Y, self._loss, batch.weight, rbf_of, voters
        )

    def _points(self, batch: Points) -> objective.Matrix:
        """Return the points of a batch, rounded and with noise."""
        if self._rounding and self.quantization is not None and self._source is self._data:
            batch = batch.through(self.quantization.rounded_points)
        return self._noisy(batch).X


def step_factors(
    parameters: objective.Parameters, trained: tuple[str, ...] = objective.MATRICES
) -> tuple[float, ...]:
    """Return the factors on Adam's steps: smaller for V, and 0 for fixed matrices."""
    factors = (factor_of_inputs(parameters.projection.shape[1]), 1.0, 1.0)
    moved = (name in trained for name in objective.MATRICES)
    return (*map(operator.mul, factors, moved), 1.0)
