"""How far inputs may move: formulas of a model's stages on intervals.

The leaves of a forest that a box reaches bound differences of its scores better than intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.model.formulas import IntArray, Intervals, NoFormula
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntegerStage, formula_through

_ROWS_AT_ONCE = 256
_FAR = 1 << 20  # above any difference of leaves


def standing(model: IntegerChain, Q: NDArray[np.uint8], steps: int) -> NDArray[np.bool_] | None:
    """Return for points (n, features) whether their class stands if each input moves by `steps`.

    True is proven; of others nothing is known. None if a stage has no bounds, or an answer depends
    on more than the largest score.
    """
    stages = (*model.feature_stages, *model.own_stages)
    if model.policy.other_answers:
        return None
    classes, stands = model.predict(Q), np.zeros(len(Q), bool)
    for begin in range(0, len(Q), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        points = Q[part].astype(np.int64)
        low, high = points - steps, points + steps
        box = Intervals(np.maximum(low, 0), np.minimum(high, model.quantizer.maximum))
        try:
            least = _leads(stages, box, classes[part])
        except NoFormula:
            return None
        # of equal scores, the first one wins
        needed = np.arange(least.shape[1]) < classes[part, None]
        own = np.arange(least.shape[1]) == classes[part, None]
        stands[part] = ((least >= needed) | own).all(axis=1)
    return stands


def _leads(stages: Sequence[IntegerStage], box: Intervals, classes: IntArray) -> IntArray:
    reached = formula_through(stages[:-1], box)
    assert isinstance(reached, Intervals)
    return leads(stages[-1], reached, classes)


@singledispatch
def leads(stage: IntegerStage, box: Intervals, classes: IntArray) -> IntArray:
    """Return how far the scores of classes (n,) are at least above all scores, (n, L).

    Raises `NoFormula` if that is not known.
    """
    scores = stage.formula(box)
    assert isinstance(scores, Intervals)
    return scores.leads(classes)


@leads.register
def _(stage: IntegerPrototypes, box: Intervals, classes: IntArray) -> IntArray:
    """Return the leads of the votes of prototypes; other voters could change any answer."""
    if stage.voters is not None:
        raise NoFormula(stage.kind)
    return leads.dispatch(IntegerStage)(stage, box, classes)


@leads.register
def _(stage: IntegerForest, box: Intervals, classes: IntArray) -> IntArray:
    """Return how far the scores of classes (n,) are at least above all scores, (n, L).

    Each tree has the least difference of the leaves that some input in the box reaches.
    """
    trees, values = stage.trees, stage.leaves.astype(np.int64)
    limits = trees.at_nodes(stage.thresholds)
    reached = np.zeros((len(stage.features), len(classes)), bool)
    reached[trees.roots] = True
    for nodes in trees.levels:
        tested, limit = stage.features[nodes], limits[nodes][:, None]
        reached[nodes + 1] = reached[nodes] & (box.low.T[tested] <= limit)
        reached[trees.right[nodes]] = reached[nodes] & (box.high.T[tested] > limit)
    at_leaves: NDArray[np.bool_] = reached[~trees.inner]
    least = np.zeros((len(classes), stage.n_outputs), np.int64)
    for row, label in enumerate(classes):
        apart = values[:, label, None] - values
        apart[~at_leaves[:, row]] = _FAR
        least[row] = np.minimum.reduceat(apart, trees.leaf_starts).sum(axis=0)
    return least + stage.bias[classes][:, None] - stage.bias
