"""From float weights to integers: how near, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from linear_factory import random_linear_model
from refusals import refused_by

from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import Normalizer


def test_sums_have_16_bits_where_these_are_enough() -> None:
    few = quantize(random_linear_model(features=40, classes=6))
    assert (numbers_of(few)["accumulator_bits"], few.own_stages[-1].output.bits) == (16, 16)
    many = quantize(random_linear_model(features=2_000, classes=2))
    assert (numbers_of(many)["accumulator_bits"], many.own_stages[-1].output.bits) == (24, 32)


def test_a_bias_that_is_far_off_takes_32_bits() -> None:
    model = random_linear_model(features=300, classes=2)
    integers = quantize(replace(model, bias=np.array([1e7])))
    assert numbers_of(integers)["accumulator_bits"] == 32


@pytest.mark.parametrize(
    "changes",
    [
        {"accumulator_bits": 8},
        {"bias": np.array([32500])},
        {"weights": np.array([[-1, 1]], np.int8), "bias": np.array([-32705])},
    ],
)
def test_what_could_overflow_is_refused(changes: dict[str, object]) -> None:
    fields = {
        "weights": np.array([[5, -7]], np.int8),
        "bias": np.array([0]),
        "accumulator_bits": 16,
        "input_maximum": 63,
    }
    IntegerLinear(**fields)
    with refused_by("model.integer_stage"):
        IntegerLinear(**fields | changes)


@pytest.mark.parametrize(("maximum", "bits"), [(15, 16), (255, 24)])
def test_whole_weights_of_whole_features_stay_as_they_are(maximum: int, bits: int) -> None:
    model = random_linear_model(3, features=20, classes=4)
    W = np.rint(np.clip(20 * model.head.weights, -127, 127)).astype(np.float32)
    plain = replace(
        model,
        weights=W,
        bias=np.array([3.0, -700.0, 0.0, 12.0]),
        normalizer=Normalizer("none", np.zeros(20), np.ones(20)),
        inputs=model.inputs.of_whole_numbers(maximum),
    )
    integers = quantize(plain)
    assert isinstance(integers, IntegerChain)
    assert (numbers_of(integers)["weights"] == W).all()
    assert numbers_of(integers)["bias"].tolist() == [3, -700, 0, 12]
    assert (integers.inputs.maximum, integers.score_scale) == (maximum, 1.0)
    assert numbers_of(integers)["accumulator_bits"] == bits
