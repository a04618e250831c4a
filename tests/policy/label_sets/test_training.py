"""Training with sets of labels: what is taken for them, what comes out, how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extension_parts import additions
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from trainings import LOSSES, OPTIMIZERS, protonn

from protonn_edge.data.points.splits import holdout
from protonn_edge.data.reading import load_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.initialization import sleec_projection
from protonn_edge.learn.sparsity import kept_entries
from protonn_edge.model.head import matrices_of, paper_bytes
from protonn_edge.policy.label_sets.figures import LabelFigures, precision_at
from protonn_edge.policy.label_sets.targets import are_label_sets, best_threshold, label_matrix
from protonn_edge.system.errors import InputError

X, Y = make_multilabel_classification(
    n_samples=600, n_features=30, n_classes=6, n_labels=2, random_state=0
)
X_TRAIN, X_TEST, Y_TRAIN, Y_TEST = X[:400], X[400:], Y[:400], Y[400:]


def fitted(X: Any = X_TRAIN, y: Any = Y_TRAIN, **settings: Any) -> ProtoNNClassifier:
    chosen = {
        "n_projections": 6,
        "n_prototypes": 20,
        "epochs": 40,
        "normalization": "l2",
        "input_noise": 0.0,
        "random_state": 0,
    }
    return protonn(**(chosen | settings)).fit(X, y)


def at_random() -> float:
    """Return P@1 of always ranking the most frequent label first."""
    return float(Y_TEST[:, Y_TRAIN.sum(axis=0).argmax()].mean())


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_learns_to_rank_with_every_optimizer(optimizer: str, loss: str) -> None:
    settings = OPTIMIZERS[optimizer] | additions("longer trainings").get(optimizer, {})
    classifier = fitted(**settings, **LOSSES[loss])
    scores = classifier.decision_function(X_TEST)
    assert scores.shape == Y_TEST.shape
    assert precision_at(scores, Y_TEST, (1,))[1] > at_random() + 0.15
    assert f1_score(Y_TEST, classifier.predict(X_TEST), average="micro") > 0.5


@pytest.mark.parametrize(
    ("kind", "prototypes"),
    [
        *((kind, "per_class") for kind in ("lda", "sleec", "pca", "gaussian", "identity")),
        *(("lda", prototypes) for prototypes in ("kmeans", "sample")),
    ],
)
def test_every_start_learns(kind: str, prototypes: str) -> None:
    classifier = fitted(init_projection=kind, init_prototypes=prototypes)
    scores = classifier.decision_function(X_TEST)
    assert precision_at(scores, Y_TEST, (1,))[1] > at_random() + 0.05


def test_sleec_starts_nearer_than_principal_directions() -> None:
    starts = [fitted(init_projection=kind, epochs=1) for kind in ("sleec", "pca")]
    sleec, pca = (
        precision_at(start.decision_function(X_TEST), Y_TEST, (1,))[1] for start in starts
    )
    assert sleec > pca


def test_sleec_fills_up_with_principal_directions_where_labels_are_few() -> None:
    W = sleec_projection(X_TRAIN.astype(np.float32), Y_TRAIN[:, :2].astype(np.float32), 5)
    assert W.shape == (5, 30)
    assert np.linalg.matrix_rank(W) == 5


LABEL_FORMS = {
    "dense": lambda: Y_TRAIN,
    "floats": lambda: Y_TRAIN.astype(float),
    "lists": Y_TRAIN.tolist,
    "csr_array": lambda: csr_array(Y_TRAIN),
    "csr_matrix": lambda: csr_matrix(Y_TRAIN),
    "sets": lambda: [set(np.flatnonzero(row).tolist()) for row in Y_TRAIN],
    "lists of labels": lambda: [np.flatnonzero(row).tolist() for row in Y_TRAIN],
    "tuples of labels": lambda: tuple(tuple(np.flatnonzero(row).tolist()) for row in Y_TRAIN),
}


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_all_forms_of_label_sets_give_the_same_model(form: str) -> None:
    labels = LABEL_FORMS[form]()
    assert are_label_sets(labels)
    classifier, expected = (fitted(y=y, epochs=2) for y in (labels, Y_TRAIN))
    assert np.array_equal(classifier.model_.head.labels, expected.model_.head.labels)
    assert np.array_equal(classifier.predict(X_TEST), expected.predict(X_TEST))


@pytest.mark.parametrize(
    "y", [[0, 1, 1], ["a", "b", "a"], np.array([[0], [1], [1]]), [["a"], ["b"], ["a"]], [0.5, 1.5]]
)
def test_what_is_one_label_a_point_is_no_set(y: Any) -> None:
    assert not are_label_sets(y)


def test_labels_of_sets_keep_their_names_and_order() -> None:
    sets = [{"b", "c"}, {"a"}, set(), {"c"}]
    matrix, classes = label_matrix(sets)
    assert classes.tolist() == ["a", "b", "c"]
    assert matrix.tolist() == [[0, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]
    classifier = fitted(X_TRAIN[:4], sets, n_prototypes=2)
    assert classifier.to_model().classes == ("a", "b", "c")
    assert classifier.classes_.tolist() == ["a", "b", "c"]


def test_reports_have_the_precision_at_one_also_of_test_points() -> None:
    reports: list[Any] = []
    classifier = ProtoNNClassifier(
        n_projections=6, n_prototypes=20, epochs=3, random_state=0, callback=reports.append
    )
    classifier.fit(X_TRAIN, Y_TRAIN, evaluate_on=(X_TEST, Y_TEST))
    reached = precision_at(classifier.decision_function(X_TEST), Y_TEST, (1,))[1]
    assert reports[-1].test_accuracy == pytest.approx(reached, abs=0.01)
    with pytest.raises(InputError, match="5 columns, expected one for each of 6"):
        classifier.fit(X_TRAIN, Y_TRAIN, evaluate_on=(X_TEST, Y_TEST[:, :5]))
    sets = [set(np.flatnonzero(row).tolist()) for row in Y_TRAIN]
    with pytest.raises(InputError, match="has the label '9'"):
        classifier.fit(X_TRAIN, sets, evaluate_on=(X_TEST[:1], [{9}]))


def test_threshold_is_that_of_the_best_f1() -> None:
    generator = np.random.default_rng(0)
    actual = generator.random((40, 5)) < 0.3
    scores = np.round(actual + generator.normal(size=actual.shape), 1)  # with ties
    found = best_threshold(scores, actual.astype(np.float32))
    values = [
        f1_score(actual, scores >= threshold, average="micro") for threshold in np.unique(scores)
    ]
    reached = f1_score(actual, scores >= found, average="micro")
    assert reached == pytest.approx(max(values))


def test_many_classes_are_trained_without_integers_in_the_way() -> None:
    y = np.repeat(np.arange(260), 2)
    points = np.random.default_rng(0).normal(size=(520, 3)).astype(np.float32)
    model = ProtoNNClassifier(epochs=2, n_prototypes=260, random_state=0).fit(points, y).to_model()
    assert model.n_classes == 260


def test_training_goes_on_from_a_model_of_the_same_kind_alone() -> None:
    first = fitted(epochs=5)
    further = fitted(initial_model=first.to_model(), epochs=5)
    assert further.history_[0].objective < first.history_[0].objective
    with pytest.raises(InputError, match="differ in what they predict"):
        fitted(y=np.arange(400) % 6, initial_model=first.to_model())


def test_shares_of_non_zero_entries_buy_bytes() -> None:
    model = fitted(sparsity_labels=0.25, epochs=8).to_model()
    assert np.count_nonzero(model.head.labels) == kept_entries(model.head.labels.size, 0.25)
    assert paper_bytes(matrices_of(model.head).values()) == 4 * (6 * 30 + 6 * 20 + 6 * 20 // 2)


def test_many_labels_are_learned_from_a_file(tmp_path: Path) -> None:
    X, y = make_multilabel_classification(
        n_samples=2_000, n_features=100, n_classes=80, n_labels=4, length=100, random_state=0
    )
    np.savez(tmp_path / "data.npz", X=X, y=y)
    dataset = holdout(load_dataset(tmp_path / "data.npz"), 0.2, seed=0)
    classifier = ProtoNNClassifier(
        n_projections=30,
        n_prototypes=80,
        normalization="l2",
        input_noise=0.03,
        learning_rate=0.03,
        epochs=5,
        random_state=0,
    ).fit(dataset.X_train, dataset.y_train)
    scores = classifier.decision_function(dataset.X_test)
    assert y.mean(axis=0).max() < 0.12
    assert precision_at(scores, dataset.y_test, (1,))[1] > 0.28


def test_sets_are_scored_in_any_form() -> None:
    classifier = fitted(epochs=5)
    sets = [set(np.flatnonzero(row).tolist()) for row in Y_TEST]
    assert classifier.score(X_TEST, sets) == classifier.score(X_TEST, Y_TEST) > 0


def test_precision_is_given_at_no_more_labels_than_a_model_has() -> None:
    for n_labels, places in ((2, [1]), (3, [1, 3]), (4, [1, 3]), (5, [1, 3, 5])):
        scores, labels = np.eye(n_labels), np.eye(n_labels, dtype=np.int8)
        assert [*LabelFigures.of(scores, labels, labels).precision_at] == places
