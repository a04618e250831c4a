"""Estimators that were read answer as scikit-learn's own code does; what cannot be read is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from extensions.conversion.files import NETWORKS
from refusals import refused_by
from row_tables import cases
from scipy.sparse import csr_array
from sklearn import (
    decomposition,
    ensemble,
    linear_model,
    multiclass,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC

from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.estimators import read_estimator
from protonn_edge.extensions.conversion.protonn.reference import (
    ReferenceModel,
    from_reference,
)
from protonn_edge.extensions.conversion.reading import refusing
from protonn_edge.system.errors import InputError

X, Y = load_wine(return_X_y=True)
X_TWO, Y_TWO = X[Y < 2], Y[Y < 2]

CLASSIFIERS = [
    SVC(C=10),
    SVC(gamma=0.05, break_ties=True),
    SVC(decision_function_shape="ovo", class_weight="balanced"),
    NuSVC(nu=0.2),
    KNeighborsClassifier(1),
    KNeighborsClassifier(4),
    KNeighborsClassifier(5, weights="distance", algorithm="brute"),
    NearestCentroid(),
    NearestCentroid(priors="empirical"),
    NearestCentroid(priors=[0.1, 0.2, 0.7]),
    NearestCentroid(shrink_threshold=0.3),
    LogisticRegression(max_iter=1000),
    LogisticRegression(max_iter=1000, fit_intercept=False),
    LinearSVC(fit_intercept=False),
    LinearSVC(),
    LinearDiscriminantAnalysis(),
    linear_model.RidgeClassifier(),
    linear_model.RidgeClassifier(fit_intercept=False),
    linear_model.RidgeClassifierCV(),
    linear_model.SGDClassifier(random_state=0),
    linear_model.SGDClassifier(loss="log_loss", average=True, random_state=0),
    linear_model.Perceptron(random_state=0),
]
SCALERS: list[list[Any]] = [
    [StandardScaler()],
    [StandardScaler(with_mean=False)],
    [StandardScaler(with_std=False), MaxAbsScaler()],
    [MinMaxScaler((-2, 3))],
    [RobustScaler(), "passthrough"],
    [StandardScaler(), PCA(5), StandardScaler()],
    [MinMaxScaler(), PCA(4, whiten=True)],
    [StandardScaler(), PCA(6), PCA(5)],
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_it_answers_as_the_estimator_does(classifier: Any):
    estimator = make_pipeline(StandardScaler(), classifier).fit(X, Y)
    found = read_estimator(estimator, X.shape[1])
    assert found.name == type(classifier).__name__
    assert np.array_equal(found.labels[found.answers(X)], estimator.predict(X))


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_two_classes_are_the_same_two(classifier: Any):
    if getattr(classifier, "priors", "uniform") == [0.1, 0.2, 0.7]:
        classifier = NearestCentroid(priors=[0.3, 0.7])
    estimator = make_pipeline(StandardScaler(), classifier).fit(X_TWO, Y_TWO)
    found = read_estimator(estimator, X.shape[1])
    assert np.array_equal(found.answers(X), estimator.predict(X))


@pytest.mark.parametrize("scalers", SCALERS, ids=str)
@pytest.mark.parametrize("classifier", [SVC(), LogisticRegression(max_iter=1000)], ids=str)
def test_what_comes_before_is_one_affine_map(scalers: list[Any], classifier: Any):
    estimator = make_pipeline(*scalers, classifier).fit(X, Y)
    found = read_estimator(estimator, X.shape[1])
    np.testing.assert_allclose(found.features.apply(X), estimator[:-1].transform(X), atol=1e-9)
    W = np.random.default_rng(0).normal(size=(2, found.features.n_outputs))
    constant = X @ found.features.weights(W).T - found.features.apply(X) @ W.T
    np.testing.assert_allclose(constant, np.broadcast_to(constant[0], constant.shape), atol=1e-6)
    assert np.array_equal(found.answers(X), estimator.predict(X))


def test_sparse_support_vectors_are_made_dense():
    estimator = SVC(gamma=1e-4).fit(csr_array(X), Y)
    found = read_estimator(estimator, X.shape[1])
    assert np.array_equal(found.answers(X), estimator.predict(X))


def test_decisions_are_scikit_learns():
    estimator = SVC(gamma=1e-4, decision_function_shape="ovo").fit(X, Y)
    found = read_estimator(estimator, X.shape[1])
    np.testing.assert_allclose(found.rule.decisions(X), estimator.decision_function(X), atol=1e-9)


def test_names_of_features_are_kept():
    estimator = LogisticRegression(max_iter=1000).fit(*load_iris(return_X_y=True))
    estimator.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)  # as of a table
    assert from_sklearn(estimator, load_iris().data).model.feature_names == ("a", "b", "c", "d")


class Table:
    """A table of named columns, as of pandas."""

    def __init__(self, columns: list[str], X: np.ndarray):
        self.columns, self.X = columns, X

    def __getitem__(self, names: list[str]) -> Table:
        return Table(names, self.X[:, [self.columns.index(name) for name in names]])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.X, dtype)


@pytest.mark.parametrize("scalers", [[], [StandardScaler()]])
def test_columns_of_a_table_are_found_by_name(scalers: list[Any]):
    """They were taken in the order of the table, and the answers were others."""
    iris, labels = load_iris(return_X_y=True)
    estimator = make_pipeline(*scalers, LogisticRegression(max_iter=1000)).fit(iris, labels)
    estimator[0].feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    table = Table(["d", "b", "a", "c"], iris[:, [3, 1, 0, 2]])
    converted = from_sklearn(estimator, table, labels, evaluate_on=(table, labels))
    assert converted.steps == from_sklearn(estimator, iris, labels).steps
    assert np.array_equal(converted.source.features.taken(table, "X"), np.float32(iris))
    estimator[0].feature_names_in_ = np.array(["a", "b_b", "c", "d"], dtype=object)  # LightGBM's
    table.columns[1] = "b b"
    taken = from_sklearn(estimator, iris).source.features.taken(table, "X")
    assert np.array_equal(taken, np.float32(iris))
    renamed = Table(["A", "b", "c", "d"], iris)
    assert np.array_equal(converted.source.features.taken(renamed, "X"), np.float32(iris))


# --- damaged estimators ---------------------------------------------------------------------------


OF_SMALL = np.random.default_rng(0)
Y_SMALL = np.arange(45) % 3
READING = ("estimators", "linear", "protonn.rules", "reading", "scaling", "trees.trees")
SMALL = (OF_SMALL.normal(size=(45, 4)) + Y_SMALL[:, None]).astype(np.float32)


def columns(step: Any) -> Any:
    """Return a pipeline that scales two of the columns."""
    return make_pipeline(ColumnTransformer([("a", step, [1, 2])]), LogisticRegression())


NAMES = {"np": np, "csr_array": csr_array, "columns": columns, "SMALL": SMALL, "Y": Y_SMALL}
"""What the rows of estimators know, besides scikit-learn."""
for module in (
    *(decomposition, ensemble, linear_model, multiclass, neighbors),
    *(neural_network, pipeline, preprocessing, svm, tree),
):
    NAMES |= {name: getattr(module, name) for name in module.__all__}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("made", "change", "named"), cases(NETWORKS, "scikit-learn"))
def test_what_cannot_be_converted_is_one_sentence(made: str, change: str, named: str):
    estimator = eval(made, NAMES)
    exec(change, NAMES | {"it": estimator})
    with refused_by(*(f"extensions.conversion.{each}" for each in READING), naming=named):
        from_sklearn(estimator, SMALL, epochs=0)


def test_a_gamma_whose_square_overflows_is_refused():
    W, B, Z = np.ones((2, 4)), np.ones((2, 3)), np.ones((3, 3))
    reference = ReferenceModel(*(array.astype(np.float32) for array in (W, B, Z)), gamma=1e200)
    with refused_by("kinds.protonn.head"):
        from_reference(reference, SMALL, "none", ("a", "b", "c"))


def test_a_refusal_has_no_characters_that_a_terminal_acts_on():
    """The reason that another library gave for a damaged estimator had names from its file."""
    with pytest.raises(InputError) as caught, refusing("a.skops", "skops"):
        raise TypeError("no loader \u202e for type \x1b[2J")
    assert str(caught.value).isprintable()
    assert r"no loader \u202e for type \x1b[2J" in str(caught.value)
