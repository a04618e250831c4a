"""Copies of sounds: a clip is moved as a signal, but keeps its pitch.

Overlapping grains are moved closer together or further apart (overlap-add). A random equalizer
imitates other voices and microphones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.learn.augmentation import SignalMovement
from protonn_edge.learn.points import Float32

_HOP = 128  # samples between grains, which are twice as long
_EQUALIZER_NODES = 6
_SPACING = 5.7  # of the nodes: 4,000 / 700, as on the mel scale at 8,000 samples a second


@dataclass(frozen=True)
class SoundMovement(SignalMovement):
    """The same for clips (n, N, 1) of sound, keeping the pitch; speed is from the start on."""

    equalizer: float  # deviation of the gain at a node, in dB

    def in_time(
        self, still: Float32, speed: NDArray[np.float64], begin: NDArray[np.float64]
    ) -> Float32:
        """Return clips (n, N, 1) at other speeds and with other starts, at the same pitch."""
        n, length, _ = still.shape
        ends = np.arange(0, length + _HOP, _HOP)  # of the first half of each grain
        starts = np.rint(ends * speed + begin).astype(np.int64) - _HOP
        inside = np.arange(2 * _HOP)
        weights = np.sin(np.pi / (2 * _HOP) * inside).astype(np.float32)[:, None] ** 2
        moved = np.zeros((n, len(ends) * _HOP + _HOP, 1), np.float32)
        rows = np.arange(n)[:, None]
        for place, start in zip(ends, starts.T, strict=True):
            grain = np.clip(start[:, None] + inside, 0, length - 1)
            moved[:, place : place + 2 * _HOP] += weights * still[rows, grain]
        return moved[:, _HOP : _HOP + length]

    def equalized(self, signals: Float32, generator: np.random.Generator) -> Float32:
        """Return clips (n, N, 1) without means through a random equalizer."""
        n, length, _ = signals.shape
        decibels = generator.normal(0, self.equalizer, (n, _EQUALIZER_NODES))
        frequencies = np.log1p(_SPACING * np.linspace(0, 1, length // 2 + 1)) / np.log1p(_SPACING)
        nodes = np.arange(_EQUALIZER_NODES)[:, None]
        shares = np.maximum(0, 1 - np.abs((_EQUALIZER_NODES - 1) * frequencies - nodes))
        gain = (10 ** (decibels @ shares / 20)).astype(np.float32)
        filtered = np.fft.irfft(gain * np.fft.rfft(signals[..., 0]), length)
        return filtered.astype(np.float32, copy=False)[..., None]
