"""Average pooling in integers: sums of bytes, scaled to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.stages.average_pooling.areas import Areas
from protonn_edge.stages.input_quantizer.saturation import BYTE_MAXIMUM
from protonn_edge.stages.integer_stage import IntegerStage, Range, check_holds

_HALF = 1 << 15
_MULTIPLIER_MAXIMUM = 0xFFFF


@dataclass(frozen=True, eq=False)
class IntegerAveragePooling(IntegerStage):
    """From pixels, b, to averages of 0..maximum.

    ::

        v_i = sum_n weight_in b_n                 16 bits, never overflows
        q_i = (v_i * multiplier + 2^15) >> 16

    Attributes
    ----------
    pooling : Areas
        The areas of the image.
    maximum : int
        The largest average, 1..255.
    by_rows : bool
        Whether a stage before it hands over whole rows of pixels.
    """

    kind: ClassVar[str] = "average_pooling"
    hashed: ClassVar[tuple[str, ...]] = ("multiplier",)

    pooling: Areas
    maximum: int
    by_rows: bool = False

    def __post_init__(self) -> None:
        """Refuse averages that are not within 0..maximum."""
        largest = self.pooling.area * BYTE_MAXIMUM * self.multiplier
        fits = self.multiplier <= _MULTIPLIER_MAXIMUM and (largest + _HALF) >> 16 == self.maximum
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
        """What the averages can be."""
        return Range.of_bytes(self.n_outputs, self.maximum)

    @property
    def multiplier(self) -> int:
        """What brings the sum of an area to 0..maximum, in units of 2**-16."""
        return round(self.maximum * 65_536 / (BYTE_MAXIMUM * self.pooling.area))

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the averages (n, h w) of images of bytes (n, H W)."""
        scaled = self.pooling.sums(x).astype(np.uint32) * np.uint32(self.multiplier)
        return ((scaled + np.uint32(_HALF)) >> 16).astype(np.uint8)
