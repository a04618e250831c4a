"""The layers of a network as text: ``average2,8x5/2p,dw3,16x1,max2,average``.

- ``average2`` in front averages areas of 2x2 pixels of the image itself (2 to 8);
- ``8x3`` is a convolution with 8 channels and kernels of 3x3 pixels (1, 3 or 5);
- ``dw3`` has one kernel for each channel that there is (depthwise);
- ``/2`` after either: every other place only; ``p``: a margin of zeros, so that none are lost;
- ``max2`` and ``average2`` make one value of 2x2 pixels, ``max`` and ``average`` of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from protonn_edge.errors import InputError

MOST_LAYERS = 12
MOST_CHANNELS = 128
_CONVOLUTION = re.compile(r"(?:([1-9][0-9]{0,2})x|dw)([135])(/2)?(p)?")
_FIRST = re.compile(r"average([2-8])")
_POOLING = re.compile(r"(max|average)(2)?")


@dataclass(frozen=True)
class ConvolutionLayout:
    """A convolution: its channels (None: one kernel for each that there is), kernel and stride."""

    channels: int | None
    kernel: int
    stride: int = 1
    padded: bool = False

    @property
    def depthwise(self) -> bool:
        """Whether each channel has its own kernel."""
        return self.channels is None

    @property
    def padding(self) -> int:
        """Zeros around the image."""
        return (self.kernel - 1) // 2 if self.padded else 0

    def channels_of(self, channels: int) -> int:
        """Return the number of output channels."""
        return self.channels or channels

    def side_of(self, side: int) -> int:
        """Return the output pixels along a side; below 1 if the image is too small."""
        return (side + 2 * self.padding - self.kernel) // self.stride + 1

    def __str__(self) -> str:
        begin = "dw" if self.channels is None else f"{self.channels}x"
        return f"{begin}{self.kernel}{'/2' * (self.stride == 2)}{'p' * self.padded}"


@dataclass(frozen=True)
class PoolingLayout:
    """A pooling: of averages or maxima, of 2x2 pixels or of all."""

    average: bool
    everywhere: bool = False
    window: tuple[int, int] = (2, 2)  # of imported networks others, too

    def channels_of(self, channels: int) -> int:
        """Return the number of output channels."""
        return channels

    def side_of(self, side: int) -> int:
        """Return the output pixels along a side."""
        return 1 if self.everywhere else side // 2

    def __str__(self) -> str:
        return f"{'average' if self.average else 'max'}{'' if self.everywhere else '2'}"


Layout = ConvolutionLayout | PoolingLayout


def read_network(text: str) -> tuple[int, tuple[Layout, ...]]:
    """Return the side of the areas that the image is averaged over, 1 for none, and the layers.

    Raises `InputError` if the text has no layers, too many, or an unknown one.
    """
    first, *others = text.replace(" ", "").split(",")
    found = _FIRST.fullmatch(first)
    return (int(found[1]), read_layers(",".join(others))) if found else (1, read_layers(text))


def read_layers(text: str) -> tuple[Layout, ...]:
    """Return the layers of a text; raises `InputError` as `read_network`."""
    layers = tuple(_layer(part.strip()) for part in text.split(","))
    if len(layers) > MOST_LAYERS:
        raise InputError(
            f"there are {len(layers)} convolution layers, but the limit is {MOST_LAYERS}; leave "
            "some out"
        )
    if not isinstance(layers[0], ConvolutionLayout):
        raise InputError(
            f"the first layer of a network is {layers[0]!s}; begin with a convolution, such as "
            "8x3, or with averages of the image and then a convolution, such as average2,8x3"
        )
    return layers


def _layer(part: str) -> Layout:
    found = _POOLING.fullmatch(part)
    if found:
        return PoolingLayout(found[1] == "average", everywhere=found[2] is None)
    found = _CONVOLUTION.fullmatch(part)
    channels = None if found is None or found[1] is None else int(found[1])
    if found is None or (channels is not None and channels > MOST_CHANNELS):
        raise InputError(
            f"a layer of convolutions is {part[:20]!r}; it must be channels (up to "
            f"{MOST_CHANNELS}) x kernel (1, 3 or 5), such as 8x3, 8x3/2 or 8x5p, or dw3, max2, "
            "average2, max or average"
        )
    return ConvolutionLayout(channels, int(found[2]), 2 if found[3] else 1, found[4] is not None)


def shapes_of(layers: tuple[Layout, ...], shape: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield height, width and channels of an image of one channel, and of each layer's output.

    Raises `InputError` if nothing is left of the image.
    """
    height, width, channels = *shape, 1
    yield height, width, channels
    for layer in layers:
        before = f"{height}x{width}"
        height, width = layer.side_of(height), layer.side_of(width)
        channels = layer.channels_of(channels)
        if min(height, width) < 1:
            raise InputError(
                f"the layer {layer!s} needs a larger image than the {before} pixels that remain "
                "there; leave layers out, or pad with p"
            )
        yield height, width, channels
