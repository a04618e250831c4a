"""Deskew in integers: shift rows of bytes by whole pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.chain.integer_stage import IntegerStage, Range
from protonn_edge.features.deskew.deskew import BYTES, deskewed
from protonn_edge.features.images.cropped_image import CroppedImage


@dataclass(frozen=True, eq=False)
class IntegerDeskew(IntegerStage):
    """Maps an image of bytes to its crop after shifting its rows."""

    kind: ClassVar[str] = "deskew"

    image: CroppedImage  # the shapes of the image and of its crop

    @property
    def n_inputs(self) -> int:
        """Pixels of the image."""
        return self.image.n_features

    @property
    def n_outputs(self) -> int:
        """Pixels of the crop."""
        return self.image.rows.pixels * self.image.columns.pixels

    @property
    def output(self) -> Range:
        """The range of the pixels."""
        return Range.of_bytes(self.n_outputs, BYTE_MAXIMUM)

    def run(self, x: NDArray[Any]) -> NDArray[np.uint8]:
        """Return the pixels of the crop, (n, h w), of images of bytes (n, H W)."""
        straight = deskewed(x.reshape(-1, *self.image.image_shape), BYTES)
        return self.image.cropped(straight).reshape(len(x), -1).astype(np.uint8)
