"""Copies of points keep what their labels are: those of points with numbers had sets of labels."""

from __future__ import annotations

import numpy as np
import pytest
from policy.value.numbers import REGRESSORS
from sklearn.base import clone


@pytest.mark.parametrize("kind", ["protonn", "linear", "dense"])
def test_numbers_are_learned_from_copies_of_windows(kind: str) -> None:
    rng = np.random.default_rng(0)
    level = rng.uniform(-5, 5, 200)
    windows = (level[:, None] + rng.normal(0, 0.1, (200, 16))).astype(np.float32)
    asked = {"features": "mean,deviation", "window_shape": (16, 1), "copies": 1}
    regressor = clone(REGRESSORS[kind]).set_params(**asked).fit(windows[:150], 7 + 3 * level[:150])
    assert regressor.score(windows[150:], 7 + 3 * level[150:]) > 0.8
