"""Quantization of raw features to the unsigned bytes that the device receives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_shape
from protonn_edge.system.errors import InvalidValue

Numbers = Array | np.float32 | float

BYTE_MAXIMUM = 255  # the largest input of a device


def saturated_steps(
    X: Array, zero: Numbers, step: Numbers, maximum: int, *, to_even: bool | None = None
) -> NDArray[np.uint8]:
    """Return finite X (..., k) in steps above `zero` (k,), rounded and clipped to 0..maximum.

    Steps (k,) are not 0. If they are float32, X is divided in float32, `zero` must be a multiple of
    a step, and halves are rounded away from the real value 0, as in TensorFlow Lite, or `to_even`,
    as in ONNX.
    """
    with np.errstate(over="ignore"):  # an overflow saturates as well
        if np.result_type(step) == np.float32:
            ratio = (X.astype(np.float32) / step).astype(np.float64)
            away = np.copysign(np.floor(np.abs(ratio) + 0.5), ratio)
            steps = (np.rint(ratio) if to_even else away) - np.rint(zero / step)
        else:
            steps = np.floor((X.astype(np.float64) - zero) / step + 0.5)
    saturated: NDArray[np.uint8] = np.clip(steps, 0, maximum).astype(np.uint8)
    return saturated


@dataclass(frozen=True)
class InputQuantizer:
    """Quantizes raw features to the unsigned bytes that the device receives."""

    # (D,): the raw value that becomes 0, in the feature's unit: the end of its range nearer to its
    # most frequent value, because an input of 0 takes no time on the device
    zero: NDArray[np.float64]
    # (D,): raw units per step, not 0; negative if `zero` is the upper end; float32 where points are
    # divided in float32, otherwise float64
    step: Array
    maximum: int  # the largest quantized value, 1..255
    to_even: bool | None = None  # whether halves are rounded to even, if steps are float32

    @property
    def end(self) -> NDArray[np.float64]:
        """The raw values (D,) that become `maximum`."""
        end: NDArray[np.float64] = self.zero + self.maximum * self.step.astype(np.float64)
        return end

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw features (n, D) as bytes (n, D), saturating at 0 and `maximum`.

        Raises `InputError` if the number of features differs from the model's, or a value is not
        finite.
        """
        raw = np.asarray(X, dtype=np.float64)
        check(raw.ndim == 2, "points", f"shape {raw.shape}", "2 dimensions")
        check_shape("points", raw.shape[1:], (len(self.zero),))
        if not np.isfinite(raw).all():
            row = int(np.flatnonzero(~np.isfinite(raw).all(axis=1))[0])
            raise InvalidValue(f"row {row} of the points", "NaN or infinity; drop the row")
        return self.steps(raw)

    def steps(self, raw: Array) -> NDArray[np.uint8]:
        """Return finite raw features (n, D) as bytes."""
        return saturated_steps(raw, self.zero, self.step, self.maximum, to_even=self.to_even)

    @property
    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least raw features (D,), and the ends (D,), which are not clamped by half a step."""
        zero = np.asarray(self.zero, np.float64)
        ends = zero - 0.5 * self.step, zero + (self.maximum + 0.5) * self.step
        return np.minimum(*ends), np.maximum(*ends)  # steps may be negative

    def clamped(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the numbers (D,) of values of raw features (n, D) clamped by over half a step."""
        least, end = self.limits
        raw = np.asarray(X, dtype=np.float64)
        counts: NDArray[np.int64] = ((raw < least) | (raw >= end)).sum(axis=0)
        return counts

    def saturations(self, X: ArrayLike) -> int:
        """Return the number of `clamped` values of all features."""
        return int(self.clamped(X).sum())

    def restore(self, Q: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the raw features (n, D) that bytes (n, D) stand for."""
        raw: NDArray[np.float64] = self.zero + self.step * Q
        return raw
