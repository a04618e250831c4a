"""The part of naive Bayes in the checks of all kinds."""

from __future__ import annotations

import numpy as np
from kinds.kind import Kind
from naive_bayes_factory import random_chain, random_naive_bayes_model

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.model import Model
from protonn_edge.kinds.naive_bayes.train import NaiveBayesClassifier


def _scores(model: Model, X: np.ndarray) -> np.ndarray:
    head = model.head
    distances = np.square(X[:, None, :] - head.means.astype(float))
    scores: np.ndarray = head.bias - (distances / (2 * head.variances.astype(float))).sum(axis=2)
    return scores


def _drawn(rng: np.random.Generator, n: int, classes: int, maximum: int) -> IntegerChain:
    return random_chain(
        int(rng.integers(1 << 31)),
        features=n,
        classes=classes,
        maximum=maximum,
        largest=int(rng.choice([1, 255, 5_000, 65_535])),
    )


_ONES = np.ones((4, 12), np.float32)

KIND = Kind(
    classifier=NaiveBayesClassifier,
    random_model=random_naive_bayes_model,
    drawn=_drawn,
    scores_of=_scores,
    damages=(
        ("means", np.ones((4, 12)), "array 'means' has the type float64"),
        ("means", np.full((4, 12), np.nan, np.float32), "array 'means' has a value at .0, 0. that"),
        ("means", np.ones(12, np.float32), "array 'means' has the shape"),
        ("means", np.ones((4, 11), np.float32), "array 'variances' has 12 columns"),
        ("variances", np.ones((3, 12), np.float32), "array 'variances' has 3 rows"),
        ("variances", 0 * _ONES, "array 'variances' has a value of 0 or less"),
        ("variances", -_ONES, "array 'variances' has a value of 0 or less"),
        ("bias", np.ones(4, np.float32), "array 'bias' has the type float32"),
        ("bias", np.ones(3), "array 'bias' has 3 features, but the other arrays have 4"),
        ("bias", np.full(4, np.inf), "array 'bias' has a value at .0,. that is NaN or infinite"),
        ("bias", None, "array 'bias' is missing"),
        ("W", _ONES, "unknown array 'W'"),
    ),
    settings={},
    accuracy=0.8,
    own_settings={"var_smoothing": 1e-2},
    weak={"var_smoothing": 100.0},
    facts={"trainer": "GaussianNB"},
    variants={"naive bayes": (), "naive bayes, two classes": ()},
    flags={"--var-smoothing": "0.002"},
    steps=("float", "inputs", "means"),
    tuning=("--trials", "2", "--max-latency-ms", "4"),
    refused_options=(
        (("--prototypes", "20"), "--prototypes is given, but the classifier 'naive-bayes' has"),
    ),
    refused_settings=(
        ({"var_smoothing": 0.0}, "'var_smoothing' parameter of NaiveBayesClassifier"),
        ({"var_smoothing": "none"}, "'var_smoothing' parameter of NaiveBayesClassifier"),
    ),
    stage="naive_bayes",
    reads_weights=False,
)
