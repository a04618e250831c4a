"""The trainer: scikit-learn's own naive Bayes, with variances that a device can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from protonn_edge.kinds.naive_bayes.quantize import least_variances
from protonn_edge.kinds.naive_bayes.train import NaiveBayesClassifier
from protonn_edge.quantization import quantize


def halves(load: Any) -> Any:
    """Return training and test points and labels of one of scikit-learn's data sets."""
    X, y = load(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_it_answers_as_scikit_learn_does(load: Any) -> None:
    X, X_test, y, y_test = halves(load)
    classifier = NaiveBayesClassifier(random_state=0).fit(X, y)
    own = GaussianNB().fit(X, y)
    assert np.mean(classifier.predict(X_test) == own.predict(X_test)) >= 0.98
    assert abs(classifier.score(X_test, y_test) - own.score(X_test, y_test)) <= 0.02


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_its_integers_answer_as_its_floats_do(load: Any) -> None:
    X, X_test, y, _ = halves(load)
    model = NaiveBayesClassifier(random_state=0).fit(X, y).to_model()
    integers = quantize(model)
    answers = integers.predict(integers.quantize(X_test))
    assert np.mean(answers == model.predict(X_test)) >= 0.98


def test_least_variances_are_better_than_none_at_all() -> None:
    """Some pixels of digits have no variance in a class."""
    X, X_test, y, y_test = halves(load_digits)
    classifier = NaiveBayesClassifier(random_state=0).fit(X, y)
    model = classifier.to_model()
    least = least_variances(model.inputs, model.normalizer)
    assert (model.head.variances >= np.float32(least)).all()
    assert (model.head.variances == np.float32(least)).any()
    assert classifier.score(X_test, y_test) > GaussianNB().fit(X, y).score(X_test, y_test)


def test_scores_are_densities_relative_to_an_even_one() -> None:
    X, _, y, _ = halves(load_wine)
    model = NaiveBayesClassifier(normalization="none", random_state=0).fit(X, y).to_model()
    own = GaussianNB().fit(X, y)
    even = np.log(np.prod(np.ptp(X.astype(np.float32).astype(float), axis=0)))
    expected = own.predict_joint_log_proba(X) + even
    differences = np.abs(model.scores(X) - expected)
    assert np.median(differences) < 0.01 * np.ptp(expected)


def test_a_weight_of_two_is_a_point_given_twice() -> None:
    X, _, y, _ = halves(load_wine)
    weights = np.where(np.arange(len(X)) < 30, 2, 1)
    settings = {"normalization": "minmax", "random_state": 0}
    one = NaiveBayesClassifier(**settings).fit(X, y, sample_weight=weights).model_.head
    two = NaiveBayesClassifier(**settings).fit(np.r_[X, X[:30]], np.r_[y, y[:30]]).model_.head
    np.testing.assert_allclose(one.means, two.means, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one.variances, two.variances, rtol=1e-4)
    np.testing.assert_allclose(one.bias, two.bias, rtol=1e-4)


def test_smoothing_adds_to_all_variances() -> None:
    X, _, y, _ = halves(load_iris)
    rough, smooth = (
        NaiveBayesClassifier(var_smoothing=each, random_state=0).fit(X, y).model_.head.variances
        for each in (1e-9, 0.1)
    )
    np.testing.assert_allclose(smooth - rough, 0.1, atol=0.01)
