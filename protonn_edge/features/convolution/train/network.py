"""A convolutional network: layers and a head, with forward and backward passes.

A head computes scores from features, and the derivatives of the loss. It is a stand-in: only the
convolutions are kept, and one of the project's classifiers is trained after them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Protocol, Self

import numpy as np

from protonn_edge.features.convolution.train.layers import (
    Convolution,
    Normalization,
    Pooling,
    Rectifier,
    TrainedLayer,
)
from protonn_edge.features.convolution.train.notation import ConvolutionLayout, Layout
from protonn_edge.features.convolution.train.rounding import Bits, RoundedConvolution
from protonn_edge.learn.objective import (
    Parameters,
    cross_entropy,
    scores_of,
    squared_distances,
    through_distances,
)
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.system.arrays import Array

_LARGEST_DISTANCE = 3.0  # between projected points and prototypes at first, squared, on average


class TrainableHead(Protocol):
    """Maps features (n, F) to scores."""

    @property
    def parameters(self) -> list[Float32]:
        """The arrays that training changes, in place."""

    def scores(self, features: Float32) -> Float32:
        """Return the scores (n, L)."""

    def gradient(
        self, features: Float32, Y: Float32, weights: Float32 | None
    ) -> tuple[float, Float32, list[Float32]]:
        """Return the mean loss for targets Y, and its derivatives by features and parameters."""


@dataclass(frozen=True, eq=False)
class PrototypeHead:
    """Scores of ProtoNN: Gaussians of the distances between projected features and prototypes."""

    of: Parameters  # projection (d, F), prototypes (d, m), labels (L, m) and sharpness

    @classmethod
    def of_points(
        cls, features: Float32, Y: Float32, sizes: tuple[int, int], generator: np.random.Generator
    ) -> Self:
        """Return a head of `sizes` (d, m), with some of n >= 1 points (n, F) as prototypes."""
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
    """Return `count` indices into y, the same number for each class as far as possible."""
    order = generator.permutation(len(y))
    ranks = np.empty(len(y), np.int64)
    for label in np.unique(y):
        of_class = order[y[order] == label]
        ranks[of_class] = np.arange(len(of_class))
    return np.resize(order[np.argsort(ranks[order], kind="stable")], count)


_AT_ONCE = 256  # images whose values fit into a cache


@dataclass(frozen=True, eq=False)
class Network:
    """Layers and a head, which training changes in place."""

    layers: tuple[TrainedLayer, ...]
    head: TrainableHead
    unit: float = 1.0  # factor between the last layer and the head

    @property
    def parameters(self) -> list[Float32]:
        """All arrays."""
        return [*(p for layer in self.layers for p in layer.parameters), *self.head.parameters]

    @property
    def factors(self) -> list[float]:
        """The factor on the steps of each array."""
        of_layers = [factor for layer in self.layers for factor in layer.factors]
        return of_layers + [1.0] * len(self.head.parameters)

    def features(self, x: Float32) -> Float32:
        """Return the features (n, F) of images `x`, ordered by row, column and channel.

        Images here are (channels, h, w, n); see `innermost`.
        """
        layers, starts = folded(self.layers), range(0, x.shape[-1], _AT_ONCE)
        parts = [features_of(layers, x[..., start : start + _AT_ONCE]) for start in starts]
        return np.concatenate(parts) * np.float32(self.unit)

    def gradient(
        self, x: Float32, Y: Float32, weights: Float32 | None
    ) -> tuple[float, list[Float32]]:
        """Return the mean loss of images x and its derivatives by the parameters."""
        values, kept = forward_through(self.layers, x)
        unit = np.float32(self.unit)
        loss, by_features, of_head = self.head.gradient(flat(values) * unit, Y, weights)
        slope = unflat(by_features, values.shape) * unit
        _, of_layers = backward_through(self.layers, kept, slope, by_input=False)
        return loss, [*of_layers, *of_head]

    def hold(self) -> None:
        """Shrink weights, in place, so that the sums of rounded layers fit 16 bits."""
        for layer in self.layers:
            if isinstance(layer, RoundedConvolution):
                layer.hold()

    def rounded(self, images: Float32, bits: Bits, step: float, largest: int) -> Self:
        """Return the network with a device's integers.

        It sees `images`, the training points, as `step` times integers up to `largest`.
        """
        values = images
        layers: list[TrainedLayer] = []
        floats = folded(self.layers)
        convolutions = [layer for layer in floats if isinstance(layer, Convolution)]
        for layer, after in zip_longest(floats, floats[1:]):
            if isinstance(layer, Convolution):
                convolutions.pop(0)
                behind = convolutions[0] if convolutions else None
                limit = after.largest if isinstance(after, Rectifier) else None
                made, out_step = RoundedConvolution.of(
                    layer, values, step, largest, bits, behind, limit
                )
                whole = made.forward(values / np.float32(step))[0]
                step, largest = out_step, made.maximum
                values = whole * np.float32(step)
                layers.append(made)
            elif isinstance(layer, Pooling):  # rounded convolutions include ReLU
                pooling = replace(layer, whole=True)
                values = pooling.forward(values / np.float32(step))[0] * np.float32(step)
                layers.append(pooling)
        return replace(self, layers=tuple(layers), unit=step)


def layers_of(
    layouts: Sequence[Layout], generator: np.random.Generator, channels: int = 1
) -> tuple[TrainedLayer, ...]:
    """Return random layers for images with this number of channels."""
    layers: list[TrainedLayer] = []
    for layout in layouts:
        if isinstance(layout, ConvolutionLayout):
            layers.append(Convolution.random(layout, channels, generator))
            channels = layout.channels or channels
            layers += [Normalization.plain(channels), Rectifier()]
        else:
            layers.append(Pooling(layout))
    return tuple(layers)


def features_of(layers: Sequence[TrainedLayer], x: Float32) -> Float32:
    """Return the flattened outputs (n, F) of layers for images x."""
    for layer in layers:
        x = layer.forward(x)[0]
    return flat(x)


def innermost(images: Array) -> Float32:
    """Return images (n, h, w, channels) as (channels, h, w, n), in which layers compute fast."""
    return np.ascontiguousarray(np.moveaxis(images, (3, 0), (0, 3)), np.float32)


def forward_through(layers: Sequence[TrainedLayer], x: Float32) -> tuple[Float32, list[Any]]:
    """Return the outputs of layers for images x (channels, h, w, n), and the layers' caches."""
    values, all_kept = x, []
    for layer in layers:
        values, kept = layer.forward(values)
        all_kept.append(kept)
    return values, all_kept


def backward_through(
    layers: Sequence[TrainedLayer],
    all_kept: Sequence[object],
    slope: Float32,
    *,
    by_input: bool = True,
) -> tuple[Float32, list[Float32]]:
    """Return the derivatives by x and by the layers' parameters, given those by the values.

    The derivatives by x may be empty unless `by_input`.
    """
    gradient: list[Float32] = []
    for place, (layer, kept) in reversed(list(enumerate(zip(layers, all_kept, strict=True)))):
        if not (by_input or place) and isinstance(layer, Convolution | RoundedConvolution):
            slope, of = layer.backward(kept, slope, by_input=False)
        else:
            slope, of = layer.backward(kept, slope)
        gradient = [*of, *gradient]
    return slope, gradient


def folded(layers: Sequence[TrainedLayer]) -> list[TrainedLayer]:
    """Return the layers with each normalization folded into the convolution before it."""
    folded_layers: list[TrainedLayer] = []
    for layer in layers:
        if isinstance(layer, Normalization):
            before = folded_layers.pop()
            assert isinstance(before, Convolution)
            folded_layers.append(layer.folded(before))
        else:
            folded_layers.append(layer)
    return folded_layers


def flat(values: Float32) -> Float32:
    """Return (channels, h, w, n) as (n, h w channels), the order on the device."""
    moved = np.moveaxis(values, 0, 2)
    return np.ascontiguousarray(moved.reshape(-1, values.shape[-1]).T)


def unflat(features: Float32, shape: tuple[int, ...]) -> Float32:
    """Return (n, h w channels) as `shape`, (channels, h, w, n)."""
    channels, *sides, n = shape
    by_place = np.ascontiguousarray(features.T).reshape(*sides, channels, n)
    return np.ascontiguousarray(np.moveaxis(by_place, 2, 0))
