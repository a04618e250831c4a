"""A forest in flash: bytes that are read from front to back, except for jumps to the right.

First the initial scores, two bytes each, in little endian. Then, for each tree, the size of its
nodes in two bytes, and the nodes in preorder::

    inner node   feature, threshold, bytes of its left subtree
    leaf         its mark, and what it adds to scores

A feature has one byte, or two in big endian if one could be mistaken for a mark. The size of a
subtree has one byte, or two in little endian if one is larger than 255.

If each leaf adds to one score, its mark, one of the last L numbers of a byte, is the class. The
value follows, unless it is the same for all leaves. If some leaf adds to several scores, the mark
is 255, followed by their number and, for each, class and value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.kinds.forest.trees import Places, Trees

MOST_FEATURES = 255 << 8
_BYTE, _WORD = 0xFF, 0xFFFF  # the largest numbers of one byte, and of two


@dataclass(frozen=True, eq=False)
class ForestTable:
    """The bytes of a forest, and their sizes; see the module's text.

    Attributes
    ----------
    trees : Trees
    thresholds, leaves, bias : ndarray
        As in `IntegerForest`.
    """

    trees: Trees
    thresholds: NDArray[np.uint8]
    leaves: NDArray[np.int8]
    bias: Places

    @property
    def feature_bytes(self) -> int:
        """Bytes of a feature."""
        return 1 if int(self.trees.features.max()) < self.first_mark else 2

    @property
    def first_mark(self) -> int:
        """The smallest mark of a leaf, in the place of a feature or of its upper byte."""
        return _BYTE if self.counts else _BYTE + 1 - len(self.bias)

    @cached_property
    def pairs(self) -> Places:
        """The number of scores that each leaf adds to, at least one."""
        pairs: Places = np.maximum(1, np.count_nonzero(self.leaves, axis=1))
        return pairs

    @cached_property
    def counts(self) -> bool:
        """Whether leaves have the number of scores that they add to."""
        last = int(self.trees.features.max()) >> 8
        return int(self.pairs.max()) > 1 or last > _BYTE - len(self.bias)

    @cached_property
    def vote(self) -> int:
        """The value that every leaf adds to the score of its mark; 0 if they differ."""
        values = self.leaves[self.leaves != 0]
        alike = len(values) == len(self.leaves) and values.min() == values.max() > 0
        return int(values[0]) if alike and not self.counts else 0

    @cached_property
    def skip_bytes(self) -> int:
        """Bytes of the size of a left subtree."""
        return 1 if int(self._subtrees(1).max(initial=0)) <= _BYTE else 2

    def _starts(self, skip_bytes: int) -> Places:
        """Return the beginnings of nodes and the end of the last one, (N + 1,), within nodes."""
        inner = self.trees.inner
        sizes = np.full(len(inner), self.feature_bytes + 1 + skip_bytes)
        sizes[~inner] = 2 + 2 * self.pairs if self.counts else 1 + (not self.vote)
        return np.concatenate([[0], np.cumsum(sizes)])

    def _subtrees(self, skip_bytes: int) -> Places:
        """Return the bytes of the left subtrees of inner nodes."""
        starts, inner = self._starts(skip_bytes), np.flatnonzero(self.trees.inner)
        return starts[self.trees.right[inner]] - starts[inner + 1]

    @cached_property
    def tree_bytes(self) -> Places:
        """Bytes of the nodes of each tree, (T,)."""
        starts = self._starts(self.skip_bytes)
        return np.diff(np.append(starts[self.trees.roots], starts[-1]))

    @property
    def n_bytes(self) -> int:
        """The size in bytes."""
        return 2 * len(self.bias) + 2 * len(self.tree_bytes) + int(self.tree_bytes.sum())

    @cached_property
    def content(self) -> bytes:
        """The bytes.

        Raises
        ------
        InputError
            If a tree is too large, or there are too many.
        """
        for what, most in (
            ("trees", len(self.tree_bytes)),
            ("bytes in a tree", int(self.tree_bytes.max())),
        ):
            if most > _WORD:
                raise InputError(
                    f"the model has {most:,} {what}, generated code counts up to {_WORD:,}; train "
                    "it with a smaller --size-budget"
                )
        sizes = iter(self.tree_bytes.tolist())
        roots = set(self.trees.roots.tolist())
        inner = zip(self.thresholds.tolist(), self._subtrees(self.skip_bytes).tolist(), strict=True)
        leaves = iter(self.leaves)
        made = [_word(int(start)) for start in self.bias]
        for place, feature in enumerate(self.trees.features.tolist()):
            if place in roots:
                made.append(_word(next(sizes)))
            if feature < 0:
                made.append(self._leaf(next(leaves)))
            else:
                threshold, skip = next(inner)
                made.append(feature.to_bytes(self.feature_bytes, "big") + bytes([threshold]))
                made.append(skip.to_bytes(self.skip_bytes, "little"))
        return b"".join(made)

    def _leaf(self, values: NDArray[np.int8]) -> bytes:
        classes = np.flatnonzero(values)
        if not len(classes):
            classes = np.zeros(1, np.int64)
        pairs = np.stack([classes, values[classes]], axis=1).astype(np.uint8)
        if self.counts:
            return bytes([self.first_mark, len(classes)]) + pairs.tobytes()
        label, value = pairs[0].tolist()
        return bytes([self.first_mark + label, *([] if self.vote else [value])])


def _word(number: int) -> bytes:
    return (number & _WORD).to_bytes(2, "little")
