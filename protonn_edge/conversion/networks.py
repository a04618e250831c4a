"""Trained networks of other programs: in floats, and as models with their own numbers in integers.

A network has layers on an image, if any, and then matrices with rectified units between them. The
layers are those that this package trains (`features.convolution.train`), so they are rounded in the
same way; the matrices are those of a `DenseHead` or a `LinearHead`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chain.head import Head
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics, Normalizer, common_range
from protonn_edge.features.convolution.stage import Convolutions
from protonn_edge.features.convolution.train.layers import Convolution, Layer, Pooling, Rectifier
from protonn_edge.features.convolution.train.network import MatrixHead, Network, features_of
from protonn_edge.features.convolution.train.rounding import Bits, integer_stages
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.image_rows import ImageShape
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.dense.train import DenseNetwork
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.training.points import Float32, Indices

MOST_HIDDEN = 2
_AT_ONCE = 256
_CALIBRATED = 2_000  # images that steps are chosen on


@dataclass(frozen=True, eq=False)
class FloatNetwork:
    """A trained network in floats, a `Rule` of points whose images have the channels innermost."""

    layers: tuple[Layer, ...]  # without normalizations
    image: ImageShape | None  # the first layer's; None without layers
    weights: tuple[Float32, ...]  # of each matrix, (units, inputs), and the last one's scores
    biases: tuple[Float32, ...]
    order: NDArray[np.intp]  # (D,): the places of a point's values in the network's own input
    bits: Bits = field(default_factory=Bits)
    landmarks = None

    def rows(self, X: ArrayLike) -> NDArray[Any]:
        """Return points as rows (n, D), also points of several axes as the network takes them."""
        points = np.asarray(X)
        if points.ndim < 3 or points[0].size != len(self.order):
            return points
        return points.reshape(len(points), -1)[:, self.order]

    def features(self, X: NDArray[Any]) -> Float32:
        """Return the first matrix's inputs (n, F) of points X (n, D)."""
        X = X.astype(np.float32)
        if self.image is None:
            return X
        starts = range(0, len(X), _AT_ONCE)
        return np.concatenate(
            [features_of(self.layers, self.images(X[i : i + _AT_ONCE])) for i in starts]
        )

    def images(self, X: NDArray[Any]) -> Float32:
        """Return points (n, D) as images (channels, height, width, n)."""
        assert self.image is not None
        images = X.reshape(-1, *self.image)
        return np.ascontiguousarray(np.moveaxis(images, (3, 0), (0, 3)), np.float32)

    def scores(self, X: NDArray[Any]) -> Float32:
        """Return the scores (n, L) of points X (n, D)."""
        dense = DenseNetwork([*self.weights], [*self.biases])
        scores: Float32 = dense.scores(self.features(X)).astype(np.float32)
        return scores

    def answers(self, Z: NDArray[Any]) -> Indices:
        """Return the class index of each point Z (n, D)."""
        found: Indices = self.scores(Z).argmax(axis=1).astype(np.int64)
        return found


def network_model(network: FloatNetwork, X: Float32, classes: tuple[str, ...]) -> Model:
    """Return the model of a network, whose layers are rounded for training points X (n, D)."""
    if network.image is None:
        stage, features, unit = None, X, 1.0
        inputs = InputStatistics.of(X)
    else:
        network = _rectified(network, X[:: max(1, len(X) // _CALIBRATED)])
        stage, unit = _rounded(network, X)
        features = stage.apply(X)
        inputs = InputStatistics.of(features).with_one_range()
    return Model(
        head=_head(network, features, unit),
        normalizer=Normalizer.identity(features.shape[1]),
        inputs=inputs,
        classes=classes,
        feature_stage=stage,
    )


def _head(network: FloatNetwork, features: NDArray[Any], unit: float) -> Head:
    """Return the matrices, of features in `unit`."""
    *hidden, W = network.weights
    *before, b = (bias.astype(np.float64) for bias in network.biases)
    if len(W) == 2:  # one row is enough for two classes
        W, b = np.diff(W, axis=0), np.diff(b)
    weights = [*hidden, W]
    weights[0] = weights[0] * np.float32(unit)
    if not hidden:
        return LinearHead(weights[0], b)
    return DenseHead.of(weights, [*before, b], features.astype(np.float32))


def _rounded(network: FloatNetwork, X: Float32) -> tuple[Convolutions, float]:
    """Return the layers in integers, and the value of a unit of their outputs."""
    lower, upper, _ = common_range(X)
    pixels, layers = PixelScale.between(lower, upper, lower), list(network.layers)
    first, convolution = next(
        (place, layer) for place, layer in enumerate(layers) if isinstance(layer, Convolution)
    )
    layers[first] = _of_bytes(convolution, pixels)
    some = X[:: max(1, len(X) // _CALIBRATED)]
    images = network.images(pixels.to_bytes(some))
    none = MatrixHead(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
    rounded = Network(tuple(layers), none).rounded(images, network.bits, 1.0, BYTE_MAXIMUM)
    assert network.image is not None
    stages = integer_stages(rounded.layers, network.image, BYTE_MAXIMUM)
    return Convolutions(stages, None, pixels), rounded.unit


def _of_bytes(layer: Convolution, pixels: PixelScale) -> Convolution:
    """Return a layer of raw pixels as one of bytes.

    Around the image is the background, the byte 0, and no raw 0 as in the network.
    """
    sums = layer.weights.sum(axis=(1, 2, 3)) * np.float32(pixels.zero)
    return replace(
        layer, weights=layer.weights * np.float32(pixels.step), biases=layer.biases + sums
    )


def _rectified(network: FloatNetwork, X: Float32) -> FloatNetwork:
    """Return a network whose last convolution is rectified, too.

    Before that its sums are moved above 0, as far as they are on points X; pooling moves with them,
    and the first matrix's biases move them back.
    """
    layers = list(network.layers)
    behind = [not isinstance(layer, Pooling) for layer in layers]
    last = len(layers) - 1 - behind[::-1].index(True)
    linear = layers[last]
    if not isinstance(linear, Convolution):
        return network
    sums = replace(network, layers=tuple(layers[: last + 1])).features(X)
    channels = len(linear.biases)
    moved = np.maximum(-sums.reshape(-1, channels).min(axis=0), 0)
    layers[last : last + 1] = [replace(linear, biases=linear.biases + moved), Rectifier()]
    W, b = network.weights[0], network.biases[0]
    b = b - W.reshape(len(W), -1, channels).sum(axis=1) @ moved
    return replace(network, layers=tuple(layers), biases=(b, *network.biases[1:]))
