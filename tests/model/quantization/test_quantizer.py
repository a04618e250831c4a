from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from hypothesis import given, settings
from hypothesis import strategies as st
from model_factory import random_model, random_points
from refusals import refused_by

from protonn_edge.kinds.projection.integers import OFFSET_STEP, REQUANTIZE_SHIFT
from protonn_edge.kinds.protonn.prototypes.integers import (
    RBF_MAXIMUM,
    distance_step,
    exponential_table,
)
from protonn_edge.kinds.protonn.quantize import dequantize, far_coordinates_first
from protonn_edge.model.folding import FoldedMap, input_quantizer
from protonn_edge.model.integer_chain import named_stages
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics, Normalizer


@given(seed=st.integers(0, 10_000), features=st.integers(2, 100), projections=st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_integers_represent_the_floats_to_half_a_step(
    seed: int, features: int, projections: int
) -> None:
    """With the arithmetic's own errors, of half a step each, this bounds those of scores."""
    model = random_model(seed, features=features, projections=projections)
    integers, turned = quantize(model), far_coordinates_first(model.head)
    floats, step = dequantize(integers), distance_step(numbers_of(integers)["distance_shift"])
    weights = turned.gamma * turned.projection.astype(float) * model.normalizer.scale
    unit = numbers_of(integers)["multiplier"] / (
        1 << (REQUANTIZE_SHIFT + numbers_of(integers)["accumulator_bits"] - 16)
    )
    lost = np.abs(floats.projection - weights) * np.abs(integers.inputs.step)
    assert lost.max() <= step * unit / 2 * (1 + 1e-6)

    mean = model.inputs.mean
    here = (floats.projection @ mean + floats.bias)[:, None] - floats.prototypes
    there = weights @ (mean - model.normalizer.offset)
    there = there[:, None] - turned.gamma * turned.prototypes.astype(float)
    of_the_offset = OFFSET_STEP / (2 << REQUANTIZE_SHIFT)
    assert np.abs(here - there).max() <= step * (0.5 + of_the_offset + 1e-3)

    label_step = RBF_MAXIMUM * integers.score_scale
    assert np.abs(floats.labels - model.head.labels).max() <= label_step / 2 * (1 + 1e-6)


def test_residuals_use_the_range_that_they_have() -> None:
    integer_model = quantize(random_model(features=200))
    assert numbers_of(integer_model)["accumulator_bits"] == 16
    low, high = named_stages(integer_model)["projection"].accumulators.ends
    assert high - low > 0.98 * 65534  # limited by the accumulator
    assert (
        integer_model.own_stages[-1].output.bits,
        numbers_of(integer_model)["distance_shift"],
    ) == (16, 3)
    assert (
        max(np.abs(integer_model.own_stages[-1].output.ends)) > 0.95 * 32767
    )  # limited by the score
    assert (numbers_of(integer_model)["table"] == exponential_table()).all()


def test_wide_accumulators_are_taken_where_narrow_ones_cost_too_much() -> None:
    model = random_model(features=1500, projections=3, gamma_numerator=12.0)
    assert numbers_of(quantize(model))["accumulator_bits"] == 24


def test_weights_of_4_bits_are_clipped_to_7_steps_in_16_bits() -> None:
    for features in (12, 200, 1500):
        model = random_model(features=features, projections=3, gamma_numerator=12.0)
        integers = quantize(replace(model, projection_bits=4))
        residuals = numbers_of(integers)["projection"]
        assert np.abs(residuals.astype(int)).max() == 7
        assert numbers_of(integers)["accumulator_bits"] == 16
        assert integers.model_bytes == 2 * features + 3 * 9 + 4 * 9


def test_weights_of_4_bits_keep_their_axes() -> None:
    """Training has fitted them to few steps, which other axes would not have."""
    model = replace(random_model(features=40), projection_bits=4)
    rows = numbers_of(quantize(model))["projection"].astype(int)
    unit = np.abs(model.head.projection * model.normalizer.scale).max()
    alike = np.corrcoef(rows, model.head.projection / unit)[:5, 5:]
    assert sorted(alike.argmax(axis=1)) == list(range(5))
    assert alike.max(axis=1).min() > 0.8


def test_bits_of_the_projection_are_no_matter_of_the_floats() -> None:
    model = random_model()
    X = random_points(0, 50, 12)
    assert np.array_equal(replace(model, projection_bits=4).scores(X), model.scores(X))


def test_feature_that_rests_at_its_upper_end_is_counted_down_from_there() -> None:
    statistics = InputStatistics(
        lower=np.array([0.0, 0.0, 7.0]),
        upper=np.array([1.0, 1.0, 7.0]),
        mean=np.array([0.1, 0.9, 7.0]),
        deviation=np.array([0.1, 0.1, 0.0]),
        background=np.array([0.0, 1.0, 7.0]),
    )
    quantizer = input_quantizer(statistics, bits=4)
    X = [[0.0, 1.0, 7.0], [1.0, 0.0, 7.0], [0.2, 0.8, 7.0]]
    assert quantizer.quantize(X).tolist() == [[0, 0, 0], [15, 15, 0], [3, 3, 0]]
    least, end = quantizer.limits
    assert (least < [0, 0, 7]).all(), "every value was out of range"
    assert (end > [1, 1, 7]).all()
    assert quantizer.clamped([*X, [2, 2, 7], [-1, -1, 7]]).tolist()[:2] == [2, 2]


def test_prototypes_that_no_scale_reaches_are_refused() -> None:
    model = random_model()
    with refused_by("kinds.protonn.quantize"):
        quantize(replace(model, gamma=model.head.gamma * 100))


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("normalizer", {"offset": np.full(12, 1e308)}),
        ("normalizer", {"scale": np.full(12, 1e308)}),
        ("inputs", {"mean": np.full(12, 1e308)}),
        ("inputs", {"lower": np.full(12, -1e308), "upper": np.full(12, 1e308)}),
        ("inputs", {"deviation": np.full(12, 1e308)}),
    ],
)
def test_statistics_too_large_to_compute_with_are_refused(
    part: str, change: dict[str, np.ndarray]
) -> None:
    model = random_model()
    with refused_by("model.checks"):
        replace(getattr(model, part), **change)


def test_sums_of_opposite_infinities_are_refused() -> None:
    normalizer = Normalizer("standard", np.array([1e9, -1e9]), np.ones(2))
    model = replace(random_model(features=2), normalizer=normalizer)
    inputs, weights = input_quantizer(model.inputs, bits=8), np.array([[1e308, 1e308]])
    with np.errstate(over="ignore"), refused_by("model.folding"):
        FoldedMap.of(weights, model, inputs)
