"""WAV files, in the counts that an analog input has of them: full scale is full scale."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

_COUNTS = 1024


def read_wave(path: Path) -> tuple[NDArray[np.int16], float]:
    """Return the first channel of a recording, (samples, 1), 0..1023, and its rate in hertz.

    Raises
    ------
    InputError
        If it is no WAV file with PCM samples of 8 or 16 bits.
    """
    try:
        with wave.open(str(path), "rb") as recording:
            width, channels = recording.getsampwidth(), recording.getnchannels()
            rate = float(recording.getframerate())
            content = recording.readframes(recording.getnframes())
    except (wave.Error, EOFError) as error:
        reason = str(error) or "it ends too early"
        raise InputError(
            f"{path} is no WAV file with PCM samples ({reason}); convert it"
        ) from error
    if not rate:
        raise InputError(f"{path} says that it has 0 samples a second; convert it again")
    if width not in (1, 2):
        raise InputError(f"{path} has samples of {8 * width} bits; convert it to 8 or 16")
    content = content[: len(content) // (width * channels) * width * channels]
    if width == 1:
        counts = np.frombuffer(content, np.uint8).astype(np.int16) * (_COUNTS >> 8)
    else:
        counts = (np.frombuffer(content, "<i2") >> 6) + np.int16(_COUNTS // 2)
    return counts.reshape(-1, channels)[:, :1].astype(np.int16), rate
