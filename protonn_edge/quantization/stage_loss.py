"""The cost of each stage of quantization: the model as it is quantized step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model
from protonn_edge.chain.registry import quantizer_of
from protonn_edge.quantization.to_integers import quantize

_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class StageLoss:
    """The model up to a stage, on labelled points.

    Attributes
    ----------
    stage : str
        What this step converts to integers; nothing for "float".
    accuracy : float
        Share of the points classified correctly, 0..1.
    changed : int
        Points whose class differs from the previous stage's.
    disagreements : int
        Points whose class differs from the float model's.
    """

    stage: str
    accuracy: float
    changed: int
    disagreements: int


def stage_losses(
    model: Model, X: NDArray[np.float32], y: NDArray[np.int64]
) -> tuple[StageLoss, ...]:
    """Return the cost of each stage of quantization on raw points X, (n, D), of classes y, n >= 1.

    That is how many points change their class; a model of one class has no other one.

    Raises
    ------
    InputError
        If the points do not fit the model, or the model cannot be quantized.
    """
    if model.n_classes == 1:
        return ()
    integers, steps = quantize(model), quantizer_of(model.head.kind)
    found: dict[str, list[NDArray[np.int64]]] = {}
    for i in range(0, len(X), _ROWS_AT_ONCE):
        for stage, scores in steps.scores_by_step(model, integers, X[i : i + _ROWS_AT_ONCE]):
            found.setdefault(stage, []).append(scores.argmax(axis=1))
    classes = {stage: np.concatenate(parts) for stage, parts in found.items()}
    first = earlier = next(iter(classes.values()))
    losses = []
    for stage, now in classes.items():
        losses.append(
            StageLoss(
                stage=stage,
                accuracy=float(np.mean(now == y)),
                changed=int(np.count_nonzero(now != earlier)),
                disagreements=int(np.count_nonzero(now != first)),
            )
        )
        earlier = now
    return tuple(losses)
