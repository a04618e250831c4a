"""The scores of a ProtoNN model as it is quantized step by step.

float        the float model
inputs       features, or their averages, as the bytes that the projection is fed
W            the projection's weights too
prototypes   also the coordinates, B, and the table in place of the exponential
Z            the labels: all integers, what the device computes
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.protonn.dequantizer import dequantize
from protonn_edge.kinds.protonn.head import ProtoNNModel, rbf
from protonn_edge.kinds.protonn.integers import IntegerModel
from protonn_edge.kinds.protonn.quantize import far_coordinates_first
from protonn_edge.quantization.integer_kind import Scored

FloatArray = NDArray[np.float64]


def scores_by_step(
    model: ProtoNNModel, integer_model: IntegerModel, X: NDArray[np.float32]
) -> Iterator[Scored]:
    """Yield the scores (n, L) of raw points X (n, features) after each step."""
    yield "float", model.scores(X)
    ordered = far_coordinates_first(model)
    W, Z = ordered.projection.astype(np.float64), ordered.labels.astype(np.float64)
    coordinates = ordered.gamma * ordered.prototypes.astype(np.float64)
    fed = integer_model.quantize(X)
    inputs = integer_model.own_inputs(fed)
    restored = integer_model.inputs.restore(inputs)
    projected = ordered.gamma * (ordered.normalizer.apply(restored) @ W.T)
    yield "inputs", rbf(projected, coordinates, 1.0, model.cutoff) @ Z.T
    integers = dequantize(integer_model)
    centred = coordinates - centre_of(coordinates)
    projected = restored @ integers.projection.T + integers.bias
    yield "W", rbf(projected, centred, 1.0, model.cutoff) @ Z.T
    values = integer_model.rbf_values(integer_model.project(inputs)).astype(np.float64)
    yield "prototypes", values @ Z.T
    yield "Z", integer_model.scores(fed)


def centre_of(coordinates: FloatArray) -> FloatArray:
    """Return the centre (d, 1) of prototypes (d, m), which the quantizer uses as the origin."""
    middle: FloatArray = (coordinates.max(axis=1) + coordinates.min(axis=1))[:, None] / 2
    return middle
