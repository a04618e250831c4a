"""What ends a network while it is trained: scores of its features, and the loss's derivatives.

Either head is a stand-in. What is kept is the convolutions, behind which a classifier of the
project is trained of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from protonn_edge.training.objective import (
    Parameters,
    cross_entropy,
    scores_of,
    squared_distances,
    through_distances,
)
from protonn_edge.training.points import Float32, Indices

_NO_SHARPNESS = np.zeros(1, np.float32)
_LARGEST_DISTANCE = 3.0  # between projected points and prototypes at first, squared, on average


class TrainableHead(Protocol):
    """From features (n, F) to scores."""

    @property
    def parameters(self) -> list[Float32]:
        """What training moves, in place."""

    def scores(self, features: Float32) -> Float32:
        """Return the scores (n, L)."""

    def gradient(
        self, features: Float32, Y: Float32, weights: Float32 | None
    ) -> tuple[float, Float32, list[Float32]]:
        """Return the mean loss for targets Y, its derivatives by features and by parameters."""


@dataclass(frozen=True, eq=False)
class MatrixHead:
    """Scores that are sums of weighted features."""

    weights: Float32  # (L, F)
    biases: Float32  # (L,)

    @classmethod
    def random(cls, features: int, n_classes: int, generator: np.random.Generator) -> Self:
        """Return one to begin with."""
        weights = generator.standard_normal((n_classes, features), dtype=np.float32)
        weights *= np.float32(1 / math.sqrt(features))
        return cls(weights, np.zeros(n_classes, np.float32))

    @property
    def parameters(self) -> list[Float32]:
        """Weights and biases."""
        return [self.weights, self.biases]

    def scores(self, features: Float32) -> Float32:
        """Return the scores (n, L)."""
        return features @ self.weights.T + self.biases

    def gradient(
        self, features: Float32, Y: Float32, weights: Float32 | None
    ) -> tuple[float, Float32, list[Float32]]:
        """Return the cross-entropy and its derivatives."""
        loss, slope, _ = cross_entropy(self.scores(features), Y, _NO_SHARPNESS, weights)
        return loss, slope @ self.weights, [slope.T @ features, slope.sum(axis=0)]


@dataclass(frozen=True, eq=False)
class PrototypeHead:
    """Scores of ProtoNN: Gaussians of the distances between projected features and prototypes."""

    of: Parameters  # projection (d, F), prototypes (d, m), labels (L, m) and sharpness

    @classmethod
    def of_points(
        cls,
        features: Float32,
        Y: Float32,
        sizes: tuple[int, int],
        generator: np.random.Generator,
    ) -> Self:
        """Return one of d and m, `sizes`, whose prototypes are some points (n, F), n >= 1."""
        d, m = sizes
        V = generator.standard_normal((d, features.shape[1]), dtype=np.float32)
        projected = features @ V.T
        spread = float(projected.var(axis=0).sum()) or 1.0
        V *= np.float32(math.sqrt(_LARGEST_DISTANCE / (2 * spread)))
        chosen = _of_each_class(Y.argmax(axis=1), m, generator)
        C = np.ascontiguousarray((features[chosen] @ V.T).T)
        return cls(Parameters(V, C, np.ascontiguousarray(Y[chosen].T), np.ones(1, np.float32)))

    @property
    def parameters(self) -> list[Float32]:
        """Projection, prototypes, labels and sharpness."""
        return list(self.of)

    def scores(self, features: Float32) -> Float32:
        """Return the scores (n, L)."""
        return scores_of(self.of, features)

    def gradient(
        self, features: Float32, Y: Float32, weights: Float32 | None
    ) -> tuple[float, Float32, list[Float32]]:
        """Return the cross-entropy and its derivatives; see `objective.objective_gradient`."""
        V, C, Z, sharpness = self.of
        projected = features @ V.T
        rbf = np.exp(-squared_distances(self.of, projected))
        loss, by_scores, by_sharpness = cross_entropy(rbf @ Z.T, Y, sharpness, weights)
        by_prototypes, by_projected = through_distances(C, projected, -(by_scores @ Z) * rbf)
        of = [by_projected.T @ features, by_prototypes, by_scores.T @ rbf, by_sharpness]
        return loss, by_projected @ V, of


def _of_each_class(y: Indices, count: int, generator: np.random.Generator) -> Indices:
    """Return `count` places in y, as many of each class as there can be."""
    order = generator.permutation(len(y))
    ranks = np.empty(len(y), np.int64)
    for label in np.unique(y):
        of_class = order[y[order] == label]
        ranks[of_class] = np.arange(len(of_class))
    return np.resize(order[np.argsort(ranks[order], kind="stable")], count)
