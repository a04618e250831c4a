"""Deskew in a model file: the conversion of pixels to bytes, of which slants are computed."""

from __future__ import annotations

import numpy as np

from protonn_edge.chain.checks import Arrays, check_finite, check_type
from protonn_edge.errors import InputError
from protonn_edge.features.deskew.deskew import PixelScale

_LARGEST_PIXEL = float(np.finfo(np.float32).max)


def to_arrays(scale: PixelScale | None) -> Arrays:
    """Return the scale's zero and step, (2,), or (0,) if images are not deskewed."""
    return {"deskewed": np.array([] if scale is None else [scale.zero, scale.step], np.float64)}


def from_arrays(arrays: Arrays) -> PixelScale | None:
    """Return the scale of a model file's arrays, or None.

    Raises
    ------
    InputError
        If the array has another type or shape, or an invalid scale.
    """
    array = arrays["deskewed"]
    check_type(array, "deskewed", "f8")
    if array.shape == (0,):
        return None
    check_finite(array, "deskewed")
    if array.shape != (2,) or array[1] == 0:
        raise InputError(
            f"array 'deskewed' has the shape {array.shape}; it must be the value of a pixel that "
            "becomes 0 and a step that is not 0; train the model again"
        )
    if abs(array[0]) > _LARGEST_PIXEL:
        raise InputError(
            f"array 'deskewed' begins with {array[0]:g}, a pixel is at most {_LARGEST_PIXEL:g}; "
            "train the model again"
        )
    return PixelScale(float(array[0]), float(array[1]))
