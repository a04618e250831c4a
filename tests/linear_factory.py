"""Linear models for tests: random ones in floats and in integers, and a small one made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from chains import linear_chain, linear_model, random_parts, tiny_parts
from model_factory import parts_for, random_points

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def random_linear_model(
    seed: int = 0, *, features: int = 12, classes: int = 4, density: float = 0.8, **parts: Any
) -> Model:
    """Return a float model with random weights, of which not all are 0."""
    rng = np.random.default_rng(seed)
    X = random_points(seed, 300, features)
    rows = 1 if classes == 2 else classes
    W = rng.normal(size=(rows, features))
    W[rng.random(W.shape) >= density] = 0
    W[0, 0] = 1
    return linear_model(
        weights=W.astype(np.float32),
        bias=rng.normal(size=rows),
        **parts_for(X, classes),
        **parts,
    )


def random_chain(
    seed: int,
    *,
    rows: int,
    features: int = 120,
    bits: int = 16,
    largest: int = 127,
    maximum: int = 63,
    density: float = 0.9,
) -> IntegerChain:
    """Return integers with random weights, whose sums' range has 0 in its middle."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(-largest, largest + 1, (rows, features))
    weights[rng.random(weights.shape) >= density] = 0
    return linear_chain(
        weights=weights.astype(np.int8),
        bias=-maximum * weights.sum(axis=1) // 2,
        accumulator_bits=bits,
        **random_parts(features, maximum, max(2, rows)),
    )


def tiny_chain(rows: int = 3) -> IntegerChain:
    """Return integers of 6 inputs, with `rows` of 24 bits each: 3 classes, or 2 of one row."""
    weights = [[-60, 35, 0, 7, -128, 127], [1, 2, -3, 4, -5, 6], [0, 0, 90, -90, 40, -40]]
    return linear_chain(
        weights=np.array(weights[:rows], np.int8),
        bias=np.array([600, -158, 40_000][:rows], np.int64),
        accumulator_bits=24,
        **tiny_parts(63, rows),
    )
