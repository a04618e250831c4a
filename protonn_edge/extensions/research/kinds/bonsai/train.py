"""Bonsai and local deep kernels as scikit-learn estimators.

During training, a point takes both branches at each inner node, the right one with the weight ``(1
+ tanh(s T_j z)) / 2``. With growing sharpness s this weight approaches 0 or 1, so branches start
soft and end hard (Kumar et al., ICML 2017, section 3).

As in ProtoNN, all matrices are trained together with Adam, warm-up and cosine decay, and
thresholded to their shares after every step; see `Sparsifier`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from protonn_edge.extensions.research.kinds.bonsai.head import (
    BonsaiHead,
    LocalDeepKernelHead,
    TreeHead,
)
from protonn_edge.extensions.research.kinds.bonsai.parameters import (
    BonsaiParameters,
    LocalDeepKernelParameters,
)
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.initialization import initial_projection
from protonn_edge.learn.loop import (
    MiniBatchTraining,
    factor_of_inputs,
    settled,
    with_back_off,
)
from protonn_edge.learn.objective import Loss, Matrix, cross_entropy
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.progress import EpochReport, Learned
from protonn_edge.learn.searched import (
    FEATURES_BEGUN,
    FEATURES_SEARCHED,
    Among,
    Between,
    SearchSpec,
    SearchTask,
)
from protonn_edge.learn.sparsity import Sparsifier
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.sums import scores_of_sums, slope_of_sums

_NO_SHARPNESS = np.zeros(1, np.float32)


class TreeParameters(NamedTuple):
    """All trained parameters, or arrays of the same shapes, such as the gradient."""

    projection: Float32  # (d, D): Z; no rows if the tree reads the points
    # (nodes R, d + 1): W and V; the last column is a bias
    weights: Float32
    gates: Float32
    branches: Float32  # (inner nodes, d + 1): T


def tree_gradient(
    parameters: TreeParameters,
    X: Matrix,
    Y: Matrix,
    loss: Loss,
    sharpness: Matrix,
    weights: Matrix | None = None,
) -> tuple[float, TreeParameters]:
    """Return the mean loss of normalized points X (n, D) with targets Y (n, L), and its gradient.

    - `loss`: a function of scores; see `objective.LOSSES`.
    - `sharpness` (inner nodes,): s of each branch.
    """
    Z, W, V, T = parameters
    n, nodes = len(X), 2 * len(T) + 1
    z = _with_ones(Z, X)
    sums, gates = z @ W.T, np.tanh(z @ V.T)
    right = np.float32(0.5) * (1 + np.tanh(sharpness * (z @ T.T)))
    reached = _reached(right)
    gated = (sums * gates).reshape(n, nodes, -1)
    t = np.einsum("nk,nkr->nr", reached, gated)
    value, by_scores, _ = loss(scores_of_sums(t), Y, _NO_SHARPNESS, weights)
    by_t = slope_of_sums(by_scores, t.shape[1])

    by_gated = (reached[:, :, None] * by_t[:, None, :]).reshape(n, -1)
    by_sums = by_gated * gates
    by_arguments = by_gated * sums * (1 - gates * gates)
    by_right = _through_branches(right, reached, np.einsum("nkr,nr->nk", gated, by_t))
    by_branches = by_right * right * (1 - right) * (2 * sharpness)
    by_Z = np.zeros_like(Z)
    if len(Z):
        by_z = by_sums @ W + by_arguments @ V + by_branches @ T
        by_Z = by_z[:, :-1].T @ X
    return value, TreeParameters(by_Z, by_sums.T @ z, by_arguments.T @ z, by_branches.T @ z)


def head_of(parameters: TreeParameters) -> TreeHead:
    """Return the tree with hard branches: a local deep kernel if there is no projection."""
    Z, W, V, T = parameters
    if len(Z):
        return BonsaiHead(projection=Z, weights=W, gates=V, branches=T)
    return LocalDeepKernelHead(weights=W, gates=V, branches=T)


def _with_ones(Z: Matrix, X: Matrix) -> Matrix:
    """Return the inputs of the tree for points X (n, D), each with a 1 appended."""
    projected = X @ Z.T if len(Z) else X
    return np.concatenate([projected, np.ones((len(X), 1), X.dtype)], axis=1)


def _reached(right: Matrix) -> Matrix:
    """Return the weight with which each point reaches each node, (n, nodes)."""
    n, inner = right.shape
    reached = np.ones((n, 2 * inner + 1), right.dtype)
    for j in range(inner):
        reached[:, 2 * j + 2] = reached[:, j] * right[:, j]
        reached[:, 2 * j + 1] = reached[:, j] - reached[:, 2 * j + 2]
    return reached


def _through_branches(right: Matrix, reached: Matrix, by_reached: Matrix) -> Matrix:
    """Return the derivatives by the right-branch weights, given those by the node weights."""
    whole = by_reached.copy()  # of a node and its subtree
    by_right = np.empty_like(right)
    for j in reversed(range(right.shape[1])):
        left, difference = whole[:, 2 * j + 1], whole[:, 2 * j + 2] - whole[:, 2 * j + 1]
        by_right[:, j] = reached[:, j] * difference
        whole[:, j] += left + right[:, j] * difference
    return by_right


# Initial and final sharpness of the branches, for sums of mean magnitude 1. The magnitude is
# measured on some points of each step, because training could otherwise shrink the sums to keep
# branches soft.
_SHARPNESS = 1.0, 100.0
_MEASURED_POINTS = 64
_SHARPENED = 0.75  # share of the steps after which it is final

# Of `TreeParameters`, those whose rows are pruned on their own scale: only the sign of a branch's
# sum matters, so the length of its weights drifts, and all weights of a short branch, often the
# root, would be pruned.
_BRANCHES = 3
_START = 0.3  # deviation of initial sums and gates, for coordinates of deviation 1


class TreeTraining(MiniBatchTraining[TreeParameters]):
    """One complete training."""

    def __init__(self, data: TrainingSet, settings: LocalDeepKernelParameters) -> None:
        generator = np.random.default_rng(data.seed)
        start = _start(data, settings, generator)
        factors = (factor_of_inputs(start.projection.shape[1]), 1.0, 1.0, 1.0)
        super().__init__(start, factors, data, settings, generator)
        self._sparsifier = Sparsifier(settings.sparsity, by_row=(_BRANCHES,))

    def train(self) -> list[EpochReport]:
        """Run all epochs and return their reports."""
        history = super().train()
        self._scale_coordinates()
        return history

    def _gradient(self, rows: Indices) -> tuple[float, TreeParameters]:
        points = self._points(rows)
        sharpness = self._sharpness(points[:_MEASURED_POINTS])
        Y, weights = self._data.targets(rows), self._data.points.weights(rows)
        return tree_gradient(self.parameters, points, Y, cross_entropy, sharpness, weights)

    def _scale_coordinates(self) -> None:
        """Scale the coordinates of training points to -1..1, which leaves the scores unchanged."""
        Z, *tree = self.parameters
        if len(Z):
            reach = np.abs(self._data.measured.X @ Z.T).max(axis=0)
            reach[reach == 0] = 1
            Z /= reach[:, None]
            for matrix in tree:
                matrix[:, :-1] *= reach

    def _sharpness(self, points: Float32) -> Float32:
        """Return the sharpness of each branch now."""
        first, last = _SHARPNESS
        progress = min(1.0, self._progress / _SHARPENED)
        wanted = np.float32(first * (last / first) ** progress)
        sums = _with_ones(self.parameters.projection, points) @ self.parameters.branches.T
        magnitudes = np.abs(sums).mean(axis=0)
        return np.asarray(wanted / np.maximum(magnitudes, np.float32(1e-12)))

    def _accuracies(self) -> tuple[float, float | None]:
        return self._data.qualities(head_of(self.parameters).scores)


def _start(
    data: TrainingSet, settings: LocalDeepKernelParameters, generator: np.random.Generator
) -> TreeParameters:
    """Return the initial parameters: linear discriminants, and random weights of their outputs."""
    X, y = data.measured.X, data.measured.y
    d = min(settings.n_projections, X.shape[1]) if isinstance(settings, BonsaiParameters) else 0
    Z = np.zeros((0, X.shape[1]), np.float32)
    if d:
        Z = initial_projection("lda", X, y, d, None, generator)
        deviation = (X @ Z.T).std(axis=0)
        moving = deviation > 1e-6 * deviation.max()  # unlike constant features
        Z = Z[moving] / deviation[moving, None]
        d = len(Z)
    n_classes, columns = data.n_classes, (d or X.shape[1]) + 1
    rows = n_classes if n_classes > 2 else 1
    inner = (1 << settings.depth) - 1
    nodes = 2 * inner + 1

    def random(rows: int, deviation: float) -> Float32:
        scale = deviation / math.sqrt(columns)
        drawn = generator.standard_normal((rows, columns), dtype=np.float32)
        return np.float32(scale) * drawn

    weights, gates = random(rows * nodes, _START), random(rows * nodes, _START)
    return TreeParameters(Z, weights, gates, random(inner, 1.0))


_BATCH_SIZE = 256


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(LocalDeepKernelParameters, DeviceClassifier):
    """The common base of Bonsai and local deep kernels."""

    scores_are_logits = True

    def learn(self, data: TrainingSet) -> Learned:
        """Learn all matrices of a tree of gated sums together, with Adam."""
        generator = np.random.default_rng(data.seed)
        settings = settled(self, data, generator, _BATCH_SIZE)
        run, history, restarts = with_back_off(
            lambda rate: TreeTraining(data, settings.frozen(learning_rate=rate)),
            settings.learning_rate,
        )
        facts = {"input_noise": float(settings.input_noise)}
        return Learned(head_of(run.parameters), history, restarts, facts=facts)


@dataclass(kw_only=True, eq=False, repr=False)
class BonsaiClassifier(BonsaiParameters, TreeClassifier):
    """Bonsai: a shallow tree of gated sums after a sparse projection (Kumar et al., ICML 2017).

    The projection, the sums, their gates and the branches are learned together; see
    `protonn_edge.extensions.research.kinds.bonsai.head` for the formula.

    References
    ----------
    .. [1] A. Kumar, S. Goyal, M. Varma, "Resource-efficient Machine Learning in 2 KB RAM for the
       Internet of Things", ICML 2017.

    Examples
    --------
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge.extensions.research.kinds.bonsai.train import BonsaiClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = BonsaiClassifier(depth=1, epochs=30, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.95)
    True
    """

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:
        """Return the search space: sizes, learning rate and features."""
        widest = max(4, min(40, task.n_inputs))
        share = min(1.0, task.parameter_bytes / (2 * widest * task.n_inputs))
        begun = {"sparsity_projection": max(0.02, share), **FEATURES_BEGUN}
        return SearchSpec(
            {
                "depth": Among((0, 1, 2, 3)),
                "n_projections": Between(3, widest),
                "sparsity_projection": Between(0.02, 1.0),
                "learning_rate": Between(3e-3, 0.1),
                **FEATURES_SEARCHED,
            },
            tuple(
                {"depth": depth, "n_projections": min(d, widest), "learning_rate": 0.02, **begun}
                for depth, d in ((1, 10), (2, 10), (1, 20), (0, 15))
            ),
            columns={"depth": ("depth",), "d": ("n_projections",)},
        )


@dataclass(kw_only=True, eq=False, repr=False)
class LocalDeepKernelClassifier(TreeClassifier):
    """A local deep kernel: a shallow tree of gated sums of the inputs (Jose et al., ICML 2013).

    This is Bonsai without the projection; see
    `protonn_edge.extensions.research.kinds.bonsai.head` for the formula.

    References
    ----------
    .. [1] C. Jose, P. Goyal, P. Aggrwal, M. Varma, "Local Deep Kernel Learning for Efficient
       Non-linear SVM Prediction", ICML 2013.

    Examples
    --------
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge.extensions.research.kinds.bonsai.train import LocalDeepKernelClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = LocalDeepKernelClassifier(depth=1, epochs=30, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.93)
    True
    """

    @classmethod
    def searched(cls, _task: SearchTask) -> SearchSpec:
        """Return the search space: sizes, learning rate and features."""
        return SearchSpec(
            {
                "depth": Among((0, 1, 2, 3)),
                "sparsity_weights": Between(0.02, 1.0),
                "sparsity_gates": Between(0.02, 1.0),
                "learning_rate": Between(1e-3, 0.05),
                **FEATURES_SEARCHED,
            },
            tuple(
                {
                    "depth": depth,
                    "sparsity_weights": share,
                    "sparsity_gates": share,
                    "learning_rate": 0.01,
                    **FEATURES_BEGUN,
                }
                for depth, share in ((1, 1.0), (1, 0.2), (2, 0.2), (2, 0.05))
            ),
            columns={"depth": ("depth",)},
        )
