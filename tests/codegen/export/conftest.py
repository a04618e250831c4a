"""What the tests of exports share: models of every kind."""

from __future__ import annotations

import pytest
from model_factory import (
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.rejection.rule import Rejection

MODELS = {
    "rejecting": lambda: with_rules(random_model(), Rejection(score=0.2, rbf=0.1)),
    "few pins": lambda: random_model(features=4),
    "wide": lambda: random_model(features=400, projections=20, prototypes=60, classes=10),
    "deskew": lambda: random_pooling_model(
        average_pooling((28, 28), (24, 24), (12, 12), deskew=True), projections=8
    ),
    "samples": lambda: random_window_model(
        window_features_of("mean,deviation,min,max,change,crossings,bands", 100, 3), projections=8
    ),
}


@pytest.fixture(scope="session", params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    """Return a model of each kind that generated code tells apart."""
    return MODELS[request.param]()
