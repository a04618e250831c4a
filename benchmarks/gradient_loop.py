"""The loop that sums gradients over an image's pixels, measured alone and compared with its floor.

The row belongs to the table of `kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.gradients.integers import Bytes, Cells, gradients
from protonn_edge.features.gradients.loop import GradientLoops

STAGE = Cells((28, 28), (28, 28), (4, 4))

PROGRAM = """
#include <avr/io.h>
#include "pnn_model.c"
static const pnn_input_t image[PNN_FEATURES] PNN_FLASH = { %s };
static PNN_NOINLINE void mark(const pnn_input_t *below, pnn_input_t *above, pnn_input_t *left)
{
    GPIOR0 = 1;
    gradients_add_row(below, below, below + GRADIENTS_ROW_PIXELS, above, left);
    GPIOR0 = 0;
}
int main(void)
{
    static pnn_input_t row[GRADIENTS_ROW_PIXELS];
    gradients_begin();
    for (uint16_t y = 0; y <= PNN_FEATURES / GRADIENTS_ROW_PIXELS; ++y) {
        for (uint8_t x = 0; x < GRADIENTS_ROW_PIXELS; ++x) {
            const uint16_t at = (uint16_t)(y * GRADIENTS_ROW_PIXELS + x);
            row[x] = at < PNN_FEATURES ? PNN_READ_U8(&image[at]) : 0;
        }
        pnn_input_t *above = (y & 1 ? GRADIENTS_LINE(1) : GRADIENTS_LINE(0)) + 1;
        pnn_input_t *left = y & 1 ? GRADIENTS_LINE(0) : GRADIENTS_LINE(1);
        if (y == 0) {
            gradients_take(row, row, row + GRADIENTS_ROW_PIXELS, GRADIENTS_ROW_PIXELS);
            continue;
        }
        mark(row, above, left);
        gradients_next_row();
    }
    for (;;) {
    }
}
"""

ROW_CALL, RUN = 8, 4 + 3 + 3 + 2
PIXEL, GRADIENT = 8 + 2 + 3 + 3, 1 + 3 + 2
SIGN_NOTED, SIGN_NOT_NOTED, SHARED, NOT_SHARED = 3, 2, 2, 2
HALVED, DIAGONAL, PLACE = 1, 3, 2
SUM, OVERFLOWN = 5, {False: 2, True: 6}


def drawn_image() -> Bytes:
    """Return a ring and a stroke, soft as those of a scanned digit, (28, 28)."""
    y, x = np.mgrid[:28, :28]
    ring = np.abs(np.hypot(y - 9, x - 14) - 5)
    stroke = np.abs(x - 19 + (y - 9) / 4) + 9.0 * ((y < 9) | (y > 23))
    image: Bytes = np.clip(255 * (2.2 - np.minimum(ring, stroke)), 0, 255).astype(np.uint8)
    return image


def program(image: Bytes) -> str:
    """Return a program that marks the loop over each row."""
    return PROGRAM % ", ".join(map(str, image.ravel().tolist()))


def rows() -> int:
    """Return how many loops over a row it marks."""
    return STAGE.rows.pixels


def planned_cycles(image: Bytes) -> float:
    """Return what the planner expects of the loop, on average of such images."""
    return GradientLoops(STAGE, shift=4).all_pixels(STAGE.active(image[None]))


def count_gradients(image: Bytes) -> int:
    """Return how many pixels have one."""
    return int(np.count_nonzero(gradients(image[None], 8)[0]))


def floor_cycles(image: Bytes) -> int:
    """Return the least cycles of the loop's method on an image; see the text of `kernels`."""
    magnitudes, directions = (each[0] for each in gradients(image[None], 8))
    low_bytes = np.zeros((*STAGE.cells, 8), np.uint8)
    floor = rows() * (ROW_CALL + RUN * len(STAGE.columns.runs))
    for y, (row, row_shared) in enumerate(STAGE.rows.places):
        for x, (column, column_shared) in enumerate(STAGE.columns.places):
            floor += PIXEL
            if magnitudes[y, x] == 0:
                continue
            floor += GRADIENT + _direction_cycles(image, y, x)
            floor += 2 * NOT_SHARED + HALVED * (row_shared + column_shared)
            counted = int(magnitudes[y, x]) >> (row_shared + column_shared)
            sums = low_bytes[row : row + 1 + row_shared, column : column + 1 + column_shared]
            for low in sums[..., directions[y, x]].ravel().tolist():
                floor += SUM + OVERFLOWN[low + counted > 255]
            sums[..., directions[y, x]] += np.uint8(counted)
    return floor


def _direction_cycles(image: Bytes, y: int, x: int) -> int:
    """Return the cycles to find the direction of a gradient, and the pointer to its sum."""
    padded: NDArray[Any] = np.pad(image.astype(int), 1)
    gx = int(padded[y + 1, x + 2] - padded[y + 1, x])
    gy = int(padded[y + 2, x + 1] - padded[y, x + 1])
    signs = sum(SIGN_NOTED if each > 0 else SIGN_NOT_NOTED for each in (gx, gy))
    steep, diagonal = abs(gy) > abs(gx), 2 * min(abs(gx), abs(gy)) > max(abs(gx), abs(gy))
    compared = 1 + (2 if steep else 1) + DIAGONAL + (2 if diagonal else 1)
    return signs + compared + PLACE * (steep or diagonal)
