"""The picture that a stage has of a point, for a report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seen:
    """A stage's view of a point that is an image, for a picture; positions are in pixels."""

    image: Float64  # (h, w): the crop of the image as the stage processes it, 0 (paper) to 1 (ink)
    # positions of lines between the areas of the stage
    rows: tuple[float, ...]
    columns: tuple[float, ...]
    strokes: Float64  # (n, 4): detected strokes as lines (x, y, dx, dy), longer if stronger
    words: str  # the meaning of the strokes, as a sentence
