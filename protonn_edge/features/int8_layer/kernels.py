"""The kernel of a layer of a quantized network: sums of a window, converted to values.

The sums of a group of channels are in registers at once, and groups read the window in turn. Inputs
of 0 are skipped, except in depthwise layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.chain.activity import Activity
from protonn_edge.features.images.image_rows import ImageRows
from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.features.int8_layer.sums import SumCode
from protonn_edge.features.int8_layer.values import FACTOR, PRODUCT, WIDE, ValueCode
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push
from protonn_edge.kernels.listing import Listing

_SCALE_BYTES = 9  # bias, shift and multiplier of a channel

# Mean and maximum cycles of the compiler's code (avr-gcc 5.4 at -O2): per output row, line of a
# window, group of channels if there are several, and the only group; per input row; per value of
# padding.
_OUTPUT_CYCLES, _LINE_CYCLES = (140, 220), (16, 24)
_GROUP_CYCLES, _ALONE_CYCLES = (64, 84), (26, 50)
_TAKEN_CYCLES, _FILLED_CYCLES = (12, 28), 8
_BEGIN_CYCLES = 20
_CALLS = 4  # per row, at most
_CODE_BYTES = 260
_BOUNDS = Listing.least, Listing.worst

# Assumed if the activity is unknown.
_ACTIVE, _BELOW = 0.5, 0.4


@dataclass(frozen=True, eq=False)
class Int8LayerKernel(Kernel):
    """Sums of a window in registers, with weights in flash."""

    portable = 8.0
    changed: ClassVar[tuple[str, ...]] = ("r0", *(f"r{n}" for n in range(2, 25)), "r26", "r27")
    changed_by_values: ClassVar[tuple[str, ...]] = (
        *("r0", *PRODUCT, "r16", "r17", *WIDE, *FACTOR),
        *("r26", "r27"),
    )

    stage: IntegerInt8Layer
    name: str = "columns"

    @cached_property
    def sums(self) -> SumCode:
        """The sums of windows."""
        return SumCode(self.stage)

    @cached_property
    def values(self) -> ValueCode:
        """The values of sums."""
        return ValueCode(self.stage)

    @property
    def channels(self) -> list[tuple[int, int, int]]:
        """The bias, the shift and the multiplier of each channel."""
        own = self.stage.bias, self.stage.shifts, self.stage.multipliers
        return list(zip(*(each.tolist() for each in own), strict=True))

    @cached_property
    def rows(self) -> ImageRows:
        """The rows of the image."""
        return ImageRows(self.stage)

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return its cost."""
        rows, stage, sums = self.rows, self.stage, self.sums
        mean = None
        if activity is not None:
            mean = self._mean(activity) + rows.mean(feed, following)
        calls = _CALLS * self.core.call_cycles * (stage.shape[0] + sum(stage.margins[0]))
        taps, slack = sums.passes * sums.taps, sums.passes
        values = [self._places * self.values.cycles(fold) for fold in _BOUNDS]
        worst = taps * max(sums.tap_cycles) + slack + self._around(1) + values[1] + calls
        worst += rows.worst(feed, following, self.core)
        least = taps * min(sums.tap_cycles) - slack + values[0]
        least += self._places * sums.groups * sums.cycles
        tables = sums.weights.size + _SCALE_BYTES * len(stage.weights)
        code = _CODE_BYTES + sums.listing.code_bytes + self.values.listing.code_bytes
        state = 4 * sums.group + 2 * stage.window[0] + 2 * (not stage.reads_in_place)
        return self._in_one_step(
            (mean, worst, int(least)),
            (tables, code),
            state=state + rows.state(feed),
            buffer=rows.buffer(feed),
            push=rows.push,
            begin=self._begin,
        )

    @property
    def _places(self) -> int:
        height, width, _ = self.stage.output_shape
        return height * width

    def _mean(self, activity: Activity) -> float:
        """Return the mean cycles without getting rows."""
        unknown = np.array([_ACTIVE]), np.array([_BELOW])
        (active,), (below,) = activity.stages.get(self.kind, unknown)
        zero, other = self.sums.tap_cycles
        taps = self.sums.passes * self.sums.taps * (zero + float(active) * (other - zero))
        return taps + self._around(0) + self._places * self.values.mean(float(below))

    def _around(self, most: int) -> int:
        """Mean or, with `most`, maximum cycles outside the taps and values."""
        stage, groups = self.stage, self.sums.groups
        around = _GROUP_CYCLES if groups > 1 else _ALONE_CYCLES
        pixel = _LINE_CYCLES[most] * stage.window[0]
        pixel += groups * (self.sums.cycles + around[most])
        cycles = (stage.shape[0] + sum(stage.margins[0])) * _TAKEN_CYCLES[most] + self._begin
        cycles += stage.margins[0][1] * _FILLED_CYCLES * stage.row_values
        return cycles + stage.output_shape[0] * _OUTPUT_CYCLES[most] + self._places * pixel

    @property
    def _begin(self) -> int:
        above = self.stage.margins[0][0] * self.stage.row_values
        return _BEGIN_CYCLES + _FILLED_CYCLES * (self.stage.filled + above)


kernels = Int8LayerKernel.of
