"""The registers of a sensor's chip: how to read them, and their contents when it is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Word(NamedTuple):
    """A value in the lower bits of some bytes; a shift drops the lowest."""

    bytes: int = 2
    bits: int = 16
    shift: int = 0
    signed: bool = True

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest value."""
        sizes = 1 << self.bits - self.shift
        return (-sizes // 2, sizes // 2 - 1) if self.signed else (0, sizes - 1)


_INT16 = Word()
Setting = tuple[int, tuple[tuple[float, int], ...], str, int]
"""A register, its value up to each of some sampling rates, why, and milliseconds to wait."""


@dataclass(frozen=True)
class Registers:
    """The registers of a chip on a bus, as docs/own-sensor.md explains them."""

    data_register: int
    data_bytes: int
    byte_order: str  # "big" or "little"
    places: tuple[int, ...]  # the first byte of each channel's word
    word: Word = _INT16
    addresses: tuple[int, ...] = ()  # of I2C
    read_bits: int = 0x80  # of SPI
    id_register: int = 0
    ids: tuple[int, ...] = ()
    start: tuple[Setting, ...] = ()
    fifo: bool = False
    sleeps: tuple[int, int, int] = (0, 0, 1)  # the mask of nothing is 0, so that it never sleeps
    reset: tuple[int, int] = (0, 0)

    def settings_for(self, rate: float) -> Iterator[tuple[int, int, str, int]]:
        """Yield the initial writes: register, value, reason, and milliseconds to wait."""
        for register, steps, why, wait_ms in self.start:
            most, value = next((step for step in steps if rate <= step[0]), steps[-1])
            yield register, value, why if len(steps) == 1 else f"{why}, up to {most:g} Hz", wait_ms

    def bytes_of(self, place: int) -> list[tuple[int, int]]:
        """Return where each byte of a word is, the uppermost first, and its shift in 32 bits.

        The word is at the upper end of these.
        """
        places = range(place, place + self.word.bytes)
        upwards = reversed(places) if self.byte_order == "big" else places
        each = [(at, 32 - self.word.bits + 8 * n) for n, at in enumerate(upwards)]
        return each[::-1]

    def held(self, values: NDArray[np.int16]) -> NDArray[np.uint8]:
        """Return the bytes (samples, data_bytes) of samples (samples, channels)."""
        data = np.zeros((len(values), self.data_bytes), np.uint8)
        for place, counts in zip(self.places, values.T.astype(np.int64), strict=True):
            upper = (counts << 32 - self.word.bits + self.word.shift) & 0xFFFFFFFF
            for at, shift in self.bytes_of(place):
                data[:, at] = upper >> shift & 0xFF
        return data
