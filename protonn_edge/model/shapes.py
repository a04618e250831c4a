"""Shapes of images, and their text."""

from __future__ import annotations

Shape = tuple[int, int]
"""Height and width of an image."""

ImageShape = tuple[int, int, int]
"""Height, width and channels of an image, stored row by row with the channels innermost."""


def shape_text(shape: Shape) -> str:
    """Return a height and a width as on the command line, such as 16x16."""
    return f"{shape[0]}x{shape[1]}"


def image_text(shape: ImageShape) -> str:
    """Return height, width and, if there are several, channels as text: 12x12x5."""
    return shape_text(shape[:2]) + (f"x{shape[2]}" if shape[2] > 1 else "")
