"""Recordings of sound, as an analog input of a board with a microphone would sample them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.units import unit_of
from protonn_edge.system.checks import check, check_most
from protonn_edge.system.errors import InvalidValue, cannot_read, counted

COUNTS = 1024
COUNT = f"1/{COUNTS - 1} of the supply voltage"
"""The unit of a value, as an analog input measures it."""
_MOST_SAMPLES = 1 << 26  # more than two hours at 8 kHz
_FRAMES_AT_ONCE = 1 << 16
_MOST_CHUNKS, _LEAST_FORMAT, _MOST_FORMAT = 1_000, 16, 1 << 10  # the last two in bytes
_LOUDEST = 8.0  # of floats, which programs scale to -1..1
_INTEGERS, _FLOATS, _A_LAW, _MU_LAW, _EXTENSIBLE = 1, 3, 6, 7, 0xFFFE  # formats of samples
_UNKNOWN_BYTES = 0x7FFF0000
"""Sizes from here on are unreliable: programs that stream write the size before they know it."""

Int16 = NDArray[np.int16]


def _of_integers(samples: NDArray[np.uint8]) -> Int16:
    """Return the counts of little-endian integers, whose two upper bytes are enough."""
    upper = np.ascontiguousarray(samples[..., -2:]).view("<i2")[..., 0]
    return (upper >> 6) + np.int16(COUNTS // 2)


def _of_floats(samples: NDArray[np.uint8]) -> Int16:
    """Return the counts of floats from -1 to 1; the loudest sounds may be a little beyond."""
    values = samples.view(f"<f{samples.shape[-1]}")[..., 0]
    usual = np.abs(values) <= _LOUDEST
    if not usual.all():
        raise InvalidValue("a sample", f"{values[~usual][0]:g}, expected a number from -1 to 1")
    counts = np.floor(values * (COUNTS // 2)) + COUNTS // 2
    within: Int16 = np.clip(counts, 0, COUNTS - 1).astype(np.int16)
    return within


def _of_law(is_a_law: bool) -> Callable[[NDArray[np.uint8]], Int16]:
    """Return what expands the bytes of a telephone line (ITU-T G.711)."""
    byte = np.arange(256) ^ (0x55 if is_a_law else 0xFF)
    exponent, mantissa = byte >> 4 & 7, byte & 15
    if is_a_law:
        size = (2 * mantissa + 1 + 32 * (exponent > 0)) << 3 + np.maximum(exponent - 1, 0)
    else:
        size = (((2 * mantissa + 33) << exponent) - 33) << 2
    counts = (np.where((byte > 127) == is_a_law, size, -size) >> 6) + COUNTS // 2
    return lambda samples: counts.astype(np.int16)[samples[..., 0]]


_READERS: dict[tuple[int, int], Callable[[NDArray[np.uint8]], Int16]] = {
    (_INTEGERS, 1): lambda samples: samples[..., 0].astype(np.int16) * (COUNTS >> 8),
    **{(_INTEGERS, width): _of_integers for width in (2, 3, 4)},
    **{(_FLOATS, width): _of_floats for width in (4, 8)},
    (_A_LAW, 1): _of_law(is_a_law=True),
    (_MU_LAW, 1): _of_law(is_a_law=False),
}
"""What makes counts of samples (..., bytes), by their format and their width in bytes."""

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

    Raises `InputError` unless it is a complete WAV file of integers of 8 to 32 bits, floats, A-law
    or mu-law, not too long.
    """
    try:
        with path.open("rb") as stream:
            sound = _Sound.opened(path, stream)
            for channel in range(sound.channels):
                counts = sound.counts(channel)
                if len(counts) and np.ptp(counts) > 1:  # a silent one may have a bit of noise
                    break
            else:
                channel, counts = 0, sound.counts(0)
    except OSError as error:
        raise cannot_read(path, error) from error
    return Wave(counts.reshape(-1, 1), sound.rate, sound.channels, channel)


@dataclass(frozen=True)
class _Sound:
    """The samples in an open WAV file."""

    path: Path
    stream: IO[bytes]
    counts_of: Callable[[NDArray[np.uint8]], Int16]
    channels: int
    rate: float
    width: int  # bytes of a sample
    begin: int  # where the samples begin,
    stated: int  # and the bytes that they have by the header

    @classmethod
    def opened(cls, path: Path, stream: IO[bytes]) -> Self:
        head = stream.read(12)
        if head[:4] != b"RIFF" or head[8:] != b"WAVE":
            raise _unreadable(path, "not a WAV file")
        described = b""
        for _ in range(_MOST_CHUNKS):
            name, size = struct.unpack("<4sI", stream.read(8).ljust(8, b"\0"))
            if name == b"data" and described:
                return cls._described(path, stream, described, size)
            if name == b"fmt " and _LEAST_FORMAT <= size <= _MOST_FORMAT:
                described = stream.read(size + size % 2)
            else:
                stream.seek(size + size % 2, 1)
        raise _unreadable(path, "a WAV file that ends before its samples")

    @classmethod
    def _described(cls, path: Path, stream: IO[bytes], described: bytes, size: int) -> Self:
        form, channels, rate, _, block, bits = struct.unpack("<HHIIHH", described[:16])
        if form == _EXTENSIBLE and len(described) > 25:
            form = int.from_bytes(described[24:26], "little")
        check(rate > 0, path, "a sampling rate of 0 Hz", "more", "save it again with its true rate")
        width = block // max(1, channels)
        counts_of = _READERS.get((form, width))
        if counts_of is None or not channels or block % channels or (bits + 7) // 8 != width:
            what = f"{counted(channels, 'channel')} of {counted(bits, 'bit')}"
            raise _unreadable(path, f"a WAV file of the format {form:#06x} with {what}")
        sound = cls(path, stream, counts_of, channels, float(rate), width, stream.tell(), size)
        check_most(
            path, sound.samples, _MOST_SAMPLES, "samples", "divide the recording into several files"
        )
        return sound

    @property
    def samples(self) -> int:
        """Return how many samples of each channel there are, at most as many as it states."""
        there = min(self.path.stat().st_size - self.begin, self.stated)
        return max(0, there) // (self.width * self.channels)

    def counts(self, channel: int) -> Int16:
        """Return a channel, (samples,), read piece by piece."""
        block, stated = self.width * self.channels, self.stated // (self.width * self.channels)
        if self.samples < stated and self.stated < _UNKNOWN_BYTES:
            raise InvalidValue(
                self.path,
                f"{self.samples:,} samples, expected the {stated:,} of its header",
                "copy or record the file again",
            )
        counts = np.empty(self.samples, np.int16)
        self.stream.seek(self.begin)
        for first in range(0, len(counts), _FRAMES_AT_ONCE):
            piece = counts[first : first + _FRAMES_AT_ONCE]
            content = np.frombuffer(self.stream.read(len(piece) * block), np.uint8)
            frames = content.reshape(len(piece), self.channels, self.width)
            try:
                piece[:] = self.counts_of(np.ascontiguousarray(frames[:, channel]))
            except InvalidValue as error:
                raise error.within(str(self.path), "scale the samples, or convert them") from error
        return counts


def _unreadable(path: Path, reason: str) -> InvalidValue:
    remedy = f"convert it, for example with ffmpeg -i {path.name} -c:a pcm_s16le new.wav"
    return InvalidValue(path, reason, remedy)
