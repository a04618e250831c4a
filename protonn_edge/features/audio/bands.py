"""Second-order band-pass filters in 16-bit integers, with the proof that none overflows.

From samples b, bytes, a band pass takes the differences ``v[t] = b[t] - b[t-2]``, which remove the
constant part, and computes, in integers::

    y[t] = ((turn y[t-1] - decay y[t-2]) >> 7) + gain v[t]

Before the first sample v and y are 0. The poles are those of ``z^2 - turn/128 z + decay/128``. A
band in the upper half of the spectrum is **mirrored**: its v is negated at every second sample,
which moves a frequency f to half the sample rate minus f, so that turns need no sign.

**Proof.** With h the impulse response of y to v, y is a weighted sum of samples, in which
``b[t-k]`` has the weight ``gain (h[k] - h[k-2])``, and ``b[0]`` the rest, of ``h[t-1]`` and
``h[t-2]``. The weights add up to 0, so y is within half their absolute sum times 255 for any
samples, and reaches this if b is 255 at all weights of one sign. Each shift rounds down, by less
than 1, which adds less than the absolute sum of h. A band pass whose bound exceeds 16 bits is
refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.errors import InputError

ONE = 128
"""The unit of a turn and a decay is one over this."""

Y_MAXIMUM = (1 << 15) - 1

_LOWEST_HZ = 100.0
_HIGHEST_SHARE = 0.475  # of the sample rate
_LIMITS = {"turn": (0, 255), "decay": (1, ONE - 1), "gain": (1, 255)}
_MEMORY = 65_536  # samples after which a response is cut off
_FADED = 1e-9
_ROUNDING = 1.0  # above the error of sums of floats
_MOST = 1e6  # a sum that exceeds 16 bits

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class BandPass:
    """One band.

    Raises `InputError` if a number is out of its range, or y could exceed 16 bits for some samples.
    """

    turn: int  # 0..255, in 128ths: twice the radius of the poles times the cosine of their angle
    decay: int  # 1..127, in 128ths: the square of their radius
    gain: int  # 1..255
    mirrored: bool  # whether v is negated at every second sample

    def __post_init__(self) -> None:
        for name, (low, high) in _LIMITS.items():
            if not low <= getattr(self, name) <= high:
                raise InputError(
                    f"a band pass has the {name} {getattr(self, name)}; it must be {low} to {high}"
                )
        if self.most > Y_MAXIMUM:
            raise InputError(
                f"a band pass reaches {self.most:,.0f}, 16 bits hold {Y_MAXIMUM:,}; train the "
                "model again"
            )

    @cached_property
    def response(self) -> Float64:
        """The impulse response of y to v, until it has decayed."""
        h = [1.0, self.turn / ONE]
        total = sum(h)
        while len(h) < _MEMORY and max(abs(h[-1]), abs(h[-2])) > _FADED and total < _MOST:
            h.append((self.turn * h[-1] - self.decay * h[-2]) / ONE)
            total += abs(h[-1])
        return np.array(h)

    @cached_property
    def weights(self) -> Float64:
        """The weights of samples in y for a gain of 1, the latest sample first."""
        h = np.pad(self.response, (2, 0))
        weights: Float64 = h[2:] - h[:-2]
        return weights

    @property
    def most(self) -> float:
        """The upper bound of the magnitude of y for any samples."""
        return self._most(self.gain)

    def _most(self, gain: int) -> float:
        rounded = float(np.abs(self.response).sum())
        return BYTE_MAXIMUM / 2 * gain * self._weight_sum + rounded + _ROUNDING

    @cached_property
    def _weight_sum(self) -> float:
        """The largest absolute sum of weights at any time, including that of the first sample."""
        h = self.response
        sign = -1.0 if self.mirrored else 1.0
        first = np.abs(h + sign * np.pad(h, (1, 0))[:-1])  # of b[0], one sample later
        return float((np.cumsum(np.abs(self.weights)) + first).max())

    def with_largest_gain(self) -> BandPass:
        """Return the band pass with the largest gain for which y provably fits 16 bits."""
        room = Y_MAXIMUM - self._most(0)
        gain = math.floor(room / (BYTE_MAXIMUM / 2 * self._weight_sum))
        return replace(self, gain=min(max(gain, 1), _LIMITS["gain"][1]))

    def centre(self, rate: float) -> float:
        """Return the frequency of the poles, in hertz, at a rate in samples per second."""
        cosine = self.turn / ONE / (2 * math.sqrt(self.decay / ONE))
        frequency = math.acos(min(1.0, cosine)) * rate / (2 * math.pi)
        return rate / 2 - frequency if self.mirrored else frequency


def mel_bands(count: int, rate: float) -> tuple[BandPass, ...]:
    """Return band passes that divide the spectrum by the mel scale, from 100 Hz on.

    Each is half as wide as the distance between its neighbours, and has the largest gain that 16
    bits allow. Mirrored ones, in the upper half of the spectrum, come last.

    - `count`: their number, at least 1.
    - `rate`: samples per second, at least 400.
    """
    ends = _of_mel(np.linspace(_mel(_LOWEST_HZ), _mel(_HIGHEST_SHARE * rate), count + 2))
    return tuple(
        _nearest(centre, (above - below) / 2, rate)
        for below, centre, above in zip(ends, ends[1:], ends[2:], strict=False)
    )


def _nearest(centre: float, width: float, rate: float) -> BandPass:
    """Return the band pass whose poles are nearest to those of a resonance, all in hertz."""
    mirrored = bool(centre > rate / 4)
    angle = 2 * math.pi * (rate / 2 - centre if mirrored else centre) / rate
    pole = math.exp(-math.pi * width / rate) * np.exp(1j * angle)
    turns = np.arange(_LIMITS["turn"][1] + 1)[:, None] / ONE
    decays = np.arange(1, ONE) / ONE
    inside = decays - np.square(turns / 2)  # the square of the imaginary part
    poles = turns / 2 + 1j * np.sqrt(np.maximum(inside, 0))
    away = np.where(inside > 0, np.abs(poles - pole), np.inf)
    turn, decay = np.unravel_index(int(np.argmin(away)), away.shape)
    return BandPass(int(turn), int(decay) + 1, 1, mirrored).with_largest_gain()


def _mel(frequency: float) -> float:
    return 2595 * math.log10(1 + frequency / 700)


def _of_mel(mel: Float64) -> Float64:
    frequencies: Float64 = 700 * (10 ** (mel / 2595) - 1)
    return frequencies
