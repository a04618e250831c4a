"""From a clip of sound to its features, in integers: the exact reference of the generated C.

A clip has N samples b, bytes, in frames of L each. K band passes compute a y for each sample (see
`bands`), whose upper byte is used without its sign::

    e[t] = y[t] >> 8, or -1 - (y[t] >> 8) where that is negative        0..127

The **energy** of a band in a frame is the sum of e, at most 127 L, which fits 16 bits since L is at
most 512. The frames of band k end K - 1 - k samples earlier, so that a device has to compute only
one logarithm after each of the last K samples of a frame.

A **feature** is the energy's logarithm, in 16ths of an octave above a quarter of L, which masks
near silence::

    x = min(log(energy + L / 4) - log(L / 4), 127)
    log(z) = 16 p + steps[(z >> (p - 5)) - 32]                  where 2^p <= z < 2^(p+1)

with ``steps[m]`` the integer part of ``16 log2(1 + m/32)``. A frame has at least 128 samples, so p
is at least 5; L / 4 is rounded down. A clip's features are ordered by frames, then by bands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.features.audio.bands import BandPass

FRAME_LIMITS = (128, 512)
"""Samples per frame: the minimum for logarithms, and the maximum for energies of 16 bits."""

BAND_LIMIT = 16
FEATURE_LIMIT = 1_024
SAMPLE_LIMIT = 65_000  # limit of a counter on the device

OCTAVE = 16
STEPS = tuple(math.floor(OCTAVE * math.log2(1 + m / 32)) for m in range(32))
FEATURE_MAXIMUM = 127

_CLIPS_AT_ONCE = 256  # so that the values of a sample fit the cache

Int32 = NDArray[np.int32]


@dataclass(frozen=True)
class Frames:
    """The bands, and the frames of a clip.

    Raises `InputError` if a number is out of its range, or the bands are in another order.
    """

    bands: tuple[BandPass, ...]  # 1 to 16, the mirrored ones last
    frames: int  # frames per clip, at least 1
    length: int  # samples per frame, 128..512

    def __post_init__(self) -> None:
        check_clip(len(self.bands), self.frames, self.length)
        mirrored = [band.mirrored for band in self.bands]
        if mirrored != sorted(mirrored):
            raise InputError("a mirrored band comes before one that is not; train the model again")

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

    @property
    def upright(self) -> int:
        """The number of bands that are not mirrored."""
        return sum(not band.mirrored for band in self.bands)

    def of_bytes(self, Q: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the features (n, D), 0..127, of clips of bytes (n, samples)."""
        features = np.empty((len(Q), self.n_outputs), np.uint8)
        for start in range(0, len(Q), _CLIPS_AT_ONCE):
            rows = slice(start, start + _CLIPS_AT_ONCE)
            loud = logarithms(self.energies(Q[rows]) + self.quiet) - self.base
            features[rows] = np.minimum(loud, FEATURE_MAXIMUM)
        return features

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
        (length, shortest, longest, "samples a frame"),
        (frames * length, 1, SAMPLE_LIMIT, "samples"),
    ):
        if not low <= value <= high:
            raise InputError(f"a clip of sound has {value:,} {what}; give {low} to {high:,}")


def logarithms(z: NDArray[np.integer]) -> Int32:
    """Return the logarithms, in 16ths of an octave, of whole numbers of 32..65535."""
    exponents = np.frexp(z.astype(np.float64))[1] - 1
    found: Int32 = (OCTAVE * exponents + np.array(STEPS)[(z >> (exponents - 5)) - 32]).astype(
        np.int32
    )
    return found
