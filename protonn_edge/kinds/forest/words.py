"""Forests on chips of 32 bits: instructions, or the table of other chips in less flash.

Of instructions, each tree is a function, and each node a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from protonn_edge.codegen.kernels.words import Words
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.table import LEAF

_NODE_BYTES = 6  # of instructions, about
_INDENT = 16  # levels; deeper lines begin where these end


def words(stage: IntegerForest) -> Words:
    """Return the lines of each tree.

    If each leaf adds to one score, a tree returns which one and, unless all leaves add the same,
    256 times the value. Otherwise, leaves add.
    """
    single, tested = is_single(stage), stage.features[stage.trees.inner].tolist()
    leaves = returned(stage) if single else [_added(leaf) for leaf in stage.leaves.tolist()]
    limits = zip(tested, stage.thresholds.tolist(), strict=True)
    lines = lines_of_trees(stage, (f"x[{feature}] <= {limit}" for feature, limit in limits), leaves)
    more = {"trees": lines, "single": single, "vote": stage.table.vote}
    return Words(other_bytes=_NODE_BYTES * len(stage.features), more=more)


def small_words(stage: IntegerForest) -> Words:
    """Return the bytes of the table, through which a loop walks."""
    return Words(other_bytes=stage.table.n_bytes)


def is_single(stage: IntegerForest) -> bool:
    """Return whether each leaf adds to at most one score."""
    return bool((np.count_nonzero(stage.leaves, axis=1) <= 1).all())


def returned(stage: IntegerForest) -> list[list[str]]:
    """Return the lines of leaves that add to one score: its label and 256 times what they add.

    If all add the same, they return the label alone.
    """
    return [_chosen(leaf, stage.table.vote) for leaf in stage.leaves.tolist()]


def lines_of_trees(
    stage: IntegerForest, tests: Iterable[str], leaves: Sequence[list[str]]
) -> list[list[str]]:
    """Return the lines of each tree, of the conditions of inner nodes and the lines of leaves."""
    roots = [*stage.trees.roots.tolist(), len(stage.features)]
    every = list(_lines(stage, tests, leaves))
    trees = [every[first:end] for first, end in pairwise(roots)]
    return [[line for node in tree for line in node] for tree in trees]


def _added(leaf: list[int]) -> list[str]:
    return [
        f"scores[{label}] = (pnn_score_t)(scores[{label}] + {value});"
        for label, value in enumerate(leaf)
        if value
    ]


def _chosen(leaf: list[int], vote: int) -> list[str]:
    label = next((label for label, value in enumerate(leaf) if value), 0)
    return [f"return {label if vote else 256 * leaf[label] + label};"]


def _lines(
    stage: IntegerForest, tests: Iterable[str], leaves: Sequence[list[str]]
) -> Iterator[list[str]]:
    """Yield the lines of each node, in preorder; a leaf closes the subtrees that it completes."""
    to_ask, left = iter(tests), iter(leaves)
    # of inner nodes above: whether the right subtree is still to come
    waiting: list[bool] = []
    for feature in stage.features.tolist():
        indent = "    " * min(len(waiting), _INDENT)
        if feature != LEAF:
            waiting.append(True)
            yield [f"{indent}if ({next(to_ask)}) {{"]
            continue
        lines = [indent + line for line in next(left)]
        while waiting:
            indent = "    " * min(len(waiting) - 1, _INDENT)
            if waiting[-1]:
                waiting[-1] = False
                lines.append(f"{indent}}} else {{")
                break
            waiting.pop()
            lines.append(f"{indent}}}")
        yield lines
