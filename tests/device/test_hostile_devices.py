"""Devices that flood, lie or fall silent: a run ends in time, with a sentence.

Every valid frame renewed the deadlines before, so that a device that sent HELLO, one old reply or
huge frames without end kept a run going; and clocks, cycles, the stack and REPEAT were believed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fake_device import HostileDevice, SimulatedHost
from refusals import refused_by
from simulated_run import POSSIBLE, STACK_BYTES, N, honest_model, measure_on

from protonn_edge.cli.hil import _troubles
from protonn_edge.device import protocol
from protonn_edge.device.protocol import (
    ErrorReply,
    HelloReply,
    HelloRequest,
    PredictReply,
    PredictRequest,
    ProtocolError,
    RepeatReply,
    RepeatRequest,
    ScoresReply,
    ScoresRequest,
    StatsReply,
    StatsRequest,
)
from protonn_edge.device.results import read_results
from protonn_edge.device.session import Session
from protonn_edge.system.errors import CheckFailed, ProtoNNEdgeError

MOST_S = 31  # the deadlines of the handshake and of progress, and what bytes take on the wire


def only_hello(request, right):
    return right if isinstance(request, HelloRequest) else None


def to(kind: type, change: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """Return an answer that is right except to this kind of request."""
    return lambda request, right: change(right) if type(request) is kind else right


def frames_of(content: Callable[[int], protocol.Message], sequence: Callable[[int], int]):
    return lambda n: protocol.encode_message(content(n), sequence(n))


def a_hello(n: int) -> HelloReply:
    model = honest_model()
    sizes = (model.features, model.classes)
    return HelloReply(2, 0, *sizes, model.model_hash, 16_000_000, 56)


def an_old_reply(_: int) -> ScoresReply:
    return ScoresReply(0, honest_model().cycles, (1, 2, 3, 4))


def huge_frame(_: int) -> bytes:
    return protocol.encode_frame(bytes([0x83, 1]) + bytes(4000))


def garbage(n: int) -> bytes:
    return random.Random(n).randbytes(200) + b"\x00"


FLOODS = {
    "HELLO": frames_of(a_hello, lambda _: 0),
    "HELLO with any number": frames_of(a_hello, lambda n: n % 256),
    "an old reply": frames_of(an_old_reply, lambda _: 0),
    "statistics": frames_of(lambda _: StatsReply(38, 0, 0, 0, 1, 2), lambda _: 0),
    "errors": frames_of(lambda _: ErrorReply(2), lambda _: 0),
    "huge frames": huge_frame,
    "garbage": garbage,
    "zeros": lambda _: bytes(100),
}


def failure_on(device: HostileDevice, **options: Any) -> ProtoNNEdgeError:
    """Return how a run fails, which it must in time."""
    try:
        done, _ = measure_on([device], limit_s=MOST_S, **options)
    except ProtoNNEdgeError as error:
        return error
    assert done.failure is not None, "nothing was noticed"
    return done.failure


# --- an honest device, so that the others are not refused for something else ---------------------


@pytest.mark.parametrize("flood", [None, *FLOODS.values()], ids=["nothing", *FLOODS])
def test_a_device_that_answers_is_measured_whatever_it_sends_besides(flood):
    device = HostileDevice(honest_model(), flood=flood, every_s=0.01)
    done, _ = measure_on([device], repeat=7)
    assert done.failure is None
    assert (done.summary.n, done.summary.mismatches, done.summary.lost) == (N, 0, 0)
    assert done.stack_peak_bytes == 38
    assert done.repetition is not None
    assert done.repetition.cycles == 7 * honest_model().cycles


# --- the reason that is given --------------------------------------------------------------------


def with_frames(
    change: Callable[[bytes, protocol.Message, int], bytes], **options: Any
) -> HostileDevice:
    """Return a device that sends something else in place of all frames but HELLO's."""
    device = HostileDevice(honest_model(), **options)

    def answer(request, right):
        number = device.requests[-1][1]
        frame = protocol.encode_message(right, number)
        return frame if isinstance(request, HelloRequest) else change(frame, right, number)

    device.answer = answer
    return device


@pytest.mark.parametrize("left_s", [0.02, 0.04, 0.3])
def test_a_deadline_that_passes_during_a_recovery_is_the_one_that_is_named(left_s):
    """The moment that was left of it was."""
    device = with_frames(lambda frame, *_: frame[: len(frame) // 2])
    url, row = "there", np.zeros(honest_model().features, np.uint8)
    host = SimulatedHost(device)
    with (
        Session(url, host=host, deadline_s=1.0, progress_s=1.0 + left_s) as session,
        refused_by("device.exchange", kind=CheckFailed),
    ):
        session.predict(row, with_scores=True)


def test_replies_with_the_number_of_the_next_request_are_called_that():
    """They were taken for the answers to it: all scores differed."""
    device = with_frames(
        lambda _, right, number: protocol.encode_message(right, (number + 1) % 256)
    )
    error = failure_on(device)
    assert "of these did not match any request" in str(error)


# --- what a device reports of itself -------------------------------------------------------------


@pytest.mark.parametrize(
    ("stats", "troubles"),
    [
        (StatsReply(38, 0, 0, 0, 5, 2), ()),  # opening a port resets an Arduino
        (StatsReply(38, 2, 3, 9, 5, 2), ("3 overruns", "2 dropped frames", "5 resets")),
        (StatsReply(38, 1, 0, 0, 0, 1), ("1 dropped frame", "0 resets")),
        (StatsReply(38, 0, 0, 0, 1, 4), ("a reset by a brown-out", "1 reset")),
        (StatsReply(38, 0, 0, 0, 2, 8), ("a reset by the watchdog", "2 resets")),
    ],
)
def test_what_went_wrong_on_a_board_is_reported_although_all_was_answered(stats, troubles):
    device = HostileDevice(honest_model(), answer=to(StatsRequest, lambda _: stats))
    done, _ = measure_on([device])
    assert done.failure is None
    found = done.shares[0].troubles
    assert [name.removesuffix(" since power-on") for name in found] == list(troubles)
    warnings = list(_troubles(done))
    assert len(warnings) == bool(troubles)
    assert all(each.text.startswith("port 0: ") and each.warning for each in warnings)


def test_requests_that_were_asked_again_are_reported():
    lost = iter([False, True])

    def drops(request, right):
        return None if type(request) is ScoresRequest and next(lost, False) else right

    done, _ = measure_on([HostileDevice(honest_model(), answer=drops)])
    assert done.failure is None
    assert done.shares[0].troubles[0] == "1 retried request"


# --- floods --------------------------------------------------------------------------------------


@pytest.mark.parametrize("every_s", [0.0, 0.3, 9.0])
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_useless_bytes_do_not_prolong_a_run(flood, every_s):
    device = HostileDevice(honest_model(), answer=only_hello, flood=flood, every_s=every_s)
    error = failure_on(device)
    assert isinstance(error, CheckFailed)
    sentences = (
        "answered no request for 15",
        "refused a request: error 2 (wrong length",
        "answered a SCORES request with a reply to HELLO;",
    )
    assert any(sentence in str(error) for sentence in sentences)


@pytest.mark.parametrize("flood", [FLOODS["huge frames"], FLOODS["garbage"], FLOODS["errors"]])
def test_useless_bytes_do_not_prolong_a_handshake(flood):
    device = HostileDevice(honest_model(), answer=lambda *_: None, flood=flood)
    error = failure_on(device)
    assert "no device answered on port 0 within 10 s" in str(error)


def test_the_answered_points_are_kept(tmp_path):
    answered = [0]

    def until_the_tenth(request, right):
        answered[0] += isinstance(request, PredictRequest)
        return None if answered[0] > 10 and not isinstance(request, HelloRequest) else right

    results = tmp_path / "results.csv"
    device = HostileDevice(honest_model(), answer=until_the_tenth, flood=FLOODS["HELLO"])
    error = failure_on(device, results=results)
    assert "answered no request" in str(error)
    assert len(read_results(results).results) == 10
    done, _ = measure_on([HostileDevice(honest_model())], results=results, resume=True)
    assert done.failure is None


def test_another_device_does_what_a_flooding_one_leaves():
    flooding = HostileDevice(honest_model(), flood=FLOODS["HELLO"], every_s=0.01)
    seen = [0]

    def falls_silent(request, right):
        seen[0] += isinstance(request, PredictRequest)
        return None if seen[0] > 14 and not isinstance(request, HelloRequest) else right

    flooding.answer = falls_silent  # after the points that are put to both
    done, _ = measure_on([flooding, HostileDevice(honest_model(), delay_s=0.05)])
    assert done.summary.lost == 0
    assert done.failure is None


# --- lies --------------------------------------------------------------------------------------

IMPOSSIBLE = (0, POSSIBLE.least - 1, POSSIBLE.most + 1, (1 << 32) - 1)
OF_REPEAT = {"repeat": 100}


def put(**fields: Any) -> Callable[[Any], Any]:
    return lambda right: replace(right, **fields)


LIES: list[tuple[type, Callable[[Any], Any], dict[str, int], str]] = [
    *(
        (
            HelloRequest,
            put(clock_hz=clock),
            {"repeat": 10},
            f"reports a clock of {clock:,} Hz, but uno runs at 16,000,000 Hz.*--board.*{boards}",
        )
        for clock, boards in (
            *((0, ""), (1, ""), (15_999_999, ""), (4_000_000_000, "")),
            (8_000_000, "promini8"),
        )
    ),
    *(
        (
            HelloRequest,
            put(window=window),
            {},
            f"window of {window} bytes, but the send window of uno must have 1 to 63",
        )
        for window in (0, 64, 255)
    ),
    *(
        (RepeatRequest, change, OF_REPEAT, "so 100 predictions must take")
        for change in (
            lambda right: replace(right, label=(right.label + 1) % 4),
            lambda right: replace(right, cycles=right.cycles + 1),
            put(cycles=0),
            put(cycles=(1 << 32) - 1),
        )
    ),
    (RepeatRequest, lambda _: None, OF_REPEAT, "answers HELLO but did not answer a request"),
    *(
        (
            StatsRequest,
            put(stack_bytes=stack),
            {},
            f"a stack of {stack:,} B, but its firmware uses 1 to {STACK_BYTES}",
        )
        for stack in (0, STACK_BYTES + 1, 65_535)
    ),
]
"""What is answered to a kind of request, the options of the run, and what is said of it."""


@pytest.mark.parametrize(("kind", "change", "options", "words"), LIES)
def test_a_lie_fails_the_run_with_what_is_wrong(kind, change, options, words):
    error = failure_on(HostileDevice(honest_model(), answer=to(kind, change)), **options)
    assert re.search(words, str(error), re.DOTALL)


@pytest.mark.parametrize(
    "change",
    [
        put(label=4),
        lambda right: replace(right, scores=right.scores[:3]),
        lambda right: replace(right, scores=right.scores * 60),
    ],
)
def test_an_answer_that_no_model_of_this_size_gives_ends_a_run(change):
    error = failure_on(HostileDevice(honest_model(), answer=to(ScoresRequest, change)))
    assert isinstance(error, ProtocolError)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda _: protocol.encode_frame(b"\x84\x01nonsense"),
        put(reset_cause=0),
        put(reset_cause=16),
        lambda _: ErrorReply(1),
    ],
    ids=["silence", "nonsense", "no cause", "no such cause", "refusal"],
)
def test_missing_statistics_are_said_and_do_not_take_long(change):
    device = HostileDevice(honest_model(), answer=to(StatsRequest, change))
    done, seconds = measure_on([device])
    assert done.summary.lost == 0
    assert "the measured stack is missing" in str(done.failure)
    assert seconds < 8


def test_a_clock_that_changes_on_the_way_is_refused():
    count = [0]

    def lies_later(request, right):
        if isinstance(request, HelloRequest):
            count[0] += 1
            return right if count[0] == 1 else replace(right, clock_hz=8_000_000)
        return None if count[0] == 1 else right

    error = failure_on(HostileDevice(honest_model(), answer=lies_later))
    assert "reports a clock of 8,000,000 Hz" in str(error)


@pytest.mark.parametrize("number", [1, 7, N])
@pytest.mark.parametrize("cycles", IMPOSSIBLE)
def test_impossible_cycles_of_one_point_fail_the_run(cycles, number):
    count = [0]

    def lies_once(request, right):
        count[0] += isinstance(request, PredictRequest)
        once = count[0] == number and isinstance(request, PredictRequest)
        return replace(right, cycles=cycles) if once else right

    error = failure_on(HostileDevice(honest_model(), answer=lies_once))
    assert f"first at point {number - 1}: {cycles:,} cycles" in str(error)
    assert str(POSSIBLE) in str(error)
    assert error.exit_code == 1


def test_the_ends_of_the_range_are_possible():
    for cycles in (POSSIBLE.least, POSSIBLE.most):
        model = honest_model()
        model.cycles = cycles
        assert measure_on([HostileDevice(model)])[0].failure is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda _, right: replace(right, label=(right.label + 1) % 4),
            "when it repeats the prediction, but class",
        ),
        *(
            (
                lambda request, right, cycles=cycles: replace(
                    right, cycles=cycles * getattr(request, "repetitions", 1)
                ),
                f"reports {cycles:,} cycles for each repetition",
            )
            for cycles in (1, 10_000_000)
        ),
    ],
)
def test_the_same_lie_in_both_kinds_of_request_is_noticed(change, words):
    def answer(request, right):
        alone = isinstance(right, PredictReply | RepeatReply)
        return change(request, right) if alone else right

    error = failure_on(HostileDevice(honest_model(), answer=answer), repeat=100)
    assert words in str(error)
