"""The kernel of a forest in fewer bytes: a walk through the trees, with a table of shared tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.kinds.forest import PACKED
from protonn_edge.kinds.forest.packed import Children, PackedTable
from protonn_edge.kinds.forest.walk import ADD, BEGIN, END_OF_TREE, STORE, TREE, ForestKernel
from protonn_edge.model.integer_stage import IntArray

_TEST = """
    movw %[at], r30
    movw r30, %[tests]
    add  r30, %[a]
    adc  r31, __zero_reg__
    add  r30, %[a]
    adc  r31, __zero_reg__
    lpm  r0, Z+ ; the feature
    lpm  %[b], Z ; the threshold
    movw r30, %[at]
    movw r26, %[values]
    add  r26, r0
    adc  r27, __zero_reg__
    ld   r0, X
"""
_RIGHT_SUBTREE = """
right_subtree:
    tst  %[a]
    breq far_right
    add  r30, %[a] ; passes over the left subtree
    adc  r31, __zero_reg__
    rjmp node
far_right:
    lpm  %[a], Z+
    lpm  r0, Z+
    add  r30, %[a]
    adc  r31, r0
    rjmp node
"""

# Labels that a test passes to the left and to the right: the further, the rarer.
_LEFT = ("left", "stays", "left_subtree", "far_left")
_RIGHT = ("right", "not_right", "right_subtree", "far_right")


@dataclass(frozen=True, eq=False)
class PackedKernel(ForestKernel):
    """Walks through a table whose trees share tests."""

    name: str = PACKED

    @property
    def packed(self) -> PackedTable:
        """The forest in flash."""
        return self.stage.packed

    @cached_property
    def listing(self) -> Listing:
        """The instructions: Z points to the trees, or to a test; X to inputs and scores."""
        packed, vote = self.packed, self.stage.table.vote
        mark, right_mark = packed.mark, packed.right_mark
        return Listing(
            f"""
            {BEGIN}
            {TREE}
            node:
                lpm  %[a], Z+ ; the test, or the mark of a leaf
                cpi  %[a], {mark}
                brcc leaf
                {_TEST}
                lpm  %[a], Z+ ; the mark of a leaf, or bytes of the left subtree
                cp   %[b], r0
                brcs right
            left:
                cpi  %[a], {mark}
                brcc leaf
            stays:
                cpi  %[a], {right_mark}
                brcc node
            left_subtree:
                tst  %[a]
                brne node
            far_left:
                adiw r30, 2 ; two more bytes of its size
                rjmp node
            right:
                cpi  %[a], {mark}
                brcc node ; the left child was a leaf
            not_right:
                cpi  %[a], {right_mark}
                brcc other
            {_RIGHT_SUBTREE}
            other:
                subi %[a], {-len(packed.table.bias)} ; the right child is a leaf
            leaf:
                subi %[a], {mark}
                ldi  %[b], {vote}
                {ADD}{STORE}
            {END_OF_TREE}
            """
        )

    def _path(self, end: str, *taken: str) -> int:
        """Return the cycles from a node to a label with these branches taken."""
        return self.listing.path("node", [end], dict.fromkeys(taken, 1))

    @cached_property
    def _costs(self) -> dict[str, int]:
        """Cycles of a node that passes a label last, and of "node" for a leaf with its own mark."""
        right = "brcs right"
        return {
            "node": self._path("leaf", "brcc leaf"),
            "left": self.listing.path("node", ["left"], {})
            + self._end("left", "brcc leaf", "leaf"),
            "stays": self._path("node", "brcc node"),
            "left_subtree": self._path("node", "brne node"),
            "far_left": self._path("node"),
            "right": self._path("node", right, "brcc node"),
            "not_right": self._path("leaf", right, "brcc other"),
            "right_subtree": self._path("node", right),
            "far_right": self._path("node", right, "breq far_right"),
        }

    def _end(self, start: str, taken: str, end: str) -> int:
        return self.listing.path(start, [end], {taken: 1})

    @cached_property
    def _ways(self) -> tuple[IntArray, IntArray]:
        """Cycles of going left and right from each node, (N,), with those of a leaf's own mark."""
        costs, children = self._costs, self.packed.children
        left, right = np.zeros((2, len(children)), np.int64)
        inner = self.stage.trees.inner
        for node, these in enumerate(children):
            if these is not None:
                of_left, of_right = _passed(these)
                own = inner[self.stage.trees.right[node]] or these.right_leaf
                left[node] = costs[of_left]
                right[node] = costs[of_right] + (0 if own else costs["node"])
        return left, right

    @cached_property
    def _to_leaves(self) -> IntArray:
        """Cycles from the root of a tree to each leaf, (leaves,)."""
        trees = self.stage.trees
        alone = np.where(trees.inner[trees.roots], 0, self._costs["node"])
        of_tree = np.repeat(alone, np.diff([*trees.leaf_starts, len(self.stage.leaves)]))
        return np.asarray(trees.down(*self._ways)[~trees.inner] + of_tree)

    @property
    def facts(self) -> Facts:
        """The passes of labels, with the longest path to a leaf in each tree."""
        trees, scores, costs = self.stage.trees, self.stage.n_outputs, self._costs
        ends = (
            each.reduceat(self._to_leaves, trees.leaf_starts) for each in (np.maximum, np.minimum)
        )
        most, least = (int(each.sum()) for each in ends)
        weights = {"node": costs["node"]}
        for labels in (_LEFT, _RIGHT):
            before = "node"
            for label in labels:
                weights[label], before = costs[label] - costs[before], label
        roots = trees.roots.size
        return {"start": Passed(scores, scores), "tree": Passed(roots, roots)} | {
            label: Passed(most, least, name="way", weight=weight)
            for label, weight in weights.items()
        }

    @property
    def table_bytes(self) -> int:
        """Flash of the trees and their tests."""
        return self.packed.n_bytes


def _passed(children: Children) -> tuple[str, str]:
    """Return the labels that a test passes last, to the left and to the right."""
    if children.left_leaf:
        return _LEFT[0], _RIGHT[0]
    if children.right_leaf:
        return _LEFT[1], _RIGHT[1]
    return (_LEFT[3], _RIGHT[3]) if children.far else (_LEFT[2], _RIGHT[2])
