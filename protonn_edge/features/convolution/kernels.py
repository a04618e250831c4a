"""The kernels of convolutions: weights read from flash, or as instructions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.pixel import PixelCode
from protonn_edge.features.convolution.window import Name
from protonn_edge.features.images.image_rows import ImageRows
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step

# Around the pixels of a row, by the compiler (avr-gcc 5.4 at -O2): a row that is taken, a value of
# one that is cleared, and a row of the output, with its window's rows.
_TAKEN_CYCLES, _CLEARED_CYCLES = 28, 7
_OUTPUT_CYCLES, _WINDOW_ROW_CYCLES = 105, 22
_BEGIN_CYCLES = 20
_CALLS = 4  # for a row, at most

_CODE_BYTES = 260

# What the compiler's loops take of those in assembly, on a chip without a multiplier.
_PORTABLE = 12.0

# Where the activity is not known.
_ACTIVE, _SMALL, _LARGE = 0.5, 0.4, 0.1


@dataclass(frozen=True, eq=False)
class ConvolutionKernel(Kernel):
    """Sums of a window in registers: weights in "columns", "packed", or "unrolled" as code."""

    template: ClassVar[str] = "convolution/convolution.j2"
    changed: ClassVar[tuple[str, ...]] = ("r0", *(f"r{number}" for number in range(2, 28)))

    stage: IntegerConvolution
    name: Name
    core: Core

    @cached_property
    def code(self) -> PixelCode:
        """The instructions of a pixel."""
        return PixelCode(self.stage, self.name)

    @cached_property
    def rows(self) -> ImageRows:
        """The rows of the image."""
        return ImageRows(self.stage)

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return what it takes."""
        rows, stage = self.rows, self.stage
        around = self._around
        mean = None
        if activity is not None:
            mean = self.pixel_cycles(activity) + around + rows.mean(feed, following)
        least, worst = self._bounds
        calls = _CALLS * self.core.call_cycles * (stage.shape[0] + 2 * stage.padding)
        worst += around + calls + rows.worst(feed, following, self.core)
        code = _CODE_BYTES + self.code.listing.code_bytes
        tables = sum(len(row) for rows in self.code.weights for row in rows)
        tables *= self.name != "unrolled"
        step = Step(self.kind, self.name, tables + code, mean, math.ceil(worst), least)
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=tables,
            code=code,
            state=2 * stage.side + 2 + rows.state(feed),
            buffer=rows.buffer(feed),
            push=rows.push,
            begin=self._begin,
        )

    @property
    def margin(self) -> int:
        """Values of the padding at a row's end."""
        return self.stage.padding * self.stage.shape[2]

    @property
    def _begin(self) -> int:
        cleared = _TAKEN_CYCLES + _CLEARED_CYCLES * self.rows.row_values
        return _BEGIN_CYCLES + self.stage.padding * cleared

    @property
    def _around(self) -> int:
        """Cycles beside the pixels."""
        stage = self.stage
        outputs = stage.output_shape[0]
        cycles = (stage.shape[0] + 2 * stage.padding) * _TAKEN_CYCLES
        cycles += 2 * stage.padding * _CLEARED_CYCLES * self.rows.row_values + _BEGIN_CYCLES
        return cycles + outputs * (_OUTPUT_CYCLES + _WINDOW_ROW_CYCLES * stage.side)

    @cached_property
    def _bounds(self) -> tuple[int, int]:
        """The least and the most cycles of all pixels."""
        height, places, out = self.stage.output_shape
        zero, other = self.code.inputs
        value = self.code.value
        small = value.small, value.small
        least, most = value.between[1:]
        values = np.array([min(least, *small), max(most, value.large, *small)]) * out
        inputs = np.array([np.minimum(zero, other).sum(), np.maximum(zero, other).sum()])
        spread = np.array([-self.code.spread, self.code.spread])
        low, high = height * places * (self.code.fixed + values + inputs + spread)
        return int(low), int(high)

    def pixel_cycles(self, activity: Activity) -> float:
        """Return the mean cycles of all pixels."""
        height, places, out = self.stage.output_shape
        zero, other = self.code.inputs
        unknown = np.full(len(zero), _ACTIVE), np.array([_SMALL, _LARGE])
        active, (small, large) = activity.stages.get(self.kind, unknown)
        value = self.code.value
        between, *_ = value.between
        mean = small * value.small + large * value.large + (1 - small - large) * between
        inputs = float((zero + active * (other - zero)).sum())
        return float(height * places * (self.code.fixed + out * mean + inputs))

    @property
    def weights(self) -> tuple[tuple[int, ...], ...]:
        """The weights in the order in which the generated program reads them."""
        return tuple(row for rows in self.code.weights for row in rows)

    @property
    def weights_in_flash(self) -> bool:
        """Whether weights are no instructions."""
        return self.name != "unrolled"

    @property
    def packed_bits(self) -> int:
        """Bits of a weight of which a byte has several, or 0."""
        return self.stage.weight_bits if self.name == "packed" else 0


def kernels(stage: IntegerConvolution, core: Core) -> tuple[Kernel, ...]:
    """Return those with weights in flash, and one with weights as instructions."""
    names: list[Name] = ["columns", "unrolled"]
    if stage.weight_bits < 8 and not stage.depthwise:
        names.append("packed")
    return tuple(ConvolutionKernel(stage, name, core) for name in names)
