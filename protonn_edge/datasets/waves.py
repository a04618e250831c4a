"""Recordings of sound, as an analog input of a board with a microphone would sample them."""

from __future__ import annotations

import io
import wave
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.instruments import Instrument
from protonn_edge.datasets.units import unit_of
from protonn_edge.errors import InvalidValue
from protonn_edge.system.checks import check, check_most
from protonn_edge.system.files import check_file

COUNTS = 1024
COUNT = f"1/{COUNTS - 1} of the supply voltage"
"""The unit of a value, as an analog input measures it."""
_MOST_SAMPLES = 1 << 26  # more than two hours at 8 kHz
_FRAMES_AT_ONCE = 1 << 16
_HEAD_BYTES = 4096
_EXTENSIBLE = b"\xfe\xff"  # the format tag of a header that names its format at its end
_PCM = bytes.fromhex("0100000000001000800000aa00389b71")
_UNKNOWN_BYTES = 0x7FFF0000
"""Sizes from here on are unreliable: programs that stream write the size before they know it."""
_FILE_LIMIT_BYTES = 1 << 27

CHANNELS = ("microphone",)
MICROPHONE = Instrument("microphone", (unit_of(COUNT),))
"""The instrument of a recording of sound."""


class Wave(NamedTuple):
    """A recording of sound."""

    values: NDArray[np.int16]  # (samples, 1): its first channel that is not silent, 0..1023
    rate: float  # samples a second
    channels: int  # their number in the file
    channel: int = 0  # the one that was read

    def sampled(self, rate: float | None) -> Wave:
        """Return what an analog input samples at a lower rate, without a filter."""
        if rate is None or not 0 < rate < self.rate:
            return self
        count = int(len(self.values) * rate / self.rate)
        places = (np.arange(count) * (self.rate / rate)).astype(np.int64)
        return self._replace(values=self.values[places], rate=rate)


def read_wave(path: Path) -> Wave:
    """Return the first channel of a recording that is not silent, in counts.

    Raises `InputError` unless it is a complete WAV file of 8- or 16-bit PCM, not too long.
    """
    try:
        with wave.open(_plain(path), "rb") as recording:
            width, channels = recording.getsampwidth(), recording.getnchannels()
            rate = float(recording.getframerate())
            _check(path, width, channels, rate)
            for channel in range(channels):
                counts = _counts_in(path, recording, channel)
                if len(counts) and np.ptp(counts) > 1:  # a silent one may have a bit of noise
                    break
            else:
                channel, counts = 0, _counts_in(path, recording, 0)
    except (wave.Error, EOFError, RuntimeError) as error:  # the last one: a seek beyond the end
        reason = str(error) or "the file ends too early"
        raise InvalidValue(
            path,
            f"not a WAV file with PCM samples ({reason})",
            "convert it to PCM samples of 16 bits",
        ) from error
    return Wave(counts.reshape(-1, 1), rate, channels, channel)


def _plain(path: Path) -> Any:
    """Return a WAV file for `wave`, which does not know the extensible format of PCM."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
        place = head.find(b"fmt ") + 8
        extensible = (
            head[place : place + 2] == _EXTENSIBLE and head[place + 24 : place + 40] == _PCM
        )
        if place < 8 or not extensible:
            return str(path)
        check_file(path, limit_bytes=_FILE_LIMIT_BYTES)
        return io.BytesIO(head[:place] + _PCM[:2] + head[place + 2 :] + stream.read())


def _check(path: Path, width: int, channels: int, rate: float) -> None:
    check(rate > 0, path, "a sampling rate of 0 Hz", "more", "save it again with its true rate")
    check(width in (1, 2), path, f"samples of {8 * width} bits", "8 or 16 bits", "convert it")
    # The data after the header may be shorter than stated here, never longer.
    most = path.stat().st_size // (width * channels)
    check_most(path, most, _MOST_SAMPLES, "samples", "divide the recording into several files")


def _counts_in(path: Path, recording: wave.Wave_read, channel: int) -> NDArray[np.int16]:
    """Return a channel, (samples,), read piece by piece."""
    recording.rewind()
    width, channels = recording.getsampwidth(), recording.getnchannels()
    most = min(recording.getnframes(), path.stat().st_size // (width * channels))
    counts, n = np.empty(most, np.int16), 0
    while n < most and (content := recording.readframes(_FRAMES_AT_ONCE)):
        content = content[: len(content) // (width * channels) * width * channels]
        if width == 1:
            values = np.frombuffer(content, np.uint8).astype(np.int16) * (COUNTS >> 8)
        else:
            values = (np.frombuffer(content, "<i2") >> 6) + np.int16(COUNTS // 2)
        piece = values[channel::channels]
        counts[n : n + len(piece)] = piece
        n += len(piece)
    said = recording.getnframes()
    if n < said and said * width * channels < _UNKNOWN_BYTES:
        raise InvalidValue(
            path,
            f"{n:,} samples, expected the {said:,} of its header",
            "copy or record the file again",
        )
    return counts[:n]
