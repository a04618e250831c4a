"""Images that are not digits: letters in fonts, letters drawn with a pen, and noise."""

from __future__ import annotations

import string
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

Images = NDArray[np.float64]
Font = tuple[str, Literal["normal", "italic", "oblique"], str]  # family, style, weight

LETTERS = string.ascii_letters

_FONTS: tuple[Font, ...] = (  # matplotlib brings them along: the same everywhere
    ("DejaVu Sans", "normal", "normal"),
    ("DejaVu Sans", "normal", "bold"),
    ("DejaVu Sans", "oblique", "normal"),
    ("DejaVu Sans", "oblique", "bold"),
    ("DejaVu Serif", "normal", "normal"),
    ("DejaVu Serif", "normal", "bold"),
    ("DejaVu Serif", "italic", "normal"),
    ("DejaVu Sans Mono", "normal", "normal"),
    ("STIXGeneral", "normal", "normal"),
    ("STIXGeneral", "italic", "normal"),
)
_FINER = 4  # points a pixel and side

# Strokes of a pen, as points on a grid of 4 x 6, each a column and a row from below.
_STROKES = {
    "A": "002640 1333",
    "B": "0006 0636454433 033342413000",
    "C": "4536160501103041",
    "D": "00062644422000",
    "E": "46060040 0333",
    "F": "460600 0333",
    "G": "45361605011030414323",
    "H": "0006 4046 0343",
    "I": "2026",
    "J": "4641301001",
    "K": "0006 460340",
    "L": "060040",
    "M": "0006234640",
    "N": "00064046",
    "O": "160501103041453616",
    "P": "00063645443303",
    "Q": "160501103041453616 2240",
    "R": "00063645443303 2340",
    "S": "453616050413334241301001",
    "T": "0646 2620",
    "U": "060110304146",
    "V": "062046",
    "W": "0610233046",
    "X": "0640 0046",
    "Y": "062346 2320",
    "Z": "06460040",
}
_DRAWN = 20  # of each letter


@dataclass(frozen=True)
class Canvas:
    """How a set of images shows a digit.

    Attributes
    ----------
    side : int
        Pixels of the image, which is square.
    box : int
        Pixels of the square that a digit fills; it is in the middle.
    paper, ink : float
        Raw values.
    by_mass : bool
        Whether the middle is that of the ink, and not of the box.
    """

    side: int
    box: int
    paper: float
    ink: float
    by_mass: bool = False

    def raw(self, boxes: Images) -> Images:
        """Return ink, 0..1 in boxes (n, box, box), as raw points (n, side^2)."""
        images = np.zeros((len(boxes), self.side, self.side))
        for image, box in zip(images, boxes, strict=True):
            top = left = (self.side - self.box) // 2
            if self.by_mass:
                place = np.arange(self.box) + 0.5
                middle = [box.sum(axis=axis) @ place / box.sum() for axis in (1, 0)]
                top, left = (
                    min(max(round(self.side / 2 - m), 0), self.side - self.box) for m in middle
                )
            image[top : top + self.box, left : left + self.box] = box
        return self.paper + (self.ink - self.paper) * images.reshape(len(images), -1)


def printed_letters(canvas: Canvas) -> Images:
    """Return every letter in every font, (n, side^2)."""
    boxes = [_printed(letter, font, canvas.box) for font in _FONTS for letter in LETTERS]
    return canvas.raw(np.array(boxes))


def _printed(letter: str, font: Font, side: int) -> Images:
    family, style, weight = font
    outline = TextPath((0, 0), letter, 100, FontProperties(family, style, weight=weight))
    low, high = outline.vertices.min(axis=0), outline.vertices.max(axis=0)
    fine = (np.arange(side * _FINER) + 0.5) / (side * _FINER) - 0.5
    x, y = np.meshgrid(fine, -fine)
    points = np.column_stack([x.ravel(), y.ravel()]) * (high - low).max() + (low + high) / 2
    inside = np.zeros(len(points), np.bool_)
    for contour in outline.to_polygons(closed_only=True):
        inside ^= Path(contour).contains_points(points)  # a hole is a contour in another
    image: Images = inside.reshape(side, _FINER, side, _FINER).mean(axis=(1, 3))
    return image


def drawn_letters(canvas: Canvas, generator: np.random.Generator) -> Images:
    """Return capitals in an unsteady hand, (n, side^2)."""
    every = [strokes for strokes in _STROKES.values() for _ in range(_DRAWN)]
    return canvas.raw(np.array([_drawn(strokes, canvas.box, generator) for strokes in every]))


def _drawn(strokes: str, side: int, generator: np.random.Generator) -> Images:
    """Return the ink of strokes whose points, slant, turn, size and width are a little random."""
    angle, slant = generator.normal(0, 0.08), generator.normal(0, 0.15)
    size = generator.uniform(0.85, 1.0, 2) * side / 7.5
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shape = turn @ np.array([[1, slant], [0, 1]]) * size[:, None]
    y, x = (np.indices((side, side)) + 0.5).reshape(2, -1)
    pixels = np.column_stack([x, side - y])
    distance = np.full(side * side, np.inf)
    for stroke in strokes.split():
        grid = np.array([[int(digit) for digit in stroke]], float).reshape(-1, 2) - (2, 3)
        points = (grid + generator.normal(0, 0.12, grid.shape)) @ shape.T + side / 2
        for begin, end in pairwise(points):
            along = (pixels - begin) @ (end - begin) / max(1e-9, float(np.sum((end - begin) ** 2)))
            foot = begin + np.clip(along, 0, 1)[:, None] * (end - begin)
            distance = np.minimum(distance, np.linalg.norm(pixels - foot, axis=1))
    radius = generator.uniform(0.045, 0.075) * side
    return np.clip(radius + 0.5 - distance, 0, 1).reshape(side, side)


def noise_kinds(
    points: Images, canvas: Canvas, generator: np.random.Generator
) -> dict[str, Images]:
    """Return what is made of digits (n, side^2) without a pen: from the easy to the hard."""
    images = points.reshape(-1, canvas.side, canvas.side)
    low, high = sorted((canvas.paper, canvas.ink))
    return {
        "uniform noise": generator.uniform(low, high, points.shape),
        "pixels permuted": points[:, generator.permutation(points.shape[1])],
        "each permuted": generator.permuted(points, axis=1),
        "negative": canvas.paper + canvas.ink - points,
        "turned": np.rot90(images, 1, (1, 2)).reshape(points.shape),
    }
