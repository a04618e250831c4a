"""The integer model of a ProtoNN classifier, and its quantization.

See `IntegerProjection` and `IntegerPrototypes` for the arithmetic. The normalizer and gamma are
folded into the projection, and the exponential's table determines the scale of its coordinates.
docs/generated-code.md explains the trade-off between the bits of inputs, accumulators and labels,
why 4-bit weights are clipped, and why scores fit 16 bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.projection.integers import (
    COORDINATE_MAXIMUM,
    COORDINATE_MINIMUM,
    REQUANTIZE_SHIFT,
    FittedProjection,
    IntegerProjection,
    fit_projection,
)
from protonn_edge.kinds.protonn.axes import principal_axes, product
from protonn_edge.kinds.protonn.head import ProtoNNHead, rbf
from protonn_edge.kinds.protonn.prototypes import integers as tables
from protonn_edge.model import folding
from protonn_edge.model.checks import no_scale, only_zeros
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.integer_chain import IntegerChain, Scored, chain_for, own_inputs, stage_of
from protonn_edge.model.matvec import NIBBLE_MAXIMUM
from protonn_edge.model.model import Model
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, InvalidValue

_INT16_LIMIT = (1 << 15) - 1

# Root mean square error of a coordinate, in units of 1/gamma, above which accumulators have 24 bits
# instead of 16. It changes the RBF's exponent by a few hundredths.
_TOLERATED_ERROR = 0.06

# The finest step: a 30th of the RBF's width, so that differences of coordinates with a small spread
# fit a signed byte.
_DISTANCE_SHIFT = 4

# With 4 bits, weights are clipped at this multiple of their root mean square; 3.5 and 5 are as
# good.
_CLIPPED_AT = 4.0
# Errors of scores, as a share of their spread (root mean squares over the classes), that coarser
# labels may add to that of labels up to 127. Up to the first, any steps will do: on the training
# points of usps10, har, letter26 and made-up points of a satellite, 0.02 cost at most 0.07 points
# of accuracy, but 0.03 up to 1 point. Up to the second, training makes up for the steps that it
# knows: MNIST's digits, with 0.06, lose nothing. Beyond it, scores have 32 bits.
_NEGLIGIBLE_LABEL_ERROR, _TOLERATED_LABEL_ERROR = 0.025, 0.07
_EXACT = 1e-3  # distance of labels from whole numbers of steps
_SCORED_PROTOTYPES = 1_024  # stand for the training points in the prediction of this error


def quantize(model: Model, *, in_order: bool = False) -> IntegerChain:
    """Return the integer model of a float model; see `model.quantization.quantize`.

    The rows of W and B stay `in_order`, or are those of `far_coordinates_first`.

    Raises `InputError` if no integer scale of the model's numbers is safe for every input.
    """
    head = _head(model)
    if not in_order:
        head = far_coordinates_first(head)
        model = replace(model, head=head)
    prototypes = _quantize_prototypes(head)
    best = _best_projection(model, prototypes)
    label_maximum = _label_maximum(head, prototypes)
    score_scale = float(np.abs(head.labels).max()) / label_maximum / tables.RBF_MAXIMUM
    residuals, shift = prototypes.residuals, prototypes.distance_shift
    # Outside of this range, points are far from all prototypes; there may be other voters.
    wanted = tables.all_coordinates(len(residuals)) if head.voters else None
    projection = best.stage(wanted or tables.near_range(residuals, shift))
    last = tables.IntegerPrototypes(
        residuals,
        shift,
        tables.exponential_table(),
        _quantize_labels(head, label_maximum),
        projection.output,
        voters=None if head.voters is None else head.voters.integers(label_maximum),
    )
    return chain_for(model, best.inputs, (projection, last), score_scale)


class Widths(NamedTuple):
    """Bits of an input, 4..8, and of an accumulator, 16 or 24; the largest label, up to 127."""

    input_bits: int
    accumulator_bits: int
    label_maximum: int


def widths_for(model: Model) -> Widths:
    """Return the widths that `quantize` uses for this model; raises `InputError` as it does."""
    head = _head(model)
    prototypes = _quantize_prototypes(head)
    best = _best_projection(model, prototypes)
    bits = int(best.inputs.maximum).bit_length()
    return Widths(bits, best.accumulator_bits, _label_maximum(head, prototypes))


def _head(model: Model) -> ProtoNNHead:
    assert isinstance(model.head, ProtoNNHead)
    return model.head


def far_coordinates_first(head: ProtoNNHead) -> ProtoNNHead:
    """Rotate the projected space so that its first coordinates spread the prototypes most.

    Coordinates are along the principal axes of the prototypes. Distances stay the same, but far
    prototypes are detected after fewer coordinates. The space is not rotated if W is sparse, which
    would give it more weights; if the prototypes' range along the new axes would make steps
    coarser; nor if W has 4 bits, because training has fitted the weights to their few steps.
    """
    W, B = head.projection.astype(np.float64), head.prototypes.astype(np.float64)
    some = (W != 0).any(axis=0)  # if W is dense, a feature has weights for all outputs or none
    is_finite = np.isfinite(W).all() and np.isfinite(B).all()
    if head.projection_bits == 8 and is_finite and (W != 0)[:, some].all():
        axes = principal_axes(B)
        turned = replace(
            head,
            projection=product(axes, W).astype(np.float32),
            prototypes=product(axes, B).astype(np.float32),
        )
        head = turned if _finest_shift(turned) >= _finest_shift(head) else head
    order = np.argsort(-head.prototypes.std(axis=1), kind="stable")
    return replace(head, projection=head.projection[order], prototypes=head.prototypes[order])


def _finest_shift(head: ProtoNNHead) -> int:
    """Return the smallest possible `distance_shift`, -1 if there is none."""
    try:
        return _quantize_prototypes(head).distance_shift
    except InputError:
        return -1


def _best_projection(model: Model, prototypes: _Prototypes) -> FittedProjection:
    tolerated = _TOLERATED_ERROR / tables.distance_step(prototypes.distance_shift)
    best = folding.most_exact(
        lambda *bits: _fit_projection(model, prototypes, *bits),
        math.inf if _head(model).projection_bits < 8 else tolerated,
        IntegerProjection.widths,
    )
    if best is None:
        raise no_scale(
            "the weights of the projection", "train with a smaller gamma or normalized features"
        )
    return best


@dataclass(frozen=True)
class _Prototypes:
    """The centre (d,) in steps, the residuals (d, m), and the length of a step."""

    centre: folding.FloatArray
    residuals: NDArray[np.int8]
    distance_shift: int


def _quantize_prototypes(head: ProtoNNHead) -> _Prototypes:
    """Return the finest steps in which the prototypes, and all points near them, fit bytes."""
    widths = head.gamma * head.prototypes.astype(np.float64)
    spread = float(np.ptp(widths, axis=1).max())
    distance_shift = finest_shift(spread)
    if distance_shift is None:
        raise InvalidValue(
            "the prototypes",
            f"a spread of {spread:.4g} RBF widths, but the integer model covers only "
            f"{widest_spread():.0f}",
            "train with a smaller gamma",
        )
    steps = widths / tables.distance_step(distance_shift)
    centre = centre_of(steps)
    residuals = np.rint(steps - centre).astype(np.int8)
    return _Prototypes(centre[:, 0], residuals, distance_shift)


def finest_shift(spread: float) -> int | None:
    """Return the distance shift of the finest steps that cover prototypes of this spread.

    The spread is in RBF widths; None if no steps cover it.
    """
    shifts = range(_DISTANCE_SHIFT, -1, -1)
    return next((shift for shift in shifts if spread <= widest_spread(shift)), None)


def widest_spread(distance_shift: int = 0) -> float:
    """Return the largest spread of prototypes, in RBF widths, that steps of this size cover."""
    radius = math.sqrt(tables.TABLE_SIZE << distance_shift)
    steps = COORDINATE_MAXIMUM - COORDINATE_MINIMUM - 2 * radius
    return steps * tables.distance_step(distance_shift)


def has_coarse_labels(model: Model) -> bool:
    """Return whether 16-bit scores leave labels so few steps that others change the scores."""
    head = _head(model)
    prototypes = _quantize_prototypes(head)
    finest = _finest_labels(head, prototypes)
    return _added_error(head, prototypes, finest) > _NEGLIGIBLE_LABEL_ERROR


def _label_maximum(head: ProtoNNHead, prototypes: _Prototypes) -> int:
    """Return the largest label, which decides whether scores have 16 or 32 bits.

    It is the largest for which scores are proven to fit 16 bits, if labels have enough steps then.
    Otherwise, labels keep the steps for which they were trained, if they are whole numbers of such.
    """
    finest = _finest_labels(head, prototypes)
    error = _added_error(head, prototypes, finest)
    if error <= _NEGLIGIBLE_LABEL_ERROR:
        return finest
    exact = _exact_labels(head)
    if exact:
        fitting = (n for n in exact if _largest_score(head, prototypes, n) <= _INT16_LIMIT)
        return next(fitting, exact[0])
    return finest if error <= _TOLERATED_LABEL_ERROR else folding.RESIDUAL_MAXIMUM


def _exact_labels(head: ProtoNNHead) -> list[int]:
    """Return the largest labels, descending, for which rounding changes no label."""
    shares = head.labels.astype(np.float64) / float(np.abs(head.labels).max())
    numbers = (n * shares for n in range(folding.RESIDUAL_MAXIMUM, 0, -1))
    distances = [float(np.abs(each - np.rint(each)).max()) for each in numbers]
    return [folding.RESIDUAL_MAXIMUM - i for i, far in enumerate(distances) if far < _EXACT]


def _finest_labels(head: ProtoNNHead, prototypes: _Prototypes) -> int:
    """Return the largest label for which scores are proven to fit 16 bits, 0 if there is none."""
    maximum = folding.RESIDUAL_MAXIMUM
    while maximum and (largest := _largest_score(head, prototypes, maximum)) > _INT16_LIMIT:
        maximum = min(maximum - 1, int(maximum * _INT16_LIMIT / largest))
    return maximum


def _largest_score(head: ProtoNNHead, prototypes: _Prototypes, maximum: int) -> float:
    """Return a bound of the magnitude of all scores if the largest label is `maximum`."""
    labels, table = _quantize_labels(head, maximum), tables.exponential_table()
    norms = tables.score_norms(labels, prototypes.residuals, table, prototypes.distance_shift)
    sums = tables.RBF_MAXIMUM * np.abs(labels.astype(np.int64)).sum(axis=1)
    largest = float(np.minimum(norms, sums).max())
    if head.voters is not None:
        largest += head.voters.integers(maximum).largest * tables.RBF_MAXIMUM
    return largest


def _added_error(head: ProtoNNHead, prototypes: _Prototypes, maximum: int) -> float:
    """Return the predicted error of scores beyond that of labels up to 127, relative to spread."""
    if not maximum:
        return math.inf
    finest = _label_error(head, prototypes, folding.RESIDUAL_MAXIMUM)
    error = _label_error(head, prototypes, maximum)
    return math.sqrt(max(0.0, error * error - finest * finest))


def _label_error(head: ProtoNNHead, prototypes: _Prototypes, maximum: int) -> float:
    """Return the predicted error of scores if the largest label is `maximum`, relative to spread.

    The points are unknown here, so it is the error at the prototypes. Rounding errors of labels are
    not independent: prototypes of a class often have the same labels, and so the same errors. The
    vote of any other voter is rounded, too.
    """
    integers = _quantize_labels(head, maximum)
    exact = head.labels.astype(np.float64) * (maximum / float(np.abs(head.labels).max()))
    B, shift = prototypes.residuals, prototypes.distance_shift
    points = B[:, :: -(-B.shape[1] // _SCORED_PROTOTYPES)]
    both = tables.unrounded_scores(np.concatenate([integers - exact, exact]), B, points, shift)
    errors, scores = np.split(both, 2)
    error, spread = float(np.square(errors).mean()), float(scores.var(axis=1).mean())
    if head.voters is not None:
        error += head.voters.rounding_error(maximum)
    return math.sqrt(error / spread) if spread > 0 else 0.0


def _quantize_labels(head: ProtoNNHead, maximum: int) -> NDArray[np.int8]:
    """Return Z (L, m) as integers, -maximum..maximum."""
    unit = float(np.abs(head.labels).max()) / maximum
    if unit == 0:
        raise only_zeros("Z", "train the model again")
    exact = head.labels.astype(np.float64) / unit
    labels = np.rint(exact)
    if head.voters is not None and head.voters.new_classes:
        # No column's sum may become smaller, so that a class without voters still never has the
        # largest score: the entries that lost most by rounding are rounded up instead.
        missing = np.rint(exact.sum(axis=0)) - labels.sum(axis=0)
        lost = np.argsort(np.argsort(labels - exact, axis=0, kind="stable"), axis=0)
        labels += lost < missing
    return labels.astype(np.int8)


def _fit_projection(
    model: Model, prototypes: _Prototypes, input_bits: int, accumulator_bits: int
) -> FittedProjection | None:
    """Return the projection in the finest scale that fits these bits, None if no scale does."""
    head, inputs = _head(model), folding.input_quantizer(model.inputs, input_bits)
    weights = head.gamma * head.projection.astype(np.float64)
    folded = folding.FoldedMap.of(
        weights, model, inputs, tables.distance_step(prototypes.distance_shift)
    )
    most, limit = weight_limits(folded.weights, head.projection_bits)
    return fit_projection(
        folded,
        inputs,
        accumulator_bits,
        centre=prototypes.centre,
        weights=np.clip(folded.weights, -limit, limit) if head.projection_bits < 8 else None,
        most=most,
    )


def weight_limits(weights: Array, bits: int) -> tuple[int, float]:
    """Return the largest integer of W in 8 or 4 bits, and the size at which weights are clipped."""
    if bits == 8:
        return folding.RESIDUAL_MAXIMUM, math.inf
    return NIBBLE_MAXIMUM, _CLIPPED_AT * float(np.sqrt(np.square(weights).mean()))


@dataclass(frozen=True, eq=False)
class DequantizedModel:
    """Float parameters with the integer model's values, for unrounded coordinates and RBF.

    Distances are in units of 1/gamma: the RBF is ``exp(-||b_j - (W x + bias)||^2)``.
    """

    # (d, D): W, for raw features x or their averages as an `InputQuantizer` rounds them
    projection: folding.FloatArray
    # (d,): offset of the projection, including the mean error of rounding down
    bias: folding.FloatArray
    prototypes: folding.FloatArray  # (d, m): B
    labels: folding.FloatArray  # (L, m): Z, for RBF values of at most 1


def dequantize(model: IntegerChain) -> DequantizedModel:
    """Return the float values that a ProtoNN's integers represent."""
    first, last = stage_of(model, IntegerProjection), stage_of(model, tables.IntegerPrototypes)
    step, half = tables.distance_step(last.distance_shift), (1 << REQUANTIZE_SHIFT) / 2
    dropped = first.accumulator_bits - 16
    unit = first.multiplier / (1 << (REQUANTIZE_SHIFT + dropped))
    projection = step * unit * first.weights.astype(np.float64) / model.inputs.step
    # Arithmetic right shifts lose half a step on average.
    lost = first.multiplier * ((1 << dropped) - 1) / (2 << dropped)
    constant = (first.offset - lost - half + 0.5) / (1 << REQUANTIZE_SHIFT) + unit * first.bias
    return DequantizedModel(
        projection=projection,
        bias=step * constant - projection @ model.inputs.zero,
        prototypes=step * last.prototypes.astype(np.float64),
        labels=tables.RBF_MAXIMUM * model.score_scale * last.labels.astype(np.float64),
    )


def scores_by_step(
    model: Model, integer_model: IntegerChain, X: NDArray[np.float32]
) -> Iterator[Scored]:
    """Yield the scores (n, L) of raw points X (n, features) after each step.

    float        the float model
    inputs       features, or their averages, as the projection's bytes
    W            the projection's weights too
    prototypes   also the coordinates, B, and the table in place of the exponential
    Z            also the labels: all integers, as on the device
    """
    yield "float", model.scores(X)
    ordered = far_coordinates_first(_head(model))
    W, Z = ordered.projection.astype(np.float64), ordered.labels.astype(np.float64)
    coordinates = ordered.gamma * ordered.prototypes.astype(np.float64)
    fed = integer_model.quantize(X)
    inputs = own_inputs(integer_model, fed)
    restored = integer_model.inputs.restore(inputs)
    projected = ordered.gamma * (model.normalizer.apply(restored) @ W.T)
    yield "inputs", rbf(projected, coordinates, 1.0, ordered.cutoff) @ Z.T
    integers = dequantize(integer_model)
    centred = coordinates - centre_of(coordinates)
    projected = restored @ integers.projection.T + integers.bias
    yield "W", rbf(projected, centred, 1.0, ordered.cutoff) @ Z.T
    P = stage_of(integer_model, IntegerProjection).run(inputs)
    stage = stage_of(integer_model, tables.IntegerPrototypes)
    values = arrays_of(stage.similarities, P).astype(np.float64)
    yield "prototypes", values @ Z.T
    yield "Z", integer_model.scores(fed)


def centre_of(coordinates: folding.FloatArray) -> folding.FloatArray:
    """Return the centre (d, 1) of prototypes (d, m), the quantizer's origin."""
    middle: folding.FloatArray = (coordinates.max(axis=1) + coordinates.min(axis=1))[:, None] / 2
    return middle
