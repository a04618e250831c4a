"""Stages that compute weighted sums of windows of an image, for each output channel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.images.image_rows import ImageStage, Margins
from protonn_edge.model.integer_stage import IntArray, check_holds
from protonn_edge.model.shapes import ImageShape
from protonn_edge.system.arrays import Array


@dataclass(frozen=True, eq=False)
class WindowSums(ImageStage):
    """A layer of weighted sums; bytes of `padding_value` surround the image."""

    reports_nonzero: ClassVar[Literal["inputs", "values"] | None] = "inputs"
    exact: ClassVar[type[np.floating[Any]]]  # holds all sums without bias exactly

    # (out, h, w, channels): W; channels is 1 if each output channel uses only the input channel of
    # the same number (depthwise)
    weights: NDArray[np.int8]
    bias: IntArray  # (out,): the initial sums
    # rows and pixels by which the window moves
    stride: tuple[int, int] = field(default=(1, 1), kw_only=True)
    # rows above and below the image, and pixels to the left and right of it
    margins: Margins = field(default=((0, 0), (0, 0)), kw_only=True)
    padding_value: int = field(default=0, kw_only=True)  # their byte

    @property
    def window(self) -> tuple[int, int]:
        """Its height and width."""
        return int(self.weights.shape[1]), int(self.weights.shape[2])

    @property
    def depthwise(self) -> bool:
        """Whether each output channel is computed from one input channel."""
        return int(self.weights.shape[3]) < self.shape[2]

    @property
    def output_shape(self) -> ImageShape:
        """Height, width and channels of the output image."""
        sizes = zip(self.shape[:2], self.margins, self.window, self.stride, strict=True)
        height, width = ((size + sum(m) - side) // step + 1 for size, m, side, step in sizes)
        return height, width, len(self.weights)

    @property
    def lines(self) -> int:
        """Number of lines of a window."""
        return 0 if self.reads_in_place else self.window[0]

    @property
    def filled(self) -> int:
        """Number of bytes of lines initialized to the padding value instead of 0."""
        sides = any(self.margins[1]) and self.padding_value
        return self.lines * self.line_bytes if sides else 0

    def completes_at(self, row: int) -> bool:
        """Return whether this row is the last one of a window."""
        first = self.window[0] - 1
        return row >= first and (row - first) % self.stride[0] == 0

    @abstractmethod
    def requantized(self, a: IntArray) -> IntArray:
        """Convert sums (..., out) to values."""

    def sums(self, x: Array, weights: Array | None = None) -> IntArray:
        """Return the sums a, (n, h, w, out), of images (n, n_inputs) with W or other weights."""
        # BLAS has no integer product; these floats hold all sums exactly.
        wide = (self.weights if weights is None else weights).astype(self.exact)
        sums = np.zeros((len(x), *self.output_shape), self.exact)
        for i, j, tap in self.taps(x.astype(self.exact)):
            sums += tap * wide[:, i, j, 0] if self.depthwise else tap @ wide[:, i, j].T
        return sums.astype(np.int64) + self.bias

    def run(self, x: Array) -> NDArray[np.uint8]:
        """Return the values (n, n_outputs) of images (n, n_inputs)."""
        return self.requantized(self.sums(x)).astype(np.uint8).reshape(len(x), -1)

    def taps(self, x: Array) -> Iterator[tuple[int, int, Array]]:
        """Yield each position in the window, with the pixels (n, h, w, channels) there."""
        height, width, _ = self.output_shape
        around = ((0, 0), *self.margins, (0, 0))
        images = np.pad(x.reshape(-1, *self.shape), around, constant_values=self.padding_value)
        down, across = self.stride
        for i, j in np.ndindex(self.window):
            yield i, j, images[:, i::down, j::across][:, :height, :width]

    def check_weights(self) -> None:
        """Refuse weights and biases that do not match the numbers of channels."""
        out, _, _, depth = self.weights.shape
        channels = self.shape[2]
        full, each = depth == channels, depth == 1 and out == channels
        what = f"kernels that read {depth} of {channels} channels"
        check_holds(full or each, what, "kernels that read all channels, or one each")
        fits = self.bias.shape == (out,)
        check_holds(fits, f"{self.bias.size} biases for {out} channels", "one per channel")


def padded_bytes(stage: WindowSums) -> int:
    """Return the size of the image with its margins; 0 without margins."""
    (above, below), (left, right) = stage.margins
    height, width, channels = stage.shape
    size = (above + height + below) * (left + width + right) * channels
    return size if above + below + left + right else 0
