"""Basis images as a network's head: its inputs are the weights, and a teacher scores the sums.

A teacher scores images and returns derivatives, but does not learn. Parts of the images may have
their own weights (equations 2 and 3.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import expit

from protonn_edge.features.convolution.train import network as networks
from protonn_edge.features.convolution.train.layers import TrainedLayer
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.learn.objective import cross_entropy
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.shapes import Shape
from protonn_edge.model.sums import scores_of_sums, slope_of_sums
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, InvalidValue


class Teacher(Protocol):
    """Maps images to scores, and derivatives by the scores back to the images."""

    @property
    def shape(self) -> Shape:
        """Height and width of its images, with 0 as background and 1 as the lightest pixels."""

    @property
    def n_classes(self) -> int:
        """Number of scores, which are in the order of the classes."""

    @property
    def n_parameters(self) -> int:
        """Number of learned parameters."""

    def forward(self, images: Float32) -> tuple[Float32, Any]:
        """Return the scores (n, L) of images (n, D), and the cache for `backward`."""

    def backward(self, kept: object, slope: Float32) -> Float32:
        """Return the derivatives (n, D) by the images, given those by the scores (n, L)."""


@dataclass(frozen=True, eq=False)
class NetworkTeacher:
    """A convolutional network in floats with a head of weighted sums."""

    layers: tuple[TrainedLayer, ...]  # with normalizations folded in
    weights: Float32  # (L, F)
    biases: Float32  # (L,)
    shape: Shape

    @classmethod
    def of(cls, network: networks.Network, shape: Shape) -> Self:
        """Make a teacher of a network that was trained on images of this shape."""
        weights, biases = network.head.parameters
        return cls(tuple(networks.folded(network.layers)), weights, biases, shape)

    @property
    def n_classes(self) -> int:
        """Scores."""
        return len(self.biases)

    @property
    def n_parameters(self) -> int:
        """Weights and biases of all layers."""
        arrays = [each for layer in self.layers for each in layer.parameters]
        return sum(each.size for each in (*arrays, self.weights, self.biases))

    def forward(self, images: Float32) -> tuple[Float32, Any]:
        """Return the scores, and the layers' caches."""
        x = networks.unflat(images, (1, *self.shape, len(images)))
        values, all_kept = networks.forward_through(self.layers, x)
        return networks.flat(values) @ self.weights.T + self.biases, (all_kept, values.shape)

    def backward(self, kept: Any, slope: Float32) -> Float32:
        """Return the derivatives by the images, through all layers."""
        all_kept, shape = kept
        back, _ = networks.backward_through(
            self.layers, all_kept, networks.unflat(slope @ self.weights, shape)
        )
        return networks.flat(back)


@dataclass(frozen=True, eq=False)
class EstimatorTeacher:
    """A network or linear classifier fitted to raw pixels with scikit-learn."""

    # (units, inputs) of each layer; the last has one row for two classes
    weights: tuple[Float32, ...]
    biases: tuple[Float32, ...]  # (units,)
    activation: str  # relu, tanh, logistic or identity
    shape: Shape
    pixels: PixelScale  # converts raw pixels to bytes

    @classmethod
    def of(cls, estimator: Any, shape: Shape, pixels: PixelScale) -> Self:
        """Make a teacher of an estimator that was fitted to raw images of this shape.

        Raises `InputError` if it is neither a network (``coefs_``) nor linear (``coef_``), or its
        images have another size.
        """
        if hasattr(estimator, "coefs_"):
            weights, biases = [W.T for W in estimator.coefs_], estimator.intercepts_
        elif hasattr(estimator, "coef_"):
            weights, biases = [estimator.coef_], [estimator.intercept_]
        else:
            raise InputError(
                f"the teacher is a {type(estimator).__name__}; give a fitted MLPClassifier or "
                "linear classifier, an object with the methods 'forward' and 'backward', or a "
                "string of layers"
            )
        check(
            weights[0].shape[1] == shape[0] * shape[1],
            "the teacher",
            f"{weights[0].shape[1]} features",
            f"one for each of {shape[0]}x{shape[1]} pixels",
            "fit the teacher to the same images",
        )
        activation = getattr(estimator, "activation", "identity")
        return cls(_singles(weights), _singles(biases), activation, shape, pixels)

    @property
    def n_classes(self) -> int:
        """Scores."""
        return max(2, len(self.biases[-1]))

    @property
    def n_parameters(self) -> int:
        """Weights and biases of all layers."""
        return sum(each.size for each in (*self.weights, *self.biases))

    def forward(self, images: Float32) -> tuple[Float32, Any]:
        """Return the scores, and the values of hidden layers."""
        values: list[Any] = [images * self._unit + np.float32(self.pixels.zero)]
        for W, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            values.append(_ACTIVATIONS[self.activation][0](values[-1] @ W.T + b))
        return scores_of_sums(values[-1] @ self.weights[-1].T + self.biases[-1]), values

    def backward(self, kept: Any, slope: Float32) -> Float32:
        """Return the derivatives by the images, through all layers."""
        back: Any = slope_of_sums(slope, len(self.biases[-1]))
        for W, values in zip(reversed(self.weights[1:]), reversed(kept[1:]), strict=True):
            back = (back @ W) * _ACTIVATIONS[self.activation][1](values)
        gradient: Float32 = (back @ self.weights[0]) * self._unit
        return gradient

    @property
    def _unit(self) -> np.float32:
        return np.float32(self.pixels.step * BYTE_MAXIMUM)


def _singles(arrays: Iterable[object]) -> tuple[Float32, ...]:
    return tuple(np.asarray(each, np.float32) for each in arrays)


# Activations, and their derivatives as functions of the activation.
_ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "relu": (lambda sums: np.maximum(sums, 0), lambda values: values > 0),
    "tanh": (np.tanh, lambda values: 1 - values * values),
    "logistic": (expit, lambda values: values * (1 - values)),
    "identity": (lambda sums: sums, np.ones_like),
}


@dataclass(frozen=True, eq=False)
class Parts:
    """A grid over images, as the pixels of each part."""

    pixels: tuple[Indices, ...]  # for each part, row by row

    @classmethod
    def of_grid(cls, shape: Shape, grid: Shape) -> Self:
        """Split images of H x W pixels into P x Q parts of nearly the same size.

        Raises `InputError` if there are more rows or columns of parts than of pixels.
        """
        if grid[0] > shape[0] or grid[1] > shape[1]:
            raise InvalidValue(
                "image_parts",
                f"{grid[0]}x{grid[1]} parts of only {shape[0]}x{shape[1]} pixels",
                "use fewer parts",
            )
        places = np.arange(shape[0] * shape[1]).reshape(shape)
        rows = np.array_split(places, grid[0])
        parts = [part for row in rows for part in np.array_split(row, grid[1], axis=1)]
        return cls(tuple(part.ravel() for part in parts))

    def sums(self, A: Float32, Z: Float32) -> Float32:
        """Return the sums (n, D) of images Z (M, D) with weights A (n, M * parts).

        The weights of an image's parts are adjacent.
        """
        sums = np.empty((len(A), Z.shape[1]), A.dtype)
        for part, pixels in enumerate(self.pixels):
            sums[:, pixels] = A[:, part :: len(self.pixels)] @ Z[:, pixels]
        return sums

    def backward(self, A: Float32, Z: Float32, slope: Float32) -> tuple[Float32, Float32]:
        """Return the derivatives by A and Z, given those by the sums."""
        of_weights, of_images = np.empty_like(A), np.empty_like(Z)
        for part, pixels in enumerate(self.pixels):
            of_weights[:, part :: len(self.pixels)] = slope[:, pixels] @ Z[:, pixels].T
            of_images[:, pixels] = A[:, part :: len(self.pixels)].T @ slope[:, pixels]
        return of_weights, of_images


LARGEST_VALUE = 2.0
"""The limit of the student's last layer, 0..2; weights are its values minus 1."""

_NO_SHARPNESS = np.zeros(1, np.float32)
_FIRST_MARGIN = 1.0
_AT_ONCE = 256  # images whose values fit into a cache
_LEAST_DISTANCE = 1e-6


def similarity_loss(A: Float32, y: Indices, margin: float) -> tuple[float, Float32, float]:
    """Return the mean of ``|max d within the class - min d to others - margin|``, and derivatives.

    A (n, M) are the weights of a batch of images, y (n,) their classes. Images without another
    image of their class, or of a different class, are ignored.
    """
    same = y[:, None] == y
    rows = np.flatnonzero((same.sum(axis=1) > 1) & ~same.all(axis=1))
    of_weights = np.zeros_like(A)
    if not len(rows):
        return 0.0, of_weights, 0.0
    distances = _distances(A)
    far = np.where(same, distances, -np.inf).argmax(axis=1)[rows]
    near = np.where(same, np.inf, distances).argmin(axis=1)[rows]
    gaps = distances[rows, far] - distances[rows, near] - margin
    signs = np.sign(gaps) / len(rows)
    for others, slopes in ((far, signs), (near, -signs)):
        apart = np.maximum(distances[rows, others], _LEAST_DISTANCE)[:, None]
        steps = ((slopes[:, None] / apart) * (A[rows] - A[others])).astype(A.dtype)
        np.add.at(of_weights, rows, steps)
        np.subtract.at(of_weights, others, steps)
    return float(np.abs(gaps).mean()), of_weights, float(-signs.sum())


def _distances(A: Float32) -> Float32:
    """Return the Euclidean distances (n, n) between rows."""
    squares = np.einsum("ij,ij->i", A, A)
    distances: Float32 = np.sqrt(np.maximum(squares[:, None] + squares - 2 * (A @ A.T), 0))
    return distances


@dataclass(frozen=True, eq=False)
class BasisImages:
    """Images with weighted sums that a fixed teacher classifies (equations 1, 6 and 7)."""

    teacher: Teacher
    images: Float32  # (M, D)
    parts: Parts  # the parts of each image with a weight of their own
    similarity: float  # the weight of the similarity loss, relative to the cross-entropy
    log_margin: Float32  # (1,): its logarithm is learned, so the margin is above 0
    learned: bool = True  # whether the images are learned or stay unchanged

    @classmethod
    def random(
        cls,
        teacher: Teacher,
        count: int,
        parts: Parts,
        generator: np.random.Generator,
        *,
        similarity: float,
        learned: bool = True,
    ) -> Self:
        """Return `count` images of noise, with sums about as light as images."""
        size = (count, teacher.shape[0] * teacher.shape[1])
        images = generator.standard_normal(size, dtype=np.float32) / np.float32(math.sqrt(count))
        margin = np.full(1, math.log(_FIRST_MARGIN), np.float32)
        return cls(teacher, images, parts, similarity, margin, learned)

    @property
    def parameters(self) -> list[Float32]:
        """The images, if they are learned, and the margin."""
        return [self.images, self.log_margin] if self.learned else [self.log_margin]

    def sums(self, features: Float32) -> Float32:
        """Return the weighted sums (n, D) for the student's values (n, M * parts), 0 to 2."""
        return self.parts.sums(weights_of(features), self.images)

    def scores(self, features: Float32) -> Float32:
        """Return the teacher's scores (n, L) of the weighted sums."""
        sums = self.sums(features)
        starts = range(0, len(sums), _AT_ONCE)
        return np.concatenate([self.teacher.forward(sums[i : i + _AT_ONCE])[0] for i in starts])

    def gradient(
        self, features: Float32, Y: Float32, weights: Float32 | None
    ) -> tuple[float, Float32, list[Float32]]:
        """Return the loss and its derivatives by the student's values and by the parameters."""
        A = weights_of(features)
        scores, kept = self.teacher.forward(self.parts.sums(A, self.images))
        loss, slope, _ = cross_entropy(scores, Y, _NO_SHARPNESS, weights)
        by_sums = self.teacher.backward(kept, slope)
        of_weights, of_images = self.parts.backward(A, self.images, by_sums)
        margin = math.exp(float(self.log_margin[0]))
        of_margin = np.zeros_like(self.log_margin)
        if self.similarity > 0:
            apart, by_weights, by_margin = similarity_loss(A, Y.argmax(axis=1), margin)
            loss += self.similarity * apart
            of_weights += A.dtype.type(self.similarity) * by_weights
            of_margin[:] = self.similarity * by_margin * margin
        return loss, of_weights, [of_images, of_margin] if self.learned else [of_margin]


def weights_of(features: Float32) -> Float32:
    """Return the weights, -1 to 1, for the student's values, 0 to 2."""
    return features - features.dtype.type(LARGEST_VALUE / 2)
