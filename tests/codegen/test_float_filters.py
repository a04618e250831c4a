"""The quick way to the byte of a float gives the byte of the operations, or is not sure."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.codegen.float_filters import NONE, FloatFilter, filter_of
from protonn_edge.model.raw_inputs import FloatQuantizer, FloatScale

RANGES = [(0, 1), (0, 255), (-1, 1), (15, 30), (-19.6, 19.6), (980, 1040), (7.9, 4.3), (1e-30, 0)]


def scale_of(low: float, high: float) -> FloatScale:
    """Return the scale of a range."""
    step = (high - low) / 255
    with np.errstate(over="ignore"):
        edge, slope = np.float32(low - step / 2), np.float32(np.clip(1 / step, -3e38, 3e38))
    return FloatScale(float(edge), float(slope))


def filtered(each: FloatFilter, floats: np.ndarray) -> np.ndarray:
    """Return what the assembly gives for floats (n,): steps of at most 255, or 256 if unsure."""
    bits = floats.view(np.uint32).astype(np.int64)
    exponents, fractions = bits >> 23 & 255, bits & 0x7FFFFF | 0x800000
    units = fractions >> np.minimum(np.maximum(each.exponent - exponents, 0), 24)
    falls = each.sign >> 7 ^ bits >> 31
    beyond = np.where(falls == 1, -units, units) - each.start
    product = (np.clip(beyond, 0, (1 << 24) - 1) * each.multiplier >> 8) << each.shift
    steps, part = product >> 24, product >> 16 & 255
    found = np.where((part == 0) | (part == 255), 256, steps)
    found = np.where((beyond >= 1 << 24) | (steps > 255), 255, found)
    found = np.where(beyond < 0, 0, found)
    unsure = (each.exponent == 0) | (exponents > each.exponent)
    return np.where(unsure, 256, found)


def floats_near(scale: FloatScale, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return floats (4 n,): within the range, near steps, denormals and ends, and any bits."""
    with np.errstate(all="ignore"):
        width = 256 / np.float64(scale.slope)
        within = (scale.edge + width * rng.uniform(-0.1, 1.1, n)).astype(np.float32)
        steps = (scale.edge + width * rng.integers(-1, 258, n) / 256).astype(np.float32)
    near = steps.view(np.uint32).astype(np.int64) + rng.integers(-600, 601, n)
    odd = rng.choice(np.array([0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000]), n)
    odd |= rng.integers(0, 2, n) << 31
    bits = [within.view(np.uint32), near, odd, rng.integers(0, 1 << 32, n)]
    return np.concatenate([each.astype(np.uint32) for each in bits]).view(np.float32)


def check(scale: FloatScale, rng: np.random.Generator, n: int) -> None:
    """Compare the filter of a scale with the quantizer."""
    x = floats_near(scale, n, rng)
    found = filtered(filter_of(scale), x)
    expected = FloatQuantizer((scale,), np.zeros(1, np.int64), 255).quantize(x[:, None])[:, 0]
    wrong = (found != 256) & (found != expected)
    assert not wrong.any(), (scale, filter_of(scale), x[wrong][:5])


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_usual_ranges_are_rarely_unsure(low: float, high: float) -> None:
    scale, rng = scale_of(low, high), np.random.default_rng(1)
    assert filter_of(scale) != NONE
    check(scale, rng, 20_000)
    inside = (low + (high - low) * rng.uniform(0, 1, 20_000)).astype(np.float32)
    assert 0.001 < (filtered(filter_of(scale), inside) == 256).mean() < 0.02


def test_sure_steps_are_those_of_the_operations() -> None:
    rng = np.random.default_rng(2)
    filters = 0
    for _ in range(300):
        low = rng.normal() * 10 ** rng.uniform(-37, 36)
        scale = scale_of(low, low + low * rng.normal() * 10 ** rng.uniform(-3, 2))
        filters += filter_of(scale) != NONE
        check(scale, rng, 2_000)
    assert filters > 100


def test_narrow_tiny_and_endless_ranges_have_no_filter() -> None:
    for low, high in ((1e6, 1e6 + 10), (1e-39, 1e-38), (-3e38, 3e38)):
        assert filter_of(scale_of(low, high)) == NONE
    assert filter_of(FloatScale(0.0, 0.0)) == NONE
