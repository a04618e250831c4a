"""Forests for tests: random ones in floats and in integers, and a small one made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chains import forest_chain, forest_model, random_parts, tiny_parts
from model_factory import parts_for, random_points

from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.table import LEAF, Trees, most_of_a_leaf
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def random_shape(
    rng: np.random.Generator, trees: int, features: int, depth: int, *, apart: bool = False
) -> np.ndarray:
    """Return the features of the nodes of random trees, which share none if they are `apart`."""
    nodes: list[int] = []
    for number in range(trees):
        own = np.array_split(np.arange(features), trees)[number] if apart else np.arange(features)
        levels = [0]
        while levels:
            level = levels.pop()
            if level < depth and len(own) and rng.random() < 0.8:
                nodes.append(int(rng.choice(own)))
                levels += [level + 1, level + 1]
            else:
                nodes.append(LEAF)
            if apart and nodes[-1] != LEAF:
                own = own[own != nodes[-1]]
    if max(nodes) == LEAF:
        return np.array([features - 1, LEAF, LEAF, *nodes])
    return np.array(nodes, np.int64)


def random_leaves(rng: np.random.Generator, leaves: int, classes: int, share: float) -> np.ndarray:
    """Return values of leaves, each for one class and a share of the others."""
    values = rng.integers(-127, 128, (leaves, classes))
    kept = rng.random(values.shape) < share
    kept[np.arange(leaves), rng.integers(0, classes, leaves)] = True
    return np.where(kept, values, 0)


def random_chain(
    seed: int,
    *,
    trees: int = 8,
    features: int = 20,
    depth: int = 5,
    classes: int = 4,
    share: float = 0.3,
    vote: int = 0,
    apart: bool = False,
    levels: int = 255,
    boosted: bool = False,
) -> IntegerChain:
    """Return integers of random trees.

    Their leaves may add one `vote` each; a feature has `levels` different thresholds. Trees may
    add to one score each, with leaves of 16 bits, in the order of their classes (`boosted`).
    """
    rng = np.random.default_rng(seed)
    nodes = random_shape(rng, trees, features, depth, apart=apart)
    inner = int((nodes != LEAF).sum())
    leaves = random_leaves(rng, len(nodes) - inner, classes, share)
    if vote:
        leaves = vote * np.eye(classes)[rng.integers(0, classes, len(leaves))]
    if boosted:
        roots = Trees(nodes).roots
        classes_of = np.sort(rng.integers(0, classes, len(roots)))
        tree_of = np.searchsorted(roots, np.flatnonzero(nodes == LEAF), side="right") - 1
        leaves = np.eye(classes, dtype=np.int64)[classes_of[tree_of]]
        limit = min(
            most_of_a_leaf(Trees(nodes), leaves), (1 << 15) // np.bincount(classes_of).max() - 300
        )
        leaves = leaves * rng.integers(-limit, limit, (len(leaves), 1))
    return forest_chain(
        nodes=nodes,
        thresholds=(rng.integers(0, levels, inner) * (255 // levels)).astype(np.uint8),
        leaves=leaves.astype(np.int16),
        bias=rng.integers(-300, 300, classes),
        **random_parts(features, 255, classes),
    )


def random_forest_model(
    seed: int = 0, *, features: int = 12, classes: int = 4, trees: int = 6, **parts: Any
) -> Model:
    """Return a float model of random trees whose thresholds are among its points."""
    rng = np.random.default_rng(seed)
    X = random_points(seed, 300, features)
    shared = parts_for(X, classes)
    nodes = random_shape(rng, trees, features, 5)
    asked = nodes[nodes != LEAF]
    normalized = shared["normalizer"].apply(X)
    leaves = random_leaves(rng, len(nodes) - len(asked), classes, 0.3)
    return forest_model(
        features=nodes,
        thresholds=normalized[rng.integers(0, len(X), len(asked)), asked],
        leaves=(leaves / 500).astype(np.float32),
        bias=rng.normal(size=classes),
        **{**shared, **parts},
    )


def caught_ensembles(training: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that gets each of scikit-learn's ensembles that a module trains from now on."""
    made, new = list[Any](), training.new_ensemble

    def caught(*arguments: Any) -> Any:
        made.append(new(*arguments))
        return made[-1]

    monkeypatch.setattr(training, "new_ensemble", caught)
    return made


def ends_of_range(stage: IntegerForest) -> np.ndarray:
    """Return inputs at which each score of trees that share no feature is least, and largest."""
    values = stage.leaves.astype(np.int64).T
    points = [_best_input(stage, sign * each) for each in values for sign in (-1, 1)]
    return np.array(points, np.uint8)


def _best_input(stage: IntegerForest, values: np.ndarray) -> np.ndarray:
    """Return an input that ends in the leaf of the largest value in each tree."""
    point = np.zeros(stage.n_inputs, np.int64)
    shape, thresholds = stage.trees, stage.trees.at_nodes(stage.thresholds)
    number = np.cumsum(~shape.inner) - 1

    def best(place: int) -> tuple[int, list[tuple[int, int]]]:
        if not shape.inner[place]:
            return int(values[number[place]]), []
        feature, limit = int(stage.features[place]), int(thresholds[place])
        left, right = best(place + 1), best(int(shape.right[place]))
        if left[0] >= right[0]:
            return left[0], [(feature, limit), *left[1]]
        return right[0], [(feature, limit + 1), *right[1]]

    for root in shape.roots.tolist():
        for feature, value in best(root)[1]:
            point[feature] = value
    return point


TINY_LEAVES = {
    "shares": [[90, 0, -3], [0, 127, 0], [0, 0, 5], [-128, 0, 0], [0, 7, 0], [0, 0, 11]],
    "scores": [[90, 0, 0], [0, 127, 0], [0, 0, 5], [-128, 0, 0], [0, 7, 0], [0, 0, 11]],
    "votes": [[9, 0, 0], [0, 9, 0], [0, 0, 9], [9, 0, 0], [0, 9, 0], [0, 0, 9]],
}


def tiny_chain(leaves: str = "shares") -> IntegerChain:
    """Return integers of three trees, the last one a leaf, for 6 inputs and 3 classes."""
    return forest_chain(
        nodes=np.array([2, 5, LEAF, LEAF, LEAF, 0, LEAF, LEAF, LEAF]),
        thresholds=np.array([100, 0, 254], np.uint8),
        leaves=np.array(TINY_LEAVES[leaves], np.int16),
        bias=np.array([600, -158, 0]),
        **tiny_parts(255),
    )
