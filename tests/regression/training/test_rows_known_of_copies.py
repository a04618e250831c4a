"""Training with copies: the sketch of training rows was filled with copies, which no data has."""

from __future__ import annotations

import numpy as np

from protonn_edge.datasets.row_sketch import SKETCH_SIZE, RowSketch
from protonn_edge.kinds.linear.train import LinearClassifier


def test_training_rows_are_known_without_their_copies() -> None:
    X = np.random.default_rng(0).normal(size=(SKETCH_SIZE // 2, 16)).astype(np.float32)
    classifier = LinearClassifier(image_shape=(4, 4), copies=3, random_state=0)
    rows = classifier.fit(X, np.arange(len(X)) % 2).to_model().training_rows
    assert rows is not None
    assert np.array_equal(rows.hashes, RowSketch.of([X]).hashes)
    assert rows.overlap(X[:20]).compared == 20
