"""Power meters that measure a board with a known current, each as its documentation describes it.

`PlayedBoard` stands for the board, its session and the clock: whatever it does takes no real time.
While it repeats predictions or somebody sleeps, its meter samples this time and sends the samples
over a pseudo-terminal, or hands them over.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chips.boards import load_board
from protonn_edge.device.connection import Host
from protonn_edge.device.session import Prediction
from protonn_edge.extensions.lab.meters.meter import Meter, MeterSamples

UNO = load_board("uno")
VOLTS = 5.02
_WAIT_S = 10.0

Floats = NDArray[np.float64]


@dataclass
class Profile:
    """A board's current, in amperes; a prediction has two phases of different lengths."""

    cycles: int = 14_336
    phases: tuple[float, float] = (0.0490, 0.0462)
    first_share: float = 0.3
    idle: float = 0.0411
    noise: float = 0.0005

    @property
    def seconds(self) -> float:
        """Of a repetition, with what lies between two."""
        return (self.cycles + 130) / UNO.clock_hz

    @property
    def busy(self) -> float:
        first, second = self.phases
        return self.first_share * first + (1 - self.first_share) * second

    @property
    def net_mj(self) -> float:
        """The energy of a prediction above idle."""
        return (self.busy - self.idle) * VOLTS * UNO.milliseconds(self.cycles)

    def amperes(self, since: Floats) -> Floats:
        """Return currents at times since the begin of a batch."""
        return np.where(since / self.seconds % 1 < self.first_share, *self.phases)


class EmulatedMeter:
    """A meter without errors; `gain` and `offset` in amperes make them."""

    rate = 100_000.0

    def __init__(self, seed: int = 0, gain: float = 0.0, offset: float = 0.0) -> None:
        self.random = np.random.default_rng(seed)
        self.gain, self.offset = gain, offset
        self.began = self.random.uniform(0, 1)  # its clock is not the board's
        self.count = 0  # of samples

    def times(self, until: float) -> Floats:
        """Return the times of the samples that are due."""
        last = int((until + self.began) * self.rate)
        found = np.arange(self.count, last) / self.rate - self.began
        self.count = max(self.count, last)
        return found

    def begin(self) -> None:
        """Wait until it was asked for samples."""

    def play(self, amperes: Floats, busy: bool) -> None:
        """Send what it measures of true currents."""
        raise NotImplementedError

    def measured(self, amperes: Floats) -> Floats:
        return (1 + self.gain) * amperes + self.offset


class PlayedBoard(Host):
    """The host, and the session with a board, of which a meter takes samples."""

    def __init__(self, meter: EmulatedMeter, profile: Profile | None = None) -> None:
        self.meter = meter
        self.profile = profile or Profile()
        self.time = 0.0
        self._random = np.random.default_rng(7)
        self._begun = False

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        if not self._begun:
            self.meter.begin()
            self._begun = True
        self._pass(seconds + self._random.uniform(0, 0.003), busy=False)

    def predict(self, _: ArrayLike) -> Prediction:
        self.repeat(None, 1)
        return Prediction(1, self.profile.cycles)

    def repeat(self, _: ArrayLike | None, n: int) -> Prediction:
        self._pass(0.006, busy=False)  # the request
        self._pass(n * self.profile.seconds, busy=True)
        self._pass(self._random.uniform(0.001, 0.003), busy=False)  # the reply
        return Prediction(1, n * self.profile.cycles)

    def _pass(self, seconds: float, *, busy: bool) -> None:
        begin, self.time = self.time, self.time + seconds
        times = self.meter.times(self.time)
        if not self._begun:
            return
        profile = self.profile
        true = profile.amperes(times - begin) if busy else np.full(len(times), profile.idle)
        self.meter.play(true + self._random.normal(0, profile.noise, len(times)), busy)


class _Terminal(EmulatedMeter):
    """A meter on a pseudo-terminal; a thread answers its commands."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        self.url = os.ttyname(slave)
        self._slave = slave
        self._closed = False
        self.streaming = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed = True
        self._thread.join(_WAIT_S)
        os.close(self._master)
        os.close(self._slave)

    def _serve(self) -> None:
        while not self._closed:
            commands = b""
            if select.select([self._master], [], [], 0.01)[0]:
                commands = os.read(self._master, 100)
            self.answer(commands)

    def answer(self, commands: bytes) -> None:
        raise NotImplementedError

    def begin(self) -> None:
        assert self.streaming.wait(_WAIT_S)

    def send(self, data: bytes) -> None:
        while data and not self._closed:
            if select.select([], [self._master], [], 0.05)[1]:
                data = data[os.write(self._master, data) :]


class EmulatedPpk2(_Terminal):
    """A PPK2; some of its samples are `lost`, in bursts of up to 40."""

    R = (1001.2, 101.1, 10.31, 0.951, 0.0502)
    O3, GI3 = 61.5, 0.9885
    LIMITS = (50e-6, 500e-6, 5e-3, 0.0475)  # the last one lies between idle and busy

    def __init__(self, *args: Any, loss: float = 0.0, noise: bytes = b"", **settings: Any) -> None:
        self.loss, self.noise = loss, noise
        self.lost = 0
        self.received: list[bytes] = []
        super().__init__(*args, **settings)

    def answer(self, commands: bytes) -> None:
        if commands:
            self.received.append(commands)
        if b"\x19" in commands:
            text = "Calibrated: 1\n" + "".join(f"R{i}: {r}\n" for i, r in enumerate(self.R))
            text += f"GI3: {self.GI3}\nO3: {self.O3}\nS3: 0.000000\nHW: 9173\nIA: 56\nEND"
            self.send(self.noise or text.encode())
        if b"\x06" in commands:
            self.streaming.set()
        if b"\x07" in commands:
            self.streaming.clear()

    def play(self, amperes: Floats, busy: bool) -> None:
        if not self.streaming.is_set() or not len(amperes):
            return
        found = self.measured(amperes)
        ranges = np.searchsorted(self.LIMITS, amperes)
        # What Nordic's program computes of a count, the other way round.
        gains = np.where(ranges == 3, self.GI3, 1.0)
        bare = (np.sqrt(gains**2 + 4 * found) - gains) / 2
        offsets = np.where(ranges == 3, self.O3, 0.0)
        counts = bare * np.array(self.R)[ranges] / (1.8 / 163_840) + offsets
        dither = self.random.uniform(-0.5, 0.5, len(counts))
        words = np.rint(counts / 4 + dither).astype(np.int64).clip(0, 0x3FFF) | ranges << 14
        words |= (np.arange(self.count - len(words), self.count) & 63) << 18
        words |= (0x02 | int(busy)) << 24  # D1 is high, too
        kept = np.ones(len(words), np.bool_)
        for at in range(1, len(words), 128):  # bursts apart: 64 lost ones in a row would not show
            if self.random.uniform() < self.loss * 128 / 20:
                kept[at : at + self.random.integers(1, 40)] = False
        kept[-1] = True
        self.lost += int((~kept).sum())
        self.send(self.noise[: 4 * len(words)] or words[kept].astype("<u4").tobytes())


class EmulatedIna219(_Terminal):
    """The sketch of an INA219; some of its lines are lost or damaged."""

    rate = 1_000.0

    def __init__(self, *args: Any, loss: float = 0.0, noise: bytes = b"", **settings: Any) -> None:
        self.loss, self.noise = loss, noise
        self.lost = 0
        self._number = 65_000
        self._playing = False
        super().__init__(*args, **settings)

    def answer(self, commands: bytes) -> None:
        assert not commands
        if not self._playing:
            self.send(self.noise or self._line(0.04, busy=False))

    def begin(self) -> None:
        self._playing = True
        self._thread.join(0.03)  # the last line before

    def _line(self, amperes: float, *, busy: bool) -> bytes:
        shunt = round(amperes * 0.1 / 10e-6 + self.random.uniform(-0.5, 0.5)) & 0xFFFF
        bus = round(VOLTS / 4e-3) << 3 | 2
        self._number = (self._number + 1) & 0xFFFF
        text = f"S{self._number:04X}{shunt:04X}{bus:04X}{int(busy)}".encode()
        return text + f"{sum(text) & 0xFF:02X}\n".encode()

    def play(self, amperes: Floats, busy: bool) -> None:
        for place, each in enumerate(self.measured(amperes)):
            line = self._line(each, busy=busy)
            inside = 0 < place < len(amperes) - 1  # the first and the last one would not be missed
            if inside and self.random.uniform() < self.loss:
                self.lost += 1
                line = line.replace(b"S", b"5") if self.random.uniform() < 0.5 else b""
            self.send(line)


class EmulatedSampler(EmulatedMeter):
    """A meter without a line; `meter` reads it, and has no errors of gain and offset."""

    def __init__(self, *args: Any, rate: float = 100_000.0, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.rate = rate
        self.played: list[tuple[Floats, bool]] = []
        self.meter = _Sampler(self)

    def begin(self) -> None:
        assert self.meter.sampling.wait(_WAIT_S)

    def play(self, amperes: Floats, busy: bool) -> None:
        self.played.append((self.measured(amperes), busy))


class _Sampler(Meter):
    NAME, TRIGGER = "sampler", "input"
    GAIN = OFFSET_AMPERES = 0.0

    def __init__(self, emulated: EmulatedSampler) -> None:
        super().__init__("", VOLTS)
        self._emulated = emulated
        self.sampling = threading.Event()
        self.opened = False

    def _open(self) -> None:
        self.opened = True

    def _close(self) -> None:
        self.opened = False

    def _sample(self, ended: threading.Event) -> MeterSamples:
        self.sampling.set()
        assert ended.wait(_WAIT_S)
        amperes = np.concatenate([part for part, _ in self._emulated.played])
        busy = np.concatenate([np.full(len(part), busy) for part, busy in self._emulated.played])
        n = len(amperes)
        seconds = np.arange(n) / self._emulated.rate
        return MeterSamples(seconds, np.full(n, VOLTS), amperes, busy, np.zeros(n), dropped=0)


@contextlib.contextmanager
def closed_after(meter: Any) -> Iterator[Any]:
    """Close an emulated meter afterwards."""
    try:
        yield meter
    finally:
        meter.close()
