"""Stages that compute weighted sums of windows of an image, for each output channel."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.images.image_rows import ImageStage, Margins
from protonn_edge.model.formulas import Operand, SlidingWindow
from protonn_edge.model.integer_stage import IntArray, Range, check_holds
from protonn_edge.model.layer import LayerStage, LayerWeights
from protonn_edge.model.shapes import ImageShape


@dataclass(frozen=True, eq=False)
class WindowSums(ImageStage, LayerStage):
    """A layer of weighted sums; bytes of `padding_value` surround the image."""

    value_type: ClassVar[type[np.integer[Any]]] = np.uint8

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

    @property
    def padded_bytes(self) -> int:
        """The size of the image with its margins; 0 without margins."""
        size = (self.shape[0] + sum(self.margins[0])) * self.line_bytes
        return size if any(map(any, self.margins)) else 0

    @property
    def layer(self) -> LayerWeights:
        """Its weights, and the window in an image that has the margins."""
        line, channels = self.line_bytes, self.shape[2]
        rows = self.weights.reshape(*self.weights.shape[:2], -1)
        steps = self.stride[0] * line, self.stride[1] * channels
        each = channels if self.depthwise else 0
        return LayerWeights(rows, self.output_shape[:2], steps, line, each)

    @cached_property
    def output(self) -> Range:
        """The range of each value, from the range of its sum."""
        return Range.of(self.scaled(self.accumulators.interval))

    @property
    def windows(self) -> SlidingWindow:
        """How the window moves."""
        return SlidingWindow(self.stride, self.margins, self.padding_value, self.depthwise)

    def sums(self, x: Operand) -> Operand:
        """Return the sums a, (n, h, w, out), of images (n, n_inputs)."""
        images = x.op("Reshape", [-1, *self.shape])
        return images.window_sums(self.weights, self.bias, self.windows)

    def formula(self, x: Operand) -> Operand:
        """Return the values (n, n_outputs) of images (n, n_inputs)."""
        return self.scaled(self.sums(x)).op("Reshape", [-1, self.n_outputs])

    def check_weights(self) -> None:
        """Refuse weights and biases that do not match the numbers of channels."""
        out, _, _, depth = self.weights.shape
        channels = self.shape[2]
        full, each = depth == channels, depth == 1 and out == channels
        what = f"kernels that read {depth} of {channels} channels"
        check_holds(full or each, what, "kernels that read all channels, or one each")
        fits = self.bias.shape == (out,)
        check_holds(fits, f"{self.bias.size} biases for {out} channels", "one per channel")
