"""Average pooling on chips of 32 bits: the areas that each pixel overlaps."""

from __future__ import annotations

import numpy as np

from protonn_edge.codegen.kernels.words import ConstantTable, Words
from protonn_edge.features.average_pooling.integers import Axis, IntegerAveragePooling


def words(stage: IntegerAveragePooling) -> Words:
    """Return, for each row and column, its first area and its overlaps with it and the next one."""
    areas = stage.pooling
    places = {"rows": _places(areas.rows), "columns": _places(areas.columns)}
    about = "The first area of each of the {}, and the overlaps with it and with the next one"
    tables = {name: ConstantTable("uint8_t", of, about.format(name)) for name, of in places.items()}
    shared = tuple(bool(of[:, 2].any()) for of in places.values())
    return Words(tables, scratch_bytes=4 * stage.n_outputs, more={"shared": shared})


def _places(axis: Axis) -> np.ndarray:
    """Return the places (pixels, 3) along an axis."""
    overlaps = axis.weights()  # of areas and pixels of a period
    found = []
    for pixel in range(axis.pixels):
        period, at = divmod(pixel, overlaps.shape[1])
        first = int(np.flatnonzero(overlaps[:, at])[0])
        both = [*overlaps[first : first + 2, at].tolist(), 0][:2]
        found.append([period * len(overlaps) + first, *both])
    return np.array(found)
