"""Mini-batch optimization of all matrices together, with limits on non-zero entries.

Adam (Kingma and Ba, 2015) trains all matrices together, with linear warm-up and cosine decay. After
every step, each matrix is thresholded to its share of non-zero entries (paper, algorithm 1; see
`Sparsifier`). In the second half of the steps, the loss is computed with rounded parameters and
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
from protonn_edge.learn.loop import MiniBatchTraining, factor_of_inputs, with_back_off
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.progress import DivergedError, Trained
from protonn_edge.learn.sparsity import Sparsifier
from protonn_edge.learn.training_set import EPOCH_POINTS, TrainingSet
from protonn_edge.system.figures import percent

_QUANTIZATION_BEGINS = 0.5
_VANISHED = 1e-6


def minimize(
    start: objective.Parameters,
    data: TrainingSet,
    settings: ProtoNNParameters,
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
    run, history, restarts = with_back_off(
        lambda rate: _JointTraining(
            start.copy(), data, settings.frozen(learning_rate=rate), quantization, voters
        ),
        settings.learning_rate,
        "a smaller learning rate, gamma or gamma_numerator, or another normalization",
    )
    parameters = run.parameters
    if run.rounding is not None:  # if labels are coarse, in the steps of the training
        parameters = run.rounding.with_its_labels(parameters)
    return Trained(parameters, run.settings.learning_rate, history, restarts, run.cutoff)


class _JointTraining(MiniBatchTraining[objective.Parameters]):
    """The training of all matrices together at one learning rate."""

    def __init__(
        self,
        parameters: objective.Parameters,
        data: TrainingSet,
        settings: ProtoNNParameters,
        quantization: QuantizationAware | None,
        voters: DrawnVoters | None,
    ) -> None:
        # V, whose products sum over the features, is moved by smaller steps; fixed matrices by none
        sizes = (factor_of_inputs(parameters.projection.shape[1]), 1.0, 1.0)
        moved = (name in settings.trained for name in objective.MATRICES)
        factors = (*map(operator.mul, sizes, moved), 1.0)
        super().__init__(parameters, factors, data, settings, np.random.default_rng(data.seed))
        self._loss, self._voters = settings.loss_for(data), voters
        self._sparsifier = Sparsifier(settings.sparsity)
        self.cutoff = 0.0 if quantization is None else RBF_CUTOFF
        self._quantization = quantization  # until rounding begins
        self.rounding: QuantizationAware | None = None  # from then on, if an integer model fits
        self._rounded: Float32 | None = None  # all points, unless each step moves them

    def _accuracies(self) -> tuple[float, float | None]:
        return accuracies(self.parameters, self._data, self.cutoff)

    def _gradient(self, rows: Indices) -> tuple[float, objective.Parameters]:
        begun, parameters = self._quantization, self.parameters
        if begun is not None and self._progress >= _QUANTIZATION_BEGINS:
            self._quantization = None
            if begun.choose_widths(parameters):
                self.rounding = begun
                if not self._data.moves:
                    self._rounded = begun.rounded_points(self._data.points.X)
        points = self._points(rows)
        voters = None
        if self._voters is not None:
            largest = float(np.abs(parameters.labels).max())
            voters = self._voters.drawn(rows, largest, self._generator)
        rbf_of: objective.RbfOf = cut_rbf if self.cutoff else objective.smooth_rbf
        rounded = None if self.rounding is None else self.rounding.rounded(parameters)
        if rounded is not None:
            parameters, rbf_of = rounded, tabulated_rbf
        Y, weights = self._data.targets(rows), self._data.points.weights(rows)
        return objective.objective_gradient(
            parameters, points, Y, self._loss, weights, rbf_of, voters
        )

    def _points(self, rows: Indices) -> Float32:
        """Return the points of a step, rounded and with noise."""
        if self.rounding is None:
            return super()._points(rows)
        if self._rounded is not None:
            return self._noise.add(self._rounded[rows], self._generator)
        moved = self._data.moved(rows, self._generator)
        return self._noise.add(self.rounding.rounded_points(moved), self._generator)


def accuracies(
    parameters: objective.Parameters,
    data: TrainingSet,
    cutoff: float = 0.0,
    most: int = EPOCH_POINTS,
) -> tuple[float, float | None]:
    """Return the quality of a classifier (see `ClassLabels.quality`) on training and test points.

    RBF values below `cutoff` count as 0; at most this number of either points counts.

    Raises `DivergedError` if steps were so large that points and prototypes are too far apart: all
    RBFs vanish, and with them the gradient that could bring them back.
    """
    if not all(np.isfinite(matrix).all() for matrix in parameters):
        raise DivergedError("a parameter is no longer a finite number")

    reached: list[float] = []  # of training points, then of test points

    def scores(X: Float32) -> Float32:
        rbf = objective.rbf_values(parameters, X @ parameters.projection.T)
        reached.append(float(np.mean(rbf.max(axis=1) > _VANISHED)))  # false for NaN, too
        rbf[rbf < cutoff] = 0.0
        return rbf @ parameters.labels.T

    found = data.qualities(scores, most)
    if reached[0] < 0.5:
        raise DivergedError(
            f"{percent(1.0 - reached[0], 0)} of the points are out of reach of every prototype"
        )
    return found
