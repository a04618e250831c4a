"""Convolution and pooling layers as part of the model: a network without its last layer.

All arithmetic is in integers, also in training; the features are the last layer's bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Arrays, check_type, checked_array, little_endian
from protonn_edge.chain.feature_stage import Facts, FeatureStage, Shape, Signal, check_sample_rate
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM, InputQuantizer
from protonn_edge.chain.integer_stage import IntegerStage, check_holds
from protonn_edge.chain.shapes import ImageShape, image_text, shape_text
from protonn_edge.errors import InputError, counted
from protonn_edge.features.average_pooling.pooling import Areas, IntegerAveragePooling
from protonn_edge.features.convolution.integers import IntegerConvolution, same_margins
from protonn_edge.features.deskew.deskew import BYTES, PixelScale
from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.features.window_features.scale import ChannelScale

Layer = IntegerConvolution | IntegerPooling | IntegerInt8Layer

_TYPES = {
    "convolution_layers": "i8",
    "convolution_image": "i8",
    "convolution_weights": "i1",
    "convolution_bias": "i8",
}
_PIXELS, _RATE = "convolution_pixels", "convolution_rate"
# Only in files with layers of quantized networks: the layers' numbers, and the bits of the
# multipliers and shifts of their channels.
_INT8_TYPES = {"int8_layers": "i8", "int8_scales": "i8"}
_HOW = ("convolution", "maximum", "average", "int8")
_COLUMNS, _INT8_COLUMNS = 13, 15
_IMAGE_NUMBERS = 10
_MOST = 65_535  # the largest integer in a file


@dataclass(frozen=True)
class Convolutions(FeatureStage):
    """Convolution and pooling layers of an image, which average pooling may first make smaller.

    An image one pixel wide is a window: its rows are samples of all channels.

    Raises `InputError` if the layers do not fit together.
    """

    kind: ClassVar[str] = "convolutions"
    does: ClassVar[str] = "has layers of convolutions"
    ARRAYS: ClassVar[tuple[str, ...]] = (*_TYPES, _PIXELS, _RATE, *_INT8_TYPES)
    smaller: ClassVar[tuple[str, ...]] = (
        "fewer channels in the layers",
        "a stride of 2 or averages in the first layer",
    )

    # at least one; each takes the previous layer's image and largest value
    layers: tuple[Layer, ...] = field(repr=False)
    # pools a larger image for the first layer
    averages: IntegerAveragePooling | None = field(default=None, repr=False)
    pixels: PixelScale | ChannelScale = BYTES  # converts raw pixels or samples to integers
    # sampling rate of a window, for reading the sensor; no value depends on it
    rate: float | None = field(default=None, repr=False)
    digest: str = field(init=False)  # SHA-256 of all numbers except `pixels`, in hexadecimal

    def __post_init__(self) -> None:
        layers = self.layers
        if not layers:
            raise InputError("there are no convolution layers; give at least one")
        linked: tuple[Layer, ...] = ()
        for number, layer in reversed([*enumerate(layers)]):
            linked = replace(layer, by_rows=number > 0, behind=linked), *linked
        object.__setattr__(self, "layers", linked)
        _check_chain(self)
        check_sample_rate(self.rate)
        signal, scales = self.signal, self.pixels.quantizer().zero
        if len(scales) != 1 and (signal is None or len(scales) != signal.channels):
            raise InputError(
                f"array {_PIXELS!r} has scales for {len(scales)} channels, but the layers take "
                f"{image_text(self.image_shape)}; train the model again"
            )
        object.__setattr__(self, "digest", _digest(self.to_arrays()))

    @property
    def title(self) -> str:
        """The name of layers of quantized networks, the last of which computes scores."""
        return (
            "int8 layers" if any(isinstance(each, IntegerInt8Layer) for each in self.layers) else ""
        )

    @property
    def image_shape(self) -> ImageShape:
        """Height, width and channels of a raw point."""
        if self.averages is None:
            return self.layers[0].shape
        height, width = self.averages.pooling.image_shape
        return (height, width, 1) if self.layers[0].shape[2] == 1 else (height, 1, width)

    @property
    def n_features(self) -> int:
        """Number of values of the image."""
        return prod(self.image_shape)

    @property
    def n_outputs(self) -> int:
        """Number of values of the last layer."""
        return self.layers[-1].n_outputs

    @property
    def scale(self) -> InputQuantizer:
        """The conversion of all pixels, or of each channel of a window, to integers."""
        own = self.pixels.quantizer(BYTE_MAXIMUM if self.averages else self.layers[0].input_maximum)
        channels = 1 if self.signal is None else self.signal.channels
        return replace(own, zero=np.resize(own.zero, channels), step=np.resize(own.step, channels))

    @property
    def signal(self) -> Signal | None:
        """The window, if points are windows."""
        height, width, channels = self.image_shape
        return Signal(height, channels, self.rate) if width == 1 < height else None

    @property
    def whole_maximum(self) -> int:
        """The largest value of the last layer."""
        return self.layers[-1].maximum

    @property
    def drawn_shape(self) -> Shape | None:
        """The shape of an image of one channel, or of a window of one."""
        height, width, channels = self.image_shape
        return (height, width) if channels == 1 < width else super().drawn_shape

    def features_of(self, X: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the values (n, D) of images X (n, features)."""
        values = self.to_bytes(X)
        if self.averages is not None:
            values = self.averages.run(values)
        for layer in self.layers:
            values = layer.run(values)
        return values

    def integer_stages(self, inputs: InputQuantizer) -> tuple[IntegerStage, ...]:
        """Return the layers; the classifier uses their values unchanged."""
        same = not inputs.zero.any() and bool((inputs.step == 1).all())
        fits = same and inputs.maximum == self.whole_maximum
        what = f"a classifier that rescales the last layer's values of 0 to {self.whole_maximum}"
        check_holds(fits, what, "classifiers that take them unchanged")
        return self.layers if self.averages is None else (self.averages, *self.layers)

    def to_arrays(self) -> Arrays:
        """Return the arrays of all layers; docs/model-file.md explains them."""
        own = [layer for layer in self.layers if not isinstance(layer, IntegerPooling)]
        image = [*self.image_shape, self.scale.maximum] + [0] * 6
        if self.averages is not None:
            areas, maximum, cuts = self.averages.pooling, self.averages.maximum, self.averages.cuts
            image[4:] = [*areas.cropped_shape, *areas.shape, maximum, cuts]
        return {
            "convolution_layers": np.array([_row(layer) for layer in self.layers], np.int64),
            "convolution_image": np.array(image, np.int64),
            "convolution_weights": _joined([layer.weights for layer in own], np.int8),
            "convolution_bias": _joined([layer.bias for layer in own], np.int64),
            _PIXELS: self.pixels.to_array(),
            **({} if self.rate is None else {_RATE: np.array([self.rate])}),
            **_int8_arrays(self.layers),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self | None:
        """Return the stage of a model file's arrays, or None."""
        if not any(name in arrays for name in cls.ARRAYS):
            return None
        for name, wanted in (_TYPES | _INT8_TYPES).items():
            if name in arrays:
                check_type(arrays[name], name, wanted)
            elif name in _TYPES:
                raise InputError(f"array {name!r} is missing; train the model again")
        image = _whole(arrays, "convolution_image", 1, _IMAGE_NUMBERS)
        of_channels = _PIXELS in arrays and arrays[_PIXELS].ndim > 1
        pixels = (ChannelScale if of_channels else PixelScale).from_arrays(arrays, _PIXELS)
        averages, shape, maximum = _image(image)
        rate = checked_array(arrays, _RATE, "f8", (1,)).item() if _RATE in arrays else None
        rows = _whole(arrays, "convolution_layers", 2, _COLUMNS)
        stock = _Stock(arrays)
        layers: list[Layer] = []
        for row in rows.tolist():
            layer = _layer(row, shape, maximum, stock)
            shape, maximum = layer.output_shape, layer.maximum
            layers.append(layer)
        stock.check_empty()
        return cls(tuple(layers), averages, pixels, rate)

    def describe(self, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002  (pixels have none)
        """Return the shapes of the image and of all layers, with their windows and weights."""
        averages = self.averages
        return {
            "image_shape": list(self.image_shape),
            "sample_rate": self.rate,
            "averaged_shape": None if averages is None else list(averages.pooling.shape),
            "layers": [_described(layer) for layer in self.layers],
        }

    def facts(self, names: Sequence[str]) -> Facts:
        """Return the size of the images or windows, and the output of each layer."""
        averaged = self.averages
        shape = image_text(self.image_shape) if self.signal is None else self.signal.text(names)
        image = f"{self.n_features:,}: {shape}"
        if averaged is not None:
            image += f", averaged to {image_text(self.layers[0].shape)}"
        layers = ", ".join(_layer_text(layer) for layer in self.layers)
        return (("features", image), ("layers", layers), ("values D", f"{self.n_outputs:,}"))


def _check_chain(stage: Convolutions) -> None:
    given: tuple[ImageShape, int] | None = None
    if stage.averages is not None:
        given = _averaged(stage.averages, stage.image_shape), stage.averages.maximum
    for number, layer in enumerate(stage.layers, 1):
        if given not in (None, (layer.shape, layer.input_maximum)):
            assert given is not None
            raise InputError(
                f"layer {number} takes {image_text(layer.shape)} with values up to "
                f"{layer.input_maximum}, but receives {image_text(given[0])} with values up to "
                f"{given[1]}; train the model again"
            )
        given = layer.output_shape, layer.maximum


def _described(layer: Layer) -> dict[str, Any]:
    own: dict[str, Any] = {"kind": layer.kind, "output_shape": list(layer.output_shape)}
    own["window"] = list(layer.window)
    if isinstance(layer, IntegerPooling):
        return own | {"how": layer.how}
    return own | {
        "stride": list(layer.stride),
        "margins": [list(pair) for pair in layer.margins],
        "depthwise": layer.depthwise,
        "weight_bits": layer.weight_bits,
        "maximum": layer.maximum,
        "accumulator_range": list(layer.accumulators.ends),
    }


def _layer_text(layer: Layer) -> str:
    what = "maxima" if isinstance(layer, IntegerPooling) and layer.how == "maximum" else "averages"
    if not isinstance(layer, IntegerPooling):
        window = shape_text(layer.weights.shape[1:3])
        what = f"{'depthwise ' if layer.depthwise else ''}{window} kernels"
    return f"{image_text(layer.output_shape)} from {what}"


def _joined(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *(part.ravel() for part in parts)]).astype(dtype)


def _row(layer: Layer) -> list[int]:
    if isinstance(layer, IntegerPooling):
        return [_HOW.index(layer.how), *layer.window] + [0] * (_COLUMNS - 3)
    if isinstance(layer, IntegerInt8Layer):
        return [_HOW.index("int8")] + [0] * (_COLUMNS - 1)
    padded = any(map(any, layer.margins))
    window = *layer.window, layer.stride[0], padded, layer.depthwise, len(layer.weights)
    numbers = layer.multiplier, layer.shift, layer.maximum, layer.weight_bits
    return [0, *window, *numbers, layer.to_even, layer.padding_value]


def _int8_arrays(layers: Sequence[Layer]) -> Arrays:
    """Return the arrays that only layers of quantized networks need."""
    own = [layer for layer in layers if isinstance(layer, IntegerInt8Layer)]
    if not own:
        return {}
    rows = [
        [
            *(*layer.weights.shape[:3], layer.depthwise, *layer.stride),
            *(*layer.margins[0], *layer.margins[1], layer.padding_value),
            *(layer.offset, *layer.limits, layer.rounds_once),
        ]
        for layer in own
    ]
    numbers = [[layer.multipliers for layer in own], [layer.shifts for layer in own]]
    scales = np.stack([_joined(each, np.int64) for each in numbers], axis=1)
    return {"int8_layers": np.array(rows, np.int64), "int8_scales": scales}


def _digest(arrays: Arrays) -> str:
    """Return the SHA-256, in hexadecimal, of all numbers of the layers and of average pooling."""
    hashed = hashlib.sha256()
    counted = {name: array for name, array in arrays.items() if name != _RATE}
    for name, array in (counted | {_PIXELS: np.array([0.0, 1.0])}).items():
        little = little_endian(array)
        hashed.update(f"{name}{little.shape}".encode() + little.tobytes())
    return hashed.hexdigest()


class _Stock:
    """Flat arrays from which layers take their parts, one after the other."""

    def __init__(self, arrays: Arrays) -> None:
        names = ("convolution_weights", "convolution_bias", *_INT8_TYPES)
        self._left = {name: arrays.get(name, np.zeros(0, np.int64)).ravel() for name in names}

    def take(self, name: str, *shape: int) -> NDArray[Any]:
        size, left = int(np.prod(shape, dtype=object)), self._left[name]
        if size > len(left):
            raise InputError(
                f"array {name!r} has fewer values than the layers need; train the model again"
            )
        self._left[name] = left[size:]
        return left[:size].reshape(shape)

    def weights(self, *shape: int) -> NDArray[Any]:
        """Return the weights of the next layer; `InputError` if it has none."""
        weights = self.take("convolution_weights", *shape)
        if not weights.size:
            raise InputError(
                "array 'convolution_layers' has a layer without weights; train the model again"
            )
        return weights

    def check_empty(self) -> None:
        for name, left in self._left.items():
            if len(left):
                raise InputError(
                    f"array {name!r} has {counted(len(left), 'more value')} than the layers use; "
                    "train the model again"
                )


def _layer(row: list[int], shape: ImageShape, maximum: int, stock: _Stock) -> Layer:
    how, height, width, stride, padded, depthwise, channels, *numbers = row
    if how >= len(_HOW) or max(padded, depthwise, numbers[-2]) > 1:
        raise InputError(
            "array 'convolution_layers' has a row that describes no valid layer; train the model "
            "again"
        )
    if _HOW[how] == "int8":
        return _int8_layer(shape, maximum, stock)
    if how:
        return IntegerPooling(shape, (height, width), _HOW[how], maximum)  # type: ignore[arg-type]
    multiplier, shift, largest, bits, to_even, padding = numbers
    taken = stock.weights(channels, height, width, 1 if depthwise else shape[2])
    scaling = multiplier, shift, largest, maximum
    bias = stock.take("convolution_bias", channels)
    moves: dict[str, Any] = {"stride": (stride, stride), "padding_value": padding}
    if padded:
        moves["margins"] = same_margins((height, width))
    return IntegerConvolution(shape, taken, bias, *scaling, bits, bool(to_even), **moves)


def _int8_layer(shape: ImageShape, maximum: int, stock: _Stock) -> IntegerInt8Layer:
    row = stock.take("int8_layers", _INT8_COLUMNS)
    valid = row.min() >= 0 and row.max() <= _MOST and max(row[3], row[-1]) <= 1
    if not valid or maximum != IntegerInt8Layer.input_maximum:
        raise InputError(
            "array 'int8_layers' has a row that describes no valid layer; convert the network again"
        )
    out, height, width, depthwise, *numbers = row.tolist()
    taken = stock.weights(out, height, width, 1 if depthwise else shape[2])
    down, across, above, below, left, right, padding, offset, low, high, once = numbers
    scales = stock.take("int8_scales", out, 2)
    return IntegerInt8Layer(
        shape,
        taken,
        stock.take("convolution_bias", out),
        *(scales[:, 0], scales[:, 1]),
        offset,
        (low, high),
        bool(once),
        stride=(down, across),
        margins=((above, below), (left, right)),
        padding_value=padding,
    )


def _image(numbers: NDArray[np.int64]) -> tuple[IntegerAveragePooling | None, ImageShape, int]:
    """Return the average pooling or None, and the first layer's input: shape and largest value."""
    height, width, channels, maximum, *others = numbers.tolist()
    if not any(others):
        return None, (height, width, channels), maximum
    cropped, pooled = (others[0], others[1]), (others[2], others[3])
    areas = Areas((height, width * channels), cropped, pooled)
    averages = IntegerAveragePooling(areas, others[4], cuts=bool(others[5]))
    return averages, _averaged(averages, (height, width, channels)), averages.maximum


def _averaged(averages: IntegerAveragePooling, shape: ImageShape) -> ImageShape:
    """Return the shape of an image, or of a window's channels, after average pooling."""
    height, width = averages.pooling.shape
    return (height, width, 1) if shape[2] == 1 else (height, 1, width)


def _whole(arrays: Arrays, name: str, dimensions: int, columns: int) -> NDArray[np.int64]:
    array = arrays[name]
    fits = array.ndim == dimensions and array.size > 0 and array.shape[-1] == columns
    if not fits or int(array.min()) < 0 or int(array.max()) > _MOST:
        raise InputError(
            f"array {name!r} of shape {array.shape} does not have {columns} whole numbers from 0 "
            f"to {_MOST:,} in each row; train the model again"
        )
    return array
