"""A board at the end of a bad line, or with a bad counter: right results, or one sentence."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from fake_device import HostileDevice, ReferenceModel, SimulatedHost
from model_factory import random_inputs, tiny_integer_model

from protonn_edge.chips.boards import load_board
from protonn_edge.device import protocol
from protonn_edge.device.connection import Link
from protonn_edge.device.runner import ReferenceAnswers, run
from protonn_edge.device.session import Session
from protonn_edge.extensions.arduino.bench import Bench, BenchReply, BenchRequest, stated_bench
from protonn_edge.system.errors import DeviceError, ProtoNNEdgeError

BOARD = load_board("esp32")
REFERENCE = tiny_integer_model()
_BOOT = b"ets Jul 29 2019 12:21:46\r\n\x00rst:0x1 (POWERON_RESET),boot:0x13\r\n\xff\x00\x80\x00"
_POINTS = 5
_RIGHT = BenchReply(1, BOARD.clock_hz, 4, 3, 1_200)
_STILL = BenchReply(1, BOARD.clock_hz, 0, 3, 0)
_BACKWARDS = BenchReply(1, BOARD.clock_hz, 4, 3, 2**32 - 900)


class ModelOnACore(ReferenceModel):
    """A model that runs on top of a board's core, with a window of 0."""

    def __init__(self, bench: BenchReply = _RIGHT, clock_hz: int = BOARD.clock_hz) -> None:
        super().__init__(REFERENCE, 1_000)
        self.bench, self.clock_hz = bench, clock_hz

    def reply(self, request: protocol.Message) -> protocol.Message:
        if isinstance(request, BenchRequest):
            return self.bench
        reply = super().reply(request)
        if isinstance(reply, protocol.HelloReply):
            words = reply.payload()[:-5] + self.clock_hz.to_bytes(4, "little") + b"\0"
            return protocol.HelloReply.from_payload(words)
        if isinstance(reply, protocol.StatsReply):
            return protocol.StatsReply(96, 0, 0, 0, 0, 1)
        return reply


class BadLine(SimulatedHost):
    """Drops, duplicates, delays and damages replies, breaks, and resets the board when it opens.

    The board prints its boot, and answers nothing until it has started.
    """

    def __init__(self, seed: int, bench: BenchReply) -> None:
        self._random = Random(seed)
        self._badness = self._random.choice((0.05, 0.2, 0.5, 0.9))
        self._longest_boot_s = self._random.choice((0.1, 3.0, 12.0))
        device = HostileDevice(ModelOnACore(bench), answer=self._answer, breaks=self._breaks)
        super().__init__(device)
        self.resets, self._late = 0, b""

    def open(self, url: str, baud: int) -> Link:
        self.resets += 1
        self._late = b""
        self._started_s = self.seconds + self._random.uniform(0, self._longest_boot_s)
        return super().open(url, baud)

    def _breaks(self, _request: int) -> bool:
        return self._random.random() < 0.02 * self._badness

    def _answer(self, request: protocol.Message, right: protocol.Message) -> bytes:
        if self.seconds < self._started_s:
            return _BOOT
        late, self._late = self._late, b""
        frame = protocol.encode_message(right, self.device.requests[-1][1])
        place, fault = self._random.randrange(len(frame)), self._random.random() / self._badness
        before, after = frame[:place], frame[place + 1 :]
        if isinstance(request, protocol.HelloRequest):
            late += _BOOT
        if fault < 0.2:
            return late
        if fault < 0.4:
            return late + before + after
        if fault < 0.6:
            return late + before + 2 * frame[place : place + 3] + frame[place + 3 :]
        if fault < 0.8:
            self._late = frame  # until the next request
            return late
        return late + (before + bytes([frame[place] ^ 0x41]) + after if fault < 1 else frame)


def tried(seed: int) -> str:
    """Return "right" or the sentence of a run on a bad line; a wrong result fails."""
    bench = (_RIGHT, _RIGHT, _RIGHT, _STILL, _BACKWARDS)[seed % 5]
    Q, line = random_inputs(seed, _POINTS, REFERENCE), BadLine(seed, bench)
    expected = ReferenceAnswers.of(REFERENCE, Q)
    model = bytes.fromhex(REFERENCE.model_sha256)
    try:
        with Session("simulated", model_hash=model, board=BOARD, host=line) as session:
            done = run([session], Q, expected.classes, expected)
            stated_bench(session, REFERENCE)
    except ProtoNNEdgeError as error:
        return str(error)
    assert bench is _RIGHT
    answered = [each for each in done.results if each.scores is not None]
    assert not any(each.mismatch for each in answered)
    return ("right" if len(answered) == _POINTS else "unanswered") + " again" * (line.resets > 1)


@pytest.mark.parametrize("seeds", [60, pytest.param(2_000, marks=pytest.mark.nightly)])
def test_bad_lines_give_right_results_or_one_sentence(seeds: int) -> None:
    ends = [tried(seed) for seed in range(seeds)]
    assert not any("\n" in each for each in ends)
    assert sum(each.startswith("right") for each in ends) > seeds / 3
    for said in ("stands still, so its times", "so its counter jumps"):
        assert any(said in each for each in ends)


def ask(bench: BenchReply, clock_hz: int = BOARD.clock_hz) -> Bench | None:
    device = HostileDevice(ModelOnACore(bench, clock_hz))
    with Session("simulated", board=BOARD, host=SimulatedHost(device)) as session:
        return stated_bench(session, REFERENCE)


@pytest.mark.parametrize(
    ("bench", "clock_hz", "said"),
    [
        (BenchReply(1, 240_000_000, 4, 3, 24_000), 240_000_000, "the core's cycle counter, the "),
        (BenchReply(0, 1_000_000, 4, 3, 24_000), 240_000_000, "a timer, in steps of 4 us, the f"),
        (BenchReply(1, 0, 9, 3, 24_000), 0, "instructions of an emulated core, the fastest of 3"),
    ],
)
def test_it_is_said_by_what_a_device_measures(bench: BenchReply, clock_hz: int, said: str) -> None:
    stated = ask(bench, clock_hz)
    assert str(stated).startswith(said)
    assert ("a first run took up to 0.1 ms" in str(stated)) == bool(clock_hz)


@pytest.mark.parametrize("off", [0, 249, -249, 251])
def test_repetitions_may_take_a_quarter_more_or_less(off: int) -> None:
    device = HostileDevice(
        ModelOnACore(),
        answer=lambda request, right: (
            protocol.RepeatReply(right.label, right.cycles + off * 10)
            if isinstance(request, protocol.RepeatRequest)
            else right
        ),
    )
    point = np.zeros(REFERENCE.n_features, np.uint8)
    with Session("simulated", board=BOARD, host=SimulatedHost(device)) as session:
        if abs(off) < 250:
            assert session.repeat(point, 10).cycles == 10_000 + off * 10
        else:
            with pytest.raises(ProtoNNEdgeError, match="must take 10,000 cycles"):
                session.repeat(point, 10)


def test_another_board_s_clock_is_refused_and_a_window_of_0_is_not() -> None:
    with pytest.raises(DeviceError, match="reports a clock of 80,000,000 Hz, but esp32 runs at"):
        ask(BenchReply(1, 80_000_000, 4, 3, 0), 80_000_000)
    device = HostileDevice(ModelOnACore(clock_hz=16_000_000))
    with (
        pytest.raises(ProtoNNEdgeError, match="send window of uno must have 1 to"),
        Session("simulated", board=load_board("uno"), host=SimulatedHost(device)),
    ):
        pass
