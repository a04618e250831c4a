"""Averages of windows as functions of sums of tables."""

from __future__ import annotations

import numpy as np

from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.proof.forms import SumForm, Unproven, constant, plus
from protonn_edge.proof.reference import Reference


def forms(stage: IntegerPooling, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the averages of images; the largest of several values is no function of a sum."""
    if stage.how == "maximum":
        raise Unproven("the largest of several values is no function of their sum")
    height, width, channels = stage.output_shape
    rows, columns = stage.window
    places = np.arange(stage.n_inputs).reshape(stage.shape)[: height * rows, : width * columns]
    windows = places.reshape(height, rows, width, columns, channels).transpose(0, 2, 4, 1, 3)
    sums = []
    for window in windows.reshape(-1, stage.area):
        total = constant(0)
        for place in window:
            total = plus(total, inputs[place])
        sums.append(total)
    return [reference.function(each, stage.averages) for each in sums]
