"""Logistic regression's part in the checks of all kinds."""

from __future__ import annotations

import numpy as np
from kinds.kind import Kind, largest_weight
from linear_factory import random_chain, random_linear_model

from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def _scores(model: Model, X: np.ndarray) -> np.ndarray:
    t = X @ model.head.weights.T + model.head.bias
    return np.hstack([-t / 2, t / 2]) if t.shape[1] == 1 else t


def _drawn(rng: np.random.Generator, n: int, classes: int, maximum: int) -> IntegerChain:
    return random_chain(
        int(rng.integers(1 << 31)),
        rows=1 if classes == 2 else classes,
        features=n,
        bits=int(rng.choice([16, 24, 32])),
        largest=largest_weight(rng),
        maximum=maximum,
        density=float(rng.choice([0.1, 0.5, 1.0])),
    )


_BRIEF = ("--regularization", "0.001", "--tolerance", "0.01")

KIND = Kind(
    classifier=LinearClassifier,
    random_model=random_linear_model,
    drawn=_drawn,
    random_chain=random_chain,
    extremes=(
        {"rows": 1, "features": 1, "bits": 16},
        {"rows": 1, "features": 1_500, "bits": 24},
        {"rows": 255, "features": 16, "bits": 24},
        {"rows": 4, "features": 257, "bits": 32},
    ),
    without_integers={"weights": 0, "bias": 1e30},
    sizes={"density": (0.05, 0.5, 1.0)},
    scores_of=_scores,
    settings={"regularization": 1e-3, "tolerance": 1e-2},
    accuracy=0.93,
    own_settings={"regularization": 2e-3, "tolerance": 2e-2},
    weak={"regularization": 1e-2},
    facts={"trainer": "saga", "passes": lambda passes: 1 <= passes < 500},
    variants={
        "linear": _BRIEF,
        "linear, two classes": _BRIEF,
    },
    flags={"--regularization": "0.002", "--solver": "saga"},
    steps=("float", "inputs", "W"),
    tuning=("--trials", "2", "--max-latency-ms", "0.3"),
    refused_settings=(
        ({"solver": "liblinear"}, "only two classes, but there are 10"),
        ({"regularization": 0.0}, "'regularization' parameter of LinearClas"),
        ({"solver": "sag"}, "'solver' parameter of LinearClassifier"),
    ),
)
