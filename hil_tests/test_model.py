"""The device gives the reference's scores, within the limits of accuracy, latency and energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from protonn_edge.device.session import Session
from protonn_edge.learn.evaluation.measurement import Measurement
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.system.errors import CheckFailed

if TYPE_CHECKING:
    from conftest import Record


def test_every_score_is_the_references(
    pnn_measurement: Measurement, record_property: Record
) -> None:
    record_property("mismatches", pnn_measurement.agreement.mismatches)
    assert pnn_measurement.agreement.first is None


def test_no_answer_was_lost(pnn_measurement: Measurement, record_property: Record) -> None:
    (share,) = pnn_measurement.shares
    record_property("points_per_s", round(share.points_per_s, 1))
    record_property("requests_sent_again", share.retried)
    assert pnn_measurement.summary.lost == 0


def test_the_accuracy_does_not_fall_below_the_floor(
    pnn_measurement: Measurement,
    labelled: bool,
    pnn_model: Model,
    pytestconfig: pytest.Config,
    record_property: Record,
) -> None:
    if not labelled:
        pytest.skip("the classes of random points are unknown; name other points with --pnn-data")
    floor = pytestconfig.getoption("--accuracy-floor")
    if floor is None:
        floor = pnn_model.record.get("accuracy_floor")
    if floor is None:
        pytest.skip("the model's record has no accuracy floor; give one with --accuracy-floor")
    record_property("accuracy_floor", floor)
    assert pnn_measurement.accuracy >= floor


def test_every_prediction_takes_cycles_that_are_possible(
    pnn_measurement: Measurement, record_property: Record
) -> None:
    possible = pnn_measurement.possible
    record_property("cycles_least", possible.least)
    record_property("cycles_most", possible.most)
    record_property("cycles_range_proven", possible.proven)
    assert possible.least <= pnn_measurement.cycles.min
    assert pnn_measurement.cycles.max <= possible.most


def test_a_prediction_takes_no_more_energy_than_it_may(
    pnn_measurement: Measurement, pytestconfig: pytest.Config, record_property: Record
) -> None:
    record_property("watts", pnn_measurement.board.power_watts)
    limit = pytestconfig.getoption("--energy-limit")
    if limit is None:
        pytest.skip("no limit was given; give one in mJ with --energy-limit")
    assert pnn_measurement.energy_mj.mean <= limit


def test_repetitions_take_their_multiple_of_one_prediction(
    session: Session, rows: NDArray[np.uint8], record_property: Record
) -> None:
    once = session.predict(rows[0])
    try:
        many = session.repeat(rows[0], 1000)
    except CheckFailed as error:
        if "does not store features" not in str(error):
            raise
        pytest.skip("the board cannot hold all features of a point; use a smaller model")
    record_property("repeated_cycles", many.cycles)
    assert many.label == once.label  # `repeat` has compared the cycles


def test_the_stack_stays_within_its_worst_case(pnn_measurement: Measurement) -> None:
    usage = pnn_measurement.usage
    if usage is None:
        pytest.skip("the firmware was not linked here; install the compiler that 'build' names")
    assert 0 < pnn_measurement.stack_bytes <= usage.stack_bytes


def test_nothing_is_lost_at_full_speed(
    session: Session, rows: NDArray[np.uint8], record_property: Record
) -> None:
    answers = list(session.stream(enumerate(rows[:50])))
    assert [key for key, _ in answers] == list(range(len(rows[:50])))
    stats = session.stats()
    record_property("receive_overruns", stats.overruns)
    assert (stats.frames_dropped, stats.overruns, session.retried) == (0, 0, 0)


def test_features_at_the_end_of_their_range_are_counted(
    session: Session, rows: NDArray[np.uint8], reference: IntegerChain
) -> None:
    for row in rows[:20]:
        session.predict(row)
    at_the_end = int((rows[:20] == reference.quantizer.maximum).sum())
    if session.retried == 0:  # repeated requests would count twice
        assert session.stats().saturations == at_the_end
