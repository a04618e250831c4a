"""The trainers: gradients, shares of weights, reports, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from protonn_edge.datasets import load_digits_dataset
from protonn_edge.errors import InputError
from protonn_edge.model import load_model
from protonn_edge.quantization import quantize
from protonn_edge.training.bonsai import (
    BonsaiClassifier,
    LocalDeepKernelClassifier,
    TreeClassifier,
)
from protonn_edge.training.objective import cross_entropy
from protonn_edge.training.tree_gradient import TreeParameters, tree_gradient

DIGITS = load_digits_dataset()
SOME = slice(0, 600)
both = pytest.mark.parametrize("kind", [BonsaiClassifier, LocalDeepKernelClassifier])


def fitted(kind: type[TreeClassifier], **settings: Any) -> TreeClassifier:
    settings = {"epochs": 15, "random_state": 0, **settings}
    return kind(**settings).fit(DIGITS.X_train[SOME], DIGITS.y_train[SOME])


@parametrize_with_checks([BonsaiClassifier(epochs=20), LocalDeepKernelClassifier(epochs=20)])
def test_scikit_learns_conventions_hold(estimator: TreeClassifier, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize(("classes", "projections"), [(2, 4), (3, 4), (3, 0)])
def test_the_gradient_is_that_of_differences(classes: int, projections: int) -> None:
    rng = np.random.default_rng(0)
    rows, columns = (1 if classes == 2 else classes), (projections or 6) + 1
    shapes = ((projections, 6), (7 * rows, columns), (7 * rows, columns), (3, columns))
    matrices = [rng.normal(size=shape) for shape in shapes]
    X, weights = rng.normal(size=(20, 6)), rng.random(20)
    sharpness = np.array([1.3, 0.4, 2.0])
    Y = np.eye(classes)[rng.integers(0, classes, 20)]

    def value_at() -> tuple[float, TreeParameters]:
        return tree_gradient(TreeParameters(*matrices), X, Y, cross_entropy, sharpness, weights)

    _, gradient = value_at()
    for matrix, slope in zip(matrices, gradient, strict=True):
        for place in list(np.ndindex(matrix.shape))[::5]:
            known = matrix[place]
            values = []
            for moved in (known - 1e-5, known + 1e-5):
                matrix[place] = moved
                values.append(value_at()[0])
            matrix[place] = known
            assert np.diff(values)[0] / 2e-5 == pytest.approx(slope[place], abs=1e-6)


@both
def test_it_learns_and_its_integers_are_as_accurate(kind: type[TreeClassifier]) -> None:
    classifier = fitted(kind, depth=2)
    accuracy = classifier.score(DIGITS.X_test, DIGITS.y_test)
    assert accuracy > 0.88
    integers = quantize(classifier.to_model())
    share = np.mean(integers.predict(integers.quantize(DIGITS.X_test)) == DIGITS.y_test)
    assert abs(share - accuracy) < 0.01


def test_coordinates_of_training_points_are_within_1() -> None:
    model = fitted(BonsaiClassifier, sparsity_projection=0.3).to_model()
    reach = np.abs(model.coordinates(model.normalized(DIGITS.X_train[SOME]))).max(axis=0)
    np.testing.assert_allclose(reach, 1, atol=1e-4)


@both
def test_shares_of_weights_are_kept(kind: type[TreeClassifier]) -> None:
    shares = {"sparsity_weights": 0.3, "sparsity_gates": 0.2, "sparsity_branches": 0.5}
    model = fitted(kind, depth=2, **shares).to_model()
    for name, share in zip("WVT", shares.values(), strict=True):
        matrix = model.matrices[name]
        assert np.count_nonzero(matrix) <= share * matrix.size
        assert np.count_nonzero(matrix) > 0.9 * share * matrix.size - 1


@both
def test_two_classes_have_one_row_a_node(kind: type[TreeClassifier]) -> None:
    X, y = DIGITS.X_train[SOME], DIGITS.y_train[SOME] >= 5
    classifier = kind(depth=2, epochs=15, random_state=0).fit(X, y)
    assert classifier.model_.weights.shape[0] == 7
    assert classifier.score(DIGITS.X_test, DIGITS.y_test >= 5) > 0.85


@both
def test_sparse_points_give_the_same(kind: type[TreeClassifier]) -> None:
    """Almost: they come in another order."""
    settings = {"normalization": "none", "random_state": 0, "epochs": 15}
    X, y = DIGITS.X_train[SOME], DIGITS.y_train[SOME]
    dense, sparse = (kind(**settings).fit(each, y) for each in (X, csr_array(X)))
    test = DIGITS.X_test
    assert np.mean(sparse.predict(csr_array(test)) == dense.predict(test)) > 0.85


@both
def test_there_is_a_report_an_epoch_and_a_record(kind: type[TreeClassifier]) -> None:
    reports: list[Any] = []
    classifier = kind(epochs=3, random_state=0, callback=reports.append)
    classifier.fit(DIGITS.X_train, DIGITS.y_train, evaluate_on=(DIGITS.X_test, DIGITS.y_test))
    assert list(classifier.history_) == reports
    assert [(each.epoch, each.epochs) for each in reports] == [(1, 3), (2, 3), (3, 3)]
    last = reports[-1]
    known = classifier.score(DIGITS.X_train, DIGITS.y_train)
    assert last.accuracy == pytest.approx(known, abs=0.01)  # it was before coordinates were scaled
    assert last.test_accuracy == pytest.approx(classifier.score(DIGITS.X_test, DIGITS.y_test))
    assert classifier.to_model().record["settings"]["epochs"] == 3


@both
@pytest.mark.parametrize(
    ("settings", "features"),
    [
        ({"image_shape": (8, 8), "reduced_shape": (4, 4), "deskew": True}, 16),
        ({"features": "mean,deviation,max", "window_shape": (8, 8)}, 24),
    ],
)
def test_the_stages_of_features_come_before_it(
    kind: type[TreeClassifier], settings: dict[str, Any], features: int
) -> None:
    model = fitted(kind, epochs=2, **settings).to_model()
    assert (model.n_inputs, model.n_features) == (features, 64)
    kinds = [stage.kind for stage in quantize(model).stages]
    assert kinds[-2:] == ["bonsai_tree", "decision"]
    assert ("projection" in kinds) == (kind is BonsaiClassifier)


def test_it_rejects_by_score_and_margin(tmp_path: Path) -> None:
    classifier = fitted(BonsaiClassifier)
    X, y = DIGITS.X_train[SOME], DIGITS.y_train[SOME]
    classifier.calibrate_rejection(X, y, rate=0.1, by=("score", "margin"))
    classifier.save(tmp_path / "model.npz")
    unknown = classifier.predict(DIGITS.X_test, unknown=-1) == -1
    assert 0.02 < np.mean(unknown) < 0.4
    integers = quantize(load_model(tmp_path / "model.npz"))
    answers = integers.predict(integers.quantize(DIGITS.X_test))
    assert np.mean((answers == 255) == unknown) > 0.97


def test_training_that_diverges_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "protonn_edge.training.tree_training.cross_entropy",
        lambda scores, *_: (float("inf"), np.full_like(scores, np.inf), None),
    )
    with pytest.raises(InputError, match="training diverges at the learning rate 0.01"):
        fitted(BonsaiClassifier)


@both
@pytest.mark.parametrize(
    ("settings", "y", "words"),
    [
        ({}, np.eye(10, dtype=int)[DIGITS.y_train], "sets of labels, but a tree of gated sums"),
        ({"depth": 5}, DIGITS.y_train, "'depth' parameter of"),
        ({"sparsity_weights": 0.0}, DIGITS.y_train, "'sparsity_weights' parameter of"),
    ],
)
def test_what_it_cannot_do_is_refused(
    kind: type[TreeClassifier], settings: dict[str, Any], y: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        kind(epochs=2, **settings).fit(DIGITS.X_train, y)
