"""A sensor's counts in the unit of a model's training data, as a board with this sensor uses them.

A board does not convert counts to the unit: it quantizes them in integers, with the conversion in
the multipliers. So a count that is nearly between two bytes of the model's input may become the
other byte than its value in the unit does, which is then replaced by the middle of the board's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.raw_inputs import RAW_MAXIMUM, RAW_MINIMUM
from protonn_edge.datasets.dataset import Float32


def in_trained_unit(
    X: Float32, per_unit: NDArray[np.float64], chain: IntegerChain | None = None
) -> Float32:
    """Return points X (n, D) of a sensor in the unit of a model's training data.

    `per_unit` (channels,), repeated for D features, is from `counts_per_unit`. With the `chain` of
    a model, `chain.quantize` returns the bytes that a board computes of the same counts; values
    that are no counts, because they have decimals, are only converted.
    """
    converted = (X / np.resize(per_unit, X.shape[1])).astype(np.float32)
    whole = (np.rint(X) == X).all() and X.size and RAW_MINIMUM <= X.min() <= X.max() <= RAW_MAXIMUM
    if chain is None or not whole:
        return converted
    on_board = replace(chain, counts=per_unit).raw_inputs.quantize(X.astype(np.int16))
    unlike = chain.quantize(converted) != on_board
    converted[unlike] = chain.quantizer.restore(on_board)[unlike]
    return converted
