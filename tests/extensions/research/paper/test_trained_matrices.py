"""Which of W, B and Z are trained, and stochastic neighbour compression, which is such a choice."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.extensions.research.kinds.paper.train.classifier import (
    PaperProtoNNClassifier,
)
from protonn_edge.extensions.research.kinds.paper.train.losses import neighbour_likelihood
from protonn_edge.learn.objective import MATRICES
from protonn_edge.model.model import Model

DIGITS = load_digits_dataset()
SUBSETS = [subset for size in (1, 2, 3) for subset in itertools.combinations(MATRICES, size)]
SMALL = {"n_projections": 5, "n_prototypes": 12, "random_state": 0}


def fitted(**settings: Any) -> Model:
    classifier = PaperProtoNNClassifier(**{**SMALL, **settings})
    return classifier.fit(DIGITS.X_train[:200], DIGITS.y_train[:200]).model_


def proportional(A: np.ndarray, B: np.ndarray) -> bool:
    """Whether two matrices differ by a factor at most."""
    return bool(np.allclose(A / np.abs(A).max(), B / np.abs(B).max(), atol=1e-6))


@pytest.mark.parametrize("trained", SUBSETS, ids="".join)
@pytest.mark.parametrize(
    "optimizer",
    [
        {"optimizer": "joint", "epochs": 2, "quantization_aware": False},
        {"optimizer": "alternating", "iterations": 1, "pass_epochs": 2},
    ],
    ids=lambda each: each["optimizer"],
)
def test_what_is_not_trained_stays_where_it_starts(
    trained: tuple[str, ...], optimizer: dict[str, Any]
) -> None:
    start = fitted(trained=("W",), epochs=1, learning_rate=1e-9, quantization_aware=False)
    model = fitted(trained=trained, **optimizer)
    for name, before, after in (
        ("W", start.head.projection, model.head.projection),
        ("B", start.head.prototypes, model.head.prototypes),
        (
            "Z",
            start.head.labels,
            model.head.labels,
        ),  # a factor of all is learned with the cross-entropy
    ):
        assert proportional(before, after) == (name not in trained), name


def test_the_alternating_optimizer_has_no_other_turns() -> None:
    classifier = PaperProtoNNClassifier(
        **SMALL, optimizer="alternating", iterations=2, pass_epochs=1, trained=("Z", "W")
    ).fit(DIGITS.X_train[:100], DIGITS.y_train[:100])
    assert [report.parameter for report in classifier.history_] == ["Z", "W"] * 2
    assert classifier.history_[-1].epochs == classifier.planned_epochs == 4


def test_the_likelihood_of_neighbours_is_the_share_of_those_of_the_class() -> None:
    scores = np.array([[0.3, 0.1], [0.0, 0.5]])
    value, _, _ = neighbour_likelihood(scores, np.eye(2), np.zeros(1), None)
    assert value == pytest.approx(-np.log([0.75, 1.0]).mean(), abs=1e-3)  # of a floor


def test_prototypes_that_move_are_better_neighbours() -> None:
    """Kusner et al., figure 1: a few that move beat as many that do not."""
    settings = {"init_projection": "identity", "quantization_aware": False, "n_prototypes": 30}
    start, moved = (
        PaperProtoNNClassifier(
            **SMALL | settings, loss="neighbour_likelihood", trained=("B",), **training
        ).fit(DIGITS.X_train, DIGITS.y_train)
        for training in ({"epochs": 1, "learning_rate": 1e-9}, {"epochs": 20})
    )
    few = KNeighborsClassifier(1).fit(DIGITS.X_train[:30], DIGITS.y_train[:30])
    accuracies = [each.score(DIGITS.X_test, DIGITS.y_test) for each in (few, start, moved)]
    assert accuracies[0] + 0.05 < accuracies[1] < accuracies[2] - 0.05


@pytest.mark.parametrize("trained", [(), ("W", "W"), ("V",), "W", 3])
def test_what_is_no_choice_of_matrices_is_refused(trained: object) -> None:
    with pytest.raises(ValueError, match="'trained' parameter .* one or more of 'W', 'B', 'Z'"):
        fitted(trained=trained)
