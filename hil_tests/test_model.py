"""The device gives the reference's scores, as accurately, as fast and for as little as it must."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from protonn_edge.boards import Board
from protonn_edge.build.checks import Usage
from protonn_edge.chain.model import Model
from protonn_edge.codegen import DevicePlan
from protonn_edge.device import Run, Session, summarize
from protonn_edge.errors import CheckFailed
from protonn_edge.quantization import DeviceModel
from protonn_edge.verification.agreement import PossibleCycles

if TYPE_CHECKING:
    from conftest import Points, Record


def test_every_score_is_the_references(done: Run, points: Points, record_property: Record) -> None:
    record_property("points", len(points.Q))
    record_property("mismatches", sum(result.mismatch is True for result in done.results))
    assert len(done.results) == len(points.Q)
    assert [result.index for result in done.results if result.mismatch is not False] == []


def test_no_answer_was_lost(done: Run, record_property: Record) -> None:
    (share,) = done.shares
    record_property("points_per_s", round(share.points_per_s, 1))
    record_property("requests_sent_again", share.retried)
    assert [result.index for result in done.results if result.predicted is None] == []


def test_the_accuracy_does_not_fall_below_the_floor(
    done: Run,
    points: Points,
    model: Model,
    board: Board,
    pytestconfig: pytest.Config,
    record_property: Record,
) -> None:
    if points.y is None:
        pytest.skip("the classes of random points are not known; to run: --data with test points")
    floor = pytestconfig.getoption("--accuracy-floor")
    if floor is None:
        floor = model.record.get("accuracy_floor")
    if floor is None:
        pytest.skip("the model's record names no floor; to run: --accuracy-floor 0.9")
    accuracy = summarize(done.results, board).accuracy
    record_property("accuracy", round(accuracy, 4))
    record_property("accuracy_floor", floor)
    assert accuracy >= floor


def test_every_prediction_takes_cycles_that_are_possible(
    done: Run, plan: DevicePlan, board: Board, record_property: Record
) -> None:
    possible = PossibleCycles.of(plan, board)
    summary = summarize(done.results, board)
    assert summary.cycles is not None
    assert summary.latency_ms is not None
    record_property("cycles_least", possible.least)
    record_property("cycles_most", possible.most)
    record_property("cycles_min", summary.cycles.min)
    record_property("cycles_range_proven", possible.proven)
    record_property("cycles_mean", round(summary.cycles.mean))
    record_property("cycles_max", summary.cycles.max)
    record_property("latency_ms_mean", round(summary.latency_ms.mean, 4))
    record_property("latency_ms_max", round(summary.latency_ms.max, 4))
    assert [(each.index, each.cycles) for each in possible.outside(done.results)] == []


def test_a_prediction_takes_no_more_energy_than_it_may(
    done: Run, board: Board, pytestconfig: pytest.Config, record_property: Record
) -> None:
    summary = summarize(done.results, board)
    assert summary.energy_mj is not None
    record_property("watts", board.power_watts)
    record_property("energy_mj_mean", round(summary.energy_mj.mean, 5))
    record_property("energy_mj_max", round(summary.energy_mj.max, 5))
    limit = pytestconfig.getoption("--energy-limit")
    if limit is None:
        pytest.skip("no limit was given; to run: --energy-limit 0.5 (mJ)")
    assert summary.energy_mj.mean <= limit


def test_repetitions_take_their_multiple_of_one_prediction(
    session: Session, points: Points, record_property: Record
) -> None:
    once = session.predict(points.Q[0])
    try:
        many = session.repeat(points.Q[0], 1000)
    except CheckFailed as error:
        if "keeps no features" not in str(error):
            raise
        pytest.skip("the model is fed as features arrive; to run: a smaller model")
    record_property("repeated_cycles", many.cycles)
    assert (many.label, many.cycles) == (once.label, 1000 * once.cycles)


def test_the_stack_stays_within_its_worst_case(
    session: Session, points: Points, usage: Usage, record_property: Record
) -> None:
    for row in points.Q[:10]:
        session.predict(row, with_scores=True)
    measured = session.stats().stack_bytes
    record_property("stack_peak_bytes", measured)
    assert 0 < measured <= usage.stack_bytes


def test_nothing_is_lost_at_full_speed(
    session: Session, points: Points, record_property: Record
) -> None:
    answers = list(session.stream(enumerate(points.Q[:50])))
    assert [key for key, _ in answers] == list(range(len(points.Q[:50])))
    stats = session.stats()
    record_property("receive_overruns", stats.overruns)
    assert (stats.frames_dropped, stats.overruns, session.retried) == (0, 0, 0)


def test_features_at_the_end_of_their_range_are_counted(
    session: Session, points: Points, reference: DeviceModel
) -> None:
    for row in points.Q[:20]:
        session.predict(row)
    at_the_end = int((points.Q[:20] == reference.features.maximum).sum())
    if session.retried == 0:  # what is sent twice counts twice
        assert session.stats().saturations == at_the_end
