from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chains import replace
from model_factory import (
    tiny_integer_model,
)
from refusals import refused_by

from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import named_stages
from protonn_edge.model.integer_stage import Range


def test_prototype_exactly_at_the_end_of_the_table_is_far() -> None:
    model = replace(
        tiny_integer_model(),
        prototypes=np.zeros((3, 4), np.int8),
        labels=np.ones((3, 4), np.int8),
    )
    near = arrays_of(
        named_stages(model)["prototypes"].similarities, np.array([[63, 11, 2], [-63, -11, 2]])
    )  # 63^2 + 11^2 + 2^2 = 4094
    far = arrays_of(
        named_stages(model)["prototypes"].similarities,
        np.array([[63, 11, 3], [64, 0, 0], [-64, 0, 0], [-128, 127, 5]]),
    )
    assert near.tolist() == [[1, 1, 1, 1]] * 2
    assert not far.any()


def test_inputs_saturate_and_a_negative_step_counts_from_the_upper_end() -> None:
    quantizer = InputQuantizer(np.array([0.0, 10.0]), np.array([0.5, -1.0]), maximum=15)
    X = [[-3.0, 10.0], [0.2, 9.0], [2.0, 2.4], [100.0, -100.0]]
    assert quantizer.quantize(X).tolist() == [[0, 0], [0, 1], [4, 8], [15, 15]]


def test_wrong_number_of_features_and_infinite_values_are_named() -> None:
    model = tiny_integer_model()
    with refused_by("points"):
        model.quantize(np.zeros((2, 5)))
    with refused_by("row 1 of the points"):
        model.quantize([[0.0] * 6, [0.0] * 5 + [float("nan")]])
    with refused_by("quantized points"):
        model.scores(np.zeros((2, 6)))


def test_input_above_the_maximum_is_refused_because_the_ranges_are_not_proven_for_it() -> None:
    with refused_by("model.integer_chain"):
        tiny_integer_model().scores(np.full((1, 6), 64, np.uint8))


def test_ties_go_to_the_lower_class() -> None:
    model = replace(tiny_integer_model(), labels=np.ones((3, 4), np.int8))
    assert model.predict(np.zeros((1, 6), np.uint8)).tolist() == [0]


@pytest.mark.parametrize(
    "change",
    [
        {"zero": np.ones(6)},
        {"step": np.full(6, 0.5)},
        {"maximum": 62},
        {"to_even": True},
    ],
)
def test_hash_changes_with_the_inputs(change: dict[str, Any]) -> None:
    """Conformance changes every number of a stage."""
    model = tiny_integer_model()
    other = replace(model, inputs=replace(model.inputs, **change))
    assert other.model_sha256 != model.model_sha256


def test_hash_does_not_depend_on_what_a_sketch_sends() -> None:
    model = tiny_integer_model()
    sent = replace(model, raw_exponents=np.ones(6, np.int64), feature_names=("x",) * 6)
    assert sent.model_sha256 == model.model_sha256


@pytest.mark.parametrize(
    "change",
    [
        {"accumulator_bits": 32},
        {"bias": np.array([40000, 0, 0])},
        {"multiplier": 65536},
        {"offset": np.array([1 << 31, 0, 0])},
        {"offset": np.array([1, 0, 0])},
        {"distance_shift": 7},
    ],
)
def test_numbers_that_could_overflow_are_refused(change: dict[str, object]) -> None:
    with refused_by("model.integer_stage"):
        replace(tiny_integer_model(), **change)


def test_sizes_that_the_generated_code_cannot_count_are_refused() -> None:
    model = tiny_integer_model()
    with refused_by("model.integer_stage"):
        replace(
            model,
            projection=np.zeros((256, 6), np.int8),
            bias=np.zeros(256, np.int64),
            offset=np.zeros(256, np.int64),
            prototypes=np.zeros((256, 4), np.int8),
        )


@pytest.mark.parametrize(
    ("low", "high", "bits"),
    [(-32_768, 32_767, 16), (-32_769, 0, 32), (0, 32_768, 32), (-(2**31), 2**31 - 1, 32)],
)
def test_values_have_16_bits_only_if_all_fit(low: int, high: int, bits: int) -> None:
    values = Range(np.array([0, low]), np.array([high, 0]))
    assert values.ends == (low, high)
    assert values.bits == bits
