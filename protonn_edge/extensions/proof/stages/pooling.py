"""Averages of windows as functions of sums of tables, and their largest values."""

from __future__ import annotations

import numpy as np

from protonn_edge.extensions.proof.forms import SumForm, constant, plus
from protonn_edge.extensions.proof.reference import Reference, forms
from protonn_edge.features.pooling.integers import IntegerPooling


@forms.register(IntegerPooling)
def _(stage: IntegerPooling, inputs: list[SumForm], reference: Reference) -> list[SumForm]:
    """Return the averages of images, or the largest values."""
    largest = stage.how == "maximum"
    join = reference.algebra.maximum if largest else plus
    height, width, channels = stage.output_shape
    rows, columns = stage.window
    places = np.arange(stage.n_inputs).reshape(stage.shape)[: height * rows, : width * columns]
    windows = places.reshape(height, rows, width, columns, channels).transpose(0, 2, 4, 1, 3)
    sums = []
    for window in windows.reshape(-1, stage.area):
        total = constant(0)
        for place in window:
            total = join(total, inputs[place])
        sums.append(total)
    return sums if largest else [reference.function(each, stage.averages) for each in sums]
