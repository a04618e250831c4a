"""Pictures of points that are images, as small PNGs."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INK_AND_ALPHA = 4  # colour type: grey with alpha


def image_picture(ink: NDArray[np.float64], description: str) -> str:
    """Return an image (H, W) of ink, 0..1, as an element of a page.

    The ink is black and the rest is transparent, so that a dark page can make it white.
    """
    levels = np.round(255 * np.clip(ink, 0, 1)).astype(np.uint8)
    uri = f"data:image/png;base64,{base64.b64encode(_png(levels)).decode()}"
    height, width = ink.shape
    sizes = f'width="{width}" height="{height}"'
    return f'<img class="picture" alt="{escape(description)}" {sizes} src="{uri}">'


def _png(levels: NDArray[np.uint8]) -> bytes:
    """Return levels (H, W) as the alpha of a black image."""
    height, width = levels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _INK_AND_ALPHA, 0, 0, 0)
    pixels = np.zeros((height, width, 2), np.uint8)
    pixels[..., 1] = levels
    rows = b"".join(b"\x00" + row.tobytes() for row in pixels)  # no filter
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
