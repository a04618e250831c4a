"""Average pooling in a model file: three shapes, and how pixels become bytes."""

from __future__ import annotations

import numpy as np

from protonn_edge.errors import InputError
from protonn_edge.stages.array_checks import Arrays, check_type
from protonn_edge.stages.average_pooling.pooling import AveragePooling
from protonn_edge.stages.deskew import arrays as deskew

_SIDE_LIMIT = 65_535


def to_arrays(pooling: AveragePooling | None) -> Arrays:
    """Return the shapes (3, 2), or (0, 2) without pooling, and the arrays of `deskew`."""
    shapes = np.empty((0, 2), dtype=np.int64)
    if pooling is not None:
        shapes = np.array((pooling.image_shape, pooling.cropped_shape, pooling.shape), np.int64)
    scale = None if pooling is None else pooling.deskewed
    return {"reduction_shapes": shapes, **deskew.to_arrays(scale)}


def from_arrays(arrays: Arrays) -> AveragePooling | None:
    """Return the pooling of a model file's arrays, or None.

    Raises
    ------
    InputError
        If an array has another type or shape, or there is no such pooling.
    """
    array = arrays["reduction_shapes"]
    check_type(array, "reduction_shapes", "i8")
    scale = deskew.from_arrays(arrays)
    if array.shape == (0, 2):
        return None
    if array.shape != (3, 2) or array.min() < 1 or array.max() > _SIDE_LIMIT:
        raise InputError(
            f"array 'reduction_shapes' has the shape {array.shape}; it must be three rows of a "
            f"height and a width, each 1 to {_SIDE_LIMIT:,}; train the model again"
        )
    image, cropped, pooled = ((int(height), int(width)) for height, width in array)
    return AveragePooling(image, cropped, pooled, scale)
