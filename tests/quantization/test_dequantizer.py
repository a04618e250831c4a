"""Floats that the integers stand for: the same projections and scores, up to known roundings."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of
from model_factory import random_model, random_points

from protonn_edge.kinds.protonn.prototypes.integers import (
    EXPONENT_LIMIT,
    RBF_MAXIMUM,
    TABLE_SIZE,
    distance_step,
    exponential_table,
    tabulated_rbf,
)
from protonn_edge.kinds.protonn.quantize import (
    dequantize,
)
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.model.quantization import quantize


def bytes_and_points(model: IntegerChain, seed: int) -> tuple[np.ndarray, np.ndarray]:
    Q = model.quantize(random_points(seed, 200, model.n_features))
    return Q, model.inputs.restore(Q)


def errors_of_projections(model: IntegerChain, seed: int) -> np.ndarray:
    """Return by how many steps the coordinates of integers differ from those of floats."""
    Q, X = bytes_and_points(model, seed)
    floats = dequantize(model)
    exact = (X @ floats.projection.T + floats.bias) / distance_step(
        numbers_of(model)["distance_shift"]
    )
    return np.clip(exact, -128, 127) - named_stages(model)["projection"].run(Q)


@pytest.mark.parametrize("seed", range(4))
def test_projections_differ_by_the_rounding_of_a_step(seed: int) -> None:
    model = quantize(random_model(seed))
    errors = errors_of_projections(model, seed)
    assert np.abs(errors).max() <= 0.5 + 1e-4
    assert abs(errors.mean()) < 0.1


def test_projections_of_24_bits_are_as_near() -> None:
    model = quantize(random_model(features=400, projections=3, gamma_numerator=12.0))
    assert numbers_of(model)["accumulator_bits"] == 24
    errors = errors_of_projections(model, 0)
    most = 0.5 + numbers_of(model)["multiplier"] / (
        2 << 16
    )  # of a step, and of what the lower byte is worth
    assert np.abs(errors).max() <= most
    assert abs(errors.mean()) < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_scores_differ_by_the_rounding_of_projections_alone(seed: int) -> None:
    model = quantize(random_model(seed))
    Q, _ = bytes_and_points(model, seed)
    floats = dequantize(model)
    steps = named_stages(model)["projection"].run(Q) * distance_step(
        numbers_of(model)["distance_shift"]
    )
    squares = ((steps[:, None, :] - floats.prototypes.T[None]) ** 2).sum(axis=2)
    scores = tabulated_rbf(squares.astype(np.float32) + np.float32(1e-6)) @ floats.labels.T
    np.testing.assert_allclose(scores, model.scores(Q) * model.score_scale, rtol=1e-4, atol=1e-4)


def test_restored_features_are_quantized_to_the_same_bytes() -> None:
    model = quantize(random_model(2))
    Q, X = bytes_and_points(model, 2)
    assert np.array_equal(model.quantize(X), Q)


def test_the_table_is_read_as_the_device_reads_it() -> None:
    limit = TABLE_SIZE << 6
    distances = np.array([0, 63, 64, 7_500, limit - 1, limit, 10**9])
    exponents = (distances + 0.5) / limit * EXPONENT_LIMIT
    table = exponential_table() / RBF_MAXIMUM
    expected = [table[0], table[0], table[1], table[117], table[255], 0, 0]
    np.testing.assert_allclose(tabulated_rbf(exponents.astype(np.float32)), expected, rtol=1e-6)
