"""Raw values become the same bytes in NumPy and in generated C, whatever their range and unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_factory import (
    random_window_model,
    scaled,
    window_features_of,
)

from protonn_edge.codegen.context import sendings
from protonn_edge.codegen.host import host_program
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.quantization import quantize
from protonn_edge.model.raw_inputs import (
    MANY_DECIMALS,
    choose_exponents,
    decimals_of,
    raw_quantizer,
)

ENDS = st.floats(-1e6, 1e6).map(lambda x: round(x, 4))


@given(ENDS, ENDS, st.integers(0, 6), st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=30))
def test_the_byte_is_at_most_one_from_that_of_the_float(
    zero: float, other: float, decimals: int, places: list[float]
) -> None:
    """Where the exponent that rounding needs fits 16 bits, and only near a half step."""
    lower, upper = np.array([min(zero, other)]), np.array([max(zero, other)])
    exponents = choose_exponents(lower, upper, np.array([MANY_DECIMALS]))
    features = InputQuantizer(np.array([zero]), np.array([(other - zero) / 255 or 1.0]), 255)
    X = np.round(zero + (other - zero) * np.array(places)[:, None], decimals)
    quantizer = raw_quantizer(features, exponents, fine=True)
    bytes_of_raw = quantizer.quantize(quantizer.integers(X)).astype(int)
    raw_step = 10.0 ** -exponents[0] / abs(features.step[0])  # in steps of a byte
    steps = (X - features.zero) / features.step
    reached = np.floor(
        np.clip(steps, -1, 256)[..., None] + 0.5 + np.array([-1, 1]) * reach(raw_step)
    )
    assert (bytes_of_raw >= np.clip(reached[..., 0], 0, 255)).all()
    assert (bytes_of_raw <= np.clip(reached[..., 1], 0, 255)).all()
    if raw_step <= 1:
        assert np.abs(bytes_of_raw - features.quantize(X)).max() <= 1


def reach(raw_step: float) -> float:
    """How far rounding to raw integers, and the quantizer's own, may move a byte, in steps."""
    return raw_step / 2 + 0.01


@pytest.mark.parametrize(
    ("numbers", "exponent"),
    [
        ([0, 1023], 0),
        ([-32768, 32767], 0),
        ([0, 65535], -1),
        ([0, 1_000_000], -2),
        ([4.3, 5.1, 7.9], 1),
        ([980.25, 1040.5], 1),
        ([0.05263, 0.1634], 5),
        ([5.5, 5.5], 1),
    ],
)
def test_the_unit_suits_the_numbers(numbers: list[float], exponent: int) -> None:
    X = np.array(numbers, np.float32)[:, None]
    ends = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    assert choose_exponents(*ends, decimals_of(X, 1)).tolist() == [exponent]


def test_decimals_are_counted_column_by_column_and_in_turn() -> None:
    X = np.array([[1, 0.5, 2, 0.25], [3, 1 / 3, 4, 0.125]], np.float32)
    assert decimals_of(X, 4).tolist() == [0, MANY_DECIMALS, 0, 3]
    assert decimals_of(X, 2).tolist() == [0, MANY_DECIMALS]
    assert decimals_of(X[:, [0, 2]], 1).tolist() == [0]


def test_channels_of_windows_have_units_of_their_own() -> None:
    window_features = scaled(
        window_features_of("mean,deviation", 20, 3), (-0.5, 0.0, 100.0), (0.004, 1.5, 0.7)
    )
    model = quantize(random_window_model(window_features))
    sent = [(each.features, each.unit) for each in sendings(model)]
    assert sent == [
        ("channel 0", "ten-thousandths"),
        ("channel 1", "tenths"),
        ("channel 2", "hundredths"),
    ]
    X = np.random.default_rng(0).uniform(-1, 120, (30, 60))
    raw = model.raw_inputs.integers(X)
    with host_program(model) as program:
        scores = program.run(raw, "raw")[1]
    assert np.array_equal(scores, model.answers(model.raw_inputs.quantize(raw))[1])
