"""The activity of an integer model on given points, on which its cycles depend.

Inputs that are 0 are skipped, and a distance is abandoned at the coordinate that shows that the
prototype is far. The planner converts these shares to mean cycles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.integer_stage import stage_names
from protonn_edge.errors import InputError

_ROWS_AT_ONCE = 256


def measure_activity(model: IntegerChain, Q: NDArray[np.uint8]) -> Activity:
    """Return the activity of an integer model on quantized points Q, (n, features) uint8.

    Raises
    ------
    InputError
        If there are no points.
    """
    n = len(Q)
    if n == 0:
        raise InputError("the data has no points to estimate cycles on; give a file with points")
    inputs = np.zeros(model.n_inputs)
    sums: dict[str, list[NDArray[np.float64]]] = {}
    stages = (*model.feature_stages, *model.own_stages)
    names = stage_names(stage.kind for stage in stages)
    for start in range(0, n, _ROWS_AT_ONCE):
        values: NDArray[Any] = Q[start : start + _ROWS_AT_ONCE]
        for name, stage in zip(names, stages, strict=True):
            if stage is model.own_stages[0]:
                inputs += (values != 0).sum(axis=0)
            told = stage.activity(values)
            if told:
                before = sums.get(name, [np.zeros(len(each)) for each in told])
                sums[name] = [a + b for a, b in zip(before, told, strict=True)]
            if stage is not model.own_stages[-1]:
                values = stage.run(values)
    return Activity(
        inputs / n, {name: tuple(each / n for each in told) for name, told in sums.items()}
    )
