"""Forests in fewer bytes: all trees share a table of tests, and a leaf stands with its parent.

A *test* is a feature and a threshold. The table of tests has two bytes for each. The initial scores
and the trees follow as in `table`, with the nodes in preorder::

    leaf         its mark
    inner node   its test, and one byte for its children

One of the last L values of a byte is the mark of a leaf that votes for that class. The L values
before the marks are marks of a right leaf. The byte for the children is

    a mark                the left child is this leaf; the right subtree follows
    a mark of a right     the right child is this leaf; the left subtree follows
    leaf
    another, not 0        bytes of the left subtree, which follows
    0                     these bytes follow first, as two in little-endian order
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.forest.table import ForestTable, word
from protonn_edge.model.integer_stage import IntArray

_BYTE = 256  # the values of a byte
_LEAST_SKIP = 16  # the bytes of a subtree that one byte must reach at least


class Children(NamedTuple):
    """What the children of an inner node are."""

    left_leaf: bool
    right_leaf: bool  # whether the right child is a leaf, and stands with its parent
    far: bool  # whether the size of the left subtree takes two more bytes


@dataclass(frozen=True, eq=False)
class PackedTable:
    """The bytes of a forest with shared tests; see the module's docstring."""

    table: ForestTable

    @cached_property
    def _numbered(self) -> tuple[IntArray, IntArray]:
        """The tests (tests,), 256 times the feature plus the threshold; and each node's number."""
        features = self.table.trees.features[self.table.trees.inner]
        tests, number = np.unique(
            _BYTE * features + self.table.thresholds.astype(np.int64), return_inverse=True
        )
        return tests, number

    @property
    def tests(self) -> IntArray:
        """The tests in ascending order, (tests,): 256 times the feature plus the threshold."""
        return self._numbered[0]

    @property
    def mark(self) -> int:
        """The mark of a leaf of the first class."""
        return _BYTE - len(self.table.bias)

    @property
    def right_mark(self) -> int:
        """The mark of a right leaf of the first class."""
        return self.mark - len(self.table.bias)

    @cached_property
    def possible(self) -> bool:
        """Whether leaves vote, and a byte is enough for tests and marks."""
        return (
            self.table.vote > 0
            and self.right_mark >= _LEAST_SKIP
            and len(self.tests) <= self.mark
            and int(self.table.trees.features.max()) < _BYTE
        )

    @cached_property
    def children(self) -> list[Children | None]:
        """What the children of each node are, (N,); None at leaves."""
        return self._measured[0]

    @cached_property
    def _measured(self) -> tuple[list[Children | None], list[int]]:
        """The children of each node, and the bytes of its subtree, without leaves at parents."""
        inner, right = self.table.trees.inner.tolist(), self.table.trees.right.tolist()
        children, sizes = list[Children | None]([None] * len(inner)), [1] * len(inner)
        for node in reversed(np.flatnonzero(self.table.trees.inner).tolist()):
            low, high = node + 1, right[node]
            far = inner[low] and inner[high] and sizes[low] >= self.right_mark
            children[node] = Children(not inner[low], inner[low] and not inner[high], far)
            below = (sizes[low] if inner[low] else 0) + (
                0 if inner[low] and not inner[high] else sizes[high]
            )
            sizes[node] = 2 + 2 * far + below
        return children, sizes

    @property
    def tree_bytes(self) -> IntArray:
        """Bytes of each tree after its size, (T,)."""
        return np.array(self._measured[1])[self.table.trees.roots]

    @property
    def n_bytes(self) -> int:
        """The size in bytes."""
        words = len(self.tests) + len(self.table.bias) + len(self.tree_bytes)
        return 2 * words + int(self.tree_bytes.sum())

    @cached_property
    def test_bytes(self) -> bytes:
        """The table of tests."""
        return b"".join(bytes(divmod(test, _BYTE)) for test in self.tests.tolist())

    @cached_property
    def lines(self) -> tuple[bytes, ...]:
        """The bytes of the initial scores, and of each tree."""
        trees, number = self.table.trees, self.table.trees.at_nodes(self._numbered[1]).astype(int)
        classes = np.zeros(len(trees.features), np.int64)
        classes[~trees.inner] = self.table.leaves.argmax(axis=1)
        lines = [b"".join(word(int(start)) for start in self.table.bias)]
        for root, size in zip(trees.roots.tolist(), self.tree_bytes.tolist(), strict=True):
            lines.append(word(size) + self._nodes(root, number, classes))
        return tuple(lines)

    @property
    def content(self) -> bytes:
        """All bytes."""
        return self.test_bytes + b"".join(self.lines)

    def _nodes(self, root: int, number: IntArray, classes: NDArray[np.int64]) -> bytes:
        """Return the bytes of the nodes of a tree."""
        right, made, waiting = self.table.trees.right, bytearray(), [root]
        while waiting:
            node = waiting.pop()
            children = self.children[node]
            if children is None:
                made.append(self.mark + int(classes[node]))
                continue
            low, high = node + 1, int(right[node])
            made.append(int(number[node]))
            if children.left_leaf:
                made.append(self.mark + int(classes[low]))
                waiting.append(high)
            elif children.right_leaf:
                made.append(self.right_mark + int(classes[high]))
                waiting.append(low)
            else:
                size = self._measured[1][low]
                made += b"\0" + word(size) if children.far else bytes([size])
                waiting += [high, low]
        return bytes(made)
