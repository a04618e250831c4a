"""What learns a network: one or two hidden layers, pruned to a size.

Adam trains all weights together on the loss of the labels: for classes, the cross-entropy. The
network is pruned (Han et al., "Deep Compression", 2016) in several rounds, in the part of the
training that `_PRUNING` gives. After each round, training continues with the remaining weights; the
last epochs have the smallest steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.dense.head import DenseHead, rectified
from protonn_edge.kinds.dense.integers import MOST_UNITS
from protonn_edge.kinds.dense.parameters import DenseParameters
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.loop import (
    MiniBatchTraining,
    factor_of_inputs,
    points_a_step,
    settled,
    with_back_off,
)
from protonn_edge.learn.objective import Loss, Matrix, cross_entropy
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.progress import DivergedError, Learned
from protonn_edge.learn.searched import (
    FEATURES_BEGUN,
    FEATURES_SEARCHED,
    Among,
    Between,
    SearchSpec,
    SearchTask,
)
from protonn_edge.learn.sparsity import support
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.sums import scores_of_sums, slope_of_sums
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InvalidValue

_PRUNING = (0.2, 0.6)
_ROUNDS = 8
_LOST = 10.0  # relative to the loss of a guess
# The share of weights' magnitudes in the loss of numbers, for one point; less for more points, as
# their noise averages out. Without it, a network learns the noise of numbers by heart.
_PENALTY = 0.1
_NO_SHARPNESS = np.zeros(1, np.float32)

Mask = NDArray[np.bool_]


def stored_bytes(mask: Mask) -> int:
    """Return what a matrix (d, D) counts for: a byte per weight, or two per one in the mask."""
    return min(mask.size, 2 * int(np.count_nonzero(mask)))


def masks_of_share(matter: Sequence[Float32], share: float) -> list[Mask]:
    """Return masks of the most important weights, the same share of each matrix."""
    return [support(each, share) & (each > 0) for each in matter]


def masks_within(matter: Sequence[Float32], budget: int) -> list[Mask] | None:
    """Return masks of the most important weights in `budget` bytes; None if all fit."""
    if sum(each.size for each in matter) <= budget:
        return None
    low, high = 0.0, 1.0
    while (high - low) * sum(each.size for each in matter) > 1:
        middle = (low + high) / 2
        fits = sum(map(stored_bytes, masks_of_share(matter, middle))) <= budget
        low, high = (middle, high) if fits else (low, middle)
    return masks_of_share(matter, low) if low else [np.zeros(each.shape, bool) for each in matter]


def check_budget(weights: Sequence[Float32], budget: int | None) -> None:
    """Refuse a budget below one weight per hidden unit; the message names the smallest budget."""
    units = sum(map(len, weights[:-1]))
    least = weights[-1].size + 2 * units
    if budget is not None and budget < least:
        raise InvalidValue(
            f"a budget of {budget:,} B",
            f"less than one weight for each of {units:,} hidden units",
            f"allow at least {least:,} B, or train fewer units",
        )


@dataclass(frozen=True, eq=False)
class DenseNetwork:
    """The layers, which training changes in place; also a `TrainableHead`."""

    # (units, inputs); the last matrix gives the scores, and has one row for two classes or a number
    weights: list[Float32]
    biases: list[Float32]  # (units,)
    loss: Loss = cross_entropy
    alone: bool = False  # whether the only row of the last matrix is the score itself

    @classmethod
    def random(
        cls, sizes: Sequence[int], generator: np.random.Generator, gain: float = 2.0
    ) -> Self:
        """Return a network of these numbers of inputs, units and scores.

        The variance of weights is the gain over their number: 2 suits units (He et al., 2015).
        """
        pairs = list(zip(sizes[1:], sizes[:-1], strict=True))
        weights = [generator.standard_normal(pair, dtype=np.float32) for pair in pairs]
        weights = [W * np.float32(math.sqrt(gain / W.shape[1])) for W in weights]
        return cls(weights, [np.zeros(units, np.float32) for units, _ in pairs])

    @property
    def parameters(self) -> list[Float32]:
        """All arrays."""
        return [*self.weights, *self.biases]

    def copy(self) -> DenseNetwork:
        """Return a copy with arrays of its own."""
        weights, biases = ([each.copy() for each in some] for some in (self.weights, self.biases))
        return replace(self, weights=weights, biases=biases)

    def values(self, X: Matrix) -> list[Matrix]:
        """Return the points X (n, D), and the values (n, units) of each hidden layer."""
        values = [X]
        for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            values.append(rectified(values[-1], W, b))
        return values

    def scores(self, X: Array) -> Matrix:
        """Return the scores (n, L) of points X (n, D)."""
        return self._scores_of(self.values(X))

    def _scores_of(self, values: list[Matrix]) -> Matrix:
        sums = values[-1] @ self.weights[-1].T + self.biases[-1]
        return sums if self.alone else scores_of_sums(sums)

    def gradient(
        self, X: Matrix, Y: Matrix, weights: Matrix | None
    ) -> tuple[float, Matrix, list[Matrix]]:
        """Return the mean loss, and its derivatives by the points and by the parameters."""
        loss, slope, gradient = self.backward(X, Y, weights)
        return loss, slope @ self.weights[0], gradient

    def backward(
        self, X: Matrix, Y: Matrix, weights: Matrix | None
    ) -> tuple[float, Matrix, list[Matrix]]:
        """Return the mean loss, and derivatives by the first layer's sums and by parameters."""
        values = self.values(X)
        loss, slope, _ = self.loss(self._scores_of(values), Y, _NO_SHARPNESS, weights)
        if not self.alone:
            slope = slope_of_sums(slope, len(self.biases[-1]))
        of_weights: list[Matrix] = []
        of_biases: list[Matrix] = []
        for place in reversed(range(len(self.weights))):
            of_weights.insert(0, slope.T @ values[place])
            of_biases.insert(0, slope.sum(axis=0))
            if place:
                slope = (slope @ self.weights[place]) * (values[place] > 0)
        return loss, slope, [*of_weights, *of_biases]


class _NetworkTraining(MiniBatchTraining[list[Float32]]):
    """The training of a network, in place, at one learning rate."""

    def __init__(self, network: DenseNetwork, data: TrainingSet, settings: DenseParameters) -> None:
        factors = [factor_of_inputs(W.shape[1]) for W in network.weights]
        factors += [1.0] * len(network.biases)
        generator = np.random.default_rng(data.seed)
        super().__init__(network.parameters, factors, data, settings, generator)
        self.network, self._budget, self._round = network, settings.size_budget, 0
        self._is_pruned = False
        self._penalty = 0.0 if data.labels.are_classes else _PENALTY / math.sqrt(len(data))
        self._masks = [np.ones(W.shape, np.bool_) for W in network.weights[:-1]]
        # the loss if all scores are 0
        Y = data.targets()
        self._guess, _, _ = network.loss(np.zeros_like(Y), Y, _NO_SHARPNESS, data.points.weight)

    def _check(self, epoch: int, loss: float) -> None:
        """Refuse parameters that are not finite or, in the end, far worse than a guess."""
        guess, last = self._guess, epoch == self.settings.epochs
        if not loss < (_LOST * guess if last else math.inf):
            raise DivergedError(f"the loss is {loss:.3g}, but guessing gives {guess:.3g}")

    def _gradient(self, rows: Indices) -> tuple[float, list[Matrix]]:
        Y, weights = self._data.targets(rows), self._data.points.weights(rows)
        loss, _, gradient = self.network.backward(self._points(rows), Y, weights)
        if self._penalty:
            for slope, W in zip(gradient, self.network.weights, strict=False):
                np.add(slope, self._penalty * np.sign(W), out=slope)
        return loss, gradient

    def _constrain(self, _progress: float) -> None:
        if self._is_pruned:
            self._apply_masks()

    def _tighten(self, progress: float) -> None:
        """Prune if a round is due."""
        begin, end = _PRUNING
        passed = math.floor((progress - begin) / (end - begin) * (_ROUNDS - 1) + 1e-9) + 1
        due = min(max(0, passed), _ROUNDS)
        if self._budget is None or due <= self._round:
            return
        self._round = due
        values = self.network.values(self._data.measured.X)
        matter = [
            np.abs(W) * each.std(axis=0) * mask
            for W, each, mask in zip(self.network.weights, values, self._masks, strict=False)
        ]
        head = self.network.weights[-1].size
        within = masks_within(matter, self._budget - head)
        if due < _ROUNDS and within is not None:
            share = sum(map(np.count_nonzero, within)) / sum(mask.size for mask in within)
            within = masks_of_share(matter, share ** (due / _ROUNDS))
        if within is not None:
            self._masks, self._is_pruned = within, True
            self._apply_masks()
            self._best.forget()

    def _apply_masks(self) -> None:
        for W, mask in zip(self.network.weights, self._masks, strict=False):
            np.multiply(W, mask, out=W)

    def _accuracies(self) -> tuple[float, float | None]:
        return self._data.qualities(self.network.scores)


_STEPS_AN_EPOCH, _SMALLEST_BATCH = 25, 32


def _units(hidden: str) -> tuple[int, ...]:
    """Return the numbers of units of the hidden layers."""
    parts = hidden.split(",")
    numbers = [int(part) if part.strip().isdecimal() else 0 for part in parts]
    check(
        len(numbers) <= 2 and all(1 <= number <= MOST_UNITS for number in numbers),
        "hidden",
        repr(hidden[:40]),
        f"the numbers of units of one or two layers, 1 to {MOST_UNITS} each, such as 20 or 40,20",
    )
    return tuple(numbers)


@dataclass(kw_only=True, eq=False, repr=False)
class DenseLearner(DenseParameters, Learner):
    """Learns a network; `DenseClassifier` describes it."""

    scores_are_logits = True

    def learn(self, data: TrainingSet) -> Learned:
        """Learn the layers with Adam, and prune them; see `Learner.learn`."""
        generator = np.random.default_rng(data.seed)
        outputs = 1 if data.n_classes == 2 else data.n_classes
        sizes = (data.points.X.shape[1], *_units(self.hidden), outputs)
        loss = data.labels.loss(has_strangers=data.has_strangers)
        alone = not data.labels.are_classes
        start = replace(DenseNetwork.random(sizes, generator), loss=loss, alone=alone)
        size = points_a_step(len(data), _STEPS_AN_EPOCH, _SMALLEST_BATCH)
        settings = settled(self, data, generator, size)
        check_budget(start.weights, settings.size_budget)
        run, history, restarts = with_back_off(
            lambda rate: _NetworkTraining(start.copy(), data, settings.frozen(learning_rate=rate)),
            settings.learning_rate,
        )
        network = run.network
        layers = network.weights, network.biases
        head = DenseHead.of(*layers, data.measured.X, alone=network.alone)
        return Learned(head, history, restarts, facts={"trainer": "adam"})

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:
        """Return the search space: layers, bytes, training, and features."""
        most = max(500, task.parameter_bytes)
        begun = {"learning_rate": 0.01, "epochs": 60, **FEATURES_BEGUN}
        starts = (("20", most), ("20", most // 4), ("40", most), ("40,20", most), ("10", most // 8))
        return SearchSpec(
            {
                "hidden": Among(("5", "10", "20", "40", "80", "20,10", "40,20")),
                "size_budget": Between(most // 16, most),
                "learning_rate": Between(0.003, 0.03),
                "epochs": Among((30, 60, 120)),
                **FEATURES_SEARCHED,
            },
            tuple({"hidden": units, "size_budget": size, **begun} for units, size in starts),
            sketch={"epochs": 3},
            columns={"hidden": ("hidden",), "bytes": ("size_budget",)},
        )
