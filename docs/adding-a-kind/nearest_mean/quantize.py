"""The example's quantization, from a float model to its integers."""

from __future__ import annotations

import numpy as np

from protonn_edge.kinds.nearest_mean.head import NearestMeanHead
from protonn_edge.kinds.nearest_mean.integers import IntegerNearestMean
from protonn_edge.model.checks import only_zeros
from protonn_edge.model.folding import check_computable, input_quantizer
from protonn_edge.model.integer_chain import IntegerChain, chain_for
from protonn_edge.model.model import Model


def quantize(model: Model) -> IntegerChain:
    """Return the integer model; a step of a feature counts as much as in the float model.

    Raises `InputError` if no feature varies, or numbers are too large to compute with.
    """
    head, scale = model.head, model.normalizer.scale
    assert isinstance(head, NearestMeanHead)
    inputs = input_quantizer(model.inputs, bits=8)
    varies = (scale != 0) & (model.inputs.lower < model.inputs.upper)
    steps = np.abs(inputs.step * scale) * varies  # in units of normalized features
    check_computable(steps)
    if not steps.any():
        raise only_zeros("the scale of the features", "train with features that vary")
    raw_means = head.means / np.where(varies, scale, np.inf) + model.normalizer.offset
    unit = steps.max() / 255  # of a score
    weights = np.rint(steps / unit).astype(np.uint8)
    stage = IntegerNearestMean(weights, inputs.steps(raw_means), inputs.maximum)
    return chain_for(model, inputs, (stage,), unit)
