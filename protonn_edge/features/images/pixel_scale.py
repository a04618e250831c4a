"""The conversion of raw pixels to bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.tables.cells import FLOAT32_MAX
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check


@dataclass(frozen=True)
class PixelScale:
    """The conversion of raw pixels to bytes, before features of an image are computed."""

    zero: float  # the raw value of the background, converted to 0
    # raw units per step, not 0; negative if the background is the largest value; np.float32 if
    # pixels are divided in float32
    step: float | np.float32
    # whether halves are then rounded to even; not hashed
    to_even: bool | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        single = np.result_type(self.step) == np.float32
        valid = self.step != 0 and max(abs(self.zero), abs(float(self.step))) <= FLOAT32_MAX
        # The quotient is rounded here as it is for each pixel: `zero` is itself a rounded product.
        found = f"zero {self.zero:g} and step {self.step:g}"
        fits = valid and (not single or -BYTE_MAXIMUM <= np.rint(self.zero / self.step) <= 0)
        check(fits, "deskewed", found, "a scale of bytes")

    @classmethod
    def between(cls, lower: float, upper: float, background: float) -> PixelScale:
        """Return the scale of pixels from `lower` to `upper`; one of the two is the background."""
        step = (upper - lower) / BYTE_MAXIMUM or 1.0
        rests_high = upper - background < background - lower
        return cls(upper, -step) if rests_high else cls(lower, step)

    def quantizer(self, maximum: int = BYTE_MAXIMUM) -> InputQuantizer:
        """Return the common conversion of all pixels to 0..maximum."""
        return InputQuantizer(np.array([self.zero]), np.array([self.step]), maximum, self.to_even)

    def to_bytes(self, X: Array) -> NDArray[np.uint8]:
        """Return raw pixels as bytes, of the same shape."""
        return self.quantizer().steps(X)


UNSCALED = PixelScale(0.0, 1.0)  # for pixels that are bytes already
