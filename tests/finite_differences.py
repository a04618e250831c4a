"""Derivatives, compared with how a value changes along a random direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

_STEP = 1e-6


def assert_slope(
    value: Callable[[], float], array: np.ndarray, derivative: np.ndarray, seed: int = 0
) -> None:
    """Check the derivatives of a value by an array of floats, which is changed in place."""
    assert derivative.shape == array.shape
    towards = np.random.default_rng(seed).normal(size=array.shape)
    still, ends = array.copy(), []
    for step in (_STEP, -_STEP):
        array[...] = still + step * towards
        ends.append(value())
    array[...] = still
    expected = (ends[0] - ends[1]) / (2 * _STEP)
    assert (derivative * towards).sum() == pytest.approx(expected, rel=1e-4, abs=1e-7)
