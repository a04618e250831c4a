"""The integer models of Bonsai and of local deep kernels, and their quantization.

Bonsai first projects its inputs to signed bytes, as ProtoNN does (`kinds.projection`), but here
in steps of 1/127: coordinates of training points are within -1..1, and values beyond are clamped.
`IntegerBonsaiTree` computes the tree from these or, in a local deep kernel, from the inputs.

All entries of W share a unit, as do all of V. Only the sign of a branch matters, so each row of T
has its own unit. The shifts determine the resolution of sums: the shift of W is the smallest for
which scores fit their bits, the shift of V the largest for which the table is fine enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.research.kinds.bonsai import integers as trees
from protonn_edge.extensions.research.kinds.bonsai.head import BonsaiHead, TreeHead
from protonn_edge.kinds.projection import integers as projections
from protonn_edge.model import folding
from protonn_edge.model.checks import no_scale, only_zeros
from protonn_edge.model.integer_chain import IntegerChain, Scored, chain_for, own_inputs
from protonn_edge.model.integer_stage import IntegerStage, Range
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError

_STEP = 1 / 127  # step of a coordinate
_SPREAD = 40.0**2  # its approximate variance in these steps

# Root mean square error of a coordinate, in these steps, above which 24-bit accumulators are used
# instead of 16-bit ones.
_TOLERATED_ERROR = 1.5
_TABLE_STEP = 1 / 32  # of the tanh: both ends of an entry are within 1.6 % of its middle
_GATE_MAXIMUM = 127
_HALF = trees.TABLE_SIZE // 2  # is added to a shifted gate, for its index
_SUM_LIMIT = (1 << (trees.SUM_BITS - 1)) - 1 - (_HALF << trees.LARGEST_SHIFT)
_FINER = 2.0 ** (-np.arange(11) / 2)  # units to try, relative to the largest weight's


def coordinate_range(n: int) -> Range:
    """Return the range of n signed bytes."""
    return Range(
        np.full(n, projections.COORDINATE_MINIMUM), np.full(n, projections.COORDINATE_MAXIMUM)
    )


def quantize(model: Model) -> IntegerChain:
    """Return the integer model; its scores times `score_scale` approximate the float scores.

    Raises `InputError` if a matrix is 0, or numbers are too large to compute with.
    """
    head = model.head
    assert isinstance(head, TreeHead)
    before: tuple[IntegerStage, ...] = ()
    if isinstance(head, BonsaiHead):
        best = _best_projection(model, head)
        inputs, feed = best.inputs, coordinate_range(len(best.bias))
        before, mean = (best.stage(feed),), np.zeros(len(best.bias))
        maps = [
            folding.FoldedMap(rows[:, :-1] * _STEP, rows[:, -1], mean, mean + _SPREAD)
            for rows in _rows(head)
        ]
    else:
        inputs = folding.input_quantizer(model.inputs, folding.INPUT_BITS[0])
        feed = Range.of_bytes(model.n_inputs, inputs.maximum)
        maps = [
            replace(folded, constant=folded.constant + rows[:, -1])
            for rows in _rows(head)
            for folded in [folding.FoldedMap.of(rows[:, :-1], model, inputs)]
        ]
    tree, score_scale = _quantized_tree(head, maps, feed)
    return chain_for(model, inputs, (*before, tree), score_scale)


def _rows(head: TreeHead) -> tuple[folding.FloatArray, folding.FloatArray, folding.FloatArray]:
    """Return W, V and T, with a column of biases."""
    W, V = head.weights.astype(np.float64), head.gates.astype(np.float64)
    T = head.branches.astype(np.float64) if len(head.branches) else np.zeros((0, W.shape[1]))
    return W, V, T


def _best_projection(model: Model, head: BonsaiHead) -> projections.FittedProjection:
    def fit(input_bits: int, accumulator_bits: int) -> projections.FittedProjection | None:
        inputs = folding.input_quantizer(model.inputs, input_bits)
        folded = folding.FoldedMap.of(head.projection, model, inputs, _STEP)
        return projections.fit_projection(folded, inputs, accumulator_bits)

    best = folding.most_exact(fit, _TOLERATED_ERROR, projections.IntegerProjection.widths)
    if not head.projection.any():
        raise _all_zero("Z")
    if best is None:
        raise no_scale("the weights of Z", "train the model again with normalized features")
    return best


def _quantized_tree(
    head: TreeHead, maps: list[folding.FoldedMap], feed: Range
) -> tuple[trees.IntegerBonsaiTree, float]:
    """Return the stage, and the float score that its score of 1 stands for."""
    of_weights, of_gates, of_branches = maps
    for each, name in ((of_weights, "W"), (of_gates, "V")):
        if not (each.weights.any() or each.constant.any()):
            raise _all_zero(name)
    gates, gate_shift, gate_step = _quantized_gates(of_gates, feed)
    middles = np.arange(trees.TABLE_SIZE) - _HALF + 0.5
    table = np.rint(_GATE_MAXIMUM * np.tanh(gate_step * middles)).astype(np.int8)
    branches = _quantized_branches(of_branches, feed)
    unit = 0.0
    while True:
        weights, unit = _rounded(of_weights, feed, unit)
        if not weights.weights.any() and not weights.bias.any():
            raise _no_scale("W")
        stage = _least_shifted(weights, gates, branches, gate_shift, table, feed)
        if stage is not None:
            break
        unit *= folding.COARSER
    scale = unit * (1 << (stage.weight_shift + trees.PRODUCT_SHIFT)) / _GATE_MAXIMUM
    # With two classes a score is half the sum of the only row.
    return stage, scale * (1.0 if head.n_rows > 1 else 0.5)


def _least_shifted(
    weights: trees.Sums,
    gates: trees.Sums,
    branches: trees.Sums,
    gate_shift: int,
    table: NDArray[np.int8],
    feed: Range,
) -> trees.IntegerBonsaiTree | None:
    """Return the stage with the smallest proven shift of W; None if there is none."""
    for weight_shift in range(trees.LARGEST_SHIFT + 1):
        try:
            return trees.IntegerBonsaiTree(
                weights, gates, branches, weight_shift, gate_shift, table, feed
            )
        except InputError:
            continue
    return None


def _quantized_branches(of_branches: folding.FoldedMap, feed: Range) -> trees.Sums:
    """Return T, each row in its own unit."""
    columns = of_branches.weights.shape[1]
    rows = [_rounded(_row(of_branches, k), feed, 0.0)[0] for k in range(len(of_branches.constant))]
    return trees.Sums(
        np.concatenate([np.zeros((0, columns), np.int8), *(row.weights for row in rows)]),
        np.concatenate([np.zeros(0, np.int64), *(row.bias for row in rows)]),
    )


def _quantized_gates(of_gates: folding.FoldedMap, feed: Range) -> tuple[trees.Sums, int, float]:
    """Return V, its shift, and the width of a table entry."""
    unit = _TABLE_STEP / (1 << trees.LARGEST_SHIFT)
    gates, unit = _rounded(of_gates, feed, unit)
    shift = trees.LARGEST_SHIFT
    low, high = gates.range_for(feed).ends
    while shift and unit * (1 << shift) > _TABLE_STEP * 1.5:
        largest = max(-low, high + 1 + (_HALF << (shift - 1)))
        if largest > 1 << (trees.UPPER_BITS - 1 + shift - 1):
            break
        shift -= 1
    return gates, shift, unit * (1 << shift)


def _rounded(folded: folding.FoldedMap, feed: Range, least: float) -> tuple[trees.Sums, float]:
    """Return rows as integers in the returned unit, at least `least`, for which sums fit."""
    of_constant = float(np.abs(folded.constant).max(initial=0.0)) / _SUM_LIMIT
    finest = max(_best_unit(folded), least, of_constant)
    if finest == 0:
        zeros = np.zeros(folded.weights.shape, np.int8)
        return trees.Sums(zeros, np.zeros(len(zeros), np.int64)), 1.0
    for unit in folding.coarser(finest):
        rounded = folding.RoundedWeights(folded, unit)
        # The mean rounding error is known, so it is subtracted.
        bias = np.rint((folded.constant - rounded.drift) / unit)
        if np.abs(bias).max() <= _SUM_LIMIT:
            sums = trees.Sums(rounded.residuals.astype(np.int8), bias.astype(np.int64))
            if max(map(abs, sums.range_for(feed).ends)) <= _SUM_LIMIT:
                return sums, unit
    raise _no_scale("the tree")


def _best_unit(folded: folding.FoldedMap) -> float:
    """Return the unit with the smallest predicted error of sums.

    The unit that suits the largest weight may be too coarse for the others: the weights of almost
    constant inputs may be large, and clipping them costs little.
    """
    whole = float(np.abs(folded.weights).max(initial=0.0)) / folding.RESIDUAL_MAXIMUM
    if not whole:
        return 0.0
    units = (whole * finer for finer in _FINER)
    best = min(units, key=lambda unit: float(folding.RoundedWeights(folded, unit).noise.sum()))
    return float(best)


def _row(folded: folding.FoldedMap, k: int) -> folding.FoldedMap:
    row = slice(k, k + 1)
    return replace(folded, weights=folded.weights[row], constant=folded.constant[row])


def _no_scale(what: str) -> InputError:
    return no_scale(
        f"the weights and the biases of {what}", "train the model again with normalized features"
    )


def _all_zero(name: str) -> InputError:
    return only_zeros(name, "train with a larger share of non-zero weights")


def scores_by_step(
    model: Model, integers: IntegerChain, X: NDArray[np.float32]
) -> Iterator[Scored]:
    """Yield the scores (n, L) of raw points X (n, features) after each step.

    float        the float model
    inputs       the device's inputs as bytes
    coordinates  of Bonsai, Z in integers
    tree         all integers, as on the device
    """
    head = model.head
    assert isinstance(head, TreeHead)
    yield "float", model.scores(X)
    fed = integers.quantize(X)
    own = own_inputs(integers, fed)
    normalized = model.normalizer.apply(integers.inputs.restore(own))
    yield "inputs", head.scores(normalized)
    if isinstance(head, BonsaiHead):
        p = integers.own_stages[0].run(own)
        yield "coordinates", head.scores_of_coordinates(p.astype(np.float64) * _STEP)
    yield "tree", integers.scores(fed)
