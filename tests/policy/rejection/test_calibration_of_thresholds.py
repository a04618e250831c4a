"""Thresholds for a wanted rate of false alarms, and the integer model that has them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from chains import replace
from hypothesis import given
from hypothesis import strategies as st
from laws.conformance.instances import instances_of
from model_factory import random_model, random_points, tiny_integer_model
from refusals import refused_by

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.calibration import (
    Statistics,
    rejection_for,
    statistics_of,
    together,
    with_rejection,
)
from protonn_edge.policy.rejection.rule import IntegerRejection
from protonn_edge.system.errors import InputError


def statistics(values: np.ndarray) -> Statistics:
    return Statistics(values, np.clip(values, 0, 1), values)


@given(n=st.integers(99, 400), rate=st.sampled_from([0.01, 0.02, 0.1, 0.5]))
def test_no_more_calibration_points_than_wanted_are_below_the_threshold(
    n: int, rate: float
) -> None:
    values = np.random.default_rng(n).random(n) + 0.1
    threshold = rejection_for(statistics(values), rate).score
    assert np.mean(values < threshold) <= rate
    assert np.count_nonzero(values <= threshold) == int(rate * (n + 1) + 1e-9)


def test_the_expected_rate_on_new_points_is_what_was_wanted() -> None:
    """Over many calibrations; the threshold of one has a spread, which grows as points get few."""
    rng = np.random.default_rng(0)
    rates = [
        np.mean(rng.exponential(size=500) < rejection_for(statistics(known), 0.05).score)
        for known in rng.exponential(size=(400, 199))
    ]
    assert 0.045 < np.mean(rates) < 0.055


def test_several_statistics_share_the_rate() -> None:
    values = np.arange(1, 400) / 400
    both = rejection_for(statistics(values), 0.1, ("score", "margin"))
    alone = rejection_for(statistics(values), 0.05, ("score",))
    assert both.score == both.margin == alone.score
    assert both.rbf == 0


@pytest.mark.parametrize(
    ("values", "rate", "by"),
    [
        (np.ones(98), 0.01, ("score",)),
        (np.arange(26) // 3, 0.1, ("score",)),
        (np.zeros(200), 0.01, ("score",)),
        (np.ones(200), 1.0, ("score",)),
        (np.ones(200), 0.1, ()),
        (np.ones(200), 0.1, ("score", "score")),
    ],
)
def test_rates_that_cannot_be_are_refused(
    values: np.ndarray, rate: float, by: tuple[str, ...]
) -> None:
    with refused_by("policy.rejection.calibration"):
        rejection_for(statistics(values), rate, by)


@pytest.mark.parametrize("values", [np.arange(26) // 3, np.arange(1, 18)], ids=["equal", "few"])
@pytest.mark.parametrize("by", [("score",), ("score", "margin")], ids=["one", "two"])
def test_the_rate_that_a_refusal_states_suffices(values: np.ndarray, by: tuple[str, ...]) -> None:
    known = statistics(values)
    with pytest.raises(InputError) as refusal:
        rejection_for(known, 0.05 * len(by), by)
    (stated,) = re.findall(r"at least ([\d.]+) % .* --rejection \1%", str(refusal.value))
    assert rejection_for(known, float(stated) / 100, by).score > 0
    with refused_by("policy.rejection.calibration"):
        rejection_for(known, 0.99 * float(stated) / 100, by)


def test_statistics_of_parts_are_those_of_all_points() -> None:
    model, X = random_model(2), random_points(2, 60, 12)
    whole = statistics_of(model, X)
    parts = together([statistics_of(model, X[:25]), statistics_of(model, X[25:])])
    assert len(whole) == 60
    assert np.array_equal(whole.score, parts.score)
    assert np.array_equal(whole.distance, parts.distance)


def test_distances_are_in_rbf_widths_and_stretch() -> None:
    kernels = np.exp(-np.square([0.5, 1.0, 2.0]))
    known = Statistics(np.ones(3), kernels, np.ones(3))
    assert known.median_distance == pytest.approx(1.0)
    stretched = known.with_distances(1.5)
    assert np.sqrt(-np.log(stretched.distance)).tolist() == pytest.approx([0.75, 1.5, 3.0])
    assert Statistics(np.ones(3), np.zeros(3), np.ones(3)).median_distance == np.inf


@pytest.mark.parametrize("by", [("score",), ("distance",), ("margin",), ("score", "margin")])
def test_a_calibrated_model_rejects_its_share_of_the_points(by: tuple[str, ...]) -> None:
    X = random_points(1, 1_000, 12)
    model = random_model(1, prototypes=60, gamma_numerator=0.7)
    model = replace(model, labels=np.abs(model.head.labels))
    rejecting = with_rejection(model, statistics_of(model, X), 0.2, by)
    assert rejecting.record["rejection"] == {"rate": 0.2, "by": list(by), "n": 1_000}
    integers = quantize(rejecting)
    found = integers.predict(integers.quantize(X))
    rejected = found == NO_CLASS
    assert 0.1 < np.mean(rejected) <= 0.2
    plain = quantize(model)
    Q = plain.quantize(X)
    assert np.array_equal(found[~rejected], plain.predict(Q)[~rejected])
    assert np.array_equal(integers.scores(Q), plain.scores(Q))


@pytest.mark.parametrize(
    "rejection",
    [
        IntegerRejection(),
        IntegerRejection(score=1 << 20),
        IntegerRejection(rbf=128),
        IntegerRejection(margin=1 << 20),
        IntegerRejection(score=-1),
    ],
)
def test_thresholds_that_generated_code_cannot_hold_are_refused(
    rejection: IntegerRejection,
) -> None:
    with refused_by("model.integer_stage"):
        with_rules(tiny_integer_model(), rejection)


def test_a_single_class_has_no_margin() -> None:
    (alone,) = (each for each in instances_of("linear") if each.name == "a single score")
    with refused_by("model.integer_stage"):
        with_rules(alone.model, IntegerRejection(margin=1))
