"""Layers of a convolutional network in floats, and their derivatives.

Images are arrays (channels, height, width, n) with the images innermost. The inputs at one position
of a kernel are then a few long runs of memory, and NumPy with BLAS is as fast as a tensor compiler
(measured in docs/image-features.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from protonn_edge.features.convolution.train.notation import ConvolutionLayout, PoolingLayout
from protonn_edge.features.pooling.integers import How, IntegerPooling, average_multiplier
from protonn_edge.learn.points import Float32
from protonn_edge.model.shapes import ImageShape


class TrainedLayer(ABC):
    """One step of a network."""

    @property
    def parameters(self) -> list[Float32]:
        """The arrays that training changes, in place."""
        return []

    @property
    def factors(self) -> tuple[float, ...]:
        """The factor by which each parameter's steps are multiplied."""
        return (1.0,) * len(self.parameters)

    @abstractmethod
    def forward(self, x: Float32) -> tuple[Float32, Any]:
        """Return the values of images x (channels, h, w, n), and the cache for `backward`."""

    @abstractmethod
    def backward(self, kept: object, slope: Float32) -> tuple[Float32, list[Float32]]:
        """Return the derivatives by x and by the parameters, given `slope`, those by the values."""


@dataclass(frozen=True, eq=False)
class Convolution(TrainedLayer):
    """Sums of weighted neighbours, and a bias."""

    layout: ConvolutionLayout
    weights: Float32  # (out, k, k, in); in is 1 if each channel has its own kernel
    biases: Float32  # (out,)

    @classmethod
    def random(
        cls, layout: ConvolutionLayout, channels: int, generator: np.random.Generator
    ) -> Self:
        """Return a random layer for images with this number of channels (He et al., 2015)."""
        outputs, inputs = layout.channels or channels, 1 if layout.depthwise else channels
        shape = (outputs, *layout.window, inputs)
        spread = np.float32(math.sqrt(2 / math.prod(shape[1:])))
        weights = generator.standard_normal(shape, dtype=np.float32) * spread
        return cls(layout, weights, np.zeros(outputs, np.float32))

    @property
    def parameters(self) -> list[Float32]:
        """Weights and biases."""
        return [self.weights, self.biases]

    def forward(self, x: Float32) -> tuple[Float32, Any]:
        """Return the sums (out, h', w', n)."""
        above, left = self.layout.padding
        around = ((0, 0), (above, above), (left, left), (0, 0))
        value = self.layout.padding_value
        padded = np.pad(x, around, constant_values=value) if above + left else x
        if self.layout.depthwise:
            sums = sum(
                self.weights[:, i, j, :, None, None] * padded[place]
                for i, j, place in self._places(padded.shape)
            )
            return sums + self.biases[:, None, None, None], padded
        seen = np.stack([padded[place] for _, _, place in self._places(padded.shape)])
        columns = seen.reshape(self.weights[0].size, -1)
        sums = self.weights.reshape(len(self.weights), -1) @ columns
        sums += self.biases[:, None]
        return sums.reshape(-1, *seen.shape[2:]), (columns, padded.shape)

    def backward(
        self, kept: Any, slope: Float32, *, by_input: bool = True
    ) -> tuple[Float32, list[Float32]]:
        """Return the derivatives by x (empty unless `by_input`), weights and biases."""
        flat = slope.reshape(len(slope), -1)
        of_biases = flat.sum(axis=1)
        if self.layout.depthwise:
            return self._backward_by_channel(kept, slope, of_biases)
        columns, shape = kept
        of_weights = (flat @ columns.T).reshape(self.weights.shape)
        if not by_input:
            return np.empty(0, slope.dtype), [of_weights, of_biases]
        back = self.weights.reshape(len(self.weights), -1).T @ flat
        of_seen = back.reshape(-1, shape[0], *slope.shape[1:])
        of_x = np.zeros(shape, slope.dtype)
        for part, (_, _, place) in zip(of_seen, self._places(shape), strict=True):
            of_x[place] += part
        return self._inside(of_x), [of_weights, of_biases]

    def _backward_by_channel(
        self, padded: Float32, slope: Float32, of_biases: Float32
    ) -> tuple[Float32, list[Float32]]:
        of_x, of_weights = np.zeros_like(padded), np.empty_like(self.weights)
        for i, j, place in self._places(padded.shape):
            of_weights[:, i, j, 0] = (slope * padded[place]).sum(axis=(1, 2, 3))
            of_x[place] += self.weights[:, i, j, :, None, None] * slope
        return self._inside(of_x), [of_weights, of_biases]

    def _inside(self, padded: Float32) -> Float32:
        above, left = self.layout.padding
        return padded[:, above : -above or None, left : -left or None]

    def _places(self, shape: tuple[int, ...]) -> Iterator[tuple[int, int, tuple[slice, ...]]]:
        """Yield each position in the kernel, and the view of a padded image there."""
        window, stride = self.layout.window, self.layout.stride
        ends = [side - kernel + 1 for side, kernel in zip(shape[1:], window, strict=False)]
        for i, j in np.ndindex(window):
            rows, columns = slice(i, i + ends[0], stride), slice(j, j + ends[1], stride)
            yield i, j, (slice(None), rows, columns)


@dataclass(frozen=True, eq=False)
class Rectifier(TrainedLayer):
    """ReLU: clips values below 0 and, if a largest value is given, above it."""

    largest: float | None = None

    def forward(self, x: Float32) -> tuple[Float32, Any]:
        """Return the values, and a mask of those within the limits."""
        inside = x > 0
        if self.largest is None:
            return np.maximum(x, 0), inside
        return np.clip(x, 0, x.dtype.type(self.largest)), inside & (x < self.largest)

    def backward(self, kept: Any, slope: Float32) -> tuple[Float32, list[Float32]]:
        """Return the derivatives by x."""
        return slope * kept, []


@dataclass(frozen=True, eq=False)
class Normalization(TrainedLayer):
    """Batch normalization (Ioffe and Szegedy, 2015): trained means and deviations of channels."""

    gain: Float32  # a factor for each channel, (channels,)
    offset: Float32
    # (channels,): running moments of the sums, used by `folded`
    mean: Float32
    variance: Float32

    @classmethod
    def plain(cls, channels: int) -> Self:
        """Return a normalization that begins with mean 0 and deviation 1."""
        ones, zeros = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        return cls(ones.copy(), zeros.copy(), zeros.copy(), ones.copy())

    @property
    def parameters(self) -> list[Float32]:
        """Gain and offset."""
        return [self.gain, self.offset]

    def forward(self, x: Float32) -> tuple[Float32, Any]:
        """Return the normalized values of a batch, and update the running moments."""
        flat = x.reshape(len(x), -1)
        mean = flat.mean(axis=1, keepdims=True)
        centred = flat - mean
        variance = np.einsum("ij,ij->i", centred, centred)[:, None] / flat.dtype.type(flat.shape[1])
        self.mean[...] += _FOLLOWING * (mean[:, 0] - self.mean)
        self.variance[...] += _FOLLOWING * (variance[:, 0] - self.variance)
        deviation = np.sqrt(variance + _LEAST_VARIANCE)
        centred /= deviation
        values = centred * self.gain[:, None] + self.offset[:, None]
        return values.reshape(x.shape), (centred, deviation)

    def backward(self, kept: Any, slope: Float32) -> tuple[Float32, list[Float32]]:
        """Return the derivatives by x, gain and offset."""
        centred, deviation = kept
        flat = slope.reshape(len(slope), -1)
        of_offset = flat.sum(axis=1)
        of_gain = np.einsum("ij,ij->i", flat, centred)
        count = flat.dtype.type(flat.shape[1])
        of_x = flat - (of_offset[:, None] + centred * of_gain[:, None]) / count
        of_x *= self.gain[:, None] / deviation
        return of_x.reshape(slope.shape), [of_gain, of_offset]

    def folded(self, layer: Convolution) -> Convolution:
        """Return the convolution that computes the normalized sums of `layer`."""
        factor = self.gain / np.sqrt(self.variance + _LEAST_VARIANCE)
        weights = layer.weights * factor[:, None, None, None]
        return Convolution(layer.layout, weights, (layer.biases - self.mean) * factor + self.offset)


_FOLLOWING = np.float32(0.02)
_LEAST_VARIANCE = np.float32(1e-5)


@dataclass(frozen=True, eq=False)
class Pooling(TrainedLayer):
    """The largest or mean value of 2x2 pixels, or of all; an odd last row or column is ignored."""

    layout: PoolingLayout
    whole: bool = False  # whether means are integers, rounded as on the device

    def forward(self, x: Float32) -> tuple[Float32, Any]:
        """Return one value for each area."""
        areas = self._areas(x)
        if self.layout.average:
            values = areas.sum(axis=(2, 4))
            area = areas.shape[2] * areas.shape[4]
            if self.whole:  # float32 holds the products of `IntegerPooling` exactly
                scaled = values * np.float32(average_multiplier(area)) + np.float32(1 << 15)
                values = np.floor(scaled * np.float32(2.0**-16))
            else:
                values = values / values.dtype.type(area)
        else:
            values = areas.max(axis=(2, 4))
        return values, (x, values)

    def backward(self, kept: Any, slope: Float32) -> tuple[Float32, list[Float32]]:
        """Return the derivatives by x; equal largest values share theirs."""
        x, values = kept
        of_x = np.zeros_like(x)
        areas = self._areas(of_x)
        wide = slope[:, :, None, :, None]
        if self.layout.average:
            areas[...] = wide / slope.dtype.type(areas.shape[2] * areas.shape[4])
        else:
            largest = self._areas(x) == values[:, :, None, :, None]
            ties = largest.sum(axis=(2, 4), keepdims=True, dtype=slope.dtype)
            np.multiply(largest, wide / ties, out=areas)
        return of_x, []

    def integer_stage(self, shape: ImageShape, maximum: int) -> IntegerPooling:
        """Return the device's stage for images of this shape and largest value."""
        how: How = "average" if self.layout.average else "maximum"
        return IntegerPooling(shape, self.layout.window_of(*shape[:2]), how, maximum)

    def _areas(self, x: Float32) -> Float32:
        """Return a view (channels, h', rows, w', columns, n) of x."""
        channels, height, width, n = x.shape
        rows, columns = self.layout.window_of(height, width)
        down, across = height // rows, width // columns
        whole = x[:, : down * rows, : across * columns]
        return whole.reshape(channels, down, rows, across, columns, n)
