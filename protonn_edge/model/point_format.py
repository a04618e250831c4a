"""The form of raw points: images, or windows of samples, and their conversion to bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.model.shapes import Shape
from protonn_edge.model.signals import Signal, check_sample_rate
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError

Form = Literal["image", "window", "clip"]


@dataclass(frozen=True, eq=False)
class PointFormat:
    """The form of raw points, and their conversion to the bytes that a device receives."""

    # the conversion of each of the interleaved channels, or of all values, (1,)
    scale: InputQuantizer
    # of an image: height, width and, if there are several, channels; of a signal: samples, channels
    shape: tuple[int, ...]
    is_signal: bool = False
    # sampling rate of a signal, for reading the sensor; no feature depends on it
    rate: float | None = field(default=None, repr=False)
    # whether a signal is a clip that begins where a sound is heard
    from_onset: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        _check_scale(self.scale)
        axes = len(self.shape)
        usual = min(self.shape, default=0) >= 1 and axes in ((2,) if self.is_signal else (2, 3))
        check(usual, "shape", self.shape, "2 numbers, or 3 of an image of several channels")
        check(self.is_signal or not self.from_onset, "from_onset", "an image", "a signal")
        channels = self.shape[1] if self.is_signal else (*self.shape, 1)[2]
        scales = len(self.scale.zero)
        fits = scales == channels or (scales == 1 and not self.is_signal)
        check(fits, "scale", f"{scales:,} channels", f"{channels:,}, as the points have")
        check_sample_rate(self.rate)

    @property
    def form(self) -> Form:
        """What a raw point is."""
        if self.from_onset:
            return "clip"
        return "window" if self.is_signal else "image"

    @property
    def n_features(self) -> int:
        """Number of values of a raw point."""
        return math.prod(self.shape)

    @property
    def signal(self) -> Signal | None:
        """The samples of a raw point that is a signal; otherwise None."""
        if not self.is_signal:
            return None
        samples, channels = self.shape
        return Signal(samples, channels, self.rate, self.from_onset)

    @property
    def drawn_shape(self) -> Shape | None:
        """Height and width of a raw point when drawn: an image's, or 1 by n for one channel."""
        first, second, *others = self.shape
        if self.is_signal:
            return (1, first) if second == 1 else None
        return None if others or self.n_features == 1 else (first, second)

    @property
    def quantizer(self) -> InputQuantizer:
        """The conversion of each value of a raw point to a byte."""
        ends = self.scale.zero, self.scale.step
        zeros, steps = (np.resize(each, self.n_features) for each in ends)
        return replace(self.scale, zero=zeros, step=steps)

    def to_bytes(self, X: Array) -> NDArray[np.uint8]:
        """Return raw points (n, features) as bytes, of the same shape."""
        channels = X.reshape(-1, len(self.scale.zero))
        return self.scale.steps(channels).reshape(X.shape)


def _check_scale(scale: InputQuantizer) -> None:
    zero, step = scale.zero, scale.step
    usable = zero.ndim == 1 and zero.shape == step.shape and len(zero) > 0
    if usable:
        largest = float(np.finfo(np.float32).max)
        numbers = np.abs(np.concatenate([zero, step.astype(np.float64)]))
        usable = bool((numbers <= largest).all() and (step != 0).all())
    if usable and step.dtype == np.float32:
        # The quotient is rounded as it is for each value: `zero` is itself a rounded product.
        at_zero = np.rint(zero / step)
        usable = bool(((at_zero >= -BYTE_MAXIMUM) & (at_zero <= 0)).all())
    if not usable or not 1 <= scale.maximum <= BYTE_MAXIMUM:
        raise InputError(
            f"values with the zero points {_few(zero)} and the steps {_few(step)} cannot be "
            "converted to bytes; train the model again"
        )


def _few(numbers: Array) -> str:
    return ", ".join(f"{number:g}" for number in numbers.ravel()[:_SHOWN])


_SHOWN = 8


def check_points(before: object, stage: str, shape: tuple[int, ...], *forms: Form) -> None:
    """Refuse everything before a stage, of this kind, but raw points of a shape and a form."""
    found, fits = "values of a stage", False
    if isinstance(before, PointFormat):
        found = f"{before.form} of {size_text(before.shape)}"
        fits = before.shape == shape and before.form in forms
    check(fits, stage, found, f"{' or '.join(forms)} of {size_text(shape)}")


def size_text(shape: tuple[int, ...]) -> str:
    """Return a size of any number of axes, such as ``28x28``."""
    return "x".join(map(str, shape))
