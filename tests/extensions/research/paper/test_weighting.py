"""Weights of points in the losses of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.extensions.research.paper.train.losses import LOSSES
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.kinds.protonn.train.fitting import parameters_of
from protonn_edge.learn.objective import objective

DIGITS = load_digits_dataset()


def classifier(**settings: object) -> ProtoNNClassifier:
    chosen = {"n_projections": 4, "n_prototypes": 10, "epochs": 5, "pass_epochs": 2}
    return ProtoNNClassifier(random_state=0, **(chosen | settings))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_weighted_objective_is_that_of_repeated_points(loss: str) -> None:
    rng = np.random.default_rng(0)
    model = classifier(epochs=1).fit(DIGITS.X_train, DIGITS.y_train)
    parameters = parameters_of(model.model_, scores_are_logits=True)
    X = model.model_.normalizer.apply(DIGITS.X_train[:6]).astype(np.float32)
    Y = np.eye(10, dtype=np.float32)[DIGITS.y_train[:6]]
    counts = rng.integers(1, 4, 6)
    weights = (counts / counts.mean()).astype(np.float32)
    rows = np.repeat(np.arange(6), counts)
    assert objective(parameters, X, Y, LOSSES[loss], weights) == pytest.approx(
        objective(parameters, X[rows], Y[rows], LOSSES[loss]), rel=1e-5
    )
