"""Devices share a run, are compared, and one that is lost leaves its points to the others."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from fake_device import ImpatientHost
from refusals import refused_by

from protonn_edge.device import protocol
from protonn_edge.device.connection import LinkError
from protonn_edge.device.protocol import ProtocolError
from protonn_edge.device.runner import ReferenceAnswers, compare_devices, run
from protonn_edge.device.session import Session

Q = np.random.default_rng(1).integers(0, 256, (600, 4), np.uint8)
Y = np.zeros(600, np.int64)


@pytest.fixture
def pair(make_device):
    return make_device(), make_device()


def impatient(device):
    """Return a session that sees at once that its device does not come back."""
    return Session(device.url, host=ImpatientHost())


def expected_of(device, points=Q):
    return ReferenceAnswers(np.array([device.scores(row.tobytes()) for row in points], np.int64))


def test_each_point_is_answered_once_by_one_of_them(pair):
    with Session(pair[0].url) as first, Session(pair[1].url) as second:
        done = run([first, second], Q, Y, expected_of(pair[0]))
    assert [result.index for result in done.results] == list(range(600))
    assert not any(result.mismatch for result in done.results)
    assert [share.device for share in done.shares] == [device.url for device in pair]
    for share in done.shares:
        assert share.n == sum(result.device == share.device for result in done.results) > 0
        assert (share.retried, share.reopened, share.loss) == (0, 0, None)
        assert share.cycles_mean == 16_072
        assert share.stats.resets == 2


def test_what_one_had_taken_when_it_was_lost_is_done_by_the_other(pair):
    arrived = []

    def lose_the_first(result):
        arrived.append(result.index)
        if len(arrived) == 100:
            pair[0].close()

    with impatient(pair[0]) as first, Session(pair[1].url) as second:
        done = run([first, second], Q, Y, expected_of(pair[0]), sink=lose_the_first)
    assert sorted(arrived) == list(range(600))
    assert {result.mismatch for result in done.results} == {False}
    lost, kept = done.shares
    assert "board is plugged in" in lost.loss
    assert (lost.stats, kept.loss) == (None, None)
    assert lost.n + kept.n == 600


def test_one_that_is_done_waits_for_what_another_may_leave(make_device):
    slow, quick = make_device(silent=10**6), make_device()
    with impatient(slow) as first, Session(quick.url) as second:
        threading.Timer(0.2, slow.close).start()  # by then the other one is done, or nearly
        done = run([first, second], Q[:50], Y[:50], expected_of(quick, Q[:50]))
    assert [result.predicted is None for result in done.results] == [False] * 50


def test_when_all_are_lost_the_run_ends_with_the_reason(pair):
    with impatient(pair[0]) as first, impatient(pair[1]) as second:
        for device in pair:
            device.close()
        with refused_by("device.connection", kind=LinkError):
            run([first, second], Q, Y)


def test_what_goes_wrong_in_a_sink_ends_the_run(pair):
    def full(result):
        raise OSError("disk full")

    with (
        Session(pair[0].url) as first,
        Session(pair[1].url) as second,
        pytest.raises(OSError, match="disk full"),
    ):
        run([first, second], Q, Y, sink=full)


def test_a_device_that_refuses_is_lost_too(make_device):
    refusing = make_device(
        answer=lambda body: protocol.ErrorReply(2) if body[0] == protocol.PREDICT else None
    )
    with Session(refusing.url) as session, refused_by("device.exchange", kind=ProtocolError):
        run([session], Q, Y)


def test_devices_that_are_alike_answer_alike(pair):
    with Session(pair[0].url) as first, Session(pair[1].url) as second:
        same = compare_devices([first, second], Q[:5])
    assert (same.n, same.answers_differ, same.cycles_differ) == (5, 0, 0)


def test_devices_that_differ_are_told_apart(make_device):
    def other(body):
        if body[0] != protocol.SCORES or body[2] < 128:
            return None
        return protocol.ScoresReply(0, 5, (1, 2, 3))

    with Session(make_device().url) as first, Session(make_device(answer=other).url) as second:
        same = compare_devices([first, second], Q[:20])
    assert same.answers_differ == same.cycles_differ == int((Q[:20, 0] >= 128).sum()) > 0
