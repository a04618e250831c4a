"""Forests as tables over ways: each way through a tree leads to one leaf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.proof.forms import SumForm, Unproven, constant, plus, single
from protonn_edge.proof.reference import Reference


def forms(stage: IntegerForest, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the scores of bytes."""
    scores = [constant(int(each)) for each in stage.bias]
    ends = [*stage.trees.roots[1:].tolist(), len(stage.features)]
    for place, end in zip(stage.trees.roots.tolist(), ends, strict=True):
        tree = _Tree(stage, place, end, inputs)
        if len(tree.roots) > 1:
            way = next(reference.ways, None)
            if way is None:
                raise Unproven("the program has fewer ways than the model has trees")
            reached = [tree.leaf(box) for box in way.boxes]
        else:
            way = next(iter(tree.roots), None)
            size = 0 if way is None else way.size
            reached = [tree.leaf({way: np.arange(size) == k}) for k in range(size)]
        for label, score in enumerate(scores):
            if way is None:
                more = constant(int(stage.leaves[tree.leaf({}), label]))
            else:
                more = single(way, stage.leaves[reached, label])
            scores[label] = plus(score, more)
    return scores


class _Tree:
    """The nodes from one place to another."""

    def __init__(self, stage: IntegerForest, place: int, end: int, inputs: list[SumForm]) -> None:
        self._trees, self._place, self._inputs = stage.trees, place, inputs
        self._limits = stage.trees.at_nodes(stage.thresholds)
        self._leaves = np.cumsum(~stage.trees.inner) - 1
        split = [n for n in range(place, end) if self._trees.inner[n] and self._left(n, {}) is None]
        self.roots = {self._input(node).root for node in split}

    def _input(self, node: int) -> SumForm:
        return self._inputs[int(self._trees.features[node])]

    def _left(self, node: int, box: Mapping[Any, Any]) -> bool | None:
        """Return whether values within a box go left; None if some do and some do not."""
        form = self._input(node)
        left = np.atleast_1d(form.array() <= self._limits[node])
        left = left[box[form.root]] if form.root in box else left
        return bool(left[0]) if left.all() == left.any() else None

    def leaf(self, box: Mapping[Any, Any]) -> int:
        """Return the leaf that values within a box reach."""
        node = self._place
        while self._trees.inner[node]:
            left = self._left(node, box)
            if left is None:
                raise Unproven("a way through a tree that leads to two leaves")
            node = node + 1 if left else int(self._trees.right[node])
        return int(self._leaves[node])
