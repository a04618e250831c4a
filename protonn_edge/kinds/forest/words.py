"""Forests as instructions of any chip: a condition for each inner node, sums for each leaf."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from protonn_edge.kernels.words import Words
from protonn_edge.kinds.forest.integers import LEAF, IntegerForest

_NODE_BYTES = 6  # of instructions, about
_INDENT = 16  # levels; deeper lines begin where these end


def words(stage: IntegerForest) -> Words:
    """Return the lines of each tree."""
    roots = [*stage.trees.roots.tolist(), len(stage.features)]
    every = list(_lines(stage))
    trees = [every[first:end] for first, end in pairwise(roots)]
    lines = [[line for node in tree for line in node] for tree in trees]
    return Words(other_bytes=_NODE_BYTES * len(stage.features), more={"trees": lines})


def _lines(stage: IntegerForest) -> Iterator[list[str]]:
    """Yield the lines of each node, in preorder; a leaf closes the subtrees that it completes."""
    thresholds, leaves = iter(stage.thresholds.tolist()), iter(stage.leaves.tolist())
    # of inner nodes above: whether the right subtree is still to come
    waiting: list[bool] = []
    for feature in stage.features.tolist():
        indent = "    " * min(len(waiting), _INDENT)
        if feature != LEAF:
            waiting.append(True)
            yield [f"{indent}if (x[{feature}] <= {next(thresholds)}) {{"]
            continue
        lines = [
            f"{indent}scores[{label}] = (pnn_score_t)(scores[{label}] + {value});"
            for label, value in enumerate(next(leaves))
            if value
        ]
        while waiting:
            indent = "    " * min(len(waiting) - 1, _INDENT)
            if waiting[-1]:
                waiting[-1] = False
                lines.append(f"{indent}}} else {{")
                break
            waiting.pop()
            lines.append(f"{indent}}}")
        yield lines
