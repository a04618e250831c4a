"""Copies of points keep what their labels are: those of points with numbers had sets of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from policy.value.numbers import REGRESSORS
from sklearn.base import clone

from protonn_edge.learn.parameters import SharedParameters
from protonn_edge.learn.points import Points
from protonn_edge.learn.transforms import Copies, Strangers

IMAGES = np.arange(80.0, dtype=np.float32).reshape(5, 16)
CHANGES = {
    "copies": Copies(SharedParameters(image_shape=(4, 4), copies=2)),
    "strangers": Strangers(0.4, (4, 4)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_more_points_have_the_same_kind_of_labels(change: Any) -> None:
    given = Points(IMAGES, np.arange(5), labels=object())
    more = change.apply(given, np.random.default_rng(0))
    assert len(more) > len(given)
    assert more.labels is given.labels


@pytest.mark.parametrize("kind", ["protonn", "linear", "dense"])
def test_numbers_are_learned_from_copies_of_windows(kind: str) -> None:
    rng = np.random.default_rng(0)
    level = rng.uniform(-5, 5, 200)
    windows = (level[:, None] + rng.normal(0, 0.1, (200, 16))).astype(np.float32)
    asked = {"features": "mean,deviation", "window_shape": (16, 1), "copies": 1}
    regressor = clone(REGRESSORS[kind]).set_params(**asked).fit(windows[:150], 7 + 3 * level[:150])
    assert regressor.score(windows[150:], 7 + 3 * level[150:]) > 0.8
