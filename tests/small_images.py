"""A table of small images in two classes, for tests of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write_images(path: Path) -> Path:
    """Write 60 images of 3x4 pixels, the left half of each row brighter in class b."""
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    rows = rng.integers(0, 9, (60, 12)) + 6 * y[:, None] * (np.arange(12) < 6)
    lines = [
        f"{'ab'[label]}," + ",".join(map(str, row)) for label, row in zip(y, rows, strict=True)
    ]
    header = "label," + ",".join(f"p{index}" for index in range(12))
    path.write_text("\n".join([header, *lines]) + "\n")
    return path
