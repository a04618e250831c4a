"""From labelled images to a convolutional network that was trained on them.

A device gets its layers. Its head is left behind, unless a linear classifier takes it: the
classifier that follows is trained on the bytes that these layers give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.feature_stage import Shape
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.features.average_pooling.integers import IntegerAveragePooling
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.train.heads import MatrixHead, PrototypeHead, TrainableHead
from protonn_edge.features.convolution.train.integers import integer_stages
from protonn_edge.features.convolution.train.network import Network, features_of, layers_of
from protonn_edge.features.convolution.train.notation import Layout, shapes_of
from protonn_edge.features.convolution.train.rounding import Bits
from protonn_edge.features.convolution.train.training import Images, OnEpoch, Schedule, trained
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.training.points import Float32, Indices

Layers = tuple[IntegerConvolution | IntegerPooling, ...]

_LOOKED_AT = 2_000  # images that prototypes are chosen from


@dataclass(frozen=True)
class Wanted:
    """The network that is to be trained.

    Raises `InputError` if the layers leave nothing of the image.
    """

    image_shape: Shape  # height and width of a raw image
    averages: IntegerAveragePooling | None  # what makes a smaller image of it first
    pixels: PixelScale  # how raw pixels become bytes
    layouts: tuple[Layout, ...]
    bits: Bits
    schedule: Schedule
    # d and m of the prototypes at the network's end; without them its scores are weighted sums
    prototypes: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        assert self.n_features >= 1  # shapes are refused before

    @property
    def n_features(self) -> int:
        """Values of the last layer."""
        return math.prod(list(shapes_of(self.layouts, self.shape))[-1])

    @property
    def shape(self) -> Shape:
        """Height and width of the first layer's image."""
        return self.image_shape if self.averages is None else self.averages.pooling.shape

    def to_bytes(self, raw: Float32) -> NDArray[np.uint8]:
        """Return the first layer's images (n, h, w) of raw ones (n, H W)."""
        images = self.pixels.to_bytes(raw)
        if self.averages is not None:
            images = self.averages.run(images)
        return images.reshape(-1, *self.shape)

    def images(self, points: Float32, y: Indices, weights: Float32 | None) -> Images:
        """Return raw points (n, H W) of classes y as what the network is trained on."""
        Y = np.eye(int(y.max()) + 1, dtype=np.float32)[y]
        return Images(points, Y, weights, self.image_shape, self.to_bytes)


@dataclass(frozen=True, eq=False)
class LearnedNetwork:
    """What was trained: a device's layers, and the head that they were trained with."""

    layers: Layers  # what computes its features on a device, behind the averages
    head: TrainableHead
    unit: float  # what the head takes one of the last layer's integers for
    stopped: bool = False  # whether the training was stopped before its last pass


def learned_network(
    wanted: Wanted,
    points: Float32,
    y: Indices,
    weights: Float32 | None,
    *,
    seed: int,
    callback: OnEpoch | None = None,
) -> LearnedNetwork:
    """Train a network.

    - `points` (n, H W): raw images.
    - `y` (n,): class indices.
    - `weights` (n,): what each image counts, 1 on average.
    - `seed`: everything random follows from it.
    - `callback`: called after each epoch with its number, the mean loss, and the network.

    Raises `InputError` if the loss is no number any more, or all images have the same features in
    the end.
    """
    generator = np.random.default_rng(seed)
    images = wanted.images(points, y, weights)
    network = _new_network(wanted, images, generator)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # it looks at the loss
        found, stopped = trained(
            network, images, wanted.schedule, wanted.bits, generator=generator, callback=callback
        )
    layers = integer_stages(found.layers, wanted.shape, BYTE_MAXIMUM)
    return LearnedNetwork(layers, found.head, found.unit, stopped)


def untrained_layers(wanted: Wanted) -> Layers:
    """Return layers of the right shapes whose weights are random."""
    generator = np.random.default_rng(0)
    images = generator.random((*wanted.shape, 1), dtype=np.float32)
    network = Network(layers_of(wanted.layouts, generator), MatrixHead.random(1, 1, generator))
    rounded = network.rounded(images, wanted.bits, 1 / BYTE_MAXIMUM, BYTE_MAXIMUM)
    return integer_stages(rounded.layers, wanted.shape, BYTE_MAXIMUM)


def _new_network(wanted: Wanted, images: Images, generator: np.random.Generator) -> Network:
    layers = layers_of(wanted.layouts, generator)
    head: TrainableHead
    if wanted.prototypes is None:
        n_classes = images.Y.shape[1]
        head = MatrixHead.random(wanted.n_features, n_classes, generator)
    else:
        rows = generator.permutation(len(images.raw))[:_LOOKED_AT]
        some = images.of(rows, 0.0, generator) / np.float32(BYTE_MAXIMUM)
        head = PrototypeHead.of_points(
            features_of(layers, some), images.Y[rows], wanted.prototypes, generator
        )
    return Network(layers, head)
