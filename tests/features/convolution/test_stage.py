"""Layers of convolutions as a part of a model: its file, its words, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from convolution_factory import random_images_of, random_layers, random_model
from refusals import refused_by

from protonn_edge.cli.inspect import _features, _sizes
from protonn_edge.features.convolution.making import layered
from protonn_edge.model.features import feeding
from protonn_edge.model.integer_chain import own_inputs
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize


@pytest.fixture(scope="module")
def model() -> Model:
    return random_model(random_layers())


def test_the_features_are_the_bytes_of_the_last_layer(model: Model) -> None:
    integers, images = quantize(model), random_images_of(1, 20, random_layers())
    Q = integers.quantize(images)
    assert (255 - images == Q).all()
    assert (own_inputs(integers, Q) == random_layers().apply(images)).all()
    assert (
        integers.inputs.quantize(random_layers().apply(images)) == own_inputs(integers, Q)
    ).all()
    assert (integers.scores(Q) == model.scores(images)).all()
    assert random_layers().apply(images.astype(np.float32)).dtype == np.float32


def test_its_words_name_all_random_layers() -> None:
    model = random_model(random_layers())
    facts = _sizes(model)
    assert [name for name, _ in facts] == [
        *("features", "average pooling", "convolution", "convolution 2", "pooling"),
        "features D",
    ]
    assert facts[2][1].startswith("shape 6x6x1, weights 4x3x3x1, ")
    described = _features(model)["feature_stages"]
    assert [each["kind"] for each in described][1:] == [*["convolution"] * 2, "pooling"]


def test_layers_that_do_not_fit_together_are_refused() -> None:
    first, *_ = random_layers().stages[1:]
    with refused_by(
        "model.features", naming="stage 2 of the features takes 36 values, but receives 144"
    ):
        layered((first, first))
    with refused_by("features.convolution.making"):
        layered(())


def test_a_classifier_takes_the_values_as_they_are(model: Model) -> None:
    inputs = quantize(model).inputs
    with refused_by("model.integer_stage"):
        feeding(random_layers(), replace(inputs, maximum=127))
