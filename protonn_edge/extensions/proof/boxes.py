"""Interval arithmetic through a model's stages: which values they have for all inputs in a box.

A module of `bounds` states each kind of stage: it registers a function with `bounds` or, if that is
tighter for scores, with `leads`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntArray, IntegerStage
from protonn_edge.system.arrays import Array

_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Box:
    """For each of n points, the least and the largest of k values, (n, k) or more axes; int64."""

    low: IntArray
    high: IntArray

    def products(self, weights: Array, bias: Array) -> Box:
        """Return the box of ``bias + W x`` for weights (d, k)."""
        # sums of integers below 2**53, which floats hold
        positive, negative = (pick(weights, 0).T.astype(np.float64) for pick in _SIGNS)
        low = self.low @ positive + self.high @ negative
        high = self.high @ positive + self.low @ negative
        return Box(low.astype(np.int64) + bias, high.astype(np.int64) + bias)

    def sums(self, compute: Callable[..., IntArray], weights: Array, bias: IntArray) -> Box:
        """Return the box of sums (n, ..., d): ``compute(x, weights)``, which adds a bias (d,)."""
        positive, negative = (pick(weights, 0) for pick in _SIGNS)
        low = compute(self.low, positive) + compute(self.high, negative)
        high = compute(self.high, positive) + compute(self.low, negative)
        return Box(low - bias, high - bias)

    def mapped(self, function: Callable[[IntArray], Array]) -> Box:
        """Return the box of a function that never decreases."""
        low, high = (function(each).astype(np.int64) for each in (self.low, self.high))
        return Box(low.reshape(len(low), -1), high.reshape(len(high), -1))


_SIGNS = np.maximum, np.minimum


def standing(model: IntegerChain, Q: NDArray[np.uint8], steps: int) -> NDArray[np.bool_] | None:
    """Return for points (n, features) whether their class stands if each input moves by `steps`.

    True is proven; of others nothing is known. None if a stage states no bounds, or an answer
    depends on more than the largest score.
    """
    stages = (*model.feature_stages, *model.own_stages)
    if model.policy.other_answers or not all(_is_stated(stage) for stage in stages):
        return None
    classes, stands = model.predict(Q), np.zeros(len(Q), bool)
    for begin in range(0, len(Q), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        points = Q[part].astype(np.int64)
        low, high = points - steps, points + steps
        box = Box(np.maximum(low, 0), np.minimum(high, model.quantizer.maximum))
        least = _leads(stages, box, classes[part])
        if least is None:
            return None
        # of equal scores, the first one wins
        needed = np.arange(least.shape[1]) < classes[part, None]
        own = np.arange(least.shape[1]) == classes[part, None]
        stands[part] = ((least >= needed) | own).all(axis=1)
    return stands


def _leads(stages: Sequence[IntegerStage], box: Box, classes: IntArray) -> IntArray | None:
    for stage in stages[:-1]:
        box = bounds(stage, box)
    return leads(stages[-1], box, classes)


@singledispatch
def bounds(stage: IntegerStage, box: Box) -> Box:
    """Return the box of a stage's values, of a box of its inputs."""
    raise NotImplementedError


@singledispatch
def leads(stage: IntegerStage, box: Box, classes: IntArray) -> IntArray | None:
    """Return how far the scores of classes (n,) are at least above all scores, (n, L).

    None if that is not known.
    """
    scores = bounds(stage, box)
    return np.take_along_axis(scores.low, classes[:, None], axis=1) - scores.high


def _is_stated(stage: IntegerStage) -> bool:
    kind = type(stage)
    return any(each.dispatch(kind) is not each.dispatch(object) for each in (bounds, leads))


def leads_of_sums(weights: Array, bias: Array, box: Box, classes: IntArray) -> IntArray:
    """Return the least differences (n, L) of scores ``bias + W x``, for weights (L, k)."""
    least = np.zeros((len(classes), len(weights)), np.int64)
    for label in np.unique(classes):
        rows = classes == label
        own = Box(box.low[rows], box.high[rows])
        least[rows] = own.products(weights[label] - weights, bias[label] - bias).low
    return least
