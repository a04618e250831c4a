"""The integer model of Gaussian naive Bayes, and its quantization.

See `IntegerNaiveBayes` for the arithmetic. The normalizer is folded into means and weights. The
scale of the scores is the finest for which the largest weight fits 16 bits and all scores fit 32.
Weights are inverse variances, so the ratio of variances is limited: `least_variances` are the
square of a step of a mean's byte, about the limit of rounding. Training uses them, too, so that
floats and integers agree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Float64
from protonn_edge.chain.folding import INPUT_BITS, check_computable, coarser, input_quantizer
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_chain import IntegerChain, chain_for
from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.errors import InputError
from protonn_edge.kinds.naive_bayes.head import NaiveBayesHead
from protonn_edge.kinds.naive_bayes.integers import SCORE_BITS, TERM_SHIFT, IntegerNaiveBayes

_WEIGHT_MAXIMUM = (1 << 16) - 1
_SCORE_LIMIT = (1 << (SCORE_BITS - 1)) - 1  # with either sign


def _shift(inputs: InputQuantizer) -> int:
    """Return how many bits inputs lack to be bytes."""
    return BYTE_MAXIMUM.bit_length() - inputs.maximum.bit_length()


def _steps(inputs: InputQuantizer, normalizer: Normalizer) -> Float64:
    """Return the steps (D,) of the means' bytes in normalized units, of either sign."""
    return inputs.step * normalizer.scale / (1 << _shift(inputs))


def least_variances(statistics: InputStatistics, normalizer: Normalizer) -> Float64:
    """Return the smallest variances (D,) of normalized features that integers distinguish."""
    return np.square(_steps(input_quantizer(statistics, INPUT_BITS[0]), normalizer))


def quantize(model: Model) -> IntegerChain:
    """Return the integer model of a float model; see `quantization.quantize`.

    Raises `InputError` if numbers are too large to compute with, or no integer scale fits them.
    """
    head, inputs = model.head, input_quantizer(model.inputs, INPUT_BITS[0])
    assert isinstance(head, NaiveBayesHead)
    means, weights, bias = _folded(head, model.normalizer, inputs)
    stage, unit = _finest(means, weights, bias, inputs.maximum, _shift(inputs))
    return chain_for(model, inputs, (stage,), unit)


def _folded(
    head: NaiveBayesHead, normalizer: Normalizer, inputs: InputQuantizer
) -> tuple[NDArray[np.uint8], Float64, Float64]:
    """Return means and weights (L, D) for bytes, and the bias (L,).

    A feature that the normalizer makes constant has no weight; its terms are part of the bias.
    """
    steps = _steps(inputs, normalizer)
    used = steps != 0
    away = head.means - (inputs.zero - normalizer.offset) * normalizer.scale
    with np.errstate(over="ignore", invalid="ignore"):
        variances = np.maximum(head.variances, np.square(steps))
        weights = np.square(steps) / (2 * variances)
        means = np.where(used, away / np.where(used, steps, 1.0), 0.0)
        bias = head.bias - (np.square(away) / (2 * variances))[:, ~used].sum(axis=1)
    check_computable(means, weights, bias)
    return np.rint(np.clip(means, 0, BYTE_MAXIMUM)).astype(np.uint8), weights, bias


def _finest(
    means: NDArray[np.uint8], weights: Float64, bias: Float64, maximum: int, shift: int
) -> tuple[IntegerNaiveBayes, float]:
    """Return the stage in the finest unit for which it fits, and that unit."""
    farthest = np.square(np.maximum(means, np.abs((maximum << shift) - means.astype(np.int64))))
    largest = float((np.abs(bias) + (farthest * weights).sum(axis=1)).max())
    least_unit = float(weights.max()) * (1 << TERM_SHIFT) / _WEIGHT_MAXIMUM
    for unit in coarser(max(least_unit, largest / _SCORE_LIMIT)):
        scaled = np.rint(weights * ((1 << TERM_SHIFT) / unit)) if unit > 0 else weights * 0
        if not scaled.any():
            raise InputError(
                "the bias is so large compared with the distances from the means that no integer "
                "scale fits both; train the model again"
            )
        start = np.rint(bias / unit)
        reached = np.abs(start) + ((farthest * scaled) / (1 << TERM_SHIFT)).sum(axis=1)
        if scaled.max() <= _WEIGHT_MAXIMUM and reached.max() <= _SCORE_LIMIT:
            break
    whole = scaled.astype(np.uint16), start.astype(np.int64)
    return IntegerNaiveBayes(means, *whole, shift, maximum), unit
