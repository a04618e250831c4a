"""What happens to a voice on its way to a board: throat, room, microphone, noise and level.

A synthesizer speaks as in a studio. Each take gets a speaker of another size, a room with echoes, a
microphone with its own band, and noise, all drawn at random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.sensing.speech.synthesizers import Sound

Samples = NDArray[np.float64]

_QUIET = 0.02  # of a word's peak: what counts as silence at its ends
_EDGE_S = 0.01  # kept of this silence
_SIZES = (0.87, 1.15)
_ECHOES_S = (0.08, 0.4)  # until an echo is a thousand times weaker
_ECHO_SHARE = 0.25  # at most, of the sum of all squares
_LOWEST_HZ = (40.0, 250.0)
_HIGHEST = (0.65, 0.97)  # of half the sampling rate
_NOISE_DB = (20.0, 45.0)  # below the word
_PEAKS = (0.4, 0.9)  # of full scale
_FULL_SCALE = 32_767
_LEAD_S, _TAIL_S = 0.1, 0.1


@dataclass(frozen=True)
class Acoustics:
    """One way from a mouth to a board."""

    size: float  # of the speaker's throat: a larger one has a lower voice
    echo_s: float
    echo_share: float
    band_hz: tuple[float, float]
    noise_db: float
    peak: float

    @classmethod
    def drawn(cls, rate: float, generator: np.random.Generator) -> Self:
        """Draw one for a sampling rate in Hz; half of the rooms have no echo."""
        lowest, highest = generator.uniform(*_LOWEST_HZ), generator.uniform(*_HIGHEST)
        return cls(
            size=generator.uniform(*_SIZES),
            echo_s=generator.uniform(*_ECHOES_S),
            echo_share=max(0.0, generator.uniform(-_ECHO_SHARE, _ECHO_SHARE)),
            band_hz=(lowest, highest * rate / 2),
            noise_db=generator.uniform(*_NOISE_DB),
            peak=generator.uniform(*_PEAKS),
        )

    def heard(
        self, word: Sound, rate: float, least_s: float, generator: np.random.Generator
    ) -> NDArray[np.int16]:
        """Return a word as a board with `rate` samples a second hears it, of `least_s` or more."""
        from scipy.signal import butter, lfilter  # half a second, for what `speak` alone does

        samples = _trimmed(_resampled(word, rate, self.size), rate)
        samples = self._in_room(samples, rate, generator)
        b, a = butter(1, np.array(self.band_hz) / (rate / 2), "band")
        samples = lfilter(b, a, samples)
        lead, tail = round(rate * _LEAD_S), round(rate * _TAIL_S)
        missing = math.ceil(rate * least_s) - len(samples) - lead
        whole = np.pad(samples, (lead, max(tail, missing)))
        loudness = float(np.sqrt(np.mean(samples**2)))
        whole += generator.normal(0, loudness * 10 ** (-self.noise_db / 20), len(whole))
        scaled = whole / np.abs(whole).max() * self.peak * _FULL_SCALE
        return np.asarray(np.rint(scaled), np.int16)

    def _in_room(self, samples: Samples, rate: float, generator: np.random.Generator) -> Samples:
        """Add echoes: noise that fades exponentially."""
        from scipy.signal import fftconvolve

        if self.echo_share == 0:
            return samples
        times = np.arange(1, int(self.echo_s * rate))
        echoes = generator.normal(0, 1, len(times)) * 1000 ** (-times / len(times))
        echoes *= math.sqrt(self.echo_share / np.sum(echoes**2))
        return np.asarray(fftconvolve(samples, np.concatenate([[1.0], echoes])))


def _resampled(word: Sound, rate: float, size: float) -> Samples:
    """Return samples at another rate; a speaker of another size is sound at another speed."""
    from scipy.signal import resample

    count = max(1, round(len(word.samples) * rate * size / word.rate))
    return np.asarray(resample(word.samples, count))


def _trimmed(samples: Samples, rate: float) -> Samples:
    """Return a word without the silence around it."""
    loud = np.flatnonzero(np.abs(samples) > _QUIET * np.abs(samples).max())
    edge = round(rate * _EDGE_S)
    return samples[max(0, loud[0] - edge) : loud[-1] + 1 + edge]
