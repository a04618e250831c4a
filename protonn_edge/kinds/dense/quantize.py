"""The integer model of a network, and its quantization.

Hidden layers map bytes to bytes (`IntegerDense`); the last matrix computes scores like a linear
model (`IntegerLinear`).

The normalizer is folded into the first matrix. Each matrix uses the finest unit for which its
weights fit int8 and every sum is proven to fit; sums get 24 bits if the predicted error is too
large a share of their spread. All bytes of a layer share a step: the multiplier is the largest for
which nearly all values on training points are below 255, and the next matrix is quantized for that
step. Sums of a hidden layer begin with half a step, so that values are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.dense.integers import MOST_MULTIPLIER, UNIT_SHIFT, IntegerDense
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.model import folding
from protonn_edge.model.checks import only_zeros
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.integer_chain import IntegerChain, chain_for
from protonn_edge.model.integer_stage import IntArray, IntegerStage
from protonn_edge.model.model import Model

# The largest error of 16-bit sums, as a share of their spread (root mean squares over a layer's
# units), before 24 bits are used. Of 0.01, 0.02, 0.03, 0.05, 0.1 and 0.2 it is the largest that
# costs no network more than 0.15 points of accuracy, on points held out of the training parts of
# usps10, letter26 in halves, and har.
_TOLERATED_ERROR = 0.05
_UPPER_BITS = 16  # of sums, before they become values
_HALF_STEP = 1 << (UNIT_SHIFT - 1)  # times the multiplier


def stages_of(
    maximum: int,
    weights: Sequence[NDArray[np.int8]],
    biases: Sequence[IntArray],
    accumulator_bits: Sequence[int],
    multipliers: Sequence[int],
    *,
    alone: bool = False,
) -> tuple[IntegerStage, ...]:
    """Return the hidden layers and the scores of a network, for inputs of at most `maximum`.

    The matrices are W_1 (h1, D), optionally W_2 (h2, h1), and the matrix of the scores: a row for
    each class, one row for two classes, or a row that is `alone`, which has one score. Each has
    biases, which are the initial sums, and bits of its sums; each hidden layer has a multiplier.
    """
    *hidden, last = zip(weights, biases, accumulator_bits, strict=True)
    stages: list[IntegerStage] = []
    for fields, multiplier in zip(hidden, multipliers, strict=True):
        stages.append(IntegerDense(*fields, maximum, multiplier))
        maximum = BYTE_MAXIMUM
    return (*stages, IntegerLinear(*last, maximum, alone=alone))


def quantize(model: Model) -> IntegerChain:
    """Return the integer model of a float model; see `model.quantization.quantize`.

    Raises `InputError` if all weights of a matrix are 0, or numbers are too large to compute with.
    """
    head = model.head
    assert isinstance(head, DenseHead)
    for number, W in enumerate(head.weights, 1):
        if not W.any():
            raise only_zeros(
                f"W{number}", "train with a larger --size-budget or a smaller learning rate"
            )
    inputs, first = _first(model, head)
    products, multipliers = [first], []
    for number, known in enumerate(head.known, 1):
        multiplier, step = _values_of(products[-1], known)
        products[-1] = _rounding(products[-1], multiplier)
        multipliers.append(multiplier)
        last = number == len(head.known)
        products.append(_behind(head.weights[number], head.biases[number], known, step, last))
    # With two classes, a score is half of the only row's sum.
    score_scale = products[-1].unit * (1.0 if head.n_classes == len(head.weights[-1]) else 0.5)
    stages = stages_of(
        inputs.maximum,
        [each.residuals for each in products],
        [each.bias for each in products],
        [each.accumulator_bits for each in products],
        multipliers,
        alone=head.alone,
    )
    return chain_for(model, inputs, stages, score_scale)


def _first(model: Model, head: DenseHead) -> folding.FittedProduct:
    """Return the first matrix, with the quantizer of the features."""

    def fitted(input_bits: int, accumulator_bits: int) -> folding.FittedProduct:
        inputs = folding.input_quantizer(model.inputs, input_bits)
        folded = folding.FoldedMap.of(head.weights[0], model, inputs)
        constant = folded.constant + head.biases[0]
        product = _hidden(folded, constant, inputs.maximum, accumulator_bits)
        return folding.FittedProduct(inputs, product)

    best = folding.most_exact(fitted, _TOLERATED_ERROR, IntegerDense.widths)
    assert best is not None
    return best


def _hidden(
    folded: folding.FoldedMap, constant: NDArray[np.float64], maximum: int, accumulator_bits: int
) -> folding.QuantizedProduct:
    """Return the matrix of a hidden layer; its sums leave room for rounding its values."""
    dropped = accumulator_bits - _UPPER_BITS
    spare = (_HALF_STEP << dropped) + (1 << dropped >> 1)
    return folding.QuantizedProduct.of(folded, constant, maximum, accumulator_bits, spare)


def _rounding(product: folding.QuantizedProduct, multiplier: int) -> folding.QuantizedProduct:
    """Return the product with half a step of the values added to its sums, for rounding.

    With 24-bit sums, half the range of the unused lower byte is added, too.
    """
    dropped = product.accumulator_bits - _UPPER_BITS
    half = round((_HALF_STEP << dropped) / multiplier) + (1 << dropped >> 1)
    return replace(product, bias=product.bias + half)


def _values_of(product: folding.QuantizedProduct, known: NDArray[np.float64]) -> tuple[int, float]:
    """Return the multiplier from sums to bytes, and the value that a byte of 1 stands for."""
    upper = product.unit * 2.0 ** (product.accumulator_bits - _UPPER_BITS)
    wanted = float(known[2].max()) / BYTE_MAXIMUM
    scale = 1 << UNIT_SHIFT
    most = scale * upper / wanted if wanted > 0 else MOST_MULTIPLIER
    multiplier = min(max(1, math.floor(most)), MOST_MULTIPLIER)
    return multiplier, scale * upper / multiplier


def _behind(
    W: NDArray[np.float32],
    b: NDArray[np.float64],
    known: NDArray[np.float64],
    step: float,
    last: bool,
) -> folding.QuantizedProduct:
    """Return the matrix after a hidden layer with values in multiples of `step`."""
    mean, deviation, _ = known
    folded = folding.FoldedMap(
        weights=W.astype(np.float64) * step,
        constant=b,
        mean=mean / step,
        variance=np.square(deviation / step),
    )
    fit, widths = (
        (folding.QuantizedProduct.of, IntegerLinear.widths)
        if last
        else (_hidden, IntegerDense.widths)
    )
    found = [fit(folded, b, BYTE_MAXIMUM, bits) for bits in widths]
    exact = (each for each in found if each.error <= _TOLERATED_ERROR)
    return next(exact, min(found, key=lambda each: each.error))
