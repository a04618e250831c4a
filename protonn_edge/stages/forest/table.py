"""A forest as flash has it: bytes that are read from front to back, but for jumps to the right.

First what the scores begin with, two bytes each, lower byte first. Then, for each tree, how many
bytes its nodes take, in two bytes, and these in preorder::

    inner node   feature, threshold, bytes of its left subtree
    leaf         its mark, and what it adds to scores

A feature has one byte, or two, upper byte first, where one would be mistaken for a mark; a
subtree's bytes have one, or two, lower byte first, where one has more than 255.

Where each leaf adds to one score, its mark says to which: they are the last L numbers of a byte.
What it adds follows, unless all leaves add the same. Where some leaf adds to several scores the
mark is 255, and behind it are their number and, for each, class and value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.stages.forest.trees import Places, Trees

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
        """The least number that a leaf has in place of a feature, or of its upper byte."""
        return _BYTE if self.counts else _BYTE + 1 - len(self.bias)

    @cached_property
    def pairs(self) -> Places:
        """To how many scores each leaf adds, at least one."""
        pairs: Places = np.maximum(1, np.count_nonzero(self.leaves, axis=1))
        return pairs

    @cached_property
    def counts(self) -> bool:
        """Whether leaves say to how many scores they add."""
        last = int(self.trees.features.max()) >> 8
        return int(self.pairs.max()) > 1 or last > _BYTE - len(self.bias)

    @cached_property
    def vote(self) -> int:
        """What every leaf adds to the one score that its mark says; 0 where they differ."""
        values = self.leaves[self.leaves != 0]
        alike = len(values) == len(self.leaves) and values.min() == values.max() > 0
        return int(values[0]) if alike and not self.counts else 0

    @cached_property
    def skip_bytes(self) -> int:
        """Bytes of the size of a left subtree."""
        return 1 if int(self._subtrees(1).max(initial=0)) <= _BYTE else 2

    def _starts(self, skip_bytes: int) -> Places:
        """Return where nodes begin and the last one ends, (N + 1,), without what is around them."""
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
        """Bytes of all."""
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
