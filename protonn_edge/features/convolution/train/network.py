"""A convolutional network: layers, a head, and one pass through both and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Self

import numpy as np

from protonn_edge.features.convolution.train.heads import TrainableHead
from protonn_edge.features.convolution.train.layers import (
    Convolution,
    Layer,
    Limit,
    Normalization,
    Pooling,
    Rectifier,
)
from protonn_edge.features.convolution.train.notation import ConvolutionLayout, Layout
from protonn_edge.features.convolution.train.rounding import Bits, RoundedConvolution
from protonn_edge.training.points import Float32

_AT_ONCE = 256  # images whose values fit a cache, where nothing is kept


@dataclass(frozen=True, eq=False)
class Network:
    """Layers and a head, which training moves in place."""

    layers: tuple[Layer, ...]
    head: TrainableHead
    unit: float = 1.0  # what the last layer's values are multiplied with before the head

    @property
    def parameters(self) -> list[Float32]:
        """All arrays."""
        return [*(p for layer in self.layers for p in layer.parameters), *self.head.parameters]

    @property
    def factors(self) -> list[float]:
        """What the steps of each array are multiplied with."""
        found: list[float] = []
        for layer in self.layers:
            if isinstance(layer, RoundedConvolution):
                found += layer.factors
            else:
                found += [1.0] * len(layer.parameters)
        return found + [1.0] * len(self.head.parameters)

    def features(self, x: Float32) -> Float32:
        """Return the features (n, F), rows, columns and channels in turn, of images (h, w, n)."""
        layers, starts = folded(self.layers), range(0, x.shape[-1], _AT_ONCE)
        parts = [features_of(layers, x[..., start : start + _AT_ONCE]) for start in starts]
        return np.concatenate(parts) * np.float32(self.unit)

    def gradient(
        self, x: Float32, Y: Float32, weights: Float32 | None
    ) -> tuple[float, list[Float32]]:
        """Return the mean loss of images (h, w, n) and its derivatives by the parameters."""
        values, kept = forward_through(self.layers, x[None])
        unit = np.float32(self.unit)
        loss, by_features, of_head = self.head.gradient(flat(values) * unit, Y, weights)
        slope = unflat(by_features, values.shape) * unit
        _, of_layers = backward_through(self.layers, kept, slope, by_input=False)
        return loss, [*of_layers, *of_head]

    def hold(self) -> None:
        """Keep the sums of rounded layers within 16 bits, in place."""
        for layer in self.layers:
            if isinstance(layer, RoundedConvolution):
                layer.hold()

    def rounded(self, images: Float32, bits: Bits, step: float, largest: int) -> Self:
        """Return the network on a device's integers.

        - `images` (h, w, n): training points, as this network sees them: `step` times whole numbers
          up to `largest`.
        """
        values = images[None]
        layers: list[Layer] = []
        floats = folded(self.layers)
        convolutions = [layer for layer in floats if isinstance(layer, Convolution)]
        for layer, after in zip_longest(floats, floats[1:]):
            if isinstance(layer, Convolution):
                convolutions.pop(0)
                behind = convolutions[0] if convolutions else None
                limit = after.largest if isinstance(after, Limit) else None
                made, out_step = RoundedConvolution.of(
                    layer, values, step, largest, bits, behind, limit
                )
                whole = made.forward(values / np.float32(step))[0]
                step, largest = out_step, made.maximum
                values = whole * np.float32(step)
                layers.append(made)
            elif isinstance(layer, Pooling):  # a rounded convolution rectifies itself
                pooling = replace(layer, whole=True)
                values = pooling.forward(values / np.float32(step))[0] * np.float32(step)
                layers.append(pooling)
        return replace(self, layers=tuple(layers), unit=step)


def layers_of(layouts: Sequence[Layout], generator: np.random.Generator) -> tuple[Layer, ...]:
    """Return layers to begin with, for images of one channel."""
    layers: list[Layer] = []
    channels = 1
    for layout in layouts:
        if isinstance(layout, ConvolutionLayout):
            layers.append(Convolution.random(layout, channels, generator))
            channels = layout.channels_of(channels)
            layers += [Normalization.plain(channels), Rectifier()]
        else:
            layers.append(Pooling(layout))
    return tuple(layers)


def features_of(layers: Sequence[Layer], x: Float32) -> Float32:
    """Return what layers make of images (h, w, n), flat, (n, F)."""
    values = x[None]
    for layer in layers:
        values = layer.forward(values)[0]
    return flat(values)


def forward_through(layers: Sequence[Layer], x: Float32) -> tuple[Float32, list[Any]]:
    """Return what layers make of images x (channels, h, w, n), and what each keeps."""
    values, all_kept = x, []
    for layer in layers:
        values, kept = layer.forward(values)
        all_kept.append(kept)
    return values, all_kept


def backward_through(
    layers: Sequence[Layer], all_kept: Sequence[Any], slope: Float32, *, by_input: bool = True
) -> tuple[Float32, list[Float32]]:
    """Return the derivatives by x and by the layers' parameters of those by the values.

    Those by x may be empty where they are not wanted.
    """
    gradient: list[Float32] = []
    for place, (layer, kept) in reversed(list(enumerate(zip(layers, all_kept, strict=True)))):
        if not (by_input or place) and isinstance(layer, Convolution | RoundedConvolution):
            slope, of = layer.backward(kept, slope, by_input=False)
        else:
            slope, of = layer.backward(kept, slope)
        gradient = [*of, *gradient]
    return slope, gradient


def folded(layers: Sequence[Layer]) -> list[Layer]:
    """Return layers without normalizations, which are parts of the convolutions before them."""
    found: list[Layer] = []
    for layer in layers:
        if isinstance(layer, Normalization):
            before = found.pop()
            assert isinstance(before, Convolution)
            found.append(layer.folded(before))
        else:
            found.append(layer)
    return found


def flat(values: Float32) -> Float32:
    """Return (channels, h, w, n) as (n, h w channels), as the device has them."""
    moved = np.moveaxis(values, 0, 2)
    return np.ascontiguousarray(moved.reshape(-1, values.shape[-1]).T)


def unflat(features: Float32, shape: tuple[int, ...]) -> Float32:
    """Return (n, h w channels) as `shape`, (channels, h, w, n)."""
    channels, *sides, n = shape
    by_place = np.ascontiguousarray(features.T).reshape(*sides, channels, n)
    return np.ascontiguousarray(np.moveaxis(by_place, 2, 0))
