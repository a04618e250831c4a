"""The shape of binary trees, defined only by their nodes in preorder.

An inner node is followed by its left subtree, then by its right one; a tree ends with the leaf that
completes it, and the next one follows. So nodes need no pointers, which could be invalid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError

LEAF = -1

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary trees in which a point goes left if a feature is at most a threshold.

    Attributes
    ----------
    features : ndarray of shape (N,), int64
        In preorder: the feature that an inner node tests, `LEAF` at leaves.
    """

    features: Places

    @cached_property
    def _walked(self) -> tuple[Places, Places]:
        """The right child of each node, the node itself at leaves; and the roots of trees."""
        right, roots = np.arange(len(self.features)), [0]
        waiting: list[int] = []  # inner nodes whose right subtree is to come
        for place, feature in enumerate(self.features.tolist()):
            if feature != LEAF:
                waiting.append(place)
            elif waiting:
                right[waiting.pop()] = place + 1
            else:
                roots.append(place + 1)
        if waiting or roots.pop() != len(self.features):
            raise InputError(
                f"the last of {len(roots):,} trees has no end: {len(waiting):,} of its nodes lack "
                "a right subtree; train the model again"
            )
        return right, np.array(roots, np.int64)

    @property
    def right(self) -> Places:
        """The right child of each inner node, (N,); the left one is the next node."""
        return self._walked[0]

    @property
    def roots(self) -> Places:
        """The roots of the trees, (T,)."""
        return self._walked[1]

    @property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes test a feature, (N,)."""
        inner: NDArray[np.bool_] = self.features != LEAF
        return inner

    @property
    def leaf_starts(self) -> Places:
        """The number of the first leaf of each tree, (T,)."""
        before: Places = np.cumsum(~self.inner) - ~self.inner
        return before[self.roots]

    def at_nodes(self, of_inner: NDArray[Any]) -> NDArray[np.float64]:
        """Return values of inner nodes as values of all nodes, (N,), 0 at leaves."""
        every = np.zeros(len(self.features))
        every[self.inner] = of_inner
        return every

    def leaves_of(self, x: NDArray[Any], thresholds: NDArray[Any]) -> NDArray[np.int64]:
        """Return the leaf of each tree that points reach.

        Parameters
        ----------
        x : ndarray of shape (n, D)
            Points.
        thresholds : ndarray of shape (inner nodes,)
            A point whose feature is at most this goes left.

        Returns
        -------
        ndarray of shape (n, T), int64
            Leaves by their number in preorder, over all trees.
        """
        limits, rows = self.at_nodes(thresholds), np.arange(len(x))[:, None]
        inner, at = self.inner, np.tile(self.roots, (len(x), 1))
        while inner[at].any():
            left = x[rows, self.features[at]] <= limits[at]
            at = np.where(inner[at], np.where(left, at + 1, self.right[at]), at)
        leaves: NDArray[np.int64] = np.cumsum(~inner) - 1
        return leaves[at]

    def down(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Places:
        """Return the sum along the path from its tree's root to each node, (N,).

        Parameters
        ----------
        left, right : ndarray of shape (N,), int64
            The terms for going left, or right, from an inner node.
        """
        sums = np.zeros(len(self.features), np.int64)
        for place in np.flatnonzero(self.inner).tolist():
            sums[place + 1] = sums[place] + left[place]
            sums[self.right[place]] = sums[place] + right[place]
        return sums


def sum_of_leaves(
    leaves: NDArray[np.int64], values: NDArray[Any], start: NDArray[Any]
) -> NDArray[Any]:
    """Return ``start`` (L,) plus the values (leaves, L) of the leaves (n, T) of points."""
    total = np.repeat(start[None], len(leaves), axis=0)
    for of_tree in leaves.T:
        total = total + values[of_tree]
    return total
