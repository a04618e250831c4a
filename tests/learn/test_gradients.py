"""Training on sums of gradients by direction."""

from __future__ import annotations

import numpy as np
from model_factory import random_images

from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.model import raw_ends

SMALL = {"image_shape": (8, 8), "features": "gradients:3x3", "n_projections": 6, "epochs": 4}


def test_dark_strokes_on_light_ground_have_a_background_of_0() -> None:
    stage = gradient_features((8, 8), (8, 8), (2, 2))
    X = 1.0 - random_images(0, 200, stage) / 255
    y = np.arange(200) % 2
    settings = {**SMALL, "features": "gradients:2x2", "random_state": 0}
    model = ProtoNNClassifier(**settings).fit(X, y).to_model()
    assert model.features.stages[-1].kind == "gradients"
    assert model.features.points.scale.zero == 1.0
    assert model.features.points.scale.step < 0
    lower, upper = raw_ends(model)
    assert (lower, upper) == (0.0, 1.0)
