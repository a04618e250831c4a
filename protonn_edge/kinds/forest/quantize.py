"""The integer model of a forest, and its quantization.

In an `IntegerForest`, nodes compare a feature's byte with a threshold byte. Trees trained on bytes
stay the same in integers, node by node; other thresholds become the nearest byte. The values of
leaves share the scale of the scores, the finest for which scores fit 16 bits and, where a tree adds
to several, leaves 8 bits. Trees that add to one score each, as in boosting, are sorted by it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.forest.head import ForestHead
from protonn_edge.kinds.forest.integers import SCORE_BITS, IntegerForest
from protonn_edge.kinds.forest.table import MOST_FEATURES, ForestTable, Trees, most_of_a_leaf
from protonn_edge.model.checks import only_zeros
from protonn_edge.model.features import Features, feeding
from protonn_edge.model.folding import check_computable, coarser, input_quantizer
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, chain_for, scores_in_two_steps
from protonn_edge.model.integer_stage import IntArray, run_through
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_range

_ROWS_AT_ONCE = 512
_ROUNDING = 1 / 2_000  # of the range of a number
_SCORE_LIMIT = (1 << (SCORE_BITS - 1)) - 1  # with either sign


def byte_inputs(statistics: InputStatistics) -> InputQuantizer:
    """Return the quantizer of features with these training statistics.

    Each feature's range is divided into 255 steps from its lower end, so that bytes are ordered
    like the features. A constant feature gets a step of 1 and always reads 0. Features that are
    integers stay unchanged.
    """
    if statistics.whole:
        return input_quantizer(statistics, bits=8)
    step = (statistics.upper - statistics.lower) / BYTE_MAXIMUM
    return InputQuantizer(statistics.lower, np.where(step == 0, 1.0, step), BYTE_MAXIMUM)


def with_whole_steps(
    statistics: InputStatistics, X: Array
) -> tuple[InputStatistics, NDArray[np.bool_]]:
    """Return statistics for which integer features map to bytes one to one, and which these are.

    Trees trained on the bytes then equal trees trained on the points (n, D). Other features, and
    integers with more than 256 values, keep their ranges.
    """
    lower, upper = statistics.lower, statistics.upper
    whole = (np.rint(X) == X).all(axis=0) & (lower == np.rint(lower))
    whole &= (lower < upper) & (upper - lower <= BYTE_MAXIMUM)
    return replace(statistics, upper=np.where(whole, lower + BYTE_MAXIMUM, upper)), whole


def device_bytes(
    statistics: InputStatistics, features: Features | None, X: Array
) -> NDArray[np.uint8]:
    """Return the inputs of the trees on the device, (n, D), for raw points (n, features)."""
    inputs = byte_inputs(statistics)
    if features is None:
        return inputs.quantize(X)
    made = np.empty((len(X), features.n_outputs), np.uint8)
    stages, fed = feeding(features, inputs), features.points.quantizer
    for start in range(0, len(X), _ROWS_AT_ONCE):
        values = fed.quantize(X[start : start + _ROWS_AT_ONCE])
        made[start : start + _ROWS_AT_ONCE] = run_through(stages, values)
    return made


def quantize(model: Model) -> IntegerChain:
    """Return the integer model of a float model; see `model.quantization.quantize`.

    Raises `InputError` if all leaves are the same, or numbers are too large to compute with.
    """
    head = model.head
    assert isinstance(head, ForestHead)
    check_range("features of a forest", model.n_inputs, 1, MOST_FEATURES)
    inputs = byte_inputs(model.inputs)
    asked, normalizer = head.features[head.trees.inner], model.normalizer
    with np.errstate(divide="ignore", invalid="ignore"):  # refused below
        raw = head.thresholds / normalizer.scale[asked] + normalizer.offset[asked]
    steps = (raw - inputs.zero[asked]) / inputs.step[asked]
    check_computable(steps)
    # the largest byte whose feature is at most the threshold
    thresholds = np.clip(np.rint(steps - 0.5), 0, BYTE_MAXIMUM - 1).astype(np.uint8)
    table, unit = quantized_table(head.trees, thresholds, head.leaves, head.bias)
    numbers = table.trees.features, table.thresholds, table.leaves, table.bias
    return chain_for(model, inputs, (IntegerForest(*numbers, model.n_inputs),), unit)


def quantized_table(
    trees: Trees, thresholds: NDArray[np.uint8], leaves: Array, bias: NDArray[np.float64]
) -> tuple[ForestTable, float]:
    """Return the forest of these thresholds with leaves and bias as integers, and their unit.

    Leaves are (leaves, L), the bias (L,). Raises `InputError` if all leaves are 0, or no integer
    scale fits leaves and bias.
    """
    values, starts = leaves.astype(np.float64), trees.leaf_starts
    largest = np.maximum.reduceat(np.abs(values), starts).sum(axis=0) + np.abs(bias)
    most = most_of_a_leaf(trees, values)
    finest = max(np.abs(values).max() / most, float(largest.max()) / _SCORE_LIMIT)
    if len(bias) == 1:
        bytes_ = 2 * np.abs(values).max() / BYTE_MAXIMUM
        finest = max(finest, min(_unit_of_numbers(values, starts), bytes_))
    for unit in coarser(float(finest)) if finest > 0 else ():
        rounded = np.rint(values / unit)
        begin = np.rint(bias / unit)
        reached = np.maximum.reduceat(np.abs(rounded), starts).sum(axis=0) + np.abs(begin)
        if reached.max() <= _SCORE_LIMIT:
            if not rounded.any():
                break
            table = ForestTable(trees, thresholds, rounded.astype(np.int16), begin.astype(np.int64))
            return table.ordered(), unit
    raise only_zeros("leaves", "train with more --trees or a larger --size-budget")


def _unit_of_numbers(values: Array, starts: IntArray) -> float:
    """Return the unit of a single score with which leaves are as fine as the sum of trees needs.

    Rounding them then changes it by a deviation of `_ROUNDING` of its range. In averages, more
    leaves then have the same value, which they share.
    """
    ends = (each.reduceat(values[:, 0], starts).sum() for each in (np.maximum, np.minimum))
    most, least = (float(each) for each in ends)
    return _ROUNDING * (most - least) * float(np.sqrt(12 / len(starts)))


scores_by_step = partial(scores_in_two_steps, last_step="leaves")
"""Yield the scores after each step of quantizing; the leaves become integers last."""
