"""Trees of byte tests in flash: their shape, and the table that a walk reads.

Trees are defined only by their nodes in preorder: an inner node is followed by its left and then
its right subtree, and a tree ends with the leaf that completes it. So nodes need no pointers, which
could be invalid.

A forest in flash is read from front to back, except for jumps to right subtrees. Words have two
bytes in little-endian order. A tree is the size of its nodes, a word, and the nodes in preorder::

    inner node   feature, threshold, bytes of its left subtree
    leaf         its mark, and the values that it adds to scores

A feature has one byte, or two in big-endian order if one could be mistaken for a mark. The size of
a subtree has one byte, or two in little-endian order if any is larger than 255.

If each tree adds to one score, as in boosting, the trees are in the order of their classes. For
each class, its initial score, the number of its trees, a word, and the trees follow. A leaf is two
bytes in big-endian order, the value plus an offset, with which the upper byte is a mark. The
initial score has the offsets subtracted; sums are those of 16 bits.

Otherwise, all initial scores precede the trees. If leaves vote, that is, all add the same to one
score, a leaf is its mark, one of the last L values of a byte: the class. Else, every mark is 255,
followed by the number of scores and, for each, class and value, of 8 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.formulas import Arrays, Operand, arrays_of
from protonn_edge.model.integer_stage import IntArray
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_range

LEAF = -1


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary trees in which a point goes left if a feature is at most a threshold."""

    features: IntArray  # (N,): in preorder: the feature that an inner node tests, `LEAF` at leaves

    @cached_property
    def _walked(self) -> tuple[IntArray, IntArray]:
        """The right child of each node, or the node itself at leaves; and the roots of trees."""
        steps = np.where(self.inner, 1, -1)
        open_after = np.cumsum(steps)  # the subtrees still to come, one less for each whole tree
        size, lowest = len(steps), int(open_after.min(initial=0))
        keys = (open_after - lowest) * size + np.arange(size)
        order = np.argsort(keys)

        def ends(level: IntArray, starts: IntArray) -> IntArray:
            """Return the ends of subtrees: the first node from a start on that has a level."""
            wanted = (level - lowest) * size + starts
            found = np.searchsorted(keys, wanted, sorter=order)
            return np.where(found < size, order[np.minimum(found, size - 1)], size - 1) + 1

        levels = np.arange(-1, lowest - 1, -1)
        roots = np.append(0, ends(levels, np.zeros_like(levels)))
        waiting = int(open_after[-1]) - lowest
        check(
            waiting == 0 and roots[-1] == size,
            "nodes",
            f"{waiting:,} without a right subtree",
            "complete trees",
        )
        right, inner = np.arange(size), np.flatnonzero(self.inner)
        right[inner] = ends(open_after[inner] - 1, inner + 1)
        return right, roots[:-1]

    @property
    def right(self) -> IntArray:
        """The right child of each inner node, (N,); the left one is the next node."""
        return self._walked[0]

    @property
    def roots(self) -> IntArray:
        """The roots of the trees, (T,)."""
        return self._walked[1]

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Which nodes test a feature, (N,)."""
        inner: NDArray[np.bool_] = self.features != LEAF
        return inner

    @cached_property
    def levels(self) -> list[IntArray]:
        """The inner nodes at each depth, from the roots on."""
        levels, nodes = list[IntArray](), self.roots
        while len(nodes := nodes[self.inner[nodes]]):
            levels.append(nodes)
            nodes = np.concatenate([nodes + 1, self.right[nodes]])
        return levels

    @property
    def leaf_starts(self) -> IntArray:
        """The number of the first leaf of each tree, (T,)."""
        before: IntArray = np.cumsum(~self.inner) - ~self.inner
        return before[self.roots]

    def at_nodes(self, of_inner: Array) -> NDArray[np.float64]:
        """Return values of inner nodes as values of all nodes, (N,), 0 at leaves."""
        every = np.zeros(len(self.features))
        every[self.inner] = of_inner
        return every

    def ends(self, x: Operand, at: Operand, limits: Operand) -> Operand:
        """Return the leaves' nodes (n, T) that points x (n, D) reach from nodes (n, T).

        A point goes left if its feature is at most the node's limit, of (N,).
        """
        left = np.arange(len(self.inner)) + self.inner  # a leaf points to itself
        numbers = self.features * self.inner, left, self.right
        feature, low, high = (at.constant(each) for each in numbers)
        for _ in self.levels:
            tested = x.op("GatherElements", feature.op("Gather", at), axis=1)
            is_low = tested.op("LessOrEqual", limits.op("Gather", at))
            at = is_low.op("Where", low.op("Gather", at), high.op("Gather", at))
        return at

    def leaves_of(self, x: Array, thresholds: Array) -> NDArray[np.int64]:
        """Return the leaves (n, T) that points x (n, D) reach, numbered across all trees."""
        start, limits = np.tile(self.roots, (len(x), 1)), self.at_nodes(thresholds)
        at = arrays_of(lambda each: self.ends(each, Arrays(start), Arrays(limits)), x)
        leaves: NDArray[np.int64] = np.cumsum(~self.inner) - 1
        return leaves[at]

    def down(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> IntArray:
        """Return the sums (N,) of each direction's terms on the way from the root to each node."""
        sums = np.zeros(len(self.features), np.int64)
        for nodes in self.levels:
            sums[nodes + 1] = sums[nodes] + left[nodes]
            sums[self.right[nodes]] = sums[nodes] + right[nodes]
        return sums


def sum_of_leaves(leaves: NDArray[np.int64], values: Array, start: Array) -> Array:
    """Return ``start`` (L,) plus the values (leaves, L) of the leaves (n, T) of points."""
    total = np.repeat(start[None], len(leaves), axis=0)
    for of_tree in leaves.T:
        total = total + values[of_tree]
    return total


def classes_of(trees: Trees, leaves: Array) -> IntArray | None:
    """Return the only score to which each tree adds, (T,); None if some tree adds to several.

    A tree that adds nothing has class 0. `leaves` (leaves, L) are the values of leaves.
    """
    added = np.logical_or.reduceat(leaves != 0, trees.leaf_starts)
    return None if (added.sum(axis=1) > 1).any() else added.argmax(axis=1)


def most_of_a_leaf(trees: Trees, leaves: Array) -> int:
    """Return the largest number, with either sign, that a leaf may add."""
    if classes_of(trees, leaves) is None:
        return _BYTE >> 1
    return (_WORD - (_upper(trees)[1] << 8)) // 2


def _upper(trees: Trees) -> tuple[int, int]:
    """Return the bytes of a feature, and the smallest mark, if marks are upper bytes of leaves."""
    last = int(trees.features.max())
    return (1, last + 1) if last < _BYTE - _LEAST_MARKS else (2, (last >> 8) + 1)


MOST_FEATURES = 255 << 8
_BYTE, _WORD = 0xFF, 0xFFFF  # the largest numbers of one byte, and of two
_LEAST_MARKS = 8  # of leaves, if features have one byte


@dataclass(frozen=True, eq=False)
class ForestTable:
    """The bytes of a forest, and their sizes; see the module's docstring."""

    trees: Trees
    # as in `IntegerForest`
    thresholds: NDArray[np.uint8]
    leaves: NDArray[np.int16]
    bias: IntArray

    def ordered(self) -> ForestTable:
        """Return the table with its trees in the order of their classes, if each has only one."""
        classes = classes_of(self.trees, self.leaves)
        if classes is None or (np.diff(classes) >= 0).all():
            return self
        parts = np.split(np.arange(len(self.trees.features)), self.trees.roots[1:])
        nodes = np.concatenate([parts[tree] for tree in np.argsort(classes, kind="stable")])
        inner = self.trees.inner[nodes]
        number = np.where(
            inner, *(np.cumsum(each)[nodes] - 1 for each in (self.trees.inner, ~self.trees.inner))
        )
        features = self.trees.features[nodes]
        thresholds, leaves = self.thresholds[number[inner]], self.leaves[number[~inner]]
        return ForestTable(Trees(features), thresholds, leaves, self.bias)

    @cached_property
    def classes(self) -> IntArray | None:
        """The class of each tree, (T,), in ascending order; None if they are not such trees."""
        classes = classes_of(self.trees, self.leaves)
        return None if classes is None or (np.diff(classes) < 0).any() else classes

    @cached_property
    def values(self) -> IntArray:
        """The number that each leaf adds, (leaves,), if it adds to one score."""
        values: IntArray = self.leaves.sum(axis=1, dtype=np.int64)
        return values

    @property
    def feature_bytes(self) -> int:
        """Bytes of a feature."""
        if self.classes is not None:
            return _upper(self.trees)[0]
        return 1 if int(self.trees.features.max()) < self.first_mark else 2

    @property
    def first_mark(self) -> int:
        """The smallest mark of a leaf, which stands where a feature or its upper byte would."""
        if self.classes is not None:
            return _upper(self.trees)[1]
        return _BYTE + 1 - len(self.bias) if self.vote else _BYTE

    @cached_property
    def pairs(self) -> IntArray:
        """The number of scores that each leaf adds to, at least one."""
        pairs: IntArray = np.maximum(1, np.count_nonzero(self.leaves, axis=1))
        return pairs

    @property
    def counts(self) -> bool:
        """Whether leaves store the number of scores that they add to."""
        return self.classes is None and not self.vote

    @cached_property
    def vote(self) -> int:
        """The value that every leaf adds to the score of its mark; 0 if they differ."""
        values, last = self.leaves[self.leaves != 0], int(self.trees.features.max()) >> 8
        alike = len(values) == len(self.leaves) and values.min() == values.max() > 0
        votes = alike and int(self.pairs.max()) == 1 and last <= _BYTE - len(self.bias)
        return int(values[0]) if votes and self.classes is None else 0

    @cached_property
    def skip_bytes(self) -> int:
        """Bytes of the size of a left subtree."""
        return 1 if int(_subtrees(self, 1).max(initial=0)) <= _BYTE else 2

    @cached_property
    def tree_bytes(self) -> IntArray:
        """Bytes of the nodes of each tree, (T,)."""
        starts = _starts(self, self.skip_bytes)
        return np.diff(np.append(starts[self.trees.roots], starts[-1]))

    @property
    def n_bytes(self) -> int:
        """The size in bytes."""
        words = len(self.bias) * (1 if self.classes is None else 2) + len(self.tree_bytes)
        return 2 * words + int(self.tree_bytes.sum())

    @cached_property
    def lines(self) -> tuple[bytes, ...]:
        """The bytes of initial scores and of each tree; `InputError` if trees are too large."""
        for what, most in (
            ("trees", len(self.tree_bytes)),
            ("bytes in its largest tree", int(self.tree_bytes.max())),
        ):
            check_range(what, most, 0, _WORD)
        ends = [*self.trees.roots[1:].tolist(), None]
        parts = zip(self.tree_bytes.tolist(), self.trees.roots.tolist(), ends, strict=True)
        trees = [word(size) + b"".join(self.nodes[start:end]) for size, start, end in parts]
        if self.classes is None:
            return b"".join(map(word, self.bias.tolist())), *trees
        lines, left = list[bytes](), iter(trees)
        counts = np.bincount(self.classes, minlength=len(self.bias)).tolist()
        for start, count in zip(self.bias.tolist(), counts, strict=True):
            lines += [word(start - count * self._offset) + word(count), *islice(left, count)]
        return tuple(lines)

    @property
    def content(self) -> bytes:
        """All bytes."""
        return b"".join(self.lines)

    @cached_property
    def _offset(self) -> int:
        """The number that makes words of the values of leaves, with marks as upper bytes."""
        offset = _WORD - int(self.values.max())
        check_range("leaves", int(self.values.min()), (self.first_mark << 8) - offset, _WORD)
        return offset

    @cached_property
    def nodes(self) -> list[bytes]:
        """The bytes of each node."""
        skips = _subtrees(self, self.skip_bytes).tolist()
        tests = zip(self.thresholds.tolist(), skips, strict=True)
        leaves = iter(range(len(self.leaves)))
        return [
            _leaf(self, next(leaves)) if feature == LEAF else _test(self, feature, *next(tests))
            for feature in self.trees.features.tolist()
        ]


def _starts(table: ForestTable, skip_bytes: int) -> IntArray:
    """Return the offsets (N + 1,) of the nodes, followed by the end of the last one."""
    inner = table.trees.inner
    sizes = np.full(len(inner), table.feature_bytes + 1 + skip_bytes)
    sizes[~inner] = 2 + 2 * table.pairs if table.counts else 1 if table.vote else 2
    return np.concatenate([[0], np.cumsum(sizes)])


def _subtrees(table: ForestTable, skip_bytes: int) -> IntArray:
    """Return the bytes of the left subtrees of inner nodes."""
    starts, inner = _starts(table, skip_bytes), np.flatnonzero(table.trees.inner)
    return starts[table.trees.right[inner]] - starts[inner + 1]


def _test(table: ForestTable, feature: int, threshold: int, skip: int) -> bytes:
    test = feature.to_bytes(table.feature_bytes, "big") + bytes([threshold])
    return test + skip.to_bytes(table.skip_bytes, "little")


def _leaf(table: ForestTable, leaf: int) -> bytes:
    if table.classes is not None:
        return int(table.values[leaf] + table._offset).to_bytes(2, "big")
    values = table.leaves[leaf].tolist()
    pairs = [(label, value & _BYTE) for label, value in enumerate(values) if value] or [(0, 0)]
    if table.counts:
        return bytes([table.first_mark, len(pairs), *chain.from_iterable(pairs)])
    return bytes([table.first_mark + pairs[0][0]])


def word(number: int) -> bytes:
    """Return the two bytes of a number."""
    return (number & _WORD).to_bytes(2, "little")
