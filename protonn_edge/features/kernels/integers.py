"""Kernels of a few taps, whose responses above a bias are counted, in integers.

They are a form of MiniRocket's (Dempster, Schmidt and Webb, 2021) for a chip of 8 bits: three taps
instead of nine, whose response three biases share, and counts that fit a byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.window_features.windows import check_window
from protonn_edge.model.feature_stage import FeatureStage
from protonn_edge.model.formulas import Operand
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_stage import Range, check_holds
from protonn_edge.model.point_format import PointFormat, check_points
from protonn_edge.model.shapes import Shape
from protonn_edge.system.arrays import Array

Bytes = NDArray[np.uint8]

BIASES = 3
"""The biases of a kernel; each has a feature."""

LEAST_SAMPLES = 8  # of a window
MOST_FEATURES = 255  # a multiple of the biases
_TAPS = 3
_HEAVIEST = 2  # so that responses are within -510..510
_AT_ONCE = 1_024  # windows


@dataclass(frozen=True, eq=False)
class KernelBank:
    """K kernels, each of one channel."""

    channels: Bytes  # (K,)
    # (K, 3): after the first sample of a position, the two samples that are added, and the one
    # that is subtracted
    taps: Bytes
    weights: Bytes  # (K,): of the sample that is subtracted, 0..2
    biases: NDArray[np.int16]  # (K, 3)

    def __len__(self) -> int:
        return int(self.channels.size)

    def part(self, rows: Array) -> Self:
        """Return some of the kernels."""
        channels, weights = self.channels[rows], self.weights[rows]
        return type(self)(channels, self.taps[rows], weights, self.biases[rows])

    def positions(self, samples: int) -> NDArray[np.int64]:
        """Return at how many positions each kernel is computed, (K,): all that fit, if a byte."""
        furthest: NDArray[np.int64] = self.taps.max(axis=1).astype(np.int64)
        return np.minimum(samples - furthest, BYTE_MAXIMUM)

    def responses(self, windows: NDArray[np.int16], kernel: int) -> NDArray[np.int16]:
        """Return the responses of a kernel, (positions, n), in windows of bytes (C, N, n)."""
        channel = windows[self.channels[kernel]]
        n = int(self.positions(channel.shape[0])[kernel])
        one, other, less = (channel[at : at + n] for at in self.taps[kernel].tolist())
        found: NDArray[np.int16] = one + other - np.int16(self.weights[kernel]) * less
        return found

    def counts(self, x: Bytes, window: Shape) -> Bytes:
        """Return how many responses exceed each bias, (n, K, 3), in windows of bytes (n, N C)."""
        counts = np.empty((len(x), len(self), BIASES), np.uint8)
        for start in range(0, len(x), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            windows = x[rows].reshape(-1, *window).transpose(2, 1, 0).astype(np.int16, order="C")
            for kernel, biases in enumerate(self.biases):
                responses = self.responses(windows, kernel)
                for number, bias in enumerate(biases):
                    above = responses > bias
                    np.add.reduce(above, axis=0, dtype=np.uint8, out=counts[rows, kernel, number])
        return counts


@dataclass(frozen=True, eq=False)
class IntegerKernels(FeatureStage):
    """Maps the bytes x of a window to a byte for each bias of each kernel.

    ::

        r(t) = x[t + one] + x[t + other] - weight x[t + less]       of one channel
        n    = how many r(t) exceed the bias, over all t that fit
        q    = min(max(n - least, 0) factor, 255)
    """

    kind: ClassVar[str] = "kernels"
    value_type: ClassVar[type[np.integer[Any]]] = np.uint8

    window: Shape  # samples of a channel, 8..256, and channels, 1..32
    bank: KernelBank
    least: Bytes  # (K, 3): counts that become 0
    factors: Bytes  # (K, 3)

    def __post_init__(self) -> None:
        """Refuse numbers with which generated code would read beyond the window, or overflow."""
        (samples, channels), bank, n = self.window, self.bank, len(self.bank)
        check_window(samples, channels)
        most = MOST_FEATURES // BIASES
        check_holds(1 <= n <= most, f"{n:,} kernels", f"1 to {most}")
        shapes = [each.shape for each in (bank.channels, bank.weights, bank.taps)]
        shapes += [each.shape for each in (bank.biases, self.least, self.factors)]
        same = shapes == [(n,), (n,), (n, _TAPS), *[(n, BIASES)] * 3]
        check_holds(same, f"arrays of kernels of {shapes}", f"three taps and biases of each of {n}")
        for what, found, limit in (
            ("channel", bank.channels, channels - 1),
            ("tap", bank.taps, samples - 1),
            ("weight", bank.weights, _HEAVIEST),
        ):
            largest = int(found.max())
            check_holds(largest <= limit, f"kernels with the {what} {largest}", f"0 to {limit}")

    @property
    def n_inputs(self) -> int:
        """Samples of all channels."""
        return self.window[0] * self.window[1]

    @property
    def positions(self) -> NDArray[np.int64]:
        """At how many positions each kernel is computed, (K,)."""
        return self.bank.positions(self.window[0])

    @property
    def output(self) -> Range:
        """The range of each byte: that of no response above the bias, and of all."""
        counts = np.repeat(self.positions[:, None], BIASES, axis=1)
        high = self._scaled(counts).ravel()
        return Range(np.zeros_like(high), high)

    def among(self, before: FeatureStage | PointFormat, _: tuple[FeatureStage, ...], /) -> Self:
        """Return the stage, if it comes first."""
        check_points(before, self.kind, self.window, "window")
        return self

    def formula(self, x: Operand) -> Operand:
        """Return the bytes (n, 3 K) of windows of bytes (n, N C)."""
        windows = x.op("Reshape", [-1, *self.window])
        counts = [self._counts(windows, kernel) for kernel in range(len(self.bank))]
        every = counts[0].op("Concat", *counts[1:], axis=1) - self.least.ravel()
        return (every.op("Max", 0) * self.factors.ravel()).op("Min", BYTE_MAXIMUM)

    def run(self, x: Array) -> Array:
        """Return the same of arrays, in numbers of 16 bits, which is faster."""
        counts = self.bank.counts(x, self.window).astype(np.int64)
        return self._scaled(counts).reshape(len(x), self.least.size).astype(np.uint8)

    def parameters(self) -> Iterator[Array]:
        """Yield the biases, which are all that is learned."""
        yield self.bank.biases

    def _counts(self, windows: Operand, kernel: int) -> Operand:
        """Return how many responses of a kernel exceed each bias, (n, 3)."""
        n, channel = int(self.positions[kernel]), int(self.bank.channels[kernel])
        one, other, less = (
            windows[slice(tap, tap + n), slice(channel, channel + 1)]
            for tap in self.bank.taps[kernel].tolist()
        )
        responses = one + other - less * int(self.bank.weights[kernel])
        biases = self.bank.biases[kernel].astype(np.int64)
        return responses.rising(lambda r: (r > biases).op("ReduceSum", [1], keepdims=0))

    def _scaled(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the bytes for counts (..., K, 3)."""
        scaled: NDArray[np.int64] = np.maximum(counts - self.least, 0) * self.factors
        return np.minimum(scaled, BYTE_MAXIMUM)
