"""Weights of points and of classes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from trainings import DIGITS, OPTIMIZERS, protonn

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.given_points import point_weights
from protonn_edge.model.file import model_bytes

LABELS = np.array(["a", "b", "b", "b"])
POINTS = np.zeros((4, 1))


def classifier(**settings: object) -> ProtoNNClassifier:
    chosen = {"n_projections": 4, "n_prototypes": 10, "epochs": 5}
    return protonn(random_state=0, **(chosen | settings))


def test_balanced_classes_weigh_the_same() -> None:
    weights = point_weights(POINTS, LABELS, None, "balanced")
    np.testing.assert_allclose(weights, [1, 1 / 3, 1 / 3, 1 / 3])


def test_balance_takes_the_points_weights_into_account() -> None:
    weights = point_weights(POINTS, LABELS, [5, 0, 1, 3], "balanced")
    np.testing.assert_allclose(weights, [1, 0, 1 / 4, 3 / 4])


def test_weights_of_classes_multiply_those_of_points() -> None:
    weights = point_weights(POINTS, LABELS, [1, 2, 3, 4], {"a": 10.0, "b": 0.5})
    np.testing.assert_allclose(weights, [10, 1, 1.5, 2])


ROWS = [0, 1, 0, *range(3, 80)]  # two groups have the first point
X, Y = DIGITS.X_train[ROWS], DIGITS.y_train[ROWS]
WAYS: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    **{
        " ".join(way): (
            {**OPTIMIZERS[way[0]], "init_prototypes": way[1], "init_projection": way[2]},
            Y,
        )
        for way in product(OPTIMIZERS, ("per_class", "kmeans", "sample"), ("lda", "pca"))
    },
    "groups": ({"groups": np.array(["ann", "bob", "eve", "joe"])[np.arange(80) % 4]}, Y),
    "outlier exposure": ({"strangers": 0.5}, Y),
    "sets of labels": ({}, np.stack([Y > 4, Y % 2 == 0, Y < 7], axis=1).astype(int)),
}
"""Settings and labels; the groups are no setting."""


@pytest.mark.parametrize("way", WAYS)
def test_weights_are_repetitions_in_any_order(way: str) -> None:
    settings, y = dict(WAYS[way][0]), WAYS[way][1]
    groups = settings.pop("groups", None)
    counts = np.random.default_rng(1).integers(0, 3, 80)
    again = np.random.default_rng(2).permutation(np.repeat(np.arange(80), counts))
    weighted = classifier(**settings).fit(X, y, sample_weight=counts, groups=groups)
    others = None if groups is None else groups[again]
    repeated = classifier(**settings).fit(X[again], y[again], groups=others)
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert weighted.model_.policy == repeated.model_.policy


def test_equal_weights_change_nothing() -> None:
    X, y = DIGITS.X_train, DIGITS.y_train
    weighted = classifier().fit(X, y, sample_weight=np.full(len(X), 3.0))
    plain = classifier().fit(X, y)
    assert np.array_equal(weighted.model_.head.projection, plain.model_.head.projection)
    assert model_bytes(plain.model_) != model_bytes(weighted.model_)  # the record has the weights


def test_a_class_that_counts_more_is_found_more_often() -> None:
    def recall(class_weight: dict[int, float] | None) -> float:
        trained = classifier(n_projections=2, class_weight=class_weight)
        trained.fit(DIGITS.X_train, DIGITS.y_train)
        eights = DIGITS.y_test == 8
        return float(np.mean(trained.predict(DIGITS.X_test[eights]) == 8))

    assert recall({8: 20.0}) > recall(None)


def test_a_class_without_weight_is_no_class() -> None:
    weights = (DIGITS.y_train < 3).astype(float)
    trained = classifier().fit(DIGITS.X_train, DIGITS.y_train, sample_weight=weights)
    assert trained.classes_.tolist() == [0, 1, 2]
