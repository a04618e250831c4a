"""The points that a build is tried with are made of the model, and reach the ends of its ranges."""

from __future__ import annotations

import numpy as np
import pytest
from convolution_factory import random_convolution
from convolution_factory import random_model as random_network
from linear_factory import random_linear_model
from model_factory import (
    random_gradients_model,
    random_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.codegen.verification.tryout import extremes, trial_points
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.model.device_model import with_integers
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

MODELS = {
    "one feature": lambda: random_linear_model(features=1),
    "prototypes": random_model,
    "an image": lambda: random_gradients_model(gradient_features((12, 10), (12, 10), (4, 3))),
    "a window": lambda: random_window_model(window_features_of("mean,deviation", 20, 3)),
    "pixels of 4 bits": lambda: network_of_few_steps((8, 8, 1)),
    "samples of 4 bits": lambda: network_of_few_steps((16, 1, 2)),
}


def network_of_few_steps(shape: tuple[int, int, int]) -> Model:
    """Return a network that is fed 0 to 15, of raw values from 0 to 255."""
    layer = random_convolution(1, shape, 4, padded=True, input_maximum=15)
    return random_network(layered((layer,), pixels=PixelScale(0.0, 17.0)))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [8, 50])
def test_as_many_points_as_asked_for_begin_with_the_extremes(name: str, count: int) -> None:
    model: Model = MODELS[name]()
    reference = quantize(model)
    points = trial_points(with_integers(model), count)
    assert points.shape == (count, reference.n_features)
    assert points.dtype == np.uint8
    maximum = reference.quantizer.maximum
    assert (points[0] == 0).all()
    assert (points[1] == maximum).all()
    assert (points[2] + points[3] == maximum).all()
    assert points.max() == maximum
    assert np.array_equal(points, trial_points(with_integers(model), count))
    assert len(set(reference.predict(points).tolist())) >= 2


def test_single_maxima_are_spread_over_the_features() -> None:
    reference = quantize(random_model())
    single = extremes(reference, 50)[4:]
    assert (np.count_nonzero(single, axis=1) == 1).all()
    assert single.argmax(axis=1).tolist() == [0, 2, 4, 6, 8, 11]
    assert single.max() == reference.quantizer.maximum


def test_many_features_take_no_more_memory_than_their_points() -> None:
    reference = quantize(random_linear_model(features=20_000))
    assert extremes(reference, 8).shape == (6, 20_000)
