"""The conversion of each channel's samples in a window to bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.tables.cells import FLOAT32_MAX
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check


@dataclass(frozen=True)
class ChannelScale:
    """The conversion of interleaved channels; `InputError` if the numbers are invalid."""

    zero: tuple[float, ...]  # each channel's raw value at or below which the byte is 0
    step: tuple[float, ...]  # raw units per step, above 0
    channels: int = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("zero", "step"):
            numbers = tuple(float(number) for number in getattr(self, name))
            object.__setattr__(self, name, numbers)
            usable = all(abs(number) <= FLOAT32_MAX for number in numbers)  # false for NaN, too
            fits = len(numbers) == self.channels and usable
            check(fits, name, numbers, f"{self.channels} numbers of at most {FLOAT32_MAX:.2g}")
        check(min(self.step) > 0, "step", min(self.step), "above 0")

    @classmethod
    def of_windows(cls, X: Array, shape: tuple[int, int]) -> Self:
        """Return the scale that covers the range of each channel in raw, finite windows X.

        - `X` (n, N C), n >= 1; raises `InputError` if it has another shape.
        - `shape`: N samples of a channel, and C channels.
        """
        window, channels = shape
        fits = X.ndim == 2 and min(shape) >= 1 and X.shape[1] == window * channels
        check(fits, "points", X.shape[1:], f"windows of {window}x{channels} samples")
        samples = X.reshape(-1, channels)
        lower = samples.min(axis=0).astype(np.float64)
        extent = samples.max(axis=0).astype(np.float64) - lower
        step = np.where(extent > 0, extent / BYTE_MAXIMUM, 1.0)
        return cls(tuple(lower.tolist()), tuple(step.tolist()), channels)

    def to_bytes(self, X: Array) -> NDArray[np.uint8]:
        """Return raw samples as bytes, of the same shape."""
        return self.quantizer().steps(X.reshape(-1, self.channels)).reshape(X.shape)

    def quantizer(self, maximum: int = BYTE_MAXIMUM) -> InputQuantizer:
        """Return the conversion of each channel to 0..maximum."""
        return InputQuantizer(np.array(self.zero), np.array(self.step), maximum)
