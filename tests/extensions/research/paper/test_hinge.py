"""The hinge loss learns classes."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier


@pytest.mark.parametrize("optimizer", ["joint", "alternating"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_hinge_learns_classes(optimizer: str, n_classes: int) -> None:
    generator = np.random.default_rng(0)
    y = generator.integers(n_classes, size=300)
    points = generator.normal(size=(300, 4)) + 3.0 * np.eye(4)[y]
    classifier = ProtoNNClassifier(
        loss="hinge", optimizer=optimizer, epochs=30, iterations=3, n_projections=3, random_state=0
    ).fit(points[:200], y[:200])
    assert classifier.score(points[200:], y[200:]) > 0.8
    likelihoods = classifier.predict_proba(points)
    np.testing.assert_allclose(likelihoods.sum(axis=1), 1.0)
