"""Train a convolutional network on images with classes or numbers as labels.

The device gets the network's layers. The classifier after them is trained on their bytes; the
network's own head is dropped, unless a linear classifier begins with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.convolution.train import network as networks
from protonn_edge.features.convolution.train.notation import Layout, shapes_of
from protonn_edge.features.convolution.train.rounding import Bits, integer_stages
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.integers import IntegerAveragePooling, IntegerPooling
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.kinds.dense.learner import DenseNetwork
from protonn_edge.learn.augmentation import SignalMovement, move
from protonn_edge.learn.loop import Steps, descend, points_a_step
from protonn_edge.learn.network_head import NetworkHead
from protonn_edge.learn.objective import Loss
from protonn_edge.learn.points import Float32, Indices, Targets
from protonn_edge.learn.progress import Callback, EpochReport, TrainingStopped
from protonn_edge.model.features import Features
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.shapes import ImageShape, Shape
from protonn_edge.system.errors import InputError

_FLOAT_SHARE = 0.6  # share of the epochs
_ROUNDED_RATE = 0.5  # factor on the learning rate
_LOOKED_AT = 2_000  # images used to choose prototypes and steps
_STEPS_AN_EPOCH, _SMALLEST_BATCH = 100, 16
_STEP = 1 / BYTE_MAXIMUM  # scales the image's bytes for the float network

OnEpoch = Callable[[int, float, networks.Network], object]
"""Called after each epoch with its number, its mean loss and the network."""


def reporting(callback: Callback | None, network: str, passes: int) -> OnEpoch | None:
    """Return the function that reports a network's passes to the callback, None without one."""
    if callback is None:
        return None
    return lambda number, loss, _: callback(EpochReport(number, passes, loss, network=network))


@dataclass(frozen=True)
class Schedule:
    """How a network is trained."""

    epochs: int  # passes over the images, in floats and on integers together
    learning_rate: float = 0.01
    moved_share: float = 1.0  # share of the images that are moved at random in each pass
    still_epochs: int = 0  # number of last passes in which no image is moved


@dataclass(frozen=True, eq=False)
class Images:
    """Raw images, their targets, and their conversion to a network's inputs."""

    raw: Float32  # (n, H W)
    Y: Float32  # (n, L): 1 at the image's class, else 0; or numbers
    weights: Float32 | None  # (n,): the weight of each image, 1 on average
    shape: Shape  # H, W
    to_bytes: Callable[[Float32], NDArray[np.uint8]]  # from raw images to bytes (n, h, w, channels)
    # moves a share of the raw images at random, in place
    move: Callable[[Float32, Shape, np.random.Generator, float], None] = move

    def of(self, rows: Indices, moved_share: float, generator: np.random.Generator) -> Float32:
        """Return bytes (channels, h, w, n) of the images in `rows`, a share of them moved."""
        raw = self.raw[rows]
        if moved_share > 0:
            self.move(raw, self.shape, generator, moved_share)
        return networks.innermost(self.to_bytes(raw))


@dataclass(eq=False)
class Training:
    """The training of networks on the same images; passes are counted across networks."""

    images: Images
    schedule: Schedule
    generator: np.random.Generator
    callback: OnEpoch | None = None
    stopped: bool = field(default=False, init=False)  # before its last pass
    _epoch: int = field(default=0, init=False)

    def rounded(self, network: networks.Network, bits: Bits) -> networks.Network:
        """Convert a network to integers and train it; the given network must not be used again."""
        images, schedule = self.images, self.schedule
        float_epochs = round(schedule.epochs * _FLOAT_SHARE)
        self._train(network, np.float32(_STEP), float_epochs, schedule.learning_rate)
        every = max(1, len(images.raw) // _LOOKED_AT)
        some = images.of(np.arange(len(images.raw))[::every], 0.0, self.generator)
        rounded = network.rounded(some * np.float32(_STEP), bits, _STEP, BYTE_MAXIMUM)
        rate = schedule.learning_rate * _ROUNDED_RATE
        self._train(rounded, np.float32(1), schedule.epochs - float_epochs, rate)
        features = rounded.features(some)
        # rounding has made all units constant
        if len(features) > 1 and not np.ptp(features, axis=0).any():
            raise InputError(
                f"the convolutions give the same values for all {len(features):,} points that "
                "were compared; train with more passes, wider or fewer layers, or another seed"
            )
        return rounded

    def fine_tune(self, rounded: networks.Network, rate: float) -> None:
        """Train a rounded network, in place, with this learning rate."""
        self._train(rounded, np.float32(1), self.schedule.epochs, rate)

    def in_floats(self, network: networks.Network) -> None:
        """Train a float network, in place, that is not meant for a device."""
        schedule = self.schedule
        self._train(network, np.float32(_STEP), schedule.epochs, schedule.learning_rate)

    def _train(self, network: networks.Network, unit: np.float32, epochs: int, rate: float) -> None:
        """Train a network, in place, on images multiplied by `unit`.

        If stopped, the network keeps the state after its last complete pass.

        Raises `TrainingStopped` if stopped before the first pass is complete.
        """
        kept = [array.copy() for array in network.parameters]
        try:
            for loss in self._passes(network, unit, 0 if self.stopped else epochs, rate):
                kept = [array.copy() for array in network.parameters]
                self._epoch += 1
                if self.callback is not None:
                    self.callback(self._epoch, loss, network)
        except TrainingStopped:
            if self._epoch == 0:
                raise
            self.stopped = True
            for array, last in zip(network.parameters, kept, strict=True):
                array[...] = last

    def _passes(
        self, network: networks.Network, unit: np.float32, epochs: int, rate: float
    ) -> Iterator[float]:
        """Yield the mean loss of each pass."""
        images, n = self.images, len(self.images.raw)
        steps = Steps(n, points_a_step(n, _STEPS_AN_EPOCH, _SMALLEST_BATCH), epochs, rate)

        def gradient(rows: Indices) -> tuple[float, list[Float32]]:
            moves = self._epoch < self.schedule.epochs - self.schedule.still_epochs
            moved_share = self.schedule.moved_share if moves else 0.0
            weights = None if images.weights is None else images.weights[rows]
            X = images.of(rows, moved_share, self.generator) * unit
            return network.gradient(X, images.Y[rows], weights)

        for loss in descend(
            *(network.parameters, network.factors, steps),
            *(self.generator, gradient, lambda _: network.hold()),
        ):
            if not math.isfinite(loss):
                raise InputError(
                    f"the training of the convolutions diverged in pass {self._epoch + 1}; use "
                    "fewer layers, or smaller sample weights if some points have very large ones"
                )
            yield loss


Layers = tuple[IntegerConvolution | IntegerPooling, ...]


@dataclass(frozen=True)
class NetworkSpec:
    """The network to train.

    Raises `InputError` if the layers leave nothing of the image.
    """

    image_shape: Shape  # height and width of a raw image; samples and channels of a window
    averages: IntegerAveragePooling | None  # pools the image first
    pixels: PixelScale | ChannelScale  # converts raw pixels or samples to bytes
    layouts: tuple[Layout, ...]
    bits: Bits
    schedule: Schedule
    # d and m of a ProtoNN at the network's end; None for a linear layer
    prototypes: tuple[int, int] | None = None
    movement: SignalMovement | None = None  # how windows of samples are moved; None for images
    sample_rate: float | None = None  # of windows

    def __post_init__(self) -> None:
        assert self.n_features >= 1  # unsuitable shapes have been refused

    @property
    def n_features(self) -> int:
        """Number of values of the last layer."""
        return math.prod(list(shapes_of(self.layouts, self.shape))[-1])

    @property
    def shape(self) -> ImageShape:
        """Height, width and channels of the first layer's image."""
        height, width = self.image_shape if self.averages is None else self.averages.pooling.shape
        return (height, width, 1) if self.movement is None else (height, 1, width)

    def stage(self, layers: Layers) -> Features:
        """Return the features with these layers, average pooling and scale."""
        return layered(layers, self.averages, self.pixels, self.sample_rate)

    def to_bytes(self, raw: Float32) -> NDArray[np.uint8]:
        """Return the first layer's images (n, h, w, channels) of raw ones (n, H W)."""
        images = self.pixels.to_bytes(raw)
        if self.averages is not None:
            images = self.averages.run(images)
        return images.reshape(-1, *self.shape)

    def images(self, points: Float32, y: Targets, weights: Float32 | None) -> Images:
        """Return raw points (n, H W) of classes (n,) or numbers (n, 1) as images for training."""
        Y = y if y.ndim == 2 else np.eye(int(y.max()) + 1, dtype=np.float32)[y]
        moves = move if self.movement is None else self.movement.move
        return Images(points, Y, weights, self.image_shape, self.to_bytes, moves)


@dataclass(frozen=True, eq=False)
class LearnedNetwork:
    """The trained layers for a device, and the head that they were trained with."""

    layers: Layers  # after average pooling, compute the device's features
    head: NetworkHead


def learned_network(
    wanted: NetworkSpec,
    points: Float32,
    y: Targets,
    weights: Float32 | None,
    *,
    seed: int,
    callback: OnEpoch | None = None,
    loss: Loss | None = None,
) -> LearnedNetwork:
    """Train a network on raw images `points` (n, H W) of classes y (n,), or of numbers (n, 1).

    `weights` (n,) are 1 on average. The seed determines all random choices. The loss is for
    numbers, which a linear layer predicts at the network's end.

    Raises `InputError` if the loss becomes NaN or infinite, or if all images get the same features.
    """
    generator = np.random.default_rng(seed)
    images = wanted.images(points, y, weights)
    network = _new_network(wanted, images, generator, loss)
    training = Training(images, wanted.schedule, generator, callback)
    # the loss is checked instead
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        rounded = training.rounded(network, wanted.bits)
    layers = integer_stages(rounded.layers, wanted.shape, BYTE_MAXIMUM)
    head = NetworkHead(rounded.head.parameters, rounded.unit, training.stopped)
    return LearnedNetwork(layers, head)


def untrained_layers(wanted: NetworkSpec) -> Layers:
    """Return layers of the right shapes, with random weights."""
    generator = np.random.default_rng(0)
    height, width, channels = wanted.shape
    images = generator.random((channels, height, width, 1), dtype=np.float32)
    layers = networks.layers_of(wanted.layouts, generator, channels)
    network = networks.Network(layers, DenseNetwork.random((1, 1), generator))
    rounded = network.rounded(images, wanted.bits, 1 / BYTE_MAXIMUM, BYTE_MAXIMUM)
    return integer_stages(rounded.layers, wanted.shape, BYTE_MAXIMUM)


def _new_network(
    wanted: NetworkSpec, images: Images, generator: np.random.Generator, loss: Loss | None
) -> networks.Network:
    layers = networks.layers_of(wanted.layouts, generator, wanted.shape[2])
    head: networks.TrainableHead
    if wanted.prototypes is None or loss is not None:
        n_scores = images.Y.shape[1]
        linear = DenseNetwork.random((wanted.n_features, n_scores), generator, 1.0)
        head = linear if loss is None else replace(linear, loss=loss, alone=True)
    else:
        rows = generator.permutation(len(images.raw))[:_LOOKED_AT]
        some = images.of(rows, 0.0, generator) / np.float32(BYTE_MAXIMUM)
        head = networks.PrototypeHead.of_points(
            networks.features_of(layers, some), images.Y[rows], wanted.prototypes, generator
        )
    return networks.Network(layers, head)
