"""From a clip of sound to its features, in integers: the exact reference of the generated C.

**Band passes** are of the second order. For samples b, which are bytes, a band pass takes the
differences ``v[t] = b[t] - b[t-2]``, which remove the constant part, and computes in integers::

    y[t] = ((turn y[t-1] - decay y[t-2]) >> 7) + gain v[t]

Before the first sample v and y are 0. The poles are those of ``z^2 - turn/128 z + decay/128``. A
band in the upper half of the spectrum is **mirrored**: its v is negated at every second sample,
which moves a frequency f to half the sampling rate minus f, so that `turn` needs no sign.

A band pass whose y could exceed 16 bits is refused.

A clip has N samples, in frames of L samples. For each sample, K band passes compute a y; the
magnitude of its upper byte is used::

    e[t] = y[t] >> 8, or -1 - (y[t] >> 8) if that is negative           0..127

The **energy** of a band in a frame is the sum of e, at most 127 L, which fits 16 bits since L is at
most 512. The frames of band k end K - 1 - k samples earlier, so a device computes only one
logarithm after each of the last K samples of a frame.

A **feature** is the logarithm of the energy, in 16ths of an octave above a quarter of L; adding
that quarter hides near silence::

    x = min(log(energy + L / 4) - log(L / 4), 127)
    log(z) = 16 p + steps[(z >> (p - 5)) - 32]                  where 2^p <= z < 2^(p+1)

with ``steps[m]`` the integer part of ``16 log2(1 + m/32)``. A frame has at least 128 samples, so p
is at least 5; L / 4 is rounded down. A clip's features are ordered by frames, then by bands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.checks import Float64
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.system.checks import check, check_range

ONE = 128  # a turn or decay of this means 1
Y_MAXIMUM = (1 << 15) - 1
_LOWEST_HZ = 100.0
_HIGHEST_SHARE = 0.475  # the highest band's centre, as a share of the sampling rate
_LIMITS = {"turn": (0, 255), "decay": (1, ONE - 1), "gain": (1, 255)}
_MEMORY = 65_536  # samples after which a response is cut off
_FADED = 1e-9
_ROUNDING = 1.0  # more than the error of the float sums
_MOST = 1e6  # stands for a sum that exceeds 16 bits


@dataclass(frozen=True)
class BandPass:
    """One band.

    Raises `InputError` if a number is out of range, or some samples could make y exceed 16 bits.
    """

    turn: int  # 0..255, in 128ths: twice the radius of the poles times the cosine of their angle
    decay: int  # 1..127, in 128ths: the square of their radius
    gain: int  # 1..255
    mirrored: bool  # whether v is negated at every second sample

    def __post_init__(self) -> None:
        for name, (low, high) in _LIMITS.items():
            check_range(name, getattr(self, name), low, high)
        check_range("largest value of a band pass", self.most, 0, Y_MAXIMUM)

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
        """The weight of each sample in y for a gain of 1, latest sample first."""
        h = np.pad(self.response, (2, 0))
        return h[2:] - h[:-2]

    @property
    def most(self) -> float:
        """The upper bound of the magnitude of y for any samples."""
        return self._most(self.gain)

    def _most(self, gain: int) -> float:
        rounded = float(np.abs(self.response).sum())
        return BYTE_MAXIMUM / 2 * gain * self._weight_sum + rounded + _ROUNDING

    @cached_property
    def _weight_sum(self) -> float:
        """The largest sum of absolute weights at any time, including the first sample's."""
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
        """Return the frequency of the poles in hertz, for `rate` samples per second."""
        cosine = self.turn / ONE / (2 * math.sqrt(self.decay / ONE))
        frequency = math.acos(min(1.0, cosine)) * rate / (2 * math.pi)
        return rate / 2 - frequency if self.mirrored else frequency


def mel_bands(count: int, rate: float) -> tuple[BandPass, ...]:
    """Return band passes that divide the spectrum above 100 Hz by the mel scale.

    Each is half as wide as the distance between its neighbours, and has the largest gain that 16
    bits allow. Mirrored ones, in the upper half of the spectrum, come last. The rate is at least
    400 samples per second.
    """
    ends_hz = (_LOWEST_HZ, _HIGHEST_SHARE * rate)
    low, high = (2595 * math.log10(1 + hertz / 700) for hertz in ends_hz)
    ends = 700 * (10 ** (np.linspace(low, high, count + 2) / 2595) - 1)
    return tuple(
        _nearest(centre, (above - below) / 2, rate)
        for below, centre, above in zip(ends, ends[1:], ends[2:], strict=False)
    )


def _nearest(centre: float, width: float, rate: float) -> BandPass:
    """Return the band pass with the poles nearest to a resonance's, all in hertz."""
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


FRAME_LIMITS = (128, 512)
"""Samples per frame: the minimum for logarithms, and the maximum for energies of 16 bits."""

BAND_LIMIT = 16
FEATURE_LIMIT = 1_024
SAMPLE_LIMIT = 65_000  # limit of a counter on the device
OCTAVE = 16
STEPS = tuple(math.floor(OCTAVE * math.log2(1 + m / 32)) for m in range(32))
FEATURE_MAXIMUM = 127


Int32 = NDArray[np.int32]


@dataclass(frozen=True)
class Frames:
    """The bands, and the frames of a clip.

    Raises `InputError` if a number is out of range, or the bands are in another order.
    """

    bands: tuple[BandPass, ...]  # 1 to 16, the mirrored ones last
    frames: int  # frames per clip, at least 1
    length: int  # samples per frame, 128..512

    def __post_init__(self) -> None:
        check_clip(len(self.bands), self.frames, self.length)
        mirrored = [band.mirrored for band in self.bands]
        check(mirrored == sorted(mirrored), "mirrored", mirrored, "mirrored bands last")

    @property
    def n_features(self) -> int:
        """Samples per clip, which the device receives."""
        return self.frames * self.length

    @property
    def n_outputs(self) -> int:
        """Features per clip."""
        return self.frames * len(self.bands)

    @property
    def quiet(self) -> int:
        """The constant added to an energy."""
        return self.length // 4

    @cached_property
    def base(self) -> int:
        """The logarithm of an energy of 0."""
        return int(logarithms(np.array([self.quiet]))[0])

    def of_bytes(self, Q: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the features (n, D), 0..127, of clips of bytes (n, samples)."""
        loud = logarithms(self.energies(Q) + self.quiet) - self.base
        return np.minimum(loud, FEATURE_MAXIMUM).astype(np.uint8)

    def energies(self, Q: NDArray[np.uint8]) -> Int32:
        """Return the energies (n, D) of clips of bytes (n, samples)."""
        count, clips = len(self.bands), len(Q)
        ended = np.empty((self.n_outputs, clips), np.int32)
        sums = np.zeros((count, clips), np.int32)
        feature = 0
        for t, y in enumerate(self.filtered(Q)):
            upper = y >> 8
            sums += upper ^ (upper >> 31)  # -1 - y where y is negative
            band = t % self.length - (self.length - count)
            if band >= 0:
                ended[feature] = sums[band]
                sums[band] = 0
                feature += 1
        return ended.T

    def filtered(self, Q: NDArray[np.uint8]) -> Iterator[Int32]:
        """Yield y of all bands (K, n), sample by sample, of clips of bytes (n, samples)."""
        turn, decay, gain, mirrored = (
            np.array([getattr(band, name) for band in self.bands], np.int32)[:, None]
            for name in ("turn", "decay", "gain", "mirrored")
        )
        gains = gain, np.where(mirrored, -gain, gain)
        samples = np.ascontiguousarray(Q.T).astype(np.int32)
        before = older = samples[0] if len(samples) else samples
        last = earlier = np.zeros((len(self.bands), len(Q)), np.int32)
        for t, sample in enumerate(samples):
            y = ((turn * last - decay * earlier) >> 7) + gains[t % 2] * (sample - older)
            yield y
            earlier, last = last, y
            older, before = before, sample


def check_clip(bands: int, frames: int, length: int) -> None:
    """Refuse clips that generated code could not process."""
    shortest, longest = FRAME_LIMITS
    for value, low, high, what in (
        (bands, 1, BAND_LIMIT, "bands"),
        (frames, 1, FEATURE_LIMIT // max(1, bands), "frames"),
        (length, shortest, longest, "samples per frame"),
        (frames * length, 1, SAMPLE_LIMIT, "samples"),
    ):
        check_range(what, value, low, high)


def logarithms(z: NDArray[np.integer]) -> Int32:
    """Return the logarithms, in 16ths of an octave, of whole numbers of 32..65535."""
    exponents = np.frexp(z.astype(np.float64))[1] - 1
    parts: Int32 = np.array(STEPS, np.int32)[(z >> (exponents - 5)) - 32]
    return OCTAVE * exponents + parts
