"""A value in integers is near the one in floats, and the same in NumPy, host C and on the Uno."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.value.numbers import REGRESSORS, fitted, points
from refusals import refused_by

from protonn_edge.model.policy import Units
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.value.rule import IntegerValue, Value


def units(step: float, low: int, high: int) -> Units:
    return Units(step, 255, 1, 0, (low, high))


@given(
    low=st.integers(-(2**31), 2**31 - 2),
    width=st.integers(1, 2**32),
    spread=st.floats(1e-3, 1e3),
    offset=st.floats(-1e3, 1e3),
    decimals=st.integers(0, 4),
    data=st.data(),
)
def test_integers_are_near_the_value_and_no_product_overflows(
    low: int, width: int, spread: float, offset: float, decimals: int, data: st.DataObject
) -> None:
    high = min(low + width, 2**31 - 1)
    largest = max(abs(low), abs(high))
    step = spread / largest  # of an integer score of 1
    value = Value(1.0, offset, decimals)
    of_device = IntegerValue.of(value, units(step, low, high))
    score = data.draw(st.integers(low, high))
    [found] = of_device.in_units(np.array([[score]]))
    assert of_device.lowest <= found <= of_device.highest
    assert abs(found) < 2**31
    kept = score >> of_device.dropped
    assert -(2**15) <= kept < 2**15
    assert abs(kept * of_device.multiplier) + (1 << (of_device.shift - 1)) < 2**31
    # Dropped bits lose up to a step of 16 bits, the factor half of its last digit.
    slack = spread * (2**-15 + 2**-14) + of_device.unit
    assert abs(found * of_device.unit - (offset + step * score)) <= slack


def test_a_step_beyond_the_factor_is_refused() -> None:
    with refused_by("value"):
        IntegerValue.of(Value(1.0, 0.0, 0), units(1e6, -100, 100))


def test_an_offset_beyond_32_bits_is_refused() -> None:
    with refused_by("value.offset"):
        Value(1.0, 3e9, 1)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_integers_predict_almost_as_well_as_floats(kind: str) -> None:
    regressor = fitted(kind)
    X, y = points(seed=1)
    chain = quantize(regressor.model_)
    rule = chain.policy.find(IntegerValue)
    assert rule is not None
    in_integers = rule.values(chain.scores(chain.quantize(X)))
    lost = np.square(in_integers - y).sum() / np.square(y - y.mean()).sum()
    assert regressor.score(X, y) - (1 - lost) < 0.005


@pytest.mark.parametrize("decimals", [2.5, np.inf, np.nan, True, -1, 10])
def test_decimals_are_a_whole_number_that_fits(decimals: float) -> None:
    with refused_by("value.decimals"):
        Value(1.0, 0.0, decimals)  # type: ignore[arg-type]
