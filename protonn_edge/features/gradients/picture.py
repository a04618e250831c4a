"""The picture of an image's gradients for a report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.features import Features
from protonn_edge.chain.input_quantizer import BYTE_MAXIMUM
from protonn_edge.chain.integer_stage import run_through
from protonn_edge.chain.pictures import Seen
from protonn_edge.chain.shapes import shape_text
from protonn_edge.features.gradients.integers import DIRECTIONS, POINTING, IntegerGradients


def seen(features: Features, x: NDArray[Any]) -> Seen:
    """Return a raw image (H W,) with its cells, and their features as strokes by direction."""
    *before, stage = features.stages
    assert isinstance(stage, IntegerGradients)
    cells = stage.cells
    rows, columns = cells.rows, cells.columns
    given = run_through(before, features.points.to_bytes(x[None]))
    image = cells.cropped(given.reshape(-1, *cells.image_shape))[0] / BYTE_MAXIMUM
    cell = np.array([columns.pixels / columns.cells, rows.pixels / rows.cells])
    places = np.indices(cells.cells)[::-1].reshape(2, -1).T + 0.5
    roots = stage.run(given).reshape(len(places), cells.directions, 1)
    towards = np.array(POINTING[cells.directions], np.float64)
    towards /= np.hypot(*towards.T)[:, None]
    length = 0.48 * cell.min() / max(float(roots.max()), 1.0)
    by = length * roots * towards
    middles = np.broadcast_to((places * cell)[:, None], by.shape)
    both = cells.directions == min(DIRECTIONS)  # 4 directions ignore the sign
    strokes = np.concatenate([middles - by if both else middles, by + by * both], axis=2)
    return Seen(
        image,
        tuple((cell[1] * np.arange(1, rows.cells)).tolist()),
        tuple((cell[0] * np.arange(1, columns.cells)).tolist()),
        strokes[roots[..., 0] > 0].reshape(-1, 4),
        f"The {cells.n_outputs:,} inputs of the classifier, {cells.directions} in each of "
        f"{shape_text(cells.cells)} cells: how much the image changes along each "
        f"direction{'' if both else ' (lines point towards more ink)'}; the longest line is "
        "the largest input.",
    )
