"""Trained networks of other programs, in floats and as integer models.

A network consists of layers on an image, if any, and then of matrices with rectified units between
them. The layers are rounded like the layers that this package trains
(`features.convolution.train`); the matrices form a `DenseHead` or a `LinearHead`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.head import Head
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics, Normalizer, common_range
from protonn_edge.conversion.scaling import rows_in_order
from protonn_edge.features.convolution.stage import Convolutions
from protonn_edge.features.convolution.train.layers import Convolution, Layer, Pooling, Rectifier
from protonn_edge.features.convolution.train.learning import Images, Schedule, Training
from protonn_edge.features.convolution.train.network import Network, features_of, innermost
from protonn_edge.features.convolution.train.rounding import Bits, integer_stages, sum_ends
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.image_rows import ImageShape
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.dense.train import DenseNetwork
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.training.points import Float32, Indices

MOST_HIDDEN = 2
_AT_ONCE = 256
_CALIBRATED = 2_000  # number of images to choose steps on
_MOST_TRAINED = 5_000  # number of images to train layers on
_PASSES = 1 / 6  # passes over the images per requested epoch
_RATE = 0.002
_LEAST_FACTOR = np.float32(1e-3)


@dataclass(frozen=True, eq=False)
class FloatNetwork:
    """A trained network in floats; a `Rule` for points whose images have the channels innermost."""

    layers: tuple[Layer, ...]  # normalizations are folded in
    image: ImageShape | None  # of the first layer; None without layers
    weights: tuple[Float32, ...]  # of each matrix, (units, inputs); scores last
    biases: tuple[Float32, ...]
    order: NDArray[np.intp]  # (D,): the places of a point's values in the network's own input
    # (channels,): the first layer's image is a point's times `scale` plus `shift`
    scale: Float32 = field(default_factory=lambda: np.ones(1, np.float32))
    shift: Float32 = field(default_factory=lambda: np.zeros(1, np.float32))
    bits: Bits = field(default_factory=lambda: Bits(shared=True))
    landmarks = None

    def rows(self, X: ArrayLike) -> ArrayLike:
        """Return points with several axes, as the network takes them, as rows (n, D)."""
        return rows_in_order(X, self.order)

    def features(self, X: NDArray[Any]) -> Float32:
        """Return the first matrix's inputs (n, F) of points X (n, D)."""
        X = X.astype(np.float32)
        if self.image is None:
            return X
        starts = range(0, len(X), _AT_ONCE)
        return np.concatenate(
            [features_of(self.layers, self.scaled(X[i : i + _AT_ONCE])) for i in starts]
        )

    def scaled(self, X: NDArray[Any]) -> Float32:
        """Return points (n, D) as the first layer's images (channels, height, width, n)."""
        scale, shift = (each[:, None, None, None] for each in (self.scale, self.shift))
        return self.images(X) * scale + shift

    def images(self, X: NDArray[Any]) -> Float32:
        """Return points (n, D) as images (channels, height, width, n)."""
        assert self.image is not None
        return innermost(X.reshape(-1, *self.image))

    def scores(self, X: NDArray[Any]) -> Float32:
        """Return the scores (n, L) of points X (n, D)."""
        dense = DenseNetwork([*self.weights], [*self.biases])
        scores: Float32 = dense.scores(self.features(X)).astype(np.float32)
        return scores

    def answers(self, Z: NDArray[Any]) -> Indices:
        """Return the class index of each point Z (n, D)."""
        found: Indices = self.scores(Z).argmax(axis=1).astype(np.int64)
        return found


def network_models(
    network: FloatNetwork, X: Float32, classes: tuple[str, ...], epochs: int, seed: int
) -> Iterator[tuple[str, Model]]:
    """Yield models of a network for training points X (n, D), with the name of each step.

    Layers of images are rounded, and then trained to reproduce the network's scores in integers.
    """
    if network.image is None:
        inputs = InputStatistics.of(X)
        head = _head(network.weights, network.biases, X)
        yield "exact", _model(head, inputs, classes, None)
        return
    X = X[:: -(-len(X) // _MOST_TRAINED)]
    some = X[:: -(-len(X) // _CALIBRATED)]
    lower, upper, _ = common_range(X)
    pixels = PixelScale.between(lower, upper, lower)
    ready = _of_bytes(_equalized(_rectified(network, some), some[:_AT_ONCE]), pixels)
    dense = DenseNetwork([W.copy() for W in ready.weights], [b.copy() for b in ready.biases])
    images = network.images(pixels.to_bytes(some))
    rounded = Network(ready.layers, dense).rounded(images, network.bits, 1.0, BYTE_MAXIMUM)
    yield "rounded", _convolutional(rounded, dense, network.image, pixels, X, classes)
    if passes := round(epochs * _PASSES):
        scores = network.scores(X)
        Y = np.exp(scores - scores.max(axis=1, keepdims=True))
        Y /= Y.sum(axis=1, keepdims=True)

        image = network.image
        own = Images(X, Y, None, image[:2], lambda raw: pixels.to_bytes(raw).reshape(-1, *image))
        generator = np.random.default_rng(seed)
        Training(own, Schedule(passes, moved_share=0.0), generator).fine_tune(rounded, _RATE)
        yield "trained", _convolutional(rounded, dense, network.image, pixels, X, classes)


def _model(
    head: Head, inputs: InputStatistics, classes: tuple[str, ...], stage: FeatureStage | None
) -> Model:
    normalizer = Normalizer.identity(head.n_inputs)
    return Model(
        head=head, normalizer=normalizer, inputs=inputs, classes=classes, feature_stage=stage
    )


def _convolutional(
    rounded: Network,
    dense: DenseNetwork,
    image: ImageShape,
    pixels: PixelScale,
    X: Float32,
    classes: tuple[str, ...],
) -> Model:
    """Return the model of rounded layers and the matrices after them."""
    stage = Convolutions(integer_stages(rounded.layers, image, BYTE_MAXIMUM), None, pixels)
    features = stage.apply(X)
    first = dense.weights[0] * np.float32(rounded.unit)
    head = _head((first, *dense.weights[1:]), dense.biases, features)
    return _model(head, InputStatistics.of(features).with_one_range(), classes, stage)


def _head(weights: Sequence[Float32], biases: Sequence[Float32], features: NDArray[Any]) -> Head:
    """Return matrices as the head for features (n, F)."""
    *hidden, W = weights
    *before, b = (bias.astype(np.float64) for bias in biases)
    if len(W) == 2:  # one row is enough for two classes
        W, b = np.diff(W, axis=0), np.diff(b)
    if not hidden:
        return LinearHead(W, b)
    return DenseHead.of([*hidden, W], [*before, b], features.astype(np.float32))


def _of_bytes(network: FloatNetwork, pixels: PixelScale) -> FloatNetwork:
    """Return a network of bytes: its first convolution scales them, or else its first matrix.

    The padding is the byte nearest to the network's 0; of several channels, the mean one.
    """
    zero, step = np.float32(pixels.zero), np.float32(pixels.step)
    scale, shift = network.scale * step, network.scale * zero + network.shift
    zeros = -network.shift / np.where(network.scale == 0, np.inf, network.scale)
    padding = int(pixels.to_bytes(zeros).mean().round())
    bare = replace(network, scale=np.ones_like(scale), shift=np.zeros_like(shift))
    for place, layer in enumerate(network.layers):
        if isinstance(layer, Convolution):
            if layer.layout.depthwise:
                scale, shift = (each[:, None, None, None] for each in (scale, shift))
            biases = layer.biases + (layer.weights * shift).sum(axis=(1, 2, 3))
            layout = replace(layer.layout, padding_value=padding)
            first = Convolution(layout, layer.weights * scale, biases)
            layers = (*network.layers[:place], first, *network.layers[place + 1 :])
            return replace(bare, layers=layers)
    W, *weights = network.weights
    b, *biases = network.biases
    return replace(bare, weights=(W * step, *weights), biases=(b + W.sum(axis=1) * zero, *biases))


def _rectified(network: FloatNetwork, X: Float32) -> FloatNetwork:
    """Return a network whose last convolution is rectified, too.

    Its sums are first shifted above 0, as far as points X require. Pooling preserves the
    shift, and the first matrix's biases undo it.
    """
    layers = list(network.layers)
    last = max((i for i, each in enumerate(layers) if not isinstance(each, Pooling)), default=0)
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


def _equalized(network: FloatNetwork, X: Float32) -> FloatNetwork:
    """Return a network with the same scores, whose channels have sums of the same size.

    The weights of a layer share one step, and its largest sum needs 16 bits, so channels with small
    sums would lose bits. Each channel is divided by its largest sum, and the next layer's weights
    are multiplied by it (Nagel et al., "Data-Free Quantization", 2019).
    """
    layers, W = list(network.layers), network.weights[0]
    values, taken = network.scaled(X), np.ones(1, np.float32)
    for place, layer in enumerate(layers):
        if isinstance(layer, Convolution):
            by = taken[:, None, None, None] if layer.layout.depthwise else taken
            layer = replace(layer, weights=layer.weights * by)  # noqa: PLW2901
            taken = np.ones(len(layer.biases), np.float32)
            if isinstance(clip := layers[place + 1], Rectifier) and clip.largest is None:
                sums = np.abs(sum_ends(layer, float(values.max()))).max(axis=0)
                taken = np.maximum(sums / (sums.max() or 1), _LEAST_FACTOR)
            by = taken[:, None, None, None]
            layers[place] = replace(layer, weights=layer.weights / by, biases=layer.biases / taken)
        values = layers[place].forward(values)[0]
    W = W * np.tile(taken, W.shape[1] // len(taken))
    return replace(network, layers=tuple(layers), weights=(W, *network.weights[1:]))
