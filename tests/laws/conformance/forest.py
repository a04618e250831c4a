"""Forests: leaves that add to one score and to many, many inputs, long subtrees, lone leaves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from forest_factory import ends_of_range, random_chain, tiny_chain
from laws.conformance.instances import Instance
from model_factory import random_inputs

from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.table import LEAF
from protonn_edge.model.integer_chain import IntegerChain, named_stages


def instances() -> Iterator[Instance]:
    """Yield forests."""
    apart = random_chain(0, trees=6, features=120, depth=4, classes=3, apart=True)
    yield _instance("no shared feature", apart, ends_of_range(named_stages(apart)["forest"]))
    yield _instance("votes", random_chain(6, trees=20, features=60, vote=127, classes=9))
    small = {"trees": 5, "features": 60, "depth": 3, "share": 0.4}
    yield _instance("several scores a leaf", random_chain(12, classes=4, **small))
    yield _instance("one score a leaf", random_chain(1, trees=20, features=60, share=0, classes=9))
    shared = {"features": 60, "levels": 3, "classes": 9}
    yield _instance("votes, shared tests", random_chain(10, trees=20, vote=127, **shared))
    far = random_chain(11, trees=4, depth=9, vote=30, **shared)
    yield _instance("votes, shared tests, long subtrees", far)
    yield _instance("many scores a leaf", random_chain(13, classes=12, **small))
    apart = small | {"features": 300, "trees": 4}
    yield _instance("many scores a leaf, many inputs", random_chain(14, classes=30, **apart))
    boosted = {"trees": 24, "boosted": True}
    yield _instance("one score a tree", random_chain(15, features=60, classes=5, **boosted))
    wide = random_chain(16, features=300, depth=3, classes=30, trees=90, boosted=True)
    yield _instance("one score a tree, many inputs and scores", wide)
    deep = random_chain(17, trees=4, features=247, depth=9, classes=2, boosted=True)
    yield _instance("one score a tree, long subtrees", deep)
    many = random_chain(7, trees=9, features=254, vote=1, classes=4)
    yield _instance("votes, and features like marks", many)
    yield _instance("many inputs", random_chain(2, features=400, depth=6, share=0, classes=2))
    yield _instance("long subtrees", random_chain(3, trees=5, depth=8, features=40))
    wide = random_chain(4, trees=4, depth=6, features=300, classes=12, share=1.0)
    yield _instance("many inputs, long subtrees", wide)
    yield _instance("a lone leaf", tiny_chain())
    yield _instance("a single score", random_chain(8, trees=20, features=60, classes=1))
    far = random_chain(9, features=400, depth=6, classes=1)
    yield _instance("a single score, many inputs", far)
    for name, vote in (("all numbers equal", 0), ("all numbers and votes equal", 9)):
        equal = random_chain(5, trees=9, features=9, classes=9, depth=3, vote=vote)
        yield _instance(name, equal)


def _instance(name: str, model: IntegerChain, ends: np.ndarray | None = None) -> Instance:
    stage = named_stages(model)["forest"]
    corners = np.array([[0], [255]]) * np.ones(stage.n_inputs, np.int64)
    extremes = corners if ends is None else ends
    return Instance(
        name, model, stage, random_inputs(8, 20, model), extremes, reached=ends is not None
    )


def reference(stage: IntegerForest, point: list[int]) -> list[int]:
    """Return the scores of inputs."""
    scores = stage.bias.tolist()
    nodes = iter(stage.features.tolist())
    thresholds, leaves = iter(stage.thresholds.tolist()), iter(stage.leaves.tolist())

    def walk(reached: bool) -> None:
        feature = next(nodes)
        if feature == LEAF:
            values = next(leaves)
            for label, value in enumerate(values if reached else ()):
                scores[label] += value
            return
        left = point[feature] <= next(thresholds)
        walk(reached and left)
        walk(reached and not left)

    while True:
        try:
            walk(True)
        except StopIteration:
            return scores
