"""Settings that contradict each other, the points or the labels are refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from extension_parts import additions
from trainings import DIGITS, protonn

from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier

pytestmark = pytest.mark.usefixtures("python_words")

N = 120
X, Y = DIGITS.X_train[:N].astype(np.float64), DIGITS.y_train[:N]
SETS = np.stack([Y > 4, Y <= 4], axis=1).astype(int)
IMAGE = {"image_shape": (8, 8)}
WINDOWS = {"window_shape": (32, 2), "features": "mean,deviation,change"}
COPIES = {**WINDOWS, "copies": 2}
MANY = "only into copies of windows"

REFUSED: list[tuple[dict[str, Any], str]] = [
    # points and labels
    ({"X": np.full_like(X, 3.0)}, "every feature is constant \\(feature 0 is always 3\\)"),
    ({"y": np.zeros(N)}, "only one class"),
    ({"y": np.linspace(0.0, 1.0, N)}, "continuous"),
    ({"y": np.where(Y == 3, np.nan, Y)}, "NaN"),
    ({"y": Y[:-1]}, "samples"),
    ({"y": [{1, "a"}] * N}, "cannot be sorted"),
    ({"y": [{1}] * N}, "only one class"),
    ({"y": np.zeros_like(SETS)}, "the points: no labels"),
    *(
        ({"y": y}, "the label matrix: other values, expected zeros and ones")
        for y in (2 * SETS - 1, 2 * SETS, -SETS)
    ),
    ({"y": [{float("nan"), 1.0}] * N}, "a label: nan, expected a text or a number"),
    ({"y": [[[1], 2], [3]] * (N // 2)}, "a label: .*, expected a text or a number"),
    ({"evaluate_on": (X[:1], [10])}, "has the label '10'"),
    ({"y": SETS, "evaluate_on": (X, 2 * SETS)}, "the label matrix: other values"),
    ({"sample_weight": np.full(N, -1)}, "[Nn]egative"),
    ({"sample_weight": np.zeros(N)}, "at least one non-zero number"),
    ({"y": SETS * (Y > 0)[:, None], "sample_weight": (Y == 0).astype(float)}, "no labels"),
    ({"class_weight": dict.fromkeys(range(10), 0.0)}, "every point has weight 0"),
    *(
        (
            {"class_weight": {**dict.fromkeys(range(10), 1.0), 0: weight}},
            "the weights of points and classes range from",
        )
        for weight in (1e300, 1e-60, -1.0, np.nan, np.inf)
    ),
    ({"y": SETS, "class_weight": "balanced"}, "class_weight is for points of one class each"),
    ({"n_prototypes": 121}, "number of prototypes is 121, but the training data has 120 points"),
    # images
    ({"augment": True}, "their size is not given; give image_shape"),
    *(
        ({**IMAGE, "augment": True, **settings}, words)
        for settings, words in additions("refused with augmentation").values()
    ),
    ({"image_shape": (8, 9)}, "8x9: 72 pixels, expected 64"),
    ({"image_shape": (-8, -8)}, "expected \\(height, width\\)"),
    ({"image_shape": (64,)}, "expected \\(height, width\\)"),
    ({**IMAGE, "features": "deskew"}, "deskew, which prepares images but computes no features"),
    ({**IMAGE, "features": "pool:9x8"}, "expected at most 8x8"),
    ({**IMAGE, "features": "crop:4x4,pool:6x6"}, "expected at most 4x4"),
    (
        {**IMAGE, "features": "pool:4x4,gradients:3x3"},
        "'gradients:3x3' .* cannot be combined with pool:4x4",
    ),
    (
        {**IMAGE, "features": "gradients:3x3", "clip": 0.02},
        "clip is given, but features makes values that are not clipped",
    ),
    ({**IMAGE, "features": "gradients:9x2"}, "cells: 9x2, expected at most 8x8"),
    ({**IMAGE, "features": "gradients:3x3/6"}, "has 6 directions, but must have 8 or 4"),
    # windows
    ({**WINDOWS, "features": "mode"}, "'mode' of the features is not one of mean"),
    ({**WINDOWS, "window_shape": (30, 2)}, "expected windows of 30x2 samples"),
    ({"features": "bands:7"}, "expected 0 to 6"),
    ({**WINDOWS, "features": None}, "but no features of windows are requested"),
    (
        {**WINDOWS, "image_shape": (32, 2), "augment": True},
        "points are either images or windows",
    ),
    # copies
    ({"copies": 2}, "copies is 2, but copies are moved"),
    ({**COPIES, "window_shape": (1, 64)}, "channels of a window: 64"),
    ({**COPIES, "copies": 101}, "'copies' parameter .* range"),
    ({**WINDOWS, "background_noise": np.ones((1, 64))}, MANY),
    ({**IMAGE, "copies": 2, "background_noise": np.ones((1, 64))}, MANY),
    ({**COPIES, "background_noise": np.ones((1, 63))}, r"\(1, 63\), but the points have 64 value"),
    ({**COPIES, "background_noise": np.ones((0, 64))}, r"\(0, 64\), but the points have 64 value"),
    ({**COPIES, "background_noise": np.full((1, 64), np.nan)}, "background_noise .* NaN"),
    # groups and sets of labels
    *(
        ({"groups": np.arange(N) % 3, **settings}, words)
        for settings, words in additions("refused with groups").values()
    ),
    ({"groups": np.arange(N) % 3, "group_shift": -1.0}, "'group_shift' parameter .* range"),
    ({"groups": np.zeros(5)}, r"shape \(5,\) for 120 points"),
    ({"groups": np.array(["a", None, "b"] * 40, object)}, "the group of point 1 is missing"),
    ({"groups": np.where(np.arange(N) == 7, np.nan, 1.0)}, "the group of point 7 is missing"),
    ({"y": SETS, "groups": np.arange(N) % 3, "group_shift": 2.0}, "is for points of one class"),
    ({"y": SETS, "strangers": 0.5}, "is for points of one class each"),
    # a network
    ({"kind": LinearClassifier, "solver": "network"}, "features requests no convolutions"),
    (
        {
            "kind": LinearClassifier,
            "solver": "network",
            **IMAGE,
            "features": "conv:4x3",
            "normalization": "l2",
        },
        "no device supports the normalization 'l2'",
    ),
]


@pytest.mark.parametrize(("settings", "words"), REFUSED)
def test_it_is_refused_in_one_sentence(settings: dict[str, Any], words: str) -> None:
    given = dict(settings)
    points, y = given.pop("X", X), given.pop("y", Y)
    others = {name: given.pop(name, None) for name in ("groups", "sample_weight", "evaluate_on")}
    kind = given.pop("kind", protonn)
    with pytest.raises(ValueError, match=words) as caught:
        kind(**given).fit(points, y, **others)
    assert "\n" not in str(caught.value)


def test_some_constant_features_are_fine() -> None:
    points = np.full_like(X, 3.0)
    points[:, 5] = X[:, 20]
    model = ProtoNNClassifier(epochs=2, random_state=0).fit(points, Y).to_model()
    assert np.flatnonzero(model.head.projection.any(axis=0)).tolist() == [5]


def test_few_points_have_fewer_prototypes() -> None:
    model = ProtoNNClassifier(epochs=2, random_state=0).fit(X[:12], Y[:12]).to_model()
    assert model.head.n_prototypes == 4 * len(np.unique(Y[:12]))
