"""The part of a model file that has layers of convolutions.

All of them have one array of whole numbers, a row each; their weights, and their biases, lie one
behind the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Arrays, check_finite, check_type, little_endian
from protonn_edge.errors import InputError
from protonn_edge.features.average_pooling.pooling import Areas, IntegerAveragePooling
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.deskew.deskew import PixelScale
from protonn_edge.features.images.image_rows import ImageShape
from protonn_edge.features.pooling.integers import IntegerPooling

Layers = Sequence[IntegerConvolution | IntegerPooling]

NAMES = (
    "convolution_layers",
    "convolution_image",
    "convolution_weights",
    "convolution_bias",
    "convolution_pixels",
)

_TYPES = ("i8", "i8", "i1", "i8", "f8")
_HOW = ("convolution", "maximum", "average")
_COLUMNS = 11
_IMAGE_NUMBERS = 10
_MOST = 65_535  # of whole numbers in a file
_LARGEST_PIXEL = float(np.finfo(np.float32).max)


def to_arrays(averages: IntegerAveragePooling | None, layers: Layers, pixels: PixelScale) -> Arrays:
    """Return the arrays by `NAMES`.

    ``convolution_layers`` has a row a layer: 0 for a convolution, with the side of its window,
    stride, whether it is padded, whether it is depthwise, channels, multiplier, shift, maximum,
    bits of a weight, and whether halves go to even; 1 for the largest value and 2 for the average,
    with the height and width of a window. ``convolution_image`` has height, width, channels and the
    largest value of the image, then, where averages are made of it, the height and width of the
    part that counts and of the averages, their largest value, and whether they are cut; else 0.
    """
    own = [layer for layer in layers if isinstance(layer, IntegerConvolution)]
    image = [*layers[0].shape, layers[0].input_maximum] + [0] * 6
    if averages is not None:
        areas = averages.pooling
        shapes = (*areas.cropped_shape, *areas.shape)
        image = [*areas.image_shape, 1, 255, *shapes, averages.maximum, averages.cuts]
    return {
        "convolution_layers": np.array([_row(layer) for layer in layers], np.int64),
        "convolution_image": np.array(image, np.int64),
        "convolution_weights": _joined([layer.weights for layer in own], np.int8),
        "convolution_bias": _joined([layer.bias for layer in own], np.int64),
        "convolution_pixels": np.array([pixels.zero, pixels.step], np.float64),
    }


def _joined(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *(part.ravel() for part in parts)]).astype(dtype)


def _row(layer: IntegerConvolution | IntegerPooling) -> list[int]:
    if isinstance(layer, IntegerPooling):
        return [_HOW.index(layer.how), *layer.window] + [0] * (_COLUMNS - 3)
    return [
        0,
        layer.side,
        layer.stride,
        layer.padded,
        layer.depthwise,
        len(layer.weights),
        layer.multiplier,
        layer.shift,
        layer.maximum,
        layer.weight_bits,
        layer.to_even,
    ]


def digest(averages: IntegerAveragePooling | None, layers: Layers) -> str:
    """Return the SHA-256 of all numbers of layers, and of averages before them, in hexadecimal."""
    hashed = hashlib.sha256()
    for name, array in to_arrays(averages, layers, PixelScale(0.0, 1.0)).items():
        little = little_endian(array)
        hashed.update(f"{name}{little.shape}".encode() + little.tobytes())
    return hashed.hexdigest()


def from_arrays(
    arrays: Arrays,
) -> tuple[
    IntegerAveragePooling | None, tuple[IntegerConvolution | IntegerPooling, ...], PixelScale
]:
    """Return averages, layers and the scale of pixels of a model file's arrays.

    Raises
    ------
    InputError
        If an array is missing, or has another type, shape or size than the layers need.
    """
    for name, wanted in zip(NAMES, _TYPES, strict=True):
        if name not in arrays:
            raise InputError(f"array {name!r} is missing; train the model again")
        check_type(arrays[name], name, wanted)
    pixels = _pixels(arrays["convolution_pixels"])
    averages, shape, maximum = _image(_whole(arrays, "convolution_image", 1, _IMAGE_NUMBERS))
    rows = _whole(arrays, "convolution_layers", 2, _COLUMNS)
    weights = _Stock(arrays["convolution_weights"], "convolution_weights")
    bias = _Stock(arrays["convolution_bias"], "convolution_bias")
    layers: list[IntegerConvolution | IntegerPooling] = []
    for row in rows.tolist():
        layer = _layer(row, shape, maximum, weights, bias)
        shape, maximum = layer.output_shape, layer.maximum
        layers.append(layer)
    weights.check_empty()
    bias.check_empty()
    return averages, tuple(layers), pixels


class _Stock:
    """A flat array that layers take their parts of, one after the other."""

    def __init__(self, array: NDArray[Any], name: str) -> None:
        self._left, self._name = array.ravel(), name

    def take(self, *shape: int) -> NDArray[Any]:
        size = int(np.prod(shape, dtype=object))
        if size > len(self._left):
            raise InputError(
                f"array {self._name!r} ends before its layers do; train the model again"
            )
        taken, self._left = self._left[:size], self._left[size:]
        return taken.reshape(shape)

    def check_empty(self) -> None:
        if len(self._left):
            raise InputError(
                f"array {self._name!r} has {len(self._left):,} values more than its layers; train "
                "the model again"
            )


def _layer(
    row: list[int], shape: ImageShape, maximum: int, weights: _Stock, bias: _Stock
) -> IntegerConvolution | IntegerPooling:
    how, side, stride, padded, depthwise, channels, *numbers = row
    if how >= len(_HOW) or max(padded, depthwise, numbers[-1]) > 1:
        raise InputError(
            "array 'convolution_layers' has a number that no layer has; train the model again"
        )
    if how:
        return IntegerPooling(shape, (side, stride), _HOW[how], maximum)  # type: ignore[arg-type]
    multiplier, shift, largest, bits, to_even = numbers
    taken = weights.take(channels, side, side, 1 if depthwise else shape[2])
    if not taken.size:
        raise InputError(
            "array 'convolution_layers' has a layer without weights; train the model again"
        )
    return IntegerConvolution(
        shape,
        taken,
        bias.take(channels),
        multiplier,
        shift,
        largest,
        maximum,
        stride,
        bool(padded),
        bits,
        bool(to_even),
    )


def _image(
    numbers: NDArray[np.int64],
) -> tuple[IntegerAveragePooling | None, ImageShape, int]:
    """Return averages, if any, and the shape and largest value of what the first layer takes."""
    height, width, channels, maximum, *others = numbers.tolist()
    if not any(others):
        return None, (height, width, channels), maximum
    cropped, pooled = (others[0], others[1]), (others[2], others[3])
    areas = Areas((height, width), cropped, pooled)
    averages = IntegerAveragePooling(areas, others[4], cuts=bool(others[5]))
    return averages, (*pooled, 1), averages.maximum


def _pixels(scale: NDArray[Any]) -> PixelScale:
    check_finite(scale, "convolution_pixels")
    if scale.shape != (2,) or scale[1] == 0 or abs(scale[0]) > _LARGEST_PIXEL:
        raise InputError(
            "array 'convolution_pixels' must be the zero of pixels and a step that is not 0; train "
            "the model again"
        )
    return PixelScale(float(scale[0]), float(scale[1]))


def _whole(arrays: Arrays, name: str, dimensions: int, columns: int) -> NDArray[np.int64]:
    array = arrays[name]
    fits = array.ndim == dimensions and array.size > 0 and array.shape[-1] == columns
    if not fits or int(array.min()) < 0 or int(array.max()) > _MOST:
        raise InputError(
            f"array {name!r} has the shape {array.shape}; it must have {columns} whole numbers of "
            f"0..{_MOST:,} in a row; train the model again"
        )
    return array
