"""From the float model to the integer model.

A common float scale is factored out of each matrix and int8 residuals are kept. The normalizer and
gamma are folded into the projection first, so that neither costs the device anything, and the scale
of the projection is tied to the exponential table's (see `exponential`).

The number of input bits and the width of the accumulators are a trade: inputs of few bits leave
room for finer weights in a 16-bit accumulator, which is the fastest on an 8-bit chip. The quantizer
predicts the error of the projection from the training features' statistics for each choice, takes
the best one with 16-bit accumulators, and falls back to 32 bits where that is not good enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.model import InputStatistics, ProtoNNModel
from protonn_edge.quantization.exponential import (
    KERNEL_MAXIMUM,
    PROJECTION_STEP,
    exponential_table,
)
from protonn_edge.quantization.integer_model import (
    MAXIMUM_MULTIPLIER,
    MAXIMUM_PROTOTYPE_FACTOR,
    SHIFTS,
    InputQuantizer,
    IntArray,
    IntegerModel,
)

FloatArray = NDArray[np.float64]

_RESIDUAL_MAXIMUM = 127
_INPUT_BITS = (8, 7, 6, 5, 4)
_ACCUMULATOR_SPAN = {16: (1 << 16) - 2, 32: (1 << 32) - 2}
_INT32_LIMIT = (1 << 31) - 1

# Root mean square error of a projection's coordinate, in units of 1/gamma, that 16-bit accumulators
# may cost before 32-bit ones are taken: the kernel's exponent then moves by a few hundredths.
_TOLERATED_ERROR = 0.06


@dataclass(frozen=True)
class _Projection:
    """One way to quantize the projection, and the error that it is predicted to make."""

    inputs: InputQuantizer
    residuals: NDArray[np.int8]
    start: IntArray
    accumulator_bits: int
    multiplier: int
    shift: int
    offset: IntArray
    error: float


def quantize(model: ProtoNNModel) -> IntegerModel:
    """Return the integer model of a float model: a function of the model alone.

    Parameters
    ----------
    model : ProtoNNModel
        A validated float model with D features, d projections, m prototypes and L classes.

    Returns
    -------
    IntegerModel
        Its scores times `score_scale` approximate the float model's scores.

    Raises
    ------
    InputError
        If the model is of a kind that has no integers, or its numbers leave no integer scale that
        is safe on every input.
    """
    reason = why_floats_alone(model)
    if reason is not None:
        raise InputError(reason)
    # A hostile file may hold numbers that overflow; what is not finite is refused where it shows.
    with np.errstate(over="ignore", invalid="ignore"):
        return quantize_in_order(far_coordinates_first(model))


def why_floats_alone(model: ProtoNNModel) -> str | None:
    """Return why a model of this kind has no integers, in a sentence, or None if it has."""
    if model.multilabel:
        return (
            f"the model is for sets of {model.n_classes:,} labels, the device answers with one "
            "class; train with one label a point, or use the float model in Python"
        )
    if model.normalizer.kind == "l2":
        return (
            "the model scales points to unit norm (normalization 'l2'), which needs all features "
            "at once and the device sees one at a time; train with 'standard', 'minmax' or 'none'"
        )
    return None


@dataclass(frozen=True)
class Precision:
    """Bits of an input, 4..8, and of an accumulator, 16 or 32."""

    input_bits: int
    accumulator_bits: int


def precision_for(model: ProtoNNModel) -> Precision:
    """Return the bits that `quantize` takes for this model; see the module's text.

    Raises
    ------
    InputError
        As `quantize`.
    """
    centre, _, _ = _quantize_prototypes(model)
    best = _best_projection(model, centre)
    return Precision(int(best.inputs.maximum).bit_length(), best.accumulator_bits)


def quantize_in_order(model: ProtoNNModel, precision: Precision | None = None) -> IntegerModel:
    """Return the integer model whose rows of W and B are in the float model's order.

    Parameters
    ----------
    model : ProtoNNModel
        As for `quantize`, which puts the rows into another order first.
    precision : Precision, optional
        The bits, where they are known already; by default those that suit the model best.

    Raises
    ------
    InputError
        As `quantize`.
    """
    centre, residuals, prototype_factor = _quantize_prototypes(model)
    if precision is None:
        best = _best_projection(model, centre)
    else:
        bits = precision.input_bits
        best = _quantize_projection(model, centre, bits, precision.accumulator_bits)
    label_unit = float(np.abs(model.labels).max()) / _RESIDUAL_MAXIMUM
    if label_unit == 0:
        raise InputError("all of Z is zero, so every score would be; train the model again")
    return IntegerModel(
        inputs=best.inputs,
        projection=best.residuals,
        start=best.start,
        accumulator_bits=best.accumulator_bits,
        multiplier=best.multiplier,
        shift=best.shift,
        offset=best.offset,
        prototypes=residuals,
        prototype_factor=prototype_factor,
        table=exponential_table(),
        labels=np.rint(model.labels.astype(np.float64) / label_unit).astype(np.int8),
        score_scale=label_unit / KERNEL_MAXIMUM,
        classes=model.classes,
        reduction=model.reduction,
    )


def input_quantizer(statistics: InputStatistics, bits: int) -> InputQuantizer:
    """Return the quantizer of features whose training values had these statistics.

    Each feature's range is cut into ``2**bits - 1`` steps, from the end that is nearer to its most
    frequent value. A constant feature gets a step of 1 and always reads 0.
    """
    maximum = (1 << bits) - 1
    lower, upper = statistics.lower, statistics.upper
    rests_high = upper - statistics.background < statistics.background - lower
    zero = np.where(rests_high, upper, lower)
    step = np.where(rests_high, lower - upper, upper - lower) / maximum
    return InputQuantizer(zero, np.where(step == 0, 1.0, step), maximum)


def far_coordinates_first(model: ProtoNNModel) -> ProtoNNModel:
    """Order the outputs of W by the spread of the prototypes along them, the widest first.

    Distances do not depend on the order, but a far prototype is then left after fewer coordinates.
    """
    order = np.argsort(-model.prototypes.std(axis=1), kind="stable")
    return replace(model, projection=model.projection[order], prototypes=model.prototypes[order])


def _best_projection(model: ProtoNNModel, centre: FloatArray) -> _Projection:
    choices = [_quantize_projection(model, centre, bits, 16) for bits in _INPUT_BITS]
    best = min(choices, key=lambda choice: choice.error)
    if best.error > _TOLERATED_ERROR:
        best = _quantize_projection(model, centre, _INPUT_BITS[0], 32)
    return best


def _quantize_prototypes(model: ProtoNNModel) -> tuple[FloatArray, NDArray[np.int8], int]:
    """Return the centre (d,) in steps, the residuals (d, m) and their factor."""
    steps = model.gamma * model.prototypes.astype(np.float64) / PROJECTION_STEP
    centre = (steps.max(axis=1) + steps.min(axis=1)) / 2
    steps -= centre[:, None]
    reach = float(np.abs(steps).max())
    if reach <= _RESIDUAL_MAXIMUM * MAXIMUM_PROTOTYPE_FACTOR:
        factor = max(1, int(np.ceil(reach / _RESIDUAL_MAXIMUM)))
        return centre, np.rint(steps / factor).astype(np.int8), factor
    widths = reach * PROJECTION_STEP
    limit = _RESIDUAL_MAXIMUM * MAXIMUM_PROTOTYPE_FACTOR * PROJECTION_STEP
    raise InputError(
        f"the prototypes lie {widths:.4g} kernel widths from their centre, the integer model "
        f"reaches {limit:.0f}; train with a smaller gamma"
    )


def _quantize_projection(
    model: ProtoNNModel, centre: FloatArray, input_bits: int, accumulator_bits: int
) -> _Projection:
    inputs = input_quantizer(model.inputs, input_bits)
    per_raw_unit = model.gamma * model.projection.astype(np.float64) * model.normalizer.scale
    per_raw_unit /= PROJECTION_STEP
    weights = per_raw_unit * inputs.step
    target = _dot(per_raw_unit, inputs.zero - model.normalizer.offset) - centre
    mean = (model.inputs.mean - inputs.zero) / inputs.step
    variance = np.square(model.inputs.deviation / inputs.step)

    if not all(np.isfinite(numbers).all() for numbers in (weights, target, mean, variance)):
        raise InputError(
            "the normalizer or the input statistics are too large to compute with; train the model "
            "again with features of ordinary size"
        )

    for multiplier, shift in _scales(weights, inputs.maximum, accumulator_bits):
        unit = multiplier / (1 << shift)
        residuals = np.rint(weights / unit).astype(np.int64)
        span = inputs.maximum * np.abs(residuals).sum(axis=1)
        if np.abs(residuals).max() > _RESIDUAL_MAXIMUM:
            continue
        if span.max() > _ACCUMULATOR_SPAN[accumulator_bits]:
            continue
        start = -(inputs.maximum * residuals.sum(axis=1)) // 2
        rounding = unit * residuals - weights
        # What rounding adds on average is known, so it is taken off.
        constant = target - _dot(rounding, mean) - unit * start
        offset = np.rint((constant + 0.5) * (1 << shift))
        if not np.abs(offset).max() + (span.max() // 2 + 1) * multiplier <= _INT32_LIMIT:
            continue
        noise = np.square(rounding) @ variance + np.square(weights).sum(axis=1) / 12
        return _Projection(
            inputs=inputs,
            residuals=residuals.astype(np.int8),
            start=start,
            accumulator_bits=accumulator_bits,
            multiplier=multiplier,
            shift=shift,
            offset=offset.astype(np.int64),
            error=float(np.sqrt(noise.mean())) * PROJECTION_STEP,
        )
    raise InputError(
        f"the projection's weights span {np.abs(weights).max():.3g} steps an input, which no "
        "integer scale holds; train with a smaller gamma or normalized features"
    )


def _dot(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return matrix @ vector, exactly rounded: no machine adds in another order."""
    return np.array([_sum(row) for row in (matrix * vector).tolist()])


def _sum(numbers: list[float]) -> float:
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # not finite, or not on the way
        return math.nan


def _scales(
    weights: FloatArray, input_maximum: int, accumulator_bits: int
) -> list[tuple[int, int]]:
    """List (multiplier, shift) from the finest unit that may fit to coarser ones.

    A residual must fit int8, and the accumulator must hold the largest row sum of magnitudes times
    the largest input, whatever the input is.
    """
    largest = float(np.abs(weights).max()) / _RESIDUAL_MAXIMUM
    row = float(np.abs(weights).sum(axis=1).max()) * input_maximum
    unit = max(largest, row / _ACCUMULATOR_SPAN[accumulator_bits])
    if not math.isfinite(unit):
        return []
    scales = []
    for shift in SHIFTS:
        first = max(1, int(np.ceil(unit * (1 << shift))))
        last = min(first + max(8, first // 16), MAXIMUM_MULTIPLIER + 1)
        scales += [(multiplier, shift) for multiplier in range(first, last)]
    return scales
