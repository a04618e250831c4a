"""The formula of deskewing in ONNX."""

from __future__ import annotations

import numpy as np

from protonn_edge.features.deskew import integers as deskew
from protonn_edge.features.images.onnx import cropped
from protonn_edge.model.onnx_graph import Values


def formula(x: Values, stage: deskew.IntegerDeskew) -> Values:
    """Return the values of deskewing, as `run` does."""
    height, width = stage.image.image_shape
    images = x.op("Reshape", [-1, height, width])
    y, columns = (np.arange(side)[:, None] - side // 2 for side in (height, width))
    along_row = (images @ columns).op("Reshape", [-1, height])
    in_row = images.op("ReduceSum", [2], keepdims=0)
    mass, across = (each.op("ReduceSum", [1]) for each in (in_row, along_row))
    down = in_row @ y
    centre = _quotient(down * (1 << deskew.CENTRE_BITS), mass)
    product = along_row @ y - ((centre * across) >> deskew.CENTRE_BITS)
    square = in_row @ (y * y) - ((centre * down) >> deskew.CENTRE_BITS)
    upper = (product.op("Abs") >> deskew.MOMENT_BITS) * (1 << deskew.SLOPE_BITS)
    steep = _quotient(upper, square >> deskew.MOMENT_BITS).op("Min", 1 << deskew.SLOPE_BITS)
    slope = product.op("Sign") * steep
    first = (slope * (centre * -1 + int(y[0, 0] << deskew.CENTRE_BITS))) >> deskew.CENTRE_BITS
    half = 1 << deskew.SLOPE_BITS - 1
    shifts = (slope * np.arange(height) + first + half) >> deskew.SLOPE_BITS
    source = shifts.op("Unsqueeze", [2]) + np.arange(width)
    inside = source.op("Clip", 0, width - 1)
    moved = images.op("GatherElements", inside, axis=2) * source.op("Equal", inside).wide
    image = cropped(moved, stage.image)
    return image.op("Reshape", [-1, len(stage.output.low)])


def _quotient(numerator: Values, denominator: Values) -> Values:
    """Return quotients, rounded towards 0; 0 if the denominator is not positive."""
    return numerator.op("Div", denominator.op("Max", 1)) * (denominator > 0)
