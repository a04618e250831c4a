"""Networks for tests: random ones in floats and in integers, and a small one made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from chains import dense_chain, dense_model_of, random_parts, tiny_parts
from model_factory import parts_for, random_points

from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model


def random_dense_model(
    seed: int = 0,
    *,
    features: int = 12,
    hidden: Sequence[int] = (6,),
    classes: int = 4,
    density: float = 0.8,
    **parts: Any,
) -> Model:
    """Return a float model with random weights, of which not all are 0."""
    rng = np.random.default_rng(seed)
    shared = parts_for(random_points(seed, 300, features), classes)
    sizes = (features, *hidden, 1 if classes == 2 else classes)
    weights = []
    for units, inputs in zip(sizes[1:], sizes[:-1], strict=True):
        W = rng.normal(size=(units, inputs)) / np.sqrt(inputs)
        W[rng.random(W.shape) >= density] = 0
        W[0, 0] = 1
        weights.append(W.astype(np.float32))
    biases = [rng.normal(scale=0.3, size=len(W)) for W in weights]
    X = shared["normalizer"].apply(random_points(seed, 300, features))
    return dense_model_of(weights, biases, X.astype(np.float32), **{**shared, **parts})


def random_chain(
    seed: int,
    *,
    features: int = 90,
    hidden: Sequence[int] = (9,),
    rows: int = 4,
    bits: Sequence[int] = (16, 24),
    largest: Sequence[int] = (12, 60),
    multipliers: Sequence[int] = (4,),
    maximum: int = 63,
    density: float = 0.9,
) -> IntegerChain:
    """Return integers with random weights, whose sums' ranges have 0 in their middle."""
    rng = np.random.default_rng(seed)
    sizes = (features, *hidden, rows)
    weights, biases = [], []
    for place, most in enumerate(largest):
        W = rng.integers(-most, most + 1, (sizes[place + 1], sizes[place]))
        W[rng.random(W.shape) >= density] = 0
        weights.append(W.astype(np.int8))
        biases.append(-(255 if place else maximum) * W.sum(axis=1) // 2)
    return dense_chain(
        weights=tuple(weights),
        biases=tuple(biases),
        accumulator_bits=tuple(bits),
        multipliers=tuple(multipliers),
        **random_parts(features, maximum, max(2, rows)),
    )


def tiny_chain() -> IntegerChain:
    """Return integers of 6 inputs, layers of 4 and 3 units in sums of 16 and 24 bits, 3 classes."""
    return dense_chain(
        weights=(
            np.array(
                [
                    [-60, 35, 0, 7, -28, 127],
                    [1, 2, -3, 4, -5, 6],
                    [0, 0, 90, -90, 40, -40],
                    [9, 0, 0, 0, 0, 0],
                ],
                np.int8,
            ),
            np.array([[127, -128, 3, 0], [0, 0, -7, 90], [50, 60, 70, -80]], np.int8),
            np.array([[1, -2, 3], [-4, 5, -6], [7, 0, 0]], np.int8),
        ),
        biases=(np.array([600, -158, 0, 5]), np.array([40_000, -3, 700]), np.array([10, -20, 0])),
        accumulator_bits=(16, 24, 16),
        multipliers=(9, 200),
        **tiny_parts(63),
    )
