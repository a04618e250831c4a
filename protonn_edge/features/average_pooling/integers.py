"""Average pooling in integers: sums of bytes, scaled to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.chain.integer_stage import IntegerStage, Range, check_holds
from protonn_edge.features.average_pooling.areas import Areas

_HALF = 1 << 15
_MULTIPLIER_MAXIMUM = 0xFFFF


@dataclass(frozen=True, eq=False)
class IntegerAveragePooling(IntegerStage):
    """Maps pixels b to averages of 0..maximum.

    ::

        v_i = sum_n weight_in b_n                 16 bits, never overflows
        q_i = (v_i * multiplier + half) >> 16     half is 2^15, or 0 if averages are cut
    """

    kind: ClassVar[str] = "average_pooling"
    hashed: ClassVar[tuple[str, ...]] = ("multiplier",)

    pooling: Areas  # the areas of the image
    maximum: int  # the largest average, 1..255
    by_rows: bool = False  # whether the previous stage passes whole rows of pixels
    # whether averages are truncated to the upper bits of those of bytes, instead of rounded
    cuts: bool = False

    def __post_init__(self) -> None:
        """Refuse averages that are not within 0..maximum."""
        largest = self.pooling.area * BYTE_MAXIMUM * self.multiplier
        fits = (largest + self.half) >> 16 == self.maximum
        fits = fits and self.multiplier <= _MULTIPLIER_MAXIMUM
        check_holds(fits, "average pooling that does not give the projection's inputs")

    @property
    def n_inputs(self) -> int:
        """Pixels of the image."""
        return self.pooling.n_features

    @property
    def n_outputs(self) -> int:
        """Averages."""
        return self.pooling.n_outputs

    @property
    def output(self) -> Range:
        """The range of the averages."""
        return Range.of_bytes(self.n_outputs, self.maximum)

    @property
    def multiplier(self) -> int:
        """The factor from the sum of an area to 0..maximum, in units of 2**-16."""
        if self.cuts:
            return (self.maximum + 1) * 65_536 // ((BYTE_MAXIMUM + 1) * self.pooling.area)
        return round(self.maximum * 65_536 / (BYTE_MAXIMUM * self.pooling.area))

    @property
    def half(self) -> int:
        """The constant added before truncation, so that averages are rounded."""
        return 0 if self.cuts else _HALF

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the averages (n, h w) of images of bytes (n, H W)."""
        scaled = self.pooling.sums(x).astype(np.uint32) * np.uint32(self.multiplier)
        return ((scaled + np.uint32(self.half)) >> 16).astype(np.uint8)
