"""The part of networks in the checks of all kinds."""

from __future__ import annotations

import numpy as np
from dense_factory import random_chain, random_dense_model
from kinds.kind import Kind, largest_weight

from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def _scores(model: Model, X: np.ndarray) -> np.ndarray:
    """Return scores of a network of one hidden layer."""
    (W, Z), (b, c) = model.head.weights, model.head.biases
    t = np.maximum(X @ W.T + b, 0) @ Z.T + c
    return np.hstack([-t / 2, t / 2]) if t.shape[1] == 1 else t


def _drawn(rng: np.random.Generator, n: int, classes: int, maximum: int) -> IntegerChain:
    hidden = rng.integers(1, 33, int(rng.integers(1, 3))).tolist()
    equal = rng.random() < 0.5
    return random_chain(
        int(rng.integers(1 << 31)),
        features=n,
        hidden=hidden,
        rows=1 if classes == 2 else classes,
        bits=rng.choice([16, 24], len(hidden) + 1).tolist(),
        largest=[largest_weight(rng) for _ in range(len(hidden) + 1)],
        multipliers=hidden if equal else rng.integers(1, 256, len(hidden)).tolist(),
        maximum=maximum,
        density=float(rng.choice([0.1, 0.5, 1.0])),
    )


_SMALL = ("--hidden", "10", "--size-budget", "500", "--epochs", "40")

KIND = Kind(
    classifier=DenseClassifier,
    random_model=random_dense_model,
    drawn=_drawn,
    random_chain=random_chain,
    extremes=(
        {"features": 1, "hidden": (1,), "rows": 1},
        {"hidden": (255,), "rows": 11, "largest": (8, 8), "bits": (24, 24), "multipliers": (1,)},
        {"hidden": (13, 4), "bits": (16, 24, 24), "largest": (8,) * 3, "multipliers": (20, 255)},
    ),
    without_integers={"weights": 0},
    sizes={"hidden": ((4,), (60,), (30, 12)), "density": (0.1, 1.0)},
    scores_of=_scores,
    damages=(("head.known.0", np.full((3, 6), -1.0)),),
    settings={"epochs": 25},
    accuracy=0.9,
    own_settings={"hidden": "7", "epochs": 5, "size_budget": 300, "learning_rate": 0.02},
    weak={"epochs": 1},
    facts={"trainer": "adam"},
    variants={
        "dense": _SMALL,
        "dense, two layers": (*_SMALL, "--hidden", "20,7"),
    },
    flags={
        "--hidden": "12,5",
        "--size-budget": "400",
        "--epochs": "30",
        "--batch-size": "32",
        "--learning-rate": "0.02",
        "--noise": "0.1",
    },
    steps=("float", "inputs", "W"),
    tuning=("--trials", "2", "--max-latency-ms", "0.5"),
    refused_settings=(
        ({"hidden": "0"}, "hidden: '0', expected the numbers of units"),
        ({"hidden": "256"}, "1 to 255 each"),
        ({"hidden": "10,20,30"}, "expected the numbers of units of one or two"),
        ({"size_budget": 200}, "a budget of 200 B: less than one weight for each of 20"),
        ({"epochs": 0}, "'epochs' parameter of DenseClassifier"),
    ),
)
