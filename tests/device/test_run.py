"""A run asks every point once, notices each difference and gives up when the device is gone."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from fake_device import HostileDevice, SimulatedHost, silent_at_first
from refusals import refused_by

from protonn_edge.codegen.verification.agreement import (
    PossibleCycles,
    compare_results,
    disagreement,
)
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device import protocol
from protonn_edge.device.connection import NoReplyError
from protonn_edge.device.results import Origin, Result, ResultsFile, read_results
from protonn_edge.device.runner import ReferenceAnswers, run
from protonn_edge.device.session import Session

Q = np.array([[7, 0, 0, 255], [1, 2, 3, 4], [255, 255, 255, 255]], dtype=np.uint8)
Y = np.array([1, 0, 1])


@pytest.fixture
def expected(device):
    return ReferenceAnswers(np.array([device.scores(row.tobytes()) for row in Q], dtype=np.int64))


def test_every_point_is_classified_and_equal_to_the_model(device, expected):
    with Session(device.url) as session:
        results = run([session], Q, Y, expected).results
    assert [result.index for result in results] == [0, 1, 2]
    assert [result.predicted for result in results] == expected.scores.argmax(axis=1).tolist()
    assert [result.scores for result in results] == [tuple(row) for row in expected.scores.tolist()]
    assert [result.mismatch for result in results] == [False] * 3


@pytest.mark.parametrize("column", [0, 2])
def test_a_score_that_differs_is_a_mismatch(device, expected, column):
    expected.scores[1, column] -= 1
    with Session(device.url) as session:
        results = run([session], Q, Y, expected).results
    assert [result.mismatch for result in results] == [False, True, False]


def test_a_class_that_is_not_the_first_with_the_highest_score_is_a_mismatch(make_device):
    device = make_device(
        answer=lambda body: (
            protocol.ScoresReply(2, 1, (0, 5, 5)) if body[0] == protocol.SCORES else None
        )
    )
    with Session(device.url) as session:
        results = run([session], Q[:1], Y[:1], ReferenceAnswers(np.array([[0, 5, 5]]))).results
    assert results[0].mismatch is True


def test_classes_that_do_not_follow_from_scores_are_compared_too(make_device):
    answer = protocol.ScoresReply(NO_CLASS, 1, (0, 5, 5))
    device = make_device(answer=lambda body: answer if body[0] == protocol.SCORES else None)
    with Session(device.url) as session:
        for right, mismatch in ((NO_CLASS, False), (1, True)):
            expected = ReferenceAnswers(np.array([[0, 5, 5]]), np.array([right]))
            (result,) = run([session], Q[:1], Y[:1], expected).results
            assert (result.predicted, result.mismatch) == (NO_CLASS, mismatch)


def test_with_a_tolerance_scores_and_near_ties_may_differ_that_much():
    right = np.array([[100, 90, 0]] * 6)
    scores = np.array(
        [[97, 92, 0], [97, 92, 3], [97, 92, 4], [100, 90, 0], [94, 90, 0], [100, 90, 0]]
    )
    labels = np.array([0, 0, 0, 1, 0, 2])
    for tolerance, wrong in ((3, [False] * 2 + [True] * 4), (5, [False] * 4 + [True] * 2)):
        expected = ReferenceAnswers(right, tolerance=tolerance)
        assert expected.differs(labels, scores).tolist() == wrong
    assert ReferenceAnswers(right).differs(labels, scores).tolist() == [True] * 6


def test_with_a_tolerance_unknown_is_no_class():
    scores = np.array([[5, 100]])
    expected = ReferenceAnswers(scores, tolerance=3)
    assert expected.differs(np.array([NO_CLASS]), scores).tolist() == [True]


def test_of_two_devices_only_the_one_that_differs_is_named():
    expected = ReferenceAnswers(np.array([[5, 1]] * 4), np.zeros(4, np.int64))
    right = [Result(k, 0, 0, 100, False, (5, 1), "one") for k in range(4)]
    wrong = dataclasses.replace(right[2], scores=(5, 2), mismatch=True, device="two")
    slow = dataclasses.replace(right[2], cycles=900, device="two")
    possible = PossibleCycles(50, 200, proven=True)
    for each in (wrong, slow):
        results = [*right[:2], each, right[3]]
        failure = disagreement([compare_results("one, two", expected, results, possible)])
        assert str(failure).startswith("two ")


def test_results_of_other_firmware_are_not_kept():
    right = [Result(k, 0, 0, 100, False, (5, 1), "one") for k in range(4)]
    possible, path = PossibleCycles(50, 200, proven=True), Path("results.csv")
    assert possible.checked(path, right) == right
    for changed in ({"cycles": 900}, {"mismatch": True}):
        with refused_by("codegen.verification.agreement"):
            possible.checked(path, [*right[:3], dataclasses.replace(right[3], **changed)])


def test_without_expected_scores_nothing_is_compared(device):
    with Session(device.url) as session:
        results = run([session], Q, Y).results
    assert [(result.mismatch, result.scores) for result in results] == [(None, None)] * 3


def test_results_reach_the_file_as_they_arrive_and_a_resumed_run_skips_them(device, tmp_path):
    path = tmp_path / "results.csv"
    origin = Origin("a" * 16, "b" * 16, 9)
    with Session(device.url) as session:
        with ResultsFile(path, origin, "abc") as file:
            run([session], Q[:2], Y[:2], sink=file.append)
        earlier = read_results(path).results
        with ResultsFile(path, origin, "abc", keep=earlier) as file:
            done = {result.index for result in earlier}
            rest = run([session], Q, Y, sink=file.append, skip=done).results
    assert [result.index for result in rest] == [2]
    assert [result.index for result in read_results(path).results] == [0, 1, 2]


def test_a_point_without_an_answer_is_lost_and_the_run_goes_on():
    host = SimulatedHost(HostileDevice(answer=silent_at_first(1)))
    with Session("port", retries=0, host=host) as session:
        results = run([session], Q, Y).results
    assert results[0] == Result(0, 1, None, None, device="port")
    assert [result.predicted is None for result in results] == [True, False, False]


def test_a_device_that_is_gone_ends_the_run():
    host = SimulatedHost(HostileDevice(answer=silent_at_first(100)))
    kept: list[Result] = []
    many = np.repeat(Q, 10, axis=0)
    with (
        Session("port", retries=0, progress_s=9.5, host=host) as session,
        pytest.raises(NoReplyError, match=r"answered no request for 9\.\d+ s, .* --resume"),
    ):
        run([session], many, np.zeros(30, int), sink=kept.append)
    assert kept == []  # the device is to blame, not the points


def test_arrays_that_do_not_fit_are_bad_input(device, expected):
    with Session(device.url) as session:
        with refused_by("labels"):
            run([session], Q, Y[:2])
        with refused_by("expected scores"):
            run([session], Q, Y, ReferenceAnswers(expected.scores[:2]))
