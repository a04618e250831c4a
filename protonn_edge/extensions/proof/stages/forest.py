"""Forests as tables over ways: each way through a tree leads to one leaf."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.proof.forms import (
    Root,
    SumForm,
    Unproven,
    constant,
    plus,
    single,
)
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.kinds.forest.integers import IntegerForest

Box = Mapping[Any, Any]  # masks of roots, within which inputs are


@forms.register(IntegerForest)
def _(stage: IntegerForest, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the scores of bytes."""
    scores = [constant(int(each)) for each in stage.bias]
    ends = [*stage.trees.roots[1:].tolist(), len(stage.features)]
    way: Root | None = None  # of the tree before
    for place, end in zip(stage.trees.roots.tolist(), ends, strict=True):
        tree = _Tree(stage, place, end, inputs)
        if len(tree.roots) > 1:
            way, reached = _way_through(tree, reference, way)
            more = [single(way, values) for values in np.transpose(reached)]
        else:
            more = tree.over_root()
        scores = [plus(score, each) for score, each in zip(scores, more, strict=True)]
    return scores


def _way_through(
    tree: _Tree, reference: Reference, before: Root | None
) -> tuple[Root, list[NDArray[np.int64]]]:
    """Return the way through a tree, and the tree's values there.

    That is the program's next way; or the one before, where the compiler has joined the paths of
    two trees. Any way that decides the tree is right: its boxes cover all inputs.
    """
    for way in (*reference.ways[:1], *([before] if before else [])):
        with suppress(Unproven):
            values = [tree.values(box) for box in way.boxes]
            reference.ways = [each for each in reference.ways if each is not way]
            return way, values
    raise Unproven("a tree of which the program has no way")


class _Tree:
    """The nodes from one place to another."""

    def __init__(self, stage: IntegerForest, place: int, end: int, inputs: list[SumForm]) -> None:
        self._trees, self._place, self._inputs = stage.trees, place, inputs
        self._limits = stage.trees.at_nodes(stage.thresholds)
        self._rows = stage.leaves[np.cumsum(~stage.trees.inner) - 1]  # of leaves, by node
        inner = (node for node in range(place, end) if self._trees.inner[node])
        self.roots = {self._input(node).root for node in inner if len(self._below(node, {})) > 1}

    def _input(self, node: int) -> SumForm:
        return self._inputs[int(self._trees.features[node])]

    def _below(self, node: int, box: Box) -> list[tuple[int, Box]]:
        """Return the nodes behind a node that values within a box reach, each with its box."""
        form = self._input(node)
        left = np.atleast_1d(form.array() <= self._limits[node])
        sides = (node + 1, left), (int(self._trees.right[node]), ~left)
        within = ((child, side & box.get(form.root, True)) for child, side in sides)
        return [(child, {**box, form.root: mask}) for child, mask in within if mask.any()]

    def over_root(self) -> list[SumForm]:
        """Return the values of a tree that depends on one root at most."""
        (root,) = self.roots or {None}
        if root is None:
            return [constant(int(each)) for each in self.values({})]
        rows = [self.values({root: each}) for each in np.eye(root.size, dtype=bool)]
        return [single(root, each) for each in np.transpose(rows)]

    def values(self, box: Box) -> NDArray[np.int64]:
        """Return the values of the leaf that values within a box reach; of several, if equal."""
        waiting, rows = [(self._place, box)], []
        while waiting:
            node, within = waiting.pop()
            if self._trees.inner[node]:
                waiting += self._below(node, within)
            else:
                rows.append(self._rows[node])
        if any((row != rows[0]).any() for row in rows):
            raise Unproven("a way that leads to two leaves of a tree")
        return np.asarray(rows[0], np.int64)
