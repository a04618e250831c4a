"""Features of a window of raw samples, in integers: the exact reference of the generated C.

A text names the features of a channel: ``mean,deviation,crossings:2,bands:4``.

A window has N samples of each of C channels, sample by sample. Each channel's raw samples are
rounded to bytes b (see `PointFormat`), and ``x = b - 128``. The features of a channel's x_0
.. x_(N-1) are:

=========== ============================================================= ====================
feature     definition                                                    range, N <= 256
=========== ============================================================= ====================
mean        sum x: N times the mean                                       -32768..32512
deviation   root(N sum x^2 - (sum x)^2): N times the deviation            0..32640
min, max    the least and the largest x                                   -128..127
change      (sum abs(x_t - x_(t-1))) >> 1                                 0..32512
crossings   how often x changes from below its level to above it, or back 0..255
band k      root(sum d^2) over all d of level k                           0..32640
=========== ============================================================= ====================

``root`` is the integer square root, rounded down.

The **level** follows the signal: it begins at ``2^7 x_0`` and moves by ``(2^7 x_t - level) >> 4``
after each sample. With h the hysteresis, a sample is above the level if ``2^7 x_t - level > 2^7
h``, and below it if this difference is less than ``-2^7 h``; otherwise it counts as the previous
sample did.

**Bands** are octaves, by the unnormalized Haar transform: level 1 takes the samples in pairs, ``d =
x_(2i+1) - x_(2i)`` and ``a = x_(2i+1) + x_(2i)``; level k does the same with the values a of level
k - 1. At R samples a second, band k is about ``R / 2^(k+1) .. R / 2^k`` hertz. A level ignores a
value without a partner at the end of the window.

Everything fits 32 bits. ``N sum x^2`` and ``(sum x)^2`` are at most ``2^8 2^8 2^14 = 2^30``. Level
k of the bands has at most ``N / 2^k`` differences of at most ``255 2^(k-1)``, so their squares add
up to at most ``N 255^2 2^(k-2)``, which is below 2^30 if ``2^k <= N <= 256``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.integer_stage import IntArray
from protonn_edge.system.checks import check, check_choice, check_range
from protonn_edge.system.errors import InputError

KINDS = ("mean", "deviation", "min", "max", "change", "crossings", "bands")
"""The kinds of features, in the order in which a channel has them."""

BAND_LIMIT = 8
HYSTERESIS_LIMIT = 127


@dataclass(frozen=True)
class FeatureSet:
    """The features of one channel.

    Raises `InputError` without a kind, if one is unknown or given twice, or a number is out of
    range.
    """

    kinds: tuple[str, ...]  # at least one of `KINDS`, in that order
    bands: int = 0  # 1..8; 0 without the kind "bands"
    # steps of a sample, 0..127, by which a signal must leave its level to count as above or below
    # it; 0 without the kind "crossings"
    hysteresis: int = 0

    def __post_init__(self) -> None:
        for kind in self.kinds:
            check_choice("features", kind, KINDS)
            check(self.kinds.count(kind) == 1, "features", kind, "each feature once")
        check(bool(self.kinds), "features", "none", "at least one")
        object.__setattr__(self, "kinds", tuple(kind for kind in KINDS if kind in self.kinds))
        for asked, value, low, high, what in (
            ("bands" in self.kinds, self.bands, 1, BAND_LIMIT, "number of bands"),
            ("crossings" in self.kinds, self.hysteresis, 0, HYSTERESIS_LIMIT, "hysteresis"),
        ):
            check_range(what, value, low if asked else 0, high if asked else 0)

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a list such as ``mean,deviation,crossings:2,bands:4``."""
        kinds: list[str] = []
        numbers: dict[str, int] = {}
        for part in text.split(","):
            match = re.fullmatch(r"\s*([a-z]+)\s*(?::\s*(\d{1,3})\s*)?", part)
            if match is None or (match[2] is not None and match[1] not in _NUMBERED):
                raise InputError(
                    f"{part.strip()[:40]!r} is not a feature; give a list such as "
                    "mean,deviation,min,max,change,crossings,bands:6"
                )
            kinds.append(match[1])
            if match[1] in _NUMBERED:
                name, default = _NUMBERED[match[1]]
                numbers[name] = int(match[2] or default)
        return cls(tuple(kinds), **numbers)

    @property
    def text(self) -> str:
        """The features as text, with all numbers."""
        numbers = {"bands": f":{self.bands}", "crossings": f":{self.hysteresis}"}
        return ",".join(kind + numbers.get(kind, "") for kind in self.kinds)

    @property
    def names(self) -> tuple[str, ...]:
        """The features of a channel in order; bands are ``band1``, the fastest, and so on."""
        plain = tuple(kind for kind in self.kinds if kind != "bands")
        return plain + tuple(f"band{level}" for level in range(1, self.bands + 1))


_NUMBERED = {"bands": ("bands", 4), "crossings": ("hysteresis", 1)}  # numbers and their defaults


WINDOW_LIMIT = 256  # samples per channel for which sums fit 32 bits, and features 16
CHANNEL_LIMIT = 32
CENTRE = 128  # subtracted from a byte
LEVEL_BITS = 7  # fractional bits of the level
LEVEL_SHIFT = 4  # how slowly the level follows


def check_window(window: int, channels: int) -> None:
    """Refuse windows with more samples or channels than generated code supports."""
    for value, limit, what in (
        (window, WINDOW_LIMIT, "samples"),
        (channels, CHANNEL_LIMIT, "channels"),
    ):
        check_range(f"{what} of a window", value, 1, limit)


@dataclass(frozen=True)
class Windows:
    """Windows of bytes, and their features.

    Raises `InputError` if a number is out of range, or a band would have no sample.
    """

    features: FeatureSet  # the features of each channel
    window: int  # samples of a channel in a window, 1..256
    channels: int  # 1..32. A window's samples come channel by channel, then sample by sample.

    def __post_init__(self) -> None:
        check_window(self.window, self.channels)
        most = int(math.log2(self.window))
        check_range(f"bands in {self.window} samples", self.features.bands, 0, most)

    @property
    def n_features(self) -> int:
        """Number of values per window, the inputs of the device."""
        return self.window * self.channels

    @property
    def n_outputs(self) -> int:
        """Number of features of a window."""
        return self.channels * len(self.features.names)

    def of_bytes(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the features (n, F), all within 16 bits, of windows of bytes (n, N C)."""
        windows = Q.reshape(-1, self.window, self.channels).astype(np.int64)
        x = windows.transpose(0, 2, 1) - CENTRE
        total = x.sum(axis=2)
        statistics: dict[str, Callable[[], IntArray]] = {
            "mean": lambda: total,
            "deviation": lambda: roots(self.window * np.square(x).sum(axis=2) - total**2),
            "min": lambda: x.min(axis=2),
            "max": lambda: x.max(axis=2),
            "change": lambda: np.abs(np.diff(x, axis=2)).sum(axis=2) >> 1,
            "crossings": lambda: self._crossings(x),
        }
        columns = [statistics[kind]() for kind in self.features.kinds if kind != "bands"]
        return np.stack([*columns, *self._bands(x)], axis=2).reshape(len(Q), self.n_outputs)

    def _crossings(self, x: IntArray) -> IntArray:
        """Return how often, (n, C), the samples (n, C, N) cross their level."""
        limit = self.features.hysteresis << LEVEL_BITS
        scaled = x << LEVEL_BITS
        level = scaled[:, :, 0].copy()
        side = np.zeros_like(level)
        count = np.zeros_like(level)
        for sample in np.moveaxis(scaled, 2, 0):
            beyond = sample - level
            now = np.where(beyond > limit, 1, np.where(beyond < -limit, -1, side))
            count += now * side < 0
            side = now
            level += beyond >> LEVEL_SHIFT
        return count

    def _bands(self, x: IntArray) -> list[IntArray]:
        """Return the roots of the energies of samples (n, C, N), an array (n, C) per band."""
        bands = []
        for _ in range(self.features.bands):
            pairs = x.shape[2] // 2
            first, second = x[:, :, : 2 * pairs : 2], x[:, :, 1 : 2 * pairs : 2]
            bands.append(roots(np.square(second - first).sum(axis=2)))
            x = first + second
        return bands


def roots(squares: IntArray) -> IntArray:
    """Return the integer square roots, rounded down, of integers in 0..2**50."""
    root = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    root -= root * root > squares
    root += (root + 1) * (root + 1) <= squares
    return root
