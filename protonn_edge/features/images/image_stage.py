"""Stages that make an image of an image, both of bytes with channels, and hand over its rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from math import prod

from protonn_edge.chain.integer_stage import IntegerStage
from protonn_edge.features.images.cropped_image import shape_text

MOST_IN_A_ROW = 255
"""Pixels, or values, of a row: generated code counts them in a byte."""

ImageShape = tuple[int, int, int]
"""Height, width and channels of an image, which lies row by row, channels innermost."""


@dataclass(frozen=True, eq=False)
class ImageStage(IntegerStage):
    """A layer of a network."""

    shape: ImageShape  # height, width and channels of the image that comes in
    # whether a stage before it hands over whole rows of pixels
    by_rows: bool = field(default=False, kw_only=True)
    # the layers behind it, each of which takes the rows of the one before it
    behind: tuple[ImageStage, ...] = field(default=(), kw_only=True, repr=False)

    @property
    @abstractmethod
    def output_shape(self) -> ImageShape:
        """Height, width and channels of the image that it gives."""

    @property
    def to_rows(self) -> bool:
        """Whether the stage behind it takes whole rows."""
        return bool(self.behind)

    @property
    def padding(self) -> int:
        """Pixels of 0 on each side of the image."""
        return 0

    @property
    @abstractmethod
    def lines(self) -> int:
        """Rows of the image that it needs at once."""

    @property
    def line_bytes(self) -> int:
        """SRAM of one of them, with what lies around it."""
        _, width, channels = self.shape
        return (width + 2 * self.padding) * channels

    @abstractmethod
    def completes_at(self, row: int) -> bool:
        """Return whether this row of the image, padding counted, completes one of the output."""

    def writes_at(self, row: int) -> bool:
        """Return whether a row of the output is written to then."""
        return self.completes_at(row)

    @property
    def n_inputs(self) -> int:
        """Values of the image that comes in."""
        return prod(self.shape)

    @property
    def n_outputs(self) -> int:
        """Values of the image that it gives."""
        return prod(self.output_shape)


def image_text(shape: ImageShape) -> str:
    """Return a height, a width, and the channels where these are several: 12x12x5."""
    return shape_text(shape[:2]) + (f"x{shape[2]}" if shape[2] > 1 else "")
