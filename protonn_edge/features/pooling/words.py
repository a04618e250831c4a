"""Pooling on chips of 32 bits: along an axis, the pixels of each window and their weights there."""

from __future__ import annotations

import numpy as np

from protonn_edge.codegen.kernels.words import ConstantTable, Words
from protonn_edge.features.pooling.areas import Axis
from protonn_edge.features.pooling.integers import IntegerAveragePooling, IntegerPooling


def words(stage: IntegerPooling | IntegerAveragePooling) -> Words:
    """Return how many pixels windows have along each axis and, of parts of them, the weights."""
    if isinstance(stage, IntegerPooling):
        return Words(more={"window": stage.window})
    axes = {"rows": stage.pooling.rows, "columns": stage.pooling.columns}
    cut = {name: _weights(axis) for name, axis in axes.items() if axis.pixel_units > 1}
    about = "For each area along the {}, its first pixel and the weights of those from there on"
    tables = {name: ConstantTable("uint16_t", of, about.format(name)) for name, of in cut.items()}
    whole = {name: axis.output_units for name, axis in axes.items()}
    counts = whole | {name: of.shape[1] - 1 for name, of in cut.items()}
    return Words(tables, more={"window": [*counts.values()]})


def _weights(axis: Axis) -> np.ndarray:
    """Return the first pixel of each output along an axis, and weights, (outputs, 1 + pixels)."""
    overlaps = axis.weights()  # of the outputs of a period
    most = int((overlaps > 0).sum(axis=1).max())
    starts = np.minimum((overlaps > 0).argmax(axis=1), overlaps.shape[1] - most)
    weights = np.array([row[at : at + most] for row, at in zip(overlaps, starts, strict=True)])
    periods = np.arange(axis.outputs // len(overlaps))[:, None] * overlaps.shape[1]
    firsts = (periods + starts).reshape(-1, 1)
    return np.hstack([firsts, np.tile(weights, (len(periods), 1))])
