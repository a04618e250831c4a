"""A sensor's counts become the bytes of values in another unit, for any two units."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.raw_inputs import RAW_MAXIMUM, RAW_MINIMUM, raw_quantizer

COUNTS = np.concatenate([np.arange(-90, 90), np.linspace(RAW_MINIMUM, RAW_MAXIMUM, 99)])
WHOLE = np.unique(np.rint(COUNTS).astype(np.int64))[:, None]


@given(
    per_unit=st.floats(1e-6, 1e6),
    zero=st.floats(-20_000, 20_000),
    step=st.floats(0.01, 200) | st.floats(-200, -0.01),
    maximum=st.integers(1, 255),
)
@example(per_unit=1.0, zero=-1.00001, step=-84.0, maximum=1)  # -43 is just below byte 1
@example(per_unit=45925.0, zero=0.0, step=-50.0, maximum=1)  # -25 is, by the rounding of 50
def test_counts_become_the_bytes_of_their_values_but_for_edges(
    per_unit: float, zero: float, step: float, maximum: int
) -> None:
    in_units = InputQuantizer(np.array([zero / per_unit]), np.array([step / per_unit]), maximum)
    raw = raw_quantizer(in_units, np.array([3]), counts=np.array([per_unit]))
    found = raw.quantize(WHOLE).astype(int)
    exact = [
        (Fraction(int(count)) - Fraction(zero)) / Fraction(step) + Fraction(1, 2)
        for count in WHOLE[:, 0]
    ]
    nearest = np.array([min(max(int(each // 1), 0), maximum) for each in exact])
    differing = np.abs(found[:, 0] - nearest)
    assert differing.max() <= 1
    edges = [abs(each - round(each)) for each in exact]
    assert all(edge < Fraction(1, 50) for edge, d in zip(edges, differing, strict=True) if d)


def test_values_are_passed_as_counts() -> None:
    quantizer = InputQuantizer(np.array([-1.0, 0.0]), np.array([0.01, 1.0]), 255)
    raw = raw_quantizer(quantizer, counts=np.array([256.0, 0.5]))
    assert raw.integers([[0.5, 7.0], [-200.0, 1e9]]).tolist() == [[128, 4], [-32768, 32767]]
    assert not raw.exponents.any()


@given(st.fractions(min_value=Fraction(1, 10**24), max_value=10**24))
def test_units_of_any_size_give_bytes(size: Fraction) -> None:
    quantizer = InputQuantizer(np.array([-1.0]), np.array([0.01]), 255)
    found = raw_quantizer(quantizer, counts=np.array([float(size)])).quantize(WHOLE)
    assert (np.diff(found[:, 0].astype(int)) >= 0).all()
