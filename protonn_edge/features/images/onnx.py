"""What the formulas of several stages that process images share in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.model.integer_stage import IntArray
from protonn_edge.model.onnx_graph import Values


def cropped(x: Values, image: CroppedImage) -> Values:
    """Return the images (n, height, width) without the borders that are cropped."""
    return x.op("Reshape", [-1, *image.image_shape])[image.rows.counted, image.columns.counted]


def window_sums(x: Values, stage: Any) -> Values:
    """Return sums of weights over windows of an image: of a convolution, or a layer like it."""
    (above, below), (left, right) = stage.margins
    images = x.op("Reshape", [-1, *stage.shape]).op("Transpose", perm=[0, 3, 1, 2])
    groups, around = stage.shape[2] if stage.depthwise else 1, stage.padding_value
    pads = [above, left, below, right]
    places = {"strides": [*stage.stride], "pads": pads, "group": groups}
    sums = images.sums("ConvInteger", stage.weights.transpose(0, 3, 1, 2), around, **places)
    bias: IntArray = stage.bias + around * stage.weights.sum(axis=(1, 2, 3), dtype=np.int64)
    return sums.op("Transpose", perm=[0, 2, 3, 1]) + bias
