"""The integer model of a linear classifier, and its quantization.

See `IntegerLinear` for the arithmetic. The normalizer is folded into W. All rows have the scale of
the scores, the finest for which residuals fit int8 and every sum is proven to fit. As in ProtoNN's
quantizer, the bits of inputs and sums are a trade-off: inputs of few bits leave room for finer
weights in 16-bit sums, which are the fastest on an 8-bit chip. If the predicted error of scores is
too large relative to their spread, sums get 24 or 32 bits.
"""

from __future__ import annotations

import numpy as np

from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.model import folding
from protonn_edge.model.checks import no_scale, only_zeros
from protonn_edge.model.integer_chain import IntegerChain, chain_for
from protonn_edge.model.model import Model

# The largest error of scores, as a share of their spread (root mean squares over the classes),
# before wider sums are used. Of 0.03, 0.05, 0.07, 0.1 and 0.15 it is the largest that costs no data
# set more than 0.2 points of accuracy at any regularization, on points held out of the training
# parts of usps10, mnist2, har, letter26 and ecg5000.
_TOLERATED_ERROR = 0.1


def quantize(model: Model) -> IntegerChain:
    """Return the integer model of a float model; see `model.quantization.quantize`.

    Raises `InputError` if all weights are 0, or numbers are too large to compute with.
    """
    head = model.head
    assert isinstance(head, LinearHead)
    if not head.weights.any():
        raise only_zeros("W", "train with a smaller regularization")
    inputs, best = _best(model, head)
    # With two classes a score is half the sum of the only row.
    score_scale = best.unit * (1.0 if head.n_classes == len(head.weights) else 0.5)
    sums = best.residuals, best.bias, best.accumulator_bits
    stage = IntegerLinear(*sums, inputs.maximum, alone=head.alone)
    return chain_for(model, inputs, (stage,), score_scale)


def _best(model: Model, head: LinearHead) -> folding.FittedProduct:
    def fit(input_bits: int, accumulator_bits: int) -> folding.FittedProduct:
        inputs = folding.input_quantizer(model.inputs, input_bits)
        folded = folding.FoldedMap.of(head.weights, model, inputs)
        constant, maximum = folded.constant + head.bias, inputs.maximum
        product = folding.QuantizedProduct.of(folded, constant, maximum, accumulator_bits)
        return folding.FittedProduct(inputs, product)

    # Integer weights of integer features stay unchanged.
    whole = model.inputs.whole and bool((head.weights == np.rint(head.weights)).all())
    best = folding.most_exact(fit, 0.0 if whole else _TOLERATED_ERROR, IntegerLinear.widths)
    if best is None or not best.product.residuals.any():
        raise no_scale(
            "the weights and the bias",
            "train with a smaller regularization, or with normalized features",
        )
    return best
