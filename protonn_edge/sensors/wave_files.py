"""WAV files, in the counts that an analog input has of them: full scale is full scale."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

_COUNTS = 1024
_MOST_SAMPLES = 1 << 26  # more than two hours at 8 kHz
_FRAMES_AT_ONCE = 1 << 16
_UNKNOWN_BYTES = 0x7FFF0000
"""A size from here on is no promise: programs that stream write one before they know it."""


class Wave(NamedTuple):
    """A recording of sound."""

    values: NDArray[np.int16]  # (samples, 1): its first channel, 0..1023
    rate: float  # samples a second
    channels: int  # how many the file has


def read_wave(path: Path) -> Wave:
    """Return the first channel of a recording in counts.

    Raises `InputError` if it is no WAV file with PCM samples of 8 or 16 bits, too long, or cut off.
    """
    try:
        with wave.open(str(path), "rb") as recording:
            width, channels = recording.getsampwidth(), recording.getnchannels()
            rate = float(recording.getframerate())
            _check(path, width, channels, rate)
            counts = _counts_in(path, recording)
    except (wave.Error, EOFError, RuntimeError) as error:  # the last one: a seek beyond the end
        reason = str(error) or "it ends too early"
        raise InputError(
            f"{path} is not a WAV file with PCM samples ({reason}); convert it to PCM samples of "
            "16 bits"
        ) from error
    return Wave(counts.reshape(-1, 1), rate, channels)


def _check(path: Path, width: int, channels: int, rate: float) -> None:
    if not rate:
        raise InputError(f"{path} has a sample rate of 0; convert it again")
    if width not in (1, 2):
        raise InputError(f"{path} has samples of {8 * width} bits; convert it to 8 or 16")
    # What is behind the header may be less than this says, and never is more.
    most = path.stat().st_size // (width * channels)
    if most > _MOST_SAMPLES:
        raise InputError(
            f"{path} has {most:,} samples, the limit is {_MOST_SAMPLES:,}; cut it into several"
        )


def _counts_in(path: Path, recording: wave.Wave_read) -> NDArray[np.int16]:
    """Return the first channel, (samples,), read piece by piece."""
    width, channels = recording.getsampwidth(), recording.getnchannels()
    most = min(recording.getnframes(), path.stat().st_size // (width * channels))
    counts, n = np.empty(most, np.int16), 0
    while n < most and (content := recording.readframes(_FRAMES_AT_ONCE)):
        content = content[: len(content) // (width * channels) * width * channels]
        if width == 1:
            values = np.frombuffer(content, np.uint8).astype(np.int16) * (_COUNTS >> 8)
        else:
            values = (np.frombuffer(content, "<i2") >> 6) + np.int16(_COUNTS // 2)
        piece = values[::channels]
        counts[n : n + len(piece)] = piece
        n += len(piece)
    said = recording.getnframes()
    if n < said and said * width * channels < _UNKNOWN_BYTES:
        raise InputError(
            f"{path} is cut off: its header says {said:,} samples, and {n:,} are there; copy or "
            "record it again"
        )
    return counts[:n]
