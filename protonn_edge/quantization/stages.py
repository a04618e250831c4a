"""What each stage of quantization costs: the model with ever more of it in integers.

float        the float model
inputs       features, or their averages, as the bytes that the projection is fed
W            the projection's weights too
prototypes   also the coordinates, B, and the table in place of the exponential
Z            the labels: all integers, what the device computes
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model import ProtoNNModel, rbf
from protonn_edge.quantization.dequantizer import dequantize
from protonn_edge.quantization.integer_model import IntegerModel
from protonn_edge.quantization.quantizer import far_coordinates_first, quantize

STAGES = ("float", "inputs", "W", "prototypes", "Z")

_ROWS_AT_ONCE = 1024

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class StageLoss:
    """The model up to a stage, on labelled points.

    Attributes
    ----------
    stage : str
        One of `STAGES`.
    accuracy : float
        Share of the points that are classified rightly, 0..1.
    changed : int
        Points whose class is another one than a stage earlier.
    disagreements : int
        Points whose class is another one than the float model's.
    """

    stage: str
    accuracy: float
    changed: int
    disagreements: int


def stage_losses(
    model: ProtoNNModel, X: NDArray[np.float32], y: NDArray[np.int64]
) -> tuple[StageLoss, ...]:
    """Return what each stage of quantization costs on raw points X, (n, D), of classes y, n >= 1.

    Raises
    ------
    InputError
        If the points do not fit the model, or the model cannot be quantized.
    """
    integer_model = quantize(model)
    parts = [
        np.stack(
            [
                scores.argmax(axis=1)
                for scores in _scores(model, integer_model, X[i : i + _ROWS_AT_ONCE])
            ]
        )
        for i in range(0, len(X), _ROWS_AT_ONCE)
    ]
    classes = np.concatenate(parts, axis=1)
    before = np.concatenate([classes[:1], classes[:-1]])
    return tuple(
        StageLoss(
            stage=stage,
            accuracy=float(np.mean(now == y)),
            changed=int(np.count_nonzero(now != earlier)),
            disagreements=int(np.count_nonzero(now != classes[0])),
        )
        for stage, now, earlier in zip(STAGES, classes, before, strict=True)
    )


def _scores(
    model: ProtoNNModel, integer_model: IntegerModel, X: NDArray[np.float32]
) -> Iterator[NDArray[np.float64] | NDArray[np.int64]]:
    """Yield the scores (n, L) after each stage, each in a scale of its own."""
    yield model.scores(X)
    ordered = far_coordinates_first(model)
    W, Z = ordered.projection.astype(np.float64), ordered.labels.astype(np.float64)
    coordinates = ordered.gamma * ordered.prototypes.astype(np.float64)
    fed = integer_model.quantize(X)
    inputs = integer_model.own_inputs(fed)
    restored = integer_model.inputs.restore(inputs)
    projected = ordered.gamma * (ordered.normalizer.apply(restored) @ W.T)
    yield rbf(projected, coordinates, 1.0, model.cutoff) @ Z.T
    integers = dequantize(integer_model)
    centred = coordinates - centre_of(coordinates)
    projected = restored @ integers.projection.T + integers.bias
    yield rbf(projected, centred, 1.0, model.cutoff) @ Z.T
    yield integer_model.rbf_values(integer_model.project(inputs)).astype(np.float64) @ Z.T
    yield integer_model.scores(fed)


def centre_of(coordinates: FloatArray) -> FloatArray:
    """Return the middle (d, 1) of prototypes (d, m), which the quantizer takes for the origin."""
    middle: FloatArray = (coordinates.max(axis=1) + coordinates.min(axis=1))[:, None] / 2
    return middle
