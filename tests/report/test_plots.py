"""Plots of a classifier, a call each."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from refusals import refused_by
from sklearn.datasets import load_wine

from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.report.plots import plot_space, plot_training

X, y = load_wine(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[y]


def axes():
    return Figure().subplots()


@pytest.fixture(scope="module")
def classifier() -> ProtoNNClassifier:
    own = ProtoNNClassifier(n_projections=3, n_prototypes=6, epochs=4, random_state=0)
    return own.fit(X, NAMES, evaluate_on=(X[:20], NAMES[:20]))


def test_all_points_and_prototypes_are_in_the_space(classifier: ProtoNNClassifier) -> None:
    ax = plot_space(classifier, X, NAMES, axes())
    drawn = [len(each.get_offsets()) for each in ax.collections]
    assert drawn[::2] == [int((name == NAMES).sum()) for name in "abc"]
    assert sum(drawn[1::2]) == 6
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]


def test_one_dimension_is_drawn_on_a_line() -> None:
    flat = ProtoNNClassifier(n_projections=1, n_prototypes=4, epochs=1, random_state=0).fit(X, y)
    places = plot_space(flat, X, y, axes()).collections[0].get_offsets()
    assert np.ptp(places[:, 0]) > 0
    assert np.ptp(places[:, 1]) == 0


def test_training_is_drawn_with_its_test_points(classifier: ProtoNNClassifier) -> None:
    lines = plot_training(classifier, axes()).get_lines()
    assert [line.get_label() for line in lines] == ["training", "test"]
    shares = [100 * report.accuracy for report in classifier.history_]
    np.testing.assert_allclose(lines[0].get_ydata(), shares)


def test_what_has_no_prototypes_is_refused() -> None:
    with refused_by("report.plots"):
        plot_space(LinearClassifier(regularization=0.1).fit(X, y), X, y, axes())
