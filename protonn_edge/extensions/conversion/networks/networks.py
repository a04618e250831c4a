"""Trained networks of other programs, in floats and as integer models.

A network consists of layers on an image, if any, followed by matrices with rectified units between
them. The layers are rounded like the layers that this package trains
(`features.convolution.train`); the matrices form a `DenseHead` or a `LinearHead`. With labels, the
rounded network is trained further on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.extensions.conversion.affine import AffineMap, rows_in_order
from protonn_edge.extensions.conversion.answered import Answers
from protonn_edge.extensions.conversion.networks.tuning import Tuning
from protonn_edge.extensions.conversion.search import Candidate, ModelNames, ModelSearch, Rule
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.convolution.train.layers import (
    Convolution,
    Pooling,
    Rectifier,
    TrainedLayer,
)
from protonn_edge.features.convolution.train.learning import Images, Schedule, Training
from protonn_edge.features.convolution.train.network import Network, features_of, innermost
from protonn_edge.features.convolution.train.rounding import Bits, integer_stages, sum_ends
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.dense.learner import DenseNetwork
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.features import Features
from protonn_edge.model.head import Head, Remedies
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.shapes import ImageShape
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import CheckFailed

Pixels = PixelScale | ChannelScale
MOST_HIDDEN = 2
_AT_ONCE = 256
_CALIBRATED = 2_000  # number of images to choose steps on
_MOST_TRAINED = 5_000  # number of images to train layers on
_PASSES = 1 / 6  # passes over the images per requested epoch
_NONE = 1e-9  # of bytes below or above the padding, so that quotients are finite
_WIDEST = 8.0  # times the range of the points, with the padding
_MOST_STEPS = 4.0  # from the padding of a channel to its byte
_SHOWN = 4
_RATES = {8: 0.002, 4: 0.002, 2: 0.005}  # of training on a network's scores, by bits of weights
_LEAST_FACTOR = np.float32(1e-3)


@dataclass(frozen=True, eq=False)
class FloatNetwork(Rule):
    """A trained network in floats; a `Rule` for points whose images have the channels innermost."""

    layers: tuple[TrainedLayer, ...]  # normalizations are folded in
    image: ImageShape | None  # of the first layer; None without layers
    weights: tuple[Float32, ...]  # of each matrix, (units, inputs); scores last
    biases: tuple[Float32, ...]
    order: NDArray[np.intp]  # (D,): the places of a point's values in the network's own input
    # (channels,): the first layer's image is a point's times `scale` plus `shift`
    scale: Float32 = field(default_factory=lambda: np.ones(1, np.float32))
    shift: Float32 = field(default_factory=lambda: np.zeros(1, np.float32))
    bits: Bits = field(default_factory=lambda: Bits(shared=True))
    # whether the only score is the network's own output, which may stand for a number
    plain: bool = False
    landmarks = None
    not_tuned: ClassVar[str] = ""

    def after(self, features: AffineMap) -> Self:
        """Return the network for the points before a map of features; without layers on images."""
        if not features.scales:
            return self
        first = self.weights[0].astype(np.float64)
        bias = self.biases[0] + first @ features.apply(np.zeros((1, len(features.columns))))[0]
        W, b = features.weights(first).astype(np.float32), bias.astype(np.float32)
        weights, biases = (W, *self.weights[1:]), (b, *self.biases[1:])
        return replace(self, weights=weights, biases=biases, order=np.arange(W.shape[1]))

    def rows(self, X: ArrayLike) -> ArrayLike:
        """Return points with several axes, as the network takes them, as rows (n, D)."""
        return rows_in_order(X, self.order)

    def features(self, X: Array) -> Float32:
        """Return the first matrix's inputs (n, F) of points X (n, D)."""
        X = X.astype(np.float32)
        if self.image is None:
            return X
        starts = range(0, len(X), _AT_ONCE)
        return np.concatenate(
            [features_of(self.layers, self.scaled(X[i : i + _AT_ONCE])) for i in starts]
        )

    def scaled(self, X: Array) -> Float32:
        """Return points (n, D) as the first layer's images (channels, height, width, n)."""
        scale, shift = (each[:, None, None, None] for each in (self.scale, self.shift))
        return self.images(X) * scale + shift

    def images(self, X: Array) -> Float32:
        """Return points (n, D) as images (channels, height, width, n)."""
        assert self.image is not None
        return innermost(X.reshape(-1, *self.image))

    def scores(self, X: Array) -> Float32:
        """Return the scores (n, L) of points X (n, D)."""
        scores: Float32 = self.dense().scores(self.features(X)).astype(np.float32)
        return scores

    def dense(self) -> DenseNetwork:
        """Return its matrices, to be trained."""
        return DenseNetwork([*self.weights], [*self.biases])

    @property
    def zeros(self) -> NDArray[np.float64]:
        """The raw value of each channel, (channels,), that the padding of the first layer is."""
        assert self.image is not None
        scale = self.scale.astype(np.float64)
        return np.resize(0.0 - self.shift / np.where(scale == 0, np.inf, scale), self.image[2])

    @property
    def pads(self) -> bool:
        """Whether the first convolution pads its image."""
        padded = (each.layout.padded for each in self.layers if isinstance(each, Convolution))
        return next(padded, False)

    def pixels(self, X: Float32) -> Pixels:
        """Return the scale of the bytes of points X: their range, with the padding if it is near.

        A range that is at most 8 times as wide leaves 5 bits. Channels of signals have scales of
        their own.
        """
        assert self.image is not None
        height, width, channels = self.image
        if width == 1 < height and channels > 1:
            return self._samples(ChannelScale.of_windows(X, (height, channels)))
        lower, upper = float(X.min()), float(X.max())
        wide = min(lower, *self.zeros), max(upper, *self.zeros)
        if self.pads and wide[1] - wide[0] <= _WIDEST * (upper - lower):
            lower, upper = wide
        return PixelScale.between(lower, upper, lower)

    def _samples(self, tight: ChannelScale) -> ChannelScale:
        """Return the scale of signals in which the padding is the same byte in all channels."""
        lower, step = np.array(tight.zero), np.array(tight.step)
        places = np.arange(BYTE_MAXIMUM + 1)[:, None]  # of the padding, as a byte
        below = np.maximum(self.zeros - lower, 0) / np.maximum(places, _NONE)
        above = lower + BYTE_MAXIMUM * step - self.zeros
        steps = np.maximum(below, above / np.maximum(BYTE_MAXIMUM - places, _NONE))
        best = int((steps / step).max(axis=1).argmin())
        if not self.pads or (steps[best] > _WIDEST * step).any():
            return tight
        zero = self.zeros - best * steps[best]
        return ChannelScale(tuple(zero), tuple(steps[best]), len(step))

    def padding(self, pixels: Pixels) -> int:
        """Return the byte of the padding: of several channels, the mean one."""
        return int(pixels.to_bytes(self.zeros).mean().round())

    def warned(self, X: Float32, _features: AffineMap, model: Model) -> str | None:
        """Return a warning if no byte is near to the padding of the first layer."""
        stage = model.features
        if not (self.pads and stage is not None):
            return None
        scale = stage.points.scale
        assert scale is not None
        padding = int(scale.steps(np.resize(self.zeros, (1, len(scale.zero)))).mean().round())
        steps = (self.zeros - scale.zero) / scale.step - padding
        if np.abs(steps).max() <= _MOST_STEPS:
            return None
        shown = ", ".join(dict.fromkeys(f"{each:.4g}" for each in self.zeros[:_SHOWN]))
        return (
            f"the first Conv pads with {shown} (the points' values are {X.min():.4g} to "
            f"{X.max():.4g}), but no byte represents this padding in all channels, so answers may "
            "differ; train the network on points that include 0, scale all channels alike, or use "
            "no padding"
        )

    def best(self, search: ModelSearch) -> Candidate:
        """Return the network, its layers on images in integers."""
        network, X, seed = self.after(search.estimator.features), search.X, search.seed
        tuning = None if search.y is None else Tuning.of(X, search.y, search.epochs, seed)
        models = network_models(network, X, search.names, search.epochs, seed, tuning)
        remedies = Remedies.only("a network with fewer channels, units or weights")
        limited = search.advising(remedies)
        steps: tuple[tuple[str, Model], ...] = ()
        candidates: list[Candidate] = []
        for name, model in models:
            steps, too_large = (*steps, (name, model)), None
            try:
                candidates.append(limited.candidate(*steps))
            except CheckFailed as error:  # training fills zeros, which take no flash
                if not candidates:
                    raise
                too_large = str(error)
        if tuning is None:
            return max(candidates, key=lambda candidate: candidate.agreement)
        return _tuned(candidates, tuning, too_large)

    def answers(self, Z: Array) -> Answers:
        """Return the class index of each point Z (n, D)."""
        classes: Indices = self.scores(Z).argmax(axis=1).astype(np.int64)
        return classes


def network_models(
    network: FloatNetwork,
    X: Float32,
    names: ModelNames,
    epochs: int,
    seed: int,
    tuning: Tuning | None = None,
) -> Iterator[tuple[str, Model]]:
    """Yield models of a network for training points X (n, D), with the name of each step.

    All have these `names`, as of a `ModelSearch`. Layers of images are rounded, and then trained to
    reproduce the network's scores in integers. With a `tuning`, the last model is trained on its
    labels.
    """
    if network.image is None:
        yield from _of_matrices(network, X, names, tuning)
        return
    X = X[:: -(-len(X) // _MOST_TRAINED)]
    some = X[:: -(-len(X) // _CALIBRATED)]
    pixels = network.pixels(X)
    ready = _of_bytes(_rectified(network, some), pixels)
    ready = _equalized(ready, pixels.to_bytes(some[:_AT_ONCE]).astype(np.float32))
    dense = ready.dense().copy()
    images, image = network.images(pixels.to_bytes(some)), network.image
    rounded = Network(ready.layers, dense).rounded(images, network.bits, 1.0, BYTE_MAXIMUM)

    def given(raw: Float32) -> NDArray[np.uint8]:
        return pixels.to_bytes(raw).reshape(-1, *image)

    yield "rounded", _convolutional(rounded, dense, image, pixels, X, names)
    earlier = [each.copy() for each in rounded.parameters]
    if passes := round(epochs * _PASSES):
        own = Images(X, _targets(network.scores(X), alone=dense.alone), None, image[:2], given)
        generator = np.random.default_rng(seed)
        Training(own, Schedule(passes, moved_share=0.0), generator).fine_tune(
            rounded, _RATES[network.bits.weights]
        )
        yield "trained", _convolutional(rounded, dense, image, pixels, X, names)
    if tuning is not None:
        tuning.train(rounded, earlier, len(names["classes"]), given)
        yield "tuned", _convolutional(rounded, dense, image, pixels, X, names)


def _targets(scores: Float32, *, alone: bool) -> Float32:
    """Return what layers are trained to answer for scores (n, L): probabilities, or a number."""
    if alone:
        return scores
    Y: Float32 = np.exp(scores - scores.max(axis=1, keepdims=True))
    Y /= Y.sum(axis=1, keepdims=True)
    return Y


def _of_matrices(
    network: FloatNetwork, X: Float32, names: ModelNames, tuning: Tuning | None
) -> Iterator[tuple[str, Model]]:
    """Yield the models of a network without images; its tuning sees the inputs' bytes."""
    inputs = InputStatistics.of(X)
    exact = _model(_head(network.dense(), X), inputs, names, None)
    yield "exact", exact
    if tuning is None:
        return
    chain, normalizer = quantize(exact), normalizer_from("standard", inputs)
    zero, step = chain.quantizer.zero, chain.quantizer.step

    def given(raw: Float32) -> Array:
        return normalizer.apply(zero + step * chain.quantize(raw))[:, None, None]

    W, *weights = network.weights
    b, *biases = network.biases
    first = (W / normalizer.scale).astype(np.float32)
    moved = (b + W @ normalizer.offset).astype(np.float32)
    dense = DenseNetwork([first, *weights], [moved, *biases]).copy()
    matrices = Network((), dense)
    tuning.train(matrices, matrices.parameters, len(names["classes"]), given)
    head = _head(dense, normalizer.apply(X))
    yield "tuned", replace(exact, head=head, normalizer=normalizer)


def _model(head: Head, inputs: InputStatistics, names: ModelNames, stage: Features | None) -> Model:
    normalizer = Normalizer.identity(head.n_inputs)
    return Model(head=head, normalizer=normalizer, inputs=inputs, features=stage, **names)


def _convolutional(
    rounded: Network,
    dense: DenseNetwork,
    image: ImageShape,
    pixels: Pixels,
    X: Float32,
    names: ModelNames,
) -> Model:
    """Return the model of rounded layers and the matrices after them."""
    stage = layered(integer_stages(rounded.layers, image, BYTE_MAXIMUM), None, pixels)
    features = stage.apply(X)
    first = dense.weights[0] * np.float32(rounded.unit)
    head = _head(replace(dense, weights=[first, *dense.weights[1:]]), features)
    return _model(head, InputStatistics.of(features).with_one_range(), names, stage)


def _head(dense: DenseNetwork, features: Array) -> Head:
    """Return matrices as the head for features (n, F)."""
    *hidden, W = dense.weights
    *before, b = (bias.astype(np.float64) for bias in dense.biases)
    if len(W) == 2:  # one row is enough for two classes
        W, b = np.diff(W, axis=0), np.diff(b)
    if not hidden:
        return LinearHead(W, b, alone=dense.alone)
    layers = [*hidden, W], [*before, b], features.astype(np.float32)
    return DenseHead.of(*layers, alone=dense.alone)


def _of_bytes(network: FloatNetwork, pixels: Pixels) -> FloatNetwork:
    """Return a network of bytes: its first convolution scales them, or else its first matrix."""
    zero, step = (np.atleast_1d(each).astype("f4") for each in (pixels.zero, pixels.step))
    scale, shift = network.scale * step, network.scale * zero + network.shift
    bare = replace(network, scale=np.ones_like(scale), shift=np.zeros_like(shift))
    for place, layer in enumerate(network.layers):
        if isinstance(layer, Convolution):
            if layer.layout.depthwise:
                scale, shift = (each[:, None, None, None] for each in (scale, shift))
            biases = layer.biases + (layer.weights * shift).sum(axis=(1, 2, 3))
            layout = replace(layer.layout, padding_value=network.padding(pixels))
            first = Convolution(layout, layer.weights * scale, biases)
            layers = (*network.layers[:place], first, *network.layers[place + 1 :])
            return replace(bare, layers=layers)
    W, *weights = network.weights
    b, *biases = network.biases
    zero, step = (np.resize(each, W.shape[1]) for each in (zero, step))
    return replace(bare, weights=(W * step, *weights), biases=(b + W @ zero, *biases))


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
                sums = np.abs(sum_ends(layer, float(np.abs(values).max()))).max(axis=0)
                taken = np.maximum(sums / (sums.max() or 1), _LEAST_FACTOR)
            by = taken[:, None, None, None]
            layers[place] = replace(layer, weights=layer.weights / by, biases=layer.biases / taken)
        values = layers[place].forward(values)[0]
    W = W * np.tile(taken, W.shape[1] // len(taken))
    return replace(network, layers=tuple(layers), weights=(W, *network.weights[1:]))


def _tuned(candidates: Sequence[Candidate], tuning: Tuning, too_large: str | None) -> Candidate:
    """Return the last candidate if more held-out points are right than without tuning."""
    untuned = (each for each in candidates if each.steps[-1][0] != "tuned")
    before = max(untuned, key=lambda candidate: candidate.agreement)
    was, now = (tuning.right(each.integers) for each in (before, candidates[-1]))
    best = candidates[-1] if now > was else before
    record = {**tuning.sizes, "before": was, "after": max(was, now), "too_large": too_large}
    *steps, (name, model) = best.steps
    return replace(best, steps=(*steps, (name, replace(model, record={"fine_tuning": record}))))
