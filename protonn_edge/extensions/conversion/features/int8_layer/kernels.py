"""The kernel of a layer of a quantized network: sums of a window, converted to values.

The sums of a group of channels are in registers at once, and groups read the window in turn. Inputs
of 0 are skipped, except in depthwise layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.extensions.conversion.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.extensions.conversion.features.int8_layer.sums import SumCode
from protonn_edge.extensions.conversion.features.int8_layer.values import (
    FACTOR,
    PRODUCT,
    WIDE,
    ValueCode,
)
from protonn_edge.features.images.image_rows import ImageKernel

# bias, shift and multiplier of a channel
_SCALE_BYTES = compiled.bytes_of("int32_t", "int8_t", "int32_t")

_PRODUCT_CYCLES, _VALUE_CYCLES, _ROW_CYCLES = 11, 180, 20  # of a row of a window


@dataclass(frozen=True, eq=False)
class Int8LayerKernel(ImageKernel):
    """Sums of a window in registers, with weights in flash."""

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

    def cost(self, _feed: Feed | None, /) -> Cost:
        """Return its cost."""
        rows, stage, sums = self.rows, self.stage, self.sums
        tables = sums.weights.size + _SCALE_BYTES * len(stage.weights)
        state = 4 * sums.group + 2 * stage.window[0] + 2 * (not stage.reads_in_place)
        return self._with_code(
            self._cycles + rows.cycles,
            tables,
            state=state + rows.state,
        )

    @property
    def _places(self) -> int:
        height, width, _ = self.stage.output_shape
        return height * width

    @property
    def _cycles(self) -> float:
        """About the cycles without getting rows."""
        products = self._places * self.stage.weights.size
        values = self._places * len(self.stage.weights)
        return _PRODUCT_CYCLES * products + _VALUE_CYCLES * values + self._around

    @property
    def _around(self) -> float:
        """Cycles outside the taps and values."""
        stage, groups = self.stage, self.sums.groups
        padded = sum(stage.margins[0])
        lines = self._places * (2 * stage.window[0] + 3 * groups)
        turns = padded * stage.row_values + stage.filled + lines
        functions = stage.shape[0] / 3 + padded + 4 * stage.output_shape[0]
        functions += self._places * groups * (groups > 1)
        around = compiled.TURN_CYCLES * turns + compiled.calls(functions, self.core)
        return around + self._places * groups * stage.window[0] * _ROW_CYCLES

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loops of sums and of values."""
        return (self.sums.listing, self.values.listing)


kernels = Int8LayerKernel.of
