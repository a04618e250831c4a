"""Forests on chips of 32 bits: instructions, or the table of other chips in less flash.

Of instructions, each tree is a function, and each node a condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from protonn_edge.codegen.kernels.words import Words
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.table import LEAF

_NODE_BYTES = 6  # of instructions, about
_INDENT = 16  # levels; deeper lines begin where these end


def words(stage: IntegerForest) -> Words:
    """Return the lines of each tree."""
    limits = zip(stage.features[stage.trees.inner].tolist(), stage.thresholds.tolist(), strict=True)
    lines = lines_of_trees(stage, (f"x[{feature}] <= {limit}u" for feature, limit in limits))
    return Words(other_bytes=_NODE_BYTES * len(stage.features), more={"trees": lines})


def small_words(stage: IntegerForest) -> Words:
    """Return the bytes of the table, through which a loop walks."""
    return Words(other_bytes=stage.table.n_bytes)


def lines_of_trees(stage: IntegerForest, tests: Iterable[str]) -> list[list[str]]:
    """Return the lines of each tree, of the conditions of inner nodes.

    A leaf returns its value if its tree adds to one score, or its label if it votes; or it adds.
    """
    table = stage.table
    if table.classes is not None:
        leaves = [[f"return {value};"] for value in table.values.tolist()]
    elif table.vote:
        labels = table.leaves.argmax(axis=1).tolist()
        leaves = [[f"return {label}; /* @class {label} */"] for label in labels]
    else:
        leaves = [_added(leaf) for leaf in table.leaves.tolist()]
    roots = [*stage.trees.roots.tolist(), len(stage.features)]
    every = list(_lines(stage, tests, leaves))
    trees = [every[first:end] for first, end in pairwise(roots)]
    return [[line for node in tree for line in node] for tree in trees]


def _added(leaf: list[int]) -> list[str]:
    return [
        f"scores[{label}] = (pnn_score_t)(scores[{label}] + {value}); /* @class {label} */"
        for label, value in enumerate(leaf)
        if value
    ]


def _lines(
    stage: IntegerForest, tests: Iterable[str], leaves: Sequence[list[str]]
) -> Iterator[list[str]]:
    """Yield the lines of each node, in preorder; a leaf closes the subtrees that it completes.

    Behind a subtree whose leaves return, the right one needs no else.
    """
    to_ask, left, returns = iter(tests), iter(leaves), not stage.table.counts
    waiting: list[bool] = []  # of nodes above: whether the right subtree is still to come
    for feature in stage.features.tolist():
        depth = sum(waiting) if returns else len(waiting)
        indent = "    " * min(depth, _INDENT)
        if feature != LEAF:
            waiting.append(True)
            yield [f"{indent}if ({next(to_ask)}) {{ /* @feature {feature} */"]
            continue
        lines = [indent + line for line in next(left)]
        while waiting:
            depth = sum(waiting) if returns else len(waiting)
            indent = "    " * min(depth - 1, _INDENT)
            if waiting[-1]:
                waiting[-1] = False
                lines.append(f"{indent}}}" if returns else f"{indent}}} else {{")
                break
            waiting.pop()
            if not returns:
                lines.append(f"{indent}}}")
        yield lines
