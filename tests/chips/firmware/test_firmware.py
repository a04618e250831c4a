"""The whole firmware on the emulated Uno: what it answers, what it survives, what it measures.

What any bytes are answered with, valid or not, `tests/laws/fuzz/frames.py` compares on the host.
"""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.device import protocol
from protonn_edge.device.connection import NoReplyError
from protonn_edge.device.protocol import (
    HelloReply,
    HelloRequest,
    PredictReply,
    PredictRequest,
    RepeatReply,
    RepeatRequest,
    ScoresReply,
    ScoresRequest,
    StatsReply,
    StatsRequest,
    encode_message,
)
from protonn_edge.device.session import Session
from protonn_edge.system.errors import InputError

HASH = bytes.fromhex("face000102030405")
WINDOW = 56
OVERFLOW_CYCLES = 35  # of the timer's interrupt
RECEIVING_CYCLES = 57  # of a byte's interrupt
HELD = {"PNN_CHUNK_FEATURES": "4u"}  # all features before anything is computed
# As slow as a chunk may be: 10 projections at 16 cycles a feature, and more than the wire brings.
BUSY = {"FAKE_FEATURES": "300u", "FAKE_PROJECTIONS": "10u", "FAKE_PUSH_DELAY": 140}
# 20 ms, in which 230 bytes arrive.
THINKING = {"FAKE_FINISH_DELAY": "32000ul", "FAKE_FINISH_REPEATS": "10u"}


def scores_of(features: bytes, classes: int = 3, bend: int = 200) -> tuple[int, ...]:
    return tuple((c + 1) * sum(features) - c * c * bend for c in range(classes))


def label_of(features: bytes, classes: int = 3) -> int:
    return int(np.argmax(scores_of(features, classes)))


def hello(features: int = 4, classes: int = 3) -> HelloReply:
    return HelloReply(2, 0, features, classes, HASH, 16_000_000, WINDOW)


# --- answers -------------------------------------------------------------------------------------


def test_hello_says_what_the_device_is(start):
    _, line = start()
    assert line.ask(HelloRequest()) == hello()


def test_requests_of_all_kinds_follow_each_other_without_a_pause(start):
    uno, line = start()
    source = random.Random(0)
    for sequence in range(256):
        features = source.randbytes(4)
        request = source.choice(
            [HelloRequest(), PredictRequest(features), ScoresRequest(features), StatsRequest()]
        )
        content = line.ask(request, sequence)
        assert content.TYPE == request.TYPE | protocol.REPLY
        if isinstance(content, PredictReply | ScoresReply):
            assert content.label == label_of(features)
    assert uno.stats().overruns == 0
    assert uno.stats().faults == ()


# --- what it survives ----------------------------------------------------------------------------


def test_bytes_that_overflow_the_ring_are_counted_and_it_goes_on(start):
    _, line = start(**THINKING)
    # At once: a busy machine may send the rest only when the board has answered.
    line.send(encode_message(PredictRequest(bytes(4)), 1) + b"\x05" * 200)
    assert line.receive()[0] == 1
    content = line.ask_until_answered(StatsRequest())
    assert isinstance(content, StatsReply)
    assert 0 < content.overruns <= 200 - 63  # the ring holds 63
    assert content.frames_dropped == 1
    assert line.ask(HelloRequest(), 4) == hello()


def test_features_that_take_longer_than_the_ring_can_wait_show_as_overruns(start):
    uno, line = start(FAKE_FEATURES="200u", FAKE_PROJECTIONS="255u", FAKE_PUSH_DELAY=6000)
    line.send(encode_message(PredictRequest(bytes(range(1, 201))), 1))
    content = line.ask_until_answered(StatsRequest())
    assert isinstance(content, StatsReply)
    assert content.frames_dropped > 0
    assert content.overruns > 0
    assert uno.stats().overruns == 0  # the receiver's own bytes are fetched in time
    assert line.ask(HelloRequest(), 200) == hello(features=200)


# --- what it measures ----------------------------------------------------------------------------


def assert_cycles_are_those_of_the_emulator(uno, line, inputs):
    reported = []
    for features in inputs:
        before = uno.stats().marked_cycles
        content = line.ask(ScoresRequest(features))
        assert isinstance(content, ScoresReply)
        marked = uno.stats().marked_cycles - before
        # Bytes of the request that arrive during a push, and overflows of the timer, of which the
        # last one may come too late, are interrupts.
        interrupted, overflows = marked - content.cycles, marked // 65_536
        sent = len(encode_message(ScoresRequest(features), 0))
        assert any(
            interrupted == handled * OVERFLOW_CYCLES + received * RECEIVING_CYCLES
            for handled in range(max(0, overflows - 1), overflows + 1)
            for received in range(sent + 1)
        )
        reported.append(content.cycles)
    return reported


DRAWN = [random.Random(seed).randbytes(300) for seed in range(5)]
SUMS = [bytes([total // 2, total - total // 2, 0, 0]) for total in range(511)]


@pytest.mark.parametrize(
    ("macros", "inputs", "least", "most"),
    [
        (BUSY, DRAWN, 300 * 140, 0),
        ({"FAKE_FINISH_DELAY": "64400ul", "FAKE_FINISH_VARIES": 1}, SUMS, 0, 65_536 + 100),
        (
            {"FAKE_FINISH_DELAY": "60000ul", "FAKE_FINISH_REPEATS": "200u"},
            SUMS[::170],
            200 * 60_000,
            0,
        ),
    ],
    ids=["slow to feed", "around an overflow of the timer", "many overflows"],
)
def test_cycles_are_those_that_the_emulator_counts(start, macros, inputs, least, most):
    uno, line = start(**macros)
    reported = assert_cycles_are_those_of_the_emulator(uno, line, inputs)
    assert min(reported) > least
    assert max(reported) > most
    assert not most or min(reported) < most - 200


def test_cycles_are_the_same_whether_bytes_arrive_during_a_push_or_not(start):
    """Between bytes that are sent one by one, the firmware waits: no push is interrupted."""
    _, line = start(**BUSY)
    features = random.Random(0).randbytes(300)
    at_once = line.ask(ScoresRequest(features), 0)
    for each in encode_message(ScoresRequest(features), 1):
        line.send(bytes([each]))
        time.sleep(0.002)
    _, one_by_one = line.receive()
    assert at_once == one_by_one


def test_features_that_fit_are_held_until_all_are_there(start):
    uno, line = start(PNN_CHUNK_FEATURES="4u", FAKE_PUSH_DELAY=3000)  # too slow to push in between
    for features in (bytes([1, 2, 3, 4]), bytes([200, 0, 9, 255])):
        reply = line.ask(ScoresRequest(features))
        assert (reply.label, reply.scores) == (label_of(features), scores_of(features))
    stats = uno.stats()
    assert (stats.marked_spans, stats.overruns) == (2, 0)
    assert stats.marked_cycles > 2 * 4 * 3000


def test_a_prediction_that_was_aborted_does_not_count(start):
    uno, line = start()
    line.send(encode_message(PredictRequest(bytes(4)), 1)[:5] + b"\x00")
    line.ask(HelloRequest())
    before = uno.stats().marked_cycles
    assert before > 0
    content = line.ask(PredictRequest(bytes(4)))
    assert isinstance(content, PredictReply)
    assert content.cycles == uno.stats().marked_cycles - before


@pytest.mark.parametrize("chunk", [1, 14, 32])
def test_a_chunk_has_as_many_features_as_the_plan_says(start, chunk):
    uno, line = start(FAKE_FEATURES="100u", PNN_CHUNK_FEATURES=f"{chunk}u")
    line.ask(PredictRequest(bytes(100)))
    begin_and_finish = 2
    assert uno.stats().marked_spans == begin_and_finish + -(-100 // chunk)


def test_the_peak_of_the_stack_is_the_one_that_the_emulator_saw(start):
    uno, line = start()
    line.ask(ScoresRequest(bytes(4)))
    content = line.ask(StatsRequest())
    assert isinstance(content, StatsReply)
    assert 0 < content.stack_bytes == uno.stats().stack_bytes


def test_a_connection_resets_the_board_and_its_counters(start):
    uno, line = start()
    line.send(b"\x05nonsense\x00")
    content = line.ask(StatsRequest())
    assert isinstance(content, StatsReply)
    assert content.frames_dropped == 1
    line.close()
    with Session(uno.url) as session:
        stats = session.stats()
    external_reset = 2
    assert (stats.frames_dropped, stats.reset_cause) == (0, external_reset)


def test_a_session_gets_through_the_bootloader(build):
    try:
        uno = EmulatedUno(build(), bootloader=True)
    except InputError as error:  # Optiboot is built from a package's source
        pytest.skip(str(error))
    with uno, Session(uno.url) as session:
        features = np.array([200, 1, 2, 3], np.uint8)
        assert session.predict(features).label == label_of(features.tobytes())


def test_it_sleeps_while_there_is_nothing_to_do(start):
    uno, line = start()
    line.ask(HelloRequest())
    assert uno.stats().state == "sleeping"


# --- several requests in flight ------------------------------------------------------------------


def in_flight(line, requests):
    """Send requests as fast as the window allows; return the replies, in order."""
    frames = [encode_message(request, number % 256) for number, request in enumerate(requests)]
    ends = np.cumsum([len(frame) for frame in frames])
    stream, sent, replies = b"".join(frames), 0, []
    for number in range(len(frames)):
        allowed = min(int(ends[number]) + WINDOW, len(stream))
        line.send(stream[sent:allowed])
        sent = allowed
        sequence, reply = line.receive()
        assert sequence == number % 256
        replies.append(reply)
    return replies


@pytest.mark.parametrize(
    "macros",
    [
        HELD | THINKING,
        THINKING,
        BUSY,
        {"FAKE_FEATURES": "300u", "PNN_CHUNK_FEATURES": "300u", **THINKING},
        {"FAKE_CLASSES": "100u"},
    ],
    ids=["held", "fed", "slow to feed", "long", "long replies"],
)
def test_nothing_is_lost_within_the_window_whatever_the_model_takes(start, macros):
    uno, line = start(**macros)
    features = int(str(macros.get("FAKE_FEATURES", "4u"))[:-1])
    classes = int(str(macros.get("FAKE_CLASSES", "3u"))[:-1])
    source = random.Random(1)
    inputs = [source.randbytes(features) for _ in range(25)]
    replies = in_flight(line, [ScoresRequest(row) for row in inputs])
    assert [reply.scores for reply in replies] == [scores_of(row, classes) for row in inputs]
    stats = line.ask(StatsRequest())
    assert (stats.frames_dropped, stats.overruns, uno.stats().overruns) == (0, 0, 0)


@pytest.mark.parametrize("held", [HELD, {}], ids=["held", "fed"])
def test_what_arrives_while_it_computes_takes_none_of_the_predictions_cycles(start, held):
    _, line = start(**held, **THINKING)
    requests = [PredictRequest(random.Random(seed).randbytes(4)) for seed in range(12)]
    alone = [line.ask(request).cycles for request in requests]
    together = [reply.cycles for reply in in_flight(line, requests)]
    assert together == alone


def test_no_more_fits_into_the_ring_than_the_window_and_a_little(start):
    _, line = start(**HELD, **THINKING)
    line.send(encode_message(PredictRequest(bytes(4)), 1) + b"\x00" * (WINDOW + 7))
    assert line.receive()[0] == 1
    assert line.ask(StatsRequest()).overruns == 0
    line.send(encode_message(PredictRequest(bytes(4)), 1) + b"\x00" * (WINDOW + 8))
    assert line.receive()[0] == 1
    assert line.ask(StatsRequest()).overruns == 1


# --- repetitions ---------------------------------------------------------------------------------


def test_repetitions_take_their_multiple_of_a_predictions_cycles(start):
    uno, line = start(**HELD, FAKE_FINISH_DELAY="5000ul", FAKE_FINISH_REPEATS="1u")
    features = bytes([200, 1, 2, 3])
    once = line.ask(PredictRequest(features))
    before = uno.stats().marked_spans
    for repetitions in (1, 2, 300):
        reply = line.ask(RepeatRequest(repetitions, features), 7)
        assert isinstance(reply, RepeatReply)
        assert (reply.label, reply.cycles) == (label_of(features), repetitions * once.cycles)
    assert uno.stats().marked_spans == before + 303


def test_long_repetitions_feed_the_watchdog(start):
    uno, line = start(**HELD, FAKE_FINISH_DELAY="60000ul", FAKE_FINISH_REPEATS="27u")
    reply = line.ask(RepeatRequest(30, bytes(4)))  # 3 s
    assert reply.cycles > 3 * 16_000_000
    assert line.ask(StatsRequest()).resets == 1
    assert uno.stats().faults == ()


# --- what it counts, and why it started ----------------------------------------------------------

EXTERNAL, WATCHDOG = 2, 8
POISON = bytes([99, 99, 99, 99])


@pytest.mark.parametrize("interrupts", [True, False])
@pytest.mark.parametrize("bootloader", [False, True])
def test_a_program_that_hangs_is_started_anew_and_says_why(build, bootloader, interrupts):
    elf = build(**HELD, FAKE_HANGS_AT=sum(POISON), FAKE_HANG_MASKED=int(not interrupts))
    try:
        uno = EmulatedUno(elf, bootloader=bootloader)
    except InputError as error:  # Optiboot is built from a package's source
        pytest.skip(str(error))
    with uno, Session(uno.url, retries=0, deadline_s=1.0) as session:
        assert (session.stats().resets, session.stats().reset_cause) == (1, EXTERNAL)
        with pytest.raises(NoReplyError):
            session.predict(np.frombuffer(POISON, np.uint8))
        stats = session.stats()
        assert stats.resets > 1
        hidden = bootloader and not interrupts  # nobody could count the time that it hung
        assert stats.reset_cause == (EXTERNAL if hidden else WATCHDOG)


def test_the_watchdog_does_not_bite_who_waits(start):
    uno, line = start()
    line.ask(HelloRequest())
    began = uno.stats().cycles
    while uno.stats().cycles < began + 40_000_000:
        time.sleep(0.1)
    assert line.ask(StatsRequest()).resets == 1
