"""Interval arithmetic through a model's stages: which values they have for all inputs in a box.

A stage states its own bounds, in the module ``bounds`` of its folder: ``bounds(stage, box)``, the
box of its values, and, for scores, ``leads(stage, box, classes)``, if that is tighter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntArray, IntegerStage
from protonn_edge.model.registry import module_of_stage

_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Box:
    """For each of n points, the least and the largest of k values, (n, k) or more axes; int64."""

    low: IntArray
    high: IntArray

    def products(self, weights: NDArray[Any], bias: NDArray[Any]) -> Box:
        """Return the box of ``bias + W x`` for weights (d, k)."""
        # sums of integers below 2**53, which floats hold
        positive, negative = (pick(weights, 0).T.astype(np.float64) for pick in _SIGNS)
        low = self.low @ positive + self.high @ negative
        high = self.high @ positive + self.low @ negative
        return Box(low.astype(np.int64) + bias, high.astype(np.int64) + bias)

    def sums(self, compute: Callable[..., IntArray], weights: NDArray[Any], bias: IntArray) -> Box:
        """Return the box of sums (n, ..., d): ``compute(x, weights)``, which adds a bias (d,)."""
        positive, negative = (pick(weights, 0) for pick in _SIGNS)
        low = compute(self.low, positive) + compute(self.high, negative)
        high = compute(self.high, positive) + compute(self.low, negative)
        return Box(low - bias, high - bias)

    def mapped(self, function: Callable[[IntArray], NDArray[Any]]) -> Box:
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
    modules = [module_of_stage(stage.kind, "bounds") for stage in stages]
    if model.policy.other_answers or not all(modules):
        return None
    classes, stands = model.predict(Q), np.zeros(len(Q), bool)
    for begin in range(0, len(Q), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        points = Q[part].astype(np.int64)
        low, high = points - steps, points + steps
        box = Box(np.maximum(low, 0), np.minimum(high, model.quantizer.maximum))
        leads = _leads(stages, modules, box, classes[part])
        if leads is None:
            return None
        # of equal scores, the first one wins
        needed = np.arange(leads.shape[1]) < classes[part, None]
        own = np.arange(leads.shape[1]) == classes[part, None]
        stands[part] = ((leads >= needed) | own).all(axis=1)
    return stands


def _leads(
    stages: Sequence[IntegerStage], modules: Sequence[Any], box: Box, classes: IntArray
) -> IntArray | None:
    """Return how far the scores of classes (n,) are at least above all scores, (n, L)."""
    for stage, module in zip(stages[:-1], modules, strict=False):
        box = module.bounds(stage, box)
    last, module = stages[-1], modules[-1]
    if hasattr(module, "leads"):
        leads: IntArray | None = module.leads(last, box, classes)
        return leads
    scores: Box = module.bounds(last, box)
    return np.take_along_axis(scores.low, classes[:, None], axis=1) - scores.high


def leads_of_sums(
    weights: NDArray[Any], bias: NDArray[Any], box: Box, classes: IntArray
) -> IntArray:
    """Return the least differences (n, L) of scores ``bias + W x``, for weights (L, k)."""
    leads = np.zeros((len(classes), len(weights)), np.int64)
    for label in np.unique(classes):
        rows = classes == label
        own = Box(box.low[rows], box.high[rows])
        leads[rows] = own.products(weights[label] - weights, bias[label] - bias).low
    return leads
