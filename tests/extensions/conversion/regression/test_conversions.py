"""Damaged estimators and arrays of other programs are refused in one sentence."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused_by
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.protonn.reference import (
    ReferenceModel,
    from_reference,
    read_reference_model,
)
from protonn_edge.extensions.conversion.reading import refusing
from protonn_edge.system.errors import InputError

RNG = np.random.default_rng(0)
Y = np.arange(45) % 3
X = (RNG.normal(size=(45, 4)) + Y[:, None]).astype(np.float32)


def refusal_of(estimator):
    with pytest.raises(InputError) as caught:  # and warnings are errors
        from_sklearn(estimator, X, epochs=0)
    return str(caught.value)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (SVC(), "kernel"),
        (NearestCentroid(), "metric"),
        (LogisticRegression(), "solver"),
        (KNeighborsClassifier(), "weights"),
    ],
)
def test_a_parameter_that_is_missing_is_named(estimator, name):
    estimator.fit(X, Y)
    delattr(estimator, name)
    assert f"{type(estimator).__name__}.{name}" in refusal_of(estimator)


@pytest.mark.parametrize(
    ("estimator", "name", "value"),
    [
        (SVC(), "kernel", [1]),
        (SVC(), "break_ties", np.zeros(2)),
        (KNeighborsClassifier(), "n_neighbors", "5"),
        (NearestCentroid(), "metric", {}),
        (SVC(), "n_features_in_", "4"),
        (SVC(), "n_features_in_", None),
        (SVC(), "_gamma", 1e300),
        (SVC(), "dual_coef_", [[1.0], [1.0, 2.0]]),
        (SVC(), "classes_", [[0], [1, 2]]),
        (LogisticRegression(), "intercept_", [[1], [2, 3]]),
        (LogisticRegression(), "intercept_", "x"),
        (LogisticRegression(), "coef_", np.full((3, 4), 1e200)),
        (KNeighborsClassifier(), "outputs_2d_", np.zeros(3)),
        (KNeighborsClassifier(), "effective_metric_", np.zeros(3)),
    ],
)
def test_a_parameter_or_attribute_of_another_type_is_refused(estimator, name, value):
    estimator.fit(X, Y)
    setattr(estimator, name, value)
    assert type(estimator).__name__ in refusal_of(estimator)


@pytest.mark.parametrize("steps", [[], None, [1], [("a",)], "ab"])
def test_a_pipeline_without_steps_is_refused(steps):
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, Y)
    pipeline.steps = steps
    assert "Pipeline.steps" in refusal_of(pipeline)


def test_places_of_a_sparse_matrix_are_checked():
    damaged = csr_array(SVC().fit(X, Y).support_vectors_)
    damaged.indices[0] = 10**6
    estimator = SVC().fit(X, Y)
    estimator.support_vectors_ = damaged
    assert "SVC.support_vectors_" in refusal_of(estimator)


def test_a_scale_next_to_nothing_is_refused():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    pipeline.steps[0][1].scale_ = np.full(4, 5e-324)
    with refused_by("extensions.conversion.reading"):
        from_sklearn(pipeline, X, epochs=0)


def test_a_gamma_whose_square_overflows_is_refused():
    W, B, Z = np.ones((2, 4)), np.ones((2, 3)), np.ones((3, 3))
    reference = ReferenceModel(*(array.astype(np.float32) for array in (W, B, Z)), gamma=1e200)
    with refused_by("kinds.protonn.head"):
        from_reference(reference, X, "none", ("a", "b", "c"))


def test_a_damaged_header_is_refused(tmp_path):
    for name, shape in (("W", (4, 2)), ("B", (2, 3)), ("Z", (3, 3)), ("gamma", ())):
        np.save(tmp_path / f"{name}.npy", np.ones(shape, np.float32))
    read_reference_model(tmp_path)
    whole = (tmp_path / "B.npy").read_bytes()
    (tmp_path / "B.npy").write_bytes(whole.replace(b"(2, 3)", b"(2, 3 "))
    with refused_by("data.archive"):
        read_reference_model(tmp_path)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_a_tree_of_one_class_is_called_that(kind):
    estimator = kind().fit(X, np.zeros(len(X), int))
    with refused_by("extensions.conversion.estimators"):
        from_sklearn(estimator, X)


def test_a_tree_of_other_classes_than_its_forest_is_called_that():
    estimator = RandomForestClassifier(2, random_state=0).fit(X, Y)
    estimator.estimators_[1] = DecisionTreeClassifier().fit(X, np.arange(len(X)) % 5)
    with refused_by("extensions.conversion.trees.trees"):
        from_sklearn(estimator, X)


def test_a_refusal_has_no_characters_that_a_terminal_acts_on():
    """The reason that another library gave for a damaged estimator had names from its file."""
    with pytest.raises(InputError) as caught, refusing("a.skops", "skops"):
        raise TypeError("no loader \u202e for type \x1b[2J")
    assert str(caught.value).isprintable()
    assert r"no loader \u202e for type \x1b[2J" in str(caught.value)
