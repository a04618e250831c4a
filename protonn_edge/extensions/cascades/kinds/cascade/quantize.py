"""The integer model of a cascade: both models, quantized for the same bytes.

Models of the same features may have different quantizers of their inputs, but a device has one: a
model whose own quantizer is another one becomes a model of the bytes, which are whole numbers, and
is quantized again.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from protonn_edge.extensions.cascades.kinds.cascade.head import CascadeHead, CascadePart
from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    MOST_FACTOR,
    IntegerCascade,
    PartStages,
)
from protonn_edge.model import stored
from protonn_edge.model.folding import input_quantizer
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, chain_for
from protonn_edge.model.model import Model
from protonn_edge.model.registry import quantizer_of

_FINE_ENOUGH = 0.02  # error of the ratio of the factors, as a share


def quantize(model: Model) -> IntegerChain:
    """Return the integer model of a float model; see `model.quantization.quantize`."""
    head = model.head
    assert isinstance(head, CascadeHead)
    inputs, first, second = quantized_parts(model)
    factors = _factors(head.scale * second.score_scale / first.score_scale)
    one = _stages_of(first)
    stage = IntegerCascade(
        one,
        _stages_of(second),
        min(math.ceil(head.margin / first.score_scale), one.largest_margin),
        *factors,
        adds=head.adds,
    )
    return chain_for(model, inputs, (stage,), first.score_scale / factors[0])


def quantized_parts(model: Model) -> tuple[InputQuantizer, IntegerChain, IntegerChain]:
    """Return the quantizer of a cascade's inputs, and both of its models for these inputs."""
    head = cast("CascadeHead", model.head)
    parts = head.first, head.second
    first, second = map(_quantized, parts)
    if model.features is not None and not model.features.stages:
        return input_quantizer(model.inputs, 8), first, second  # bytes of raw points
    if stored.same(first.inputs, second.inputs):
        return first.inputs, first, second
    common = _common(first.inputs, second.inputs)
    first, second = (_quantized(part.in_bytes(common)) for part in parts)
    return common, first, second


def _common(one: InputQuantizer, other: InputQuantizer) -> InputQuantizer:
    """Return a quantizer of the narrower range of each feature.

    It begins at the lower end, because trees need bytes in the order of the features, unless both
    begin at the upper end.
    """
    narrower = np.abs(one.end - one.zero) <= np.abs(other.end - other.zero)
    zero, end = (
        np.where(narrower, a, b) for a, b in ((one.zero, other.zero), (one.end, other.end))
    )
    falls = (one.step < 0) & (other.step < 0)
    low, high = np.minimum(zero, end), np.maximum(zero, end)
    step = np.where(falls, low - high, high - low) / BYTE_MAXIMUM
    begin = np.where(falls, high, low)
    return InputQuantizer(begin, np.where(step == 0, 1.0, step), BYTE_MAXIMUM)


def _quantized(part: CascadePart) -> IntegerChain:
    """Return the integers of a part."""
    chain: IntegerChain = quantizer_of(part.head.kind).quantize(part.model)
    return chain


def _stages_of(chain: IntegerChain) -> PartStages:
    """Return the stages of a part."""
    stages = (*chain.feature_stages, *chain.own_stages)
    return PartStages(stages, len(chain.feature_stages))


def _factors(ratio: float) -> tuple[int, int]:
    """Return small factors of the first and the second model's scores with about this ratio."""
    best = (1, 1)
    for smaller in range(1, MOST_FACTOR + 1):
        larger = min(MOST_FACTOR, round(smaller * max(ratio, 1 / ratio)))
        factors = (smaller, larger) if ratio >= 1 else (larger, smaller)
        if _error(factors, ratio) < _error(best, ratio):
            best = factors
        if _error(best, ratio) <= _FINE_ENOUGH:
            break
    return best


def _error(factors: tuple[int, int], ratio: float) -> float:
    return abs(math.log(factors[1] / factors[0] / ratio))
