"""How much of its work the integer model does on given points: what cycles depend on.

Inputs that are 0 are passed over, and a prototype is left at the coordinate that shows that it is
far. The planner turns these shares into mean cycles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.quantization.integer_model import IntegerModel
from protonn_edge.stages.activity import Activity

_ROWS_AT_ONCE = 256


def measure_activity(model: IntegerModel, Q: NDArray[np.uint8]) -> Activity:
    """Return the activity of the integer model on quantized points Q, (n, features) uint8.

    Raises
    ------
    InputError
        If there are no points.
    """
    if len(Q) == 0:
        raise InputError("the data has no points to count cycles on; give a file that has some")
    inputs = np.zeros(model.n_inputs)
    coordinates = np.zeros(model.n_projections)
    prototypes = np.zeros(model.n_prototypes)
    for start in range(0, len(Q), _ROWS_AT_ONCE):
        pooled = model.own_inputs(Q[start : start + _ROWS_AT_ONCE])
        inputs += (pooled != 0).sum(axis=0)
        reached = compared(model, model.project(pooled))
        coordinates += reached[:, :, :-1].sum(axis=(0, 1))
        prototypes += reached[:, :, -1].sum(axis=0)
    n = len(Q)
    return Activity(inputs / n, coordinates / (n * model.n_prototypes), prototypes / n)


def compared(model: IntegerModel, P: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether points P, (n, d), reach each coordinate of each prototype: (n, m, d + 1).

    The last entry is whether the prototype is near.
    """
    difference = P[:, None, :].astype(np.int32) - model.prototypes.T.astype(np.int32)
    partial = np.square(difference, out=difference).cumsum(axis=2)
    first = np.ones((*partial.shape[:2], 1), np.bool_)
    return np.concatenate([first, partial < model.distance_limit], axis=2)
