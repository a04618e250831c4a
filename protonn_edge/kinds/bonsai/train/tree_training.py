"""Mini-batch optimization of a tree and its projection, under their shares of non-zero entries.

All matrices are trained together as for ProtoNN (`training.joint`): with Adam, warm-up and cosine
decay, thresholding to their shares after every step, gradually at first, and fixed supports in the
last quarter. Branches start soft and end hard; see `tree_gradient`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from protonn_edge.datasets.rows import dense_rows
from protonn_edge.errors import InputError
from protonn_edge.kinds.bonsai.head import TreeHead
from protonn_edge.kinds.bonsai.train.tree_gradient import (
    TreeParameters,
    branch_magnitudes,
    tree_gradient,
)
from protonn_edge.training.initialization import discriminant_projection
from protonn_edge.training.joint import Sparsifier
from protonn_edge.training.loop import MiniBatchTraining, factor_of_inputs
from protonn_edge.training.objective import cross_entropy
from protonn_edge.training.points import Batch, Float32, TrainingSet
from protonn_edge.training.progress import Callback, EpochReport

# Initial and final sharpness of the branches, for sums with mean magnitude 1. The magnitude is
# measured on some points of each step; otherwise training would keep branches soft by shrinking
# their sums.
_SHARPNESS = 1.0, 100.0
_MEASURED_POINTS = 64
_SHARPENED = 0.75  # it is final from this share of the steps on

# Of `TreeParameters`. Only the sign of a branch's sum matters, so the length of its weights drifts:
# compared with other branches, all weights of a short one would be pruned, often those of the root.
_BRANCHES = 3

_START = 0.3  # deviation of initial weighted sums and gates, for coordinates of deviation 1


@dataclass(frozen=True)
class TreeSchedule:
    """Epochs, step sizes and constraints of training; see `TreeClassifier`.

    `sparsity` has the shares of the four matrices of `TreeParameters`, `input_noise` is a deviation
    of normalized points.
    """

    depth: int
    n_projections: int
    epochs: int
    batch_size: int
    learning_rate: float
    input_noise: float
    sparsity: tuple[float, float, float, float]


class TreeTraining(MiniBatchTraining[TreeParameters]):
    """One training from start to end.

    - `schedule`: its `n_projections` is 0 if the tree reads the points themselves.
    - `seed`: seed of all random numbers.
    - `head_of`: makes a model with hard branches from `parameters`, for measuring accuracy.
    """

    def __init__(
        self,
        data: TrainingSet,
        schedule: TreeSchedule,
        seed: int,
        head_of: Callable[[TreeParameters], TreeHead],
    ) -> None:
        generator = np.random.default_rng(seed)
        start = _start(data, schedule, generator)
        factors = (factor_of_inputs(start.projection.shape[1]), 1.0, 1.0, 1.0)
        super().__init__(start, factors, data, schedule, generator)
        self._data, self._head_of = data, head_of
        self._sparsifier = Sparsifier(schedule.sparsity, by_row=(_BRANCHES,))

    def train(self, callback: Callback | None) -> list[EpochReport]:
        """Go through all epochs and return their reports.

        Raises
        ------
        InputError
            If training diverges.
        """
        history = super().train(callback)
        self._scale_coordinates()
        return history

    def _epoch(self) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return super()._epoch()

    def _check(self, epoch: int, objective: float) -> None:  # noqa: ARG002
        if not all(np.isfinite(matrix).all() for matrix in (*self.parameters, objective)):
            raise InputError(
                f"training diverges at the learning rate {self._timing.learning_rate:g}; try "
                "a smaller one, or another normalization"
            )

    def _gradient(self, batch: Batch) -> tuple[float, TreeParameters]:
        points = self._noisy(batch.X)
        sharpness = self._sharpness(points[:_MEASURED_POINTS])
        return tree_gradient(
            self.parameters, points, batch.Y, cross_entropy, sharpness, batch.weights
        )

    def _after_step(self, progress: float) -> None:
        self._sparsifier.apply(self.parameters, progress)

    def _tighten(self, progress: float) -> None:
        if self._sparsifier.tightens(progress):
            self._best.forget()

    def _scale_coordinates(self) -> None:
        """Scale the coordinates of training points to -1..1, which leaves the scores unchanged."""
        Z, *tree = self.parameters
        if len(Z):
            points, _ = self._data.evaluated
            reach = np.abs(points @ Z.T).max(axis=0)
            reach[reach == 0] = 1
            Z /= reach[:, None]
            for matrix in tree:
                matrix[:, :-1] *= reach

    def _sharpness(self, points: Float32) -> Float32:
        """Return the sharpness of each branch now."""
        first, last = _SHARPNESS
        progress = min(1.0, self._progress / _SHARPENED)
        wanted = np.float32(first * (last / first) ** progress)
        found = branch_magnitudes(self.parameters, points)
        return np.asarray(wanted / np.maximum(found, np.float32(1e-12)))

    def _accuracies(self) -> tuple[float, float | None]:
        head, test = self._head_of(self.parameters), self._data.test
        measured = [self._data.evaluated, *([] if test is None else [test])]
        found = (head.scores(dense_rows(X, slice(None))) for X, _ in measured)
        shares = [
            float(np.mean(scores.argmax(axis=1) == y))
            for scores, (_, y) in zip(found, measured, strict=True)
        ]
        return shares[0], shares[1] if len(shares) > 1 else None


def _start(
    data: TrainingSet, schedule: TreeSchedule, generator: np.random.Generator
) -> TreeParameters:
    """Return the initial parameters: discriminants, and random weights of their outputs."""
    points, y = data.evaluated
    X = dense_rows(points, slice(None))
    d = min(schedule.n_projections, X.shape[1])
    Z = np.zeros((0, X.shape[1]), np.float32)
    if d:
        Z = discriminant_projection(X, y, d)
        Z /= np.maximum((X @ Z.T).std(axis=0), np.float32(1e-6))[:, None]
    n_classes, columns = data.Y.shape[1], (d or X.shape[1]) + 1
    rows = n_classes if n_classes > 2 else 1
    inner = (1 << schedule.depth) - 1
    nodes = 2 * inner + 1

    def random(rows: int, deviation: float) -> Float32:
        scale = deviation / math.sqrt(columns)
        drawn = generator.standard_normal((rows, columns), dtype=np.float32)
        return np.float32(scale) * drawn

    weights, gates = random(rows * nodes, _START), random(rows * nodes, _START)
    return TreeParameters(Z, weights, gates, random(inner, 1.0))
