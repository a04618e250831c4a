"""Teachers: what scores images, and says how its scores change with them. They do not learn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.special import expit

from protonn_edge.chain.feature_stage import Shape
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.errors import InputError
from protonn_edge.features.convolution.train.layers import Layer
from protonn_edge.features.convolution.train.network import (
    Network,
    backward_through,
    flat,
    folded,
    forward_through,
    unflat,
)
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.kinds.linear.head import scores_of_sums
from protonn_edge.training.points import Float32


class Teacher(Protocol):
    """From images to scores, and back to derivatives by the images.

    Attributes
    ----------
    shape : tuple of two int
        Height and width of its images, whose background is 0 and whose lightest pixels are 1.
    n_classes : int
        Scores that it has, in the order of the classes.
    n_parameters : int
        Numbers that it has learned.
    """

    @property
    def shape(self) -> Shape: ...  # noqa: D102
    @property
    def n_classes(self) -> int: ...  # noqa: D102
    @property
    def n_parameters(self) -> int: ...  # noqa: D102

    def forward(self, images: Float32) -> tuple[Float32, Any]:
        """Return the scores (n, L) of images (n, D), and what `backward` needs of them."""

    def backward(self, kept: Any, slope: Float32) -> Float32:
        """Return the derivatives (n, D) by the images of those by the scores (n, L)."""


@dataclass(frozen=True, eq=False)
class NetworkTeacher:
    """A convolutional network in floats with a head of weighted sums."""

    layers: tuple[Layer, ...]  # without normalizations, which are folded
    weights: Float32  # (L, F)
    biases: Float32  # (L,)
    shape: Shape

    @classmethod
    def of(cls, network: Network, shape: Shape) -> Self:
        """Return the teacher that a network, trained for images of this shape, is."""
        weights, biases = network.head.parameters
        return cls(tuple(folded(network.layers)), weights, biases, shape)

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
        """Return the scores, and what each layer keeps."""
        x = unflat(images, (1, *self.shape, len(images)))
        values, all_kept = forward_through(self.layers, x)
        return flat(values) @ self.weights.T + self.biases, (all_kept, values.shape)

    def backward(self, kept: Any, slope: Float32) -> Float32:
        """Return the derivatives by the images, through all layers."""
        all_kept, shape = kept
        back, _ = backward_through(self.layers, all_kept, unflat(slope @ self.weights, shape))
        return flat(back)


@dataclass(frozen=True, eq=False)
class EstimatorTeacher:
    """A fitted network of scikit-learn, or linear classifier, on raw pixels."""

    # (units, inputs): of each layer; of two classes the last one has one row
    weights: tuple[Float32, ...]
    biases: tuple[Float32, ...]  # (units,)
    activation: str  # of hidden layers: relu, tanh, logistic or identity
    shape: Shape
    pixels: PixelScale  # how raw pixels become bytes

    @classmethod
    def of(cls, estimator: Any, shape: Shape, pixels: PixelScale) -> Self:
        """Return the teacher that an estimator, fitted to raw images of this shape, is.

        Raises `InputError` if it is neither a network (``coefs_``) nor linear (``coef_``), or for
        other images.
        """
        if hasattr(estimator, "coefs_"):
            weights, biases = [W.T for W in estimator.coefs_], estimator.intercepts_
        elif hasattr(estimator, "coef_"):
            weights, biases = [estimator.coef_], [estimator.intercept_]
        else:
            raise InputError(
                f"the teacher is a {type(estimator).__name__}; it must be a fitted MLPClassifier "
                "or linear classifier, an object with forward and backward, or layers as text"
            )
        if weights[0].shape[1] != shape[0] * shape[1]:
            raise InputError(
                f"the teacher takes {weights[0].shape[1]} features, images have {shape[0]}x"
                f"{shape[1]} pixels; fit it to the same images"
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
            values.append(_activated(values[-1] @ W.T + b, self.activation))
        return scores_of_sums(values[-1] @ self.weights[-1].T + self.biases[-1]), values

    def backward(self, kept: Any, slope: Float32) -> Float32:
        """Return the derivatives by the images, through all layers."""
        back: Any = (slope[:, 1:] - slope[:, :1]) / 2 if len(self.biases[-1]) == 1 else slope
        for W, values in zip(reversed(self.weights[1:]), reversed(kept[1:]), strict=True):
            back = (back @ W) * _slope_of(values, self.activation)
        found: Float32 = (back @ self.weights[0]) * self._unit
        return found

    @property
    def _unit(self) -> np.float32:
        return np.float32(self.pixels.step * BYTE_MAXIMUM)


def _singles(arrays: Iterable[Any]) -> tuple[Float32, ...]:
    return tuple(np.asarray(each, np.float32) for each in arrays)


def _activated(sums: Any, activation: str) -> Any:
    if activation == "relu":
        return np.maximum(sums, 0)
    if activation == "tanh":
        return np.tanh(sums)
    return expit(sums) if activation == "logistic" else sums


def _slope_of(values: Any, activation: str) -> Any:
    """Return the derivatives of activated values by their sums."""
    if activation == "relu":
        return values > 0
    if activation == "tanh":
        return 1 - values * values
    return values * (1 - values) if activation == "logistic" else np.ones_like(values)
