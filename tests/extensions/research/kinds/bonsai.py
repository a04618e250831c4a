"""Bonsai's part in the checks of all kinds."""

from __future__ import annotations

import numpy as np
from extensions.research.bonsai_factory import random_bonsai_chain, random_bonsai_model
from kinds.kind import Kind, largest_weight

from protonn_edge.extensions.research.kinds.bonsai.head import BonsaiHead
from protonn_edge.extensions.research.kinds.bonsai.train import BonsaiClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def scores_of_tree(model: Model, X: np.ndarray) -> np.ndarray:
    """Return the scores of normalized points, one node at a time."""
    return np.array([_scores_of_point(model, point) for point in X])


def _scores_of_point(model: Model, x: np.ndarray) -> np.ndarray:
    z = model.head.projection @ x if isinstance(model.head, BonsaiHead) else x
    z = np.append(z, 1.0)
    t, node = np.zeros(model.head.n_rows), 0
    while True:
        for row in range(model.head.n_rows):
            place = node * model.head.n_rows + row
            t[row] += (model.head.weights[place] @ z) * np.tanh(model.head.gates[place] @ z)
        if node >= len(model.head.branches):
            break
        node = 2 * node + (2 if model.head.branches[node] @ z >= 0 else 1)
    return t if len(t) > 1 else np.array([-t[0] / 2, t[0] / 2])


def drawn_tree(rng: np.random.Generator, classes: int) -> dict[str, object]:
    """Return random sizes of a tree."""
    return {
        "depth": int(rng.integers(0, 4)),
        "classes": classes,
        "density": float(rng.choice([0.02, 0.3, 0.9])),
        "largest": largest_weight(rng),
        "gate_shift": int(rng.integers(0, 9)),
    }


def _drawn(rng: np.random.Generator, n: int, classes: int, _: int) -> IntegerChain:
    return random_bonsai_chain(
        int(rng.integers(1 << 31)),
        features=n,
        projections=int(rng.integers(1, 13)),
        **drawn_tree(rng, classes),
    )


_SMALL = (
    "--epochs",
    "15",
    "--depth",
    "2",
    "--lambda-weights",
    "0.5",
    "--sparsity-gates",
    "0.5",
)

KIND = Kind(
    classifier=BonsaiClassifier,
    random_model=random_bonsai_model,
    drawn=_drawn,
    random_chain=random_bonsai_chain,
    extremes=({"depth": 0, "classes": 2}, {"depth": 4, "classes": 11, "density": 0.0}),
    without_integers={"weights": 0, "gates": 0, "projection": 0},
    has_branches=True,
    sizes={"depth": (0, 1, 2, 3)},
    folder="bonsai",
    scores_of=scores_of_tree,
    damages=(("head.branches", np.ones((31, 6), np.float32)),),
    settings={"epochs": 40},
    accuracy=0.88,
    own_settings={"epochs": 4, "depth": 2, "sparsity_gates": 0.5},
    weak={"epochs": 5},
    facts={},
    variants={"bonsai": _SMALL},
    flags={"--depth": "2", "--sparsity-gates": "0.5", "--epochs": "16"},
    steps=("float", "inputs", "coordinates", "tree"),
    tuning=("--epochs", "15", "--trials", "2", "--max-latency-ms", "3"),
    refused_settings=(
        ({"depth": 5}, "'depth' parameter of"),
        ({"sparsity_weights": 0.0}, "'sparsity_weights' parameter of"),
    ),
    stage="bonsai_tree",
    accuracy_tolerance=0.01,  # coordinates are scaled after the last report
)
