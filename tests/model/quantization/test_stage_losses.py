"""The report of what each stage of quantization costs."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from model_factory import random_model, random_points

from protonn_edge.kinds.protonn.quantize import centre_of, dequantize, far_coordinates_first
from protonn_edge.model.quantization import quantize, stage_losses


def test_the_first_stage_is_the_float_model_and_the_last_the_integer_model():
    model = random_model(1, features=20, prototypes=30)
    X = random_points(1, 1500, 20).astype(np.float32)
    y = model.predict(X)
    y[::3] = (y[::3] + 1) % 4
    losses = stage_losses(model, X, y)
    integer_model = quantize(model)
    integers = integer_model.predict(integer_model.quantize(X))
    assert tuple(loss.stage for loss in losses) == ("float", "inputs", "W", "prototypes", "Z")
    assert (losses[0].accuracy, losses[0].changed, losses[0].disagreements) == (2 / 3, 0, 0)
    assert losses[-1].accuracy == np.mean(integers == y)
    assert losses[-1].disagreements == np.count_nonzero(integers != model.predict(X))
    assert all(loss.disagreements < 100 for loss in losses)


def test_a_stage_with_coarse_numbers_shows():
    """Z that one large entry leaves few steps for costs accuracy at the last stage alone."""
    model = random_model(2, features=20, prototypes=30)
    X = random_points(2, 800, 20).astype(np.float32)
    near = np.concatenate(
        [model.head.prototypes, model.head.prototypes.mean(axis=1, keepdims=True) + 40], axis=1
    )
    large = np.concatenate([model.head.labels, np.full((4, 1), 500, np.float32)], axis=1)
    coarse = replace(model, prototypes=near.astype(np.float32), labels=large)
    losses = stage_losses(coarse, X, coarse.predict(X))
    assert losses[-1].changed > 10 * max(loss.changed for loss in losses[:-1])


@pytest.mark.parametrize("seed", range(4))
def test_the_centre_is_that_of_the_quantizer(seed):
    model = random_model(seed)
    head = far_coordinates_first(model.head)
    coordinates = head.gamma * head.prototypes.astype(np.float64)
    integer_model = quantize(model)
    stand_for = dequantize(integer_model).prototypes
    largest = np.unravel_index(
        np.abs(numbers_of(integer_model)["prototypes"]).argmax(), stand_for.shape
    )
    step = stand_for[largest] / numbers_of(integer_model)["prototypes"][largest]
    assert np.abs(coordinates - centre_of(coordinates) - stand_for).max() <= 0.501 * step
