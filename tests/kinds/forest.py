"""The part of forests in the checks of all kinds."""

from __future__ import annotations

import numpy as np
from forest_factory import random_chain, random_forest_model
from kinds.kind import Kind

from protonn_edge.kinds.forest.table import LEAF
from protonn_edge.kinds.forest.train import ForestClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def _scores(model: Model, X: np.ndarray) -> np.ndarray:
    return np.array([_scores_of_point(model, point) for point in X])


def _scores_of_point(model: Model, point: np.ndarray) -> np.ndarray:
    """Return the scores of a normalized point, one node at a time."""
    nodes, scores = iter(model.head.features.tolist()), model.head.bias.copy()
    thresholds, leaves = iter(model.head.thresholds), iter(model.head.leaves.astype(np.float64))

    def walk(reached: bool) -> None:
        feature = next(nodes)
        if feature == LEAF:
            scores[:] += next(leaves) * reached
            return
        left = point[feature] <= next(thresholds)
        walk(reached and left)
        walk(reached and not left)

    for _ in model.head.trees.roots:
        walk(True)
    return scores


def _drawn(rng: np.random.Generator, n: int, classes: int, _: int) -> IntegerChain:
    return random_chain(
        int(rng.integers(1 << 31)),
        trees=int(rng.choice([1, 2, 5, 9, classes])),
        features=n,
        depth=int(rng.integers(1, 7)),
        classes=classes,
        share=float(rng.choice([0.0, 0.3, 1.0])),
        vote=int(rng.choice([0, 0, 1, 4, 127])),
        levels=int(rng.choice([255, 15, 3, 1])),
    )


_NODES = random_forest_model().head.features
_TREES = ("--trees", "8", "--size-budget", "6kB")

KIND = Kind(
    classifier=ForestClassifier,
    random_model=random_forest_model,
    drawn=_drawn,
    random_chain=random_chain,
    extremes=(
        {"trees": 1, "features": 1, "depth": 1, "classes": 2},
        {"trees": 1_300, "depth": 2, "classes": 26, "share": 0.0},
        {"trees": 3, "depth": 10, "classes": 255, "share": 0.1},
        {"trees": 20, "features": 1_500},
        {"trees": 20, "features": 300, "classes": 255, "vote": 100},
        {"trees": 20, "features": 1_500, "classes": 254, "vote": 100},
    ),
    without_integers={"leaves": 0, "bias": 1e30},
    has_branches=True,
    sizes={"trees": (1, 6, 30)},
    scores_of=_scores,
    damages=(
        ("head.features", np.where(_NODES == 3, 12, _NODES)),
        ("head.features", np.where(_NODES == 3, -2, _NODES)),
        ("head.features", np.full(9, LEAF)),
        ("head.features", np.append(_NODES, 0)),
        ("head.features", np.append(_NODES, LEAF)),
    ),
    settings={"ensemble": "random", "n_trees": 10, "size_budget": None},
    accuracy=0.9,
    own_settings={"n_trees": 7, "max_depth": 6},
    weak={"max_depth": 1},
    facts={"trainer": "RandomForestClassifier"},
    variants={
        "forest": _TREES,
        "boosting": (*_TREES, "--ensemble", "boosting"),
    },
    flags={
        "--trees": "8",
        "--ensemble": "extra",
        "--max-depth": "6",
        "--min-leaf": "2",
        "--leaves": "shares",
        "--size-budget": "4000",
    },
    steps=("float", "inputs", "leaves"),
    tuning=("--trials", "2", "--max-latency-ms", "1"),
    refused_settings=(
        ({"size_budget": 40}, "a budget of 40 B: too small for 10 trees"),
        ({"ensemble": "bagged"}, "'ensemble' parameter of ForestClassifier"),
        ({"n_trees": 0}, "'n_trees' parameter of ForestClassifier"),
    ),
    reads_weights=False,
    calibrated={"n_trees": 30},
    rejecting=("--ensemble", "random", "--leaves", "shares", "--min-leaf", "3", "--trees", "30"),
)
