"""Raw integers become bytes in integers: as near to the definition in floats as can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.raw_inputs import RAW_SHIFT, raw_quantizer

EVERY = np.arange(-32768, 32768)[:, None]


def one_feature(lower: float, upper: float, maximum: int, mirrored: bool) -> InputQuantizer:
    step = (upper - lower) / maximum or 1.0
    zero, step = (upper, -step) if mirrored else (lower, step)
    return InputQuantizer(np.array([zero]), np.array([step]), maximum)


@given(
    ends=st.tuples(st.integers(-33_000, 33_000), st.integers(-33_000, 33_000)),
    maximum=st.sampled_from([255, 127, 63, 31, 15]),
    mirrored=st.booleans(),
)
def test_all_raw_values_are_as_in_floats_but_for_ties(ends, maximum, mirrored):
    inputs = one_feature(min(ends), max(ends), maximum, mirrored)
    quantizer = raw_quantizer(inputs)
    exact = (EVERY - inputs.zero) / inputs.step + 0.5
    floats, integers = inputs.quantize(EVERY).astype(int), quantizer.quantize(EVERY).astype(int)
    assert np.abs(floats - integers).max() <= 1
    to_tie = np.abs(exact - np.rint(exact))
    assert (to_tie[floats != integers] < 0.01).all()
    assert np.ptp(np.sign(np.diff(integers, axis=0))) <= 1  # it only grows, or only falls


@given(
    zero=st.floats(-1e6, 1e6),
    step=st.floats(1e-6, 1e6) | st.floats(-1e6, -1e-6),
    maximum=st.sampled_from([255, 15, 1]),
)
@example(zero=0.0, step=-0.029296875, maximum=255)  # 8 raw values are the whole range
@example(zero=0.99999, step=1e-06, maximum=255)  # the whole range is between two of them
def test_no_sum_exceeds_31_bits_whatever_the_feature_is(zero, step, maximum):
    inputs = InputQuantizer(np.array([zero]), np.array([step]), maximum)
    quantizer = raw_quantizer(inputs)
    (scale,) = quantizer.scales
    assert -32768 <= scale.first <= 32767
    assert 0 <= scale.span << scale.shift <= 65535
    assert 0 <= scale.multiplier <= 65535
    largest = (scale.span << scale.shift) * scale.multiplier + scale.offset
    assert -(1 << 30) <= scale.offset <= largest < (2 * maximum + 1) << RAW_SHIFT < 1 << 31
    assert largest - scale.offset < 1 << 32
    floats, integers = inputs.quantize(EVERY).astype(int), quantizer.quantize(EVERY).astype(int)
    assert np.abs(floats - integers).max() <= 1


def test_bytes_and_an_adc_are_exact():
    for lower, upper in ((0, 255), (-128, 127), (0, 1020), (0, 510)):
        inputs = one_feature(lower, upper, 255, mirrored=False)
        assert (raw_quantizer(inputs).quantize(EVERY) == inputs.quantize(EVERY)).all()


def test_features_with_one_range_share_a_scale():
    inputs = InputQuantizer(np.array([0.0, 5.0, 0.0]), np.array([1.0, 1.0, 1.0]), 255)
    quantizer = raw_quantizer(inputs)
    assert len(quantizer.scales) == 2
    assert quantizer.choice.tolist() == [0, 1, 0]


@pytest.mark.parametrize("X", [np.zeros((2, 1)), np.zeros((2, 2), int), np.full((1, 1), 40000)])
def test_what_no_sensor_gives_is_refused(X):
    with refused_by("model.raw_inputs"):
        raw_quantizer(one_feature(0, 255, 255, mirrored=False)).quantize(X)


def test_saturations_are_what_is_cut_off_by_more_than_half_a_step():
    inputs = one_feature(0, 255, 255, mirrored=False)
    X = np.array([[-1.0], [-0.4], [0.0], [255.4], [255.6], [9e9]])
    assert inputs.saturations(X) == 3
