"""Sound: bands that are mirrored and bands that are not, short frames and long ones."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log2

from extensions.sound.audio_factory import audio_of, extreme_clips, random_audio_model, random_clips
from laws.conformance.instances import Instance

from protonn_edge.extensions.sound.features.audio.integers import IntegerAudio
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield clips."""
    for name, bands, frames, length in (
        ("bands of either kind", 3, 2, 128),
        ("one band, which is not mirrored", 1, 2, 131),
        ("many bands, and the longest frames", 13, 1, 512),
    ):
        stage = audio_of(bands, frames, length)
        model = quantize(random_audio_model(stage))
        extremes = extreme_clips(stage)
        reached = name == "bands of either kind"
        yield Instance(
            name, model, model.stages[0], random_clips(5, 12, stage), extremes, reached=reached
        )


def reference(stage: IntegerAudio, point: list[int]) -> list[int]:
    """Return the features of a clip."""
    clip = stage.clip
    energies = [_energies(stage, point, number) for number in range(len(clip.bands))]
    quiet = clip.length // 4
    return [
        min(_logarithm(band[frame] + quiet) - _logarithm(quiet), 127)
        for frame in range(clip.frames)
        for band in energies
    ]


def _energies(stage: IntegerAudio, point: list[int], number: int) -> list[int]:
    clip = stage.clip
    band, early = clip.bands[number], len(clip.bands) - 1 - number
    y, energies, energy = [0, 0], [], 0
    for t, sample in enumerate(point):
        v = sample - point[max(t - 2, 0)]
        if band.mirrored and t % 2:
            v = -v
        y.append((band.turn * y[-1] - band.decay * y[-2]) // 128 + band.gain * v)
        assert -32768 <= y[-1] <= 32767
        energy += y[-1] // 256 if y[-1] >= 0 else -1 - y[-1] // 256
        if (t + 1 + early) % clip.length == 0:
            energies.append(energy)
            energy = 0
    return energies


def _logarithm(z: int) -> int:
    p = z.bit_length() - 1
    return 16 * p + floor(16 * log2(1 + ((z >> (p - 5)) - 32) / 32))
