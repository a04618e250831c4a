"""Training with copies: the sketch of training rows was filled with copies, which no data has."""

from __future__ import annotations

import numpy as np
import pytest

from protonn_edge.datasets.row_sketch import SKETCH_SIZE, RowSketch
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.training.base import CLASSIFIERS
from protonn_edge.training.calibration import fitted_sharpness


def test_training_rows_are_known_without_their_copies() -> None:
    X = np.random.default_rng(0).normal(size=(SKETCH_SIZE // 2, 16)).astype(np.float32)
    classifier = LinearClassifier(image_shape=(4, 4), copies=3, random_state=0)
    rows = classifier.fit(X, np.arange(len(X)) % 2).to_model().training_rows
    assert rows is not None
    assert np.array_equal(rows.hashes, RowSketch.of([X]).hashes)
    assert rows.overlap(X[:20]).compared == 20


def test_units_and_probabilities_are_those_of_the_points_without_copies() -> None:
    """Copies have more decimals, and Platt's targets depend on the number of points."""
    X = np.random.default_rng(0).integers(0, 10, (40, 16)).astype(np.float32)
    y = np.arange(len(X)) % 2
    kind = CLASSIFIERS["forest"]
    model = kind(image_shape=(4, 4), copies=3, random_state=0).fit(X, y).to_model()
    assert not model.units.any()
    expected = fitted_sharpness(model.scores(X), y, certain=False)
    assert model.sharpness == pytest.approx(expected, rel=1e-4)
