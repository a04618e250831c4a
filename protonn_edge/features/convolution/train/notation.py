"""The layers of a network as text: ``average2,8x5/2p,dw3,16x1,max2,average``.

- ``average2`` in front averages areas of 2x2 pixels of the image itself (2 to 8);
- ``8x3`` is a convolution with 8 channels and kernels of 3x3 pixels (1, 3 or 5);
- ``dw3`` has one kernel for each input channel (depthwise);
- ``/2`` after either is a stride of 2; ``p`` pads with zeros, so that no position is lost;
- ``max2`` and ``average2`` pool 2x2 pixels, ``max`` and ``average`` all pixels.

A window of samples is an image one pixel wide, with one sample per row: there, ``8x3`` has kernels
of 3 samples of all channels, and ``max2`` pools 2 samples.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from protonn_edge.model.shapes import ImageShape
from protonn_edge.system.checks import check_most
from protonn_edge.system.errors import InputError

MOST_LAYERS = 12
MOST_CHANNELS = 128
_CONVOLUTION = re.compile(r"(?:([1-9][0-9]{0,2})x|dw)([135])(/2)?(p)?")
_FIRST = re.compile(r"average([2-8])")
_POOLING = re.compile(r"(max|average)(2)?")


@dataclass(frozen=True)
class ConvolutionLayout:
    """A convolution: its channels (None if depthwise), kernel and stride."""

    channels: int | None
    window: tuple[int, int]  # height and width of a kernel
    stride: int = 1
    padded: bool = False
    padding_value: int = 0  # around the image

    @property
    def depthwise(self) -> bool:
        """Whether each channel has its own kernel."""
        return self.channels is None

    @property
    def padding(self) -> tuple[int, int]:
        """Rows above and below the image, and pixels to its left and right."""
        height, width = self.window
        return ((height - 1) // 2, (width - 1) // 2) if self.padded else (0, 0)

    def shape_of(self, shape: ImageShape) -> ImageShape:
        """Return the shape of the output; sides are below 1 if the image is too small."""
        sides = zip(shape[:2], self.padding, self.window, strict=True)
        height, width = ((n + 2 * more - side) // self.stride + 1 for n, more, side in sides)
        return height, width, self.channels or shape[2]

    def __str__(self) -> str:
        begin = "dw" if self.channels is None else f"{self.channels}x"
        return f"{begin}{self.window[0]}{'/2' * (self.stride == 2)}{'p' * self.padded}"


@dataclass(frozen=True)
class PoolingLayout:
    """A pooling: of averages or maxima, of 2x2 pixels or of all."""

    average: bool
    everywhere: bool = False
    window: tuple[int, int] = (2, 2)  # imported networks may have others

    def window_of(self, height: int, width: int) -> tuple[int, int]:
        """Return the rows and columns that are pooled in an image of this size."""
        return (height, width) if self.everywhere else self.window

    def shape_of(self, shape: ImageShape) -> ImageShape:
        """Return the shape of the output; sides are below 1 if the image is too small."""
        height, width, channels = shape
        rows, columns = self.window_of(height, width)
        return height // rows, width // columns, channels

    def __str__(self) -> str:
        return f"{'average' if self.average else 'max'}{'' if self.everywhere else '2'}"


Layout = ConvolutionLayout | PoolingLayout


def read_network(text: str, *, signal: bool = False) -> tuple[int, tuple[Layout, ...]]:
    """Return the side of the areas averaged first, 1 for none, and the layers.

    With `signal`, the image is a window of samples, and all areas and kernels are one pixel wide.

    Raises `InputError` if the text has no layers, too many, or an unknown one.
    """
    first, *others = text.replace(" ", "").split(",")
    match = _FIRST.fullmatch(first)
    side, rest = (int(match[1]), ",".join(others)) if match else (1, text)
    return side, read_layers(rest, signal=signal)


def read_layers(text: str, *, signal: bool = False) -> tuple[Layout, ...]:
    """Return the layers of a text; raises `InputError` as `read_network`."""
    layers = tuple(_layer(part.strip(), signal) for part in text.split(","))
    check_most("the network", len(layers), MOST_LAYERS, "layers", "leave some out")
    if not isinstance(layers[0], ConvolutionLayout):
        raise InputError(
            f"the first layer of a network is {layers[0]!s}; begin with a convolution, such as "
            "8x3, or with averages of the image and then a convolution, such as average2,8x3"
        )
    return layers


def _layer(part: str, signal: bool) -> Layout:
    match = _POOLING.fullmatch(part)
    if match:
        return PoolingLayout(match[1] == "average", match[2] is None, (2, 1 if signal else 2))
    match = _CONVOLUTION.fullmatch(part)
    channels = None if match is None or match[1] is None else int(match[1])
    if match is None or (channels is not None and channels > MOST_CHANNELS):
        raise InputError(
            f"the layer {part[:20]!r} is unknown; give a number of channels (up to "
            f"{MOST_CHANNELS}) and the side of a kernel (1, 3 or 5), such as 8x3, 8x3/2 or 8x5p, "
            "or one of dw3, max2, average2, max and average"
        )
    side = int(match[2])
    window = side, 1 if signal else side
    return ConvolutionLayout(channels, window, 2 if match[3] else 1, match[4] is not None)


def shapes_of(layers: tuple[Layout, ...], shape: ImageShape) -> Iterator[ImageShape]:
    """Yield the shapes of an image and of each layer's output.

    Raises `InputError` if a layer leaves nothing of the image.
    """
    yield shape
    for layer in layers:
        height, width, _ = shape
        shape = layer.shape_of(shape)
        if min(shape) < 1:
            raise InputError(
                f"the layer {layer!s} does not fit in the {height}x{width} values that the layers "
                "before it produce; leave some layers out, or add p to earlier ones, as in 8x3p"
            )
        yield shape
