"""Basis images are of images, and not of windows."""

from __future__ import annotations

import numpy as np
from refusals import refused_by

from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    BasisImagesClassifier,
)

SHAPE = (32, 3)


N = 120


def windows() -> tuple[np.ndarray, np.ndarray]:
    """Return windows (n, 32, 3) of waves, the faster ones of class 1, in units of each channel."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    phase = rng.uniform(0, 2 * np.pi, (N, 1, 1))
    waves = np.sin(np.arange(32)[:, None] * (0.3 + 0.7 * y[:, None, None]) + phase)
    X = waves * [1.0, 50.0, 1000.0] + rng.normal(0, 0.1, (N, *SHAPE)) * [1.0, 50.0, 1000.0]
    return X.astype(np.float32), y


def test_basis_images_are_no_windows() -> None:
    X, y = windows()
    images = BasisImagesClassifier(features="conv:4x3", window_shape=SHAPE)
    with refused_by("learn.refusals"):
        images.fit(X.reshape(N, -1), y)
