"""Integers of whole trees answer as scikit-learn's forest, those of pruned ones as its majority."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forest_factory import caught_ensembles

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.kinds.forest import train as training
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

DIGITS = load_digits_dataset()  # of small whole numbers


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that trains, and returns the integers, and scikit-learn's own forest."""
    made = caught_ensembles(training, monkeypatch)

    def fit(**settings: Any) -> tuple[IntegerChain, Any, dict[str, Any]]:
        classifier = ForestClassifier(n_trees=9, random_state=0, **settings)
        model = classifier.fit(DIGITS.X_train, DIGITS.y_train).to_model()
        return quantize(model), made[-1], model.record

    return fit


@pytest.mark.parametrize("leaves", ["votes", "shares"])
def test_whole_trees_answer_as_scikit_learns_forest_of_the_raw_points(
    leaves: str, fitted: Any
) -> None:
    integers, own, _ = fitted(size_budget=None, leaves=leaves)
    lower = DIGITS.X_train.min(axis=0)
    assert (integers.quantize(DIGITS.X_train) == DIGITS.X_train - lower).all()
    found = integers.predict(integers.quantize(DIGITS.X_test))
    assert (found == own.predict(DIGITS.X_test - lower)).all()


def test_pruned_trees_answer_as_the_majority_of_scikit_learns(fitted: Any) -> None:
    integers, own, record = fitted(size_budget=2_000)
    Q = integers.quantize(DIGITS.X_test)
    each = np.stack([_pruned(tree, record["ccp_alpha"]).predict(Q) for tree in own.estimators_], 1)
    majority = [np.bincount(votes.astype(int), minlength=10).argmax() for votes in each]
    assert (integers.predict(Q) == majority).all()


def _pruned(tree: Any, alpha: float) -> Any:
    """Return a tree of scikit-learn's as it would have been with this cost of a leaf."""
    tree.ccp_alpha = alpha
    tree._prune_tree()
    return tree
