"""Training on average pooling: the estimator takes whole images and learns from the averages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trainings import DIGITS

from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.kinds.protonn.prototypes.integers import tabulated_rbf
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.kinds.protonn.train.fitting import parameters_of
from protonn_edge.kinds.protonn.train.joint import QuantizationAware
from protonn_edge.learn.objective import squared_distances
from protonn_edge.model.integer_chain import own_inputs
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError


def classifier(**settings: Any) -> ProtoNNClassifier:
    chosen = {"n_projections": 8, "n_prototypes": 30, "epochs": 30, "random_state": 0}
    shapes = {"image_shape": (8, 8), "features": "pool:6x6"}
    return ProtoNNClassifier(**(chosen | shapes | settings))


def trained(**settings: Any) -> ProtoNNClassifier:
    return classifier(**settings).fit(DIGITS.X_train, DIGITS.y_train)


def test_it_learns_from_the_averages_alone() -> None:
    averages = average_pooling((8, 8), (6, 6), (3, 3), PixelScale(0.0, 16 / 255))
    settings = {"normalization": "standard", "quantization_aware": False}
    pooled = trained(features="crop:6x6,pool:3x3", **settings)
    plain = classifier(image_shape=None, features=None, **settings)
    plain.fit(averages.apply(DIGITS.X_train), DIGITS.y_train)
    accuracy = plain.score(averages.apply(DIGITS.X_test), DIGITS.y_test)
    assert pooled.score(DIGITS.X_test, DIGITS.y_test) == pytest.approx(accuracy, abs=0.03)


def test_scores_in_training_are_the_integer_models() -> None:
    model = trained(normalization="standard").to_model()
    assert model.features is not None
    rounding = QuantizationAware(model.head.gamma, model.normalizer, model.inputs)
    parameters = parameters_of(model, scores_are_logits=False)
    assert rounding.choose_widths(parameters)
    rounded = rounding.rounded(parameters)
    assert rounded is not None
    integers = quantize(model)
    bytes_of_pixels = integers.quantize(DIGITS.X_test)
    seen = integers.inputs.restore(
        own_inputs(integers, bytes_of_pixels)
    )  # averages, as on the device
    points = model.normalizer.apply(seen).astype(np.float32)
    squares = squared_distances(rounded, points @ rounded.projection.T)
    scores = tabulated_rbf(squares) @ rounded.labels.T
    expected = integers.scores(bytes_of_pixels) * integers.score_scale
    assert (scores.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.97
    averages = model.features.apply(DIGITS.X_test.astype(np.float32))
    in_training = rounding.rounded_points(model.normalizer.apply(averages).astype(np.float32))
    steps = np.abs(in_training - points) / (integers.inputs.step * model.normalizer.scale)
    assert steps.max() < 1.01  # two roundings in place of one
    assert steps.mean() < 0.1


def test_an_average_that_hardly_changes_gets_no_large_weight() -> None:
    """All averages have one step; a large weight would leave no room for the others'."""
    images = DIGITS.X_train.copy()
    images[:, :9] = 0
    images[::97, 0] = 1.0
    model = classifier(epochs=10).fit(images, DIGITS.y_train).to_model()
    largest = np.abs(model.head.projection * model.normalizer.scale).max(axis=0)
    assert largest[0] < largest.max()
    integers = quantize(model)
    agreement = integers.predict(integers.quantize(images)) == model.predict(images)
    assert agreement.mean() > 0.97


def test_going_on_keeps_average_pooling() -> None:
    model = trained(epochs=3).to_model()
    more = ProtoNNClassifier(initial_model=model, epochs=2, random_state=0)
    assert more.fit(DIGITS.X_train, DIGITS.y_train).to_model().features == model.features
    with pytest.raises(InputError, match="has features of its own, or none"):
        trained(initial_model=model, features="pool:4x4")
