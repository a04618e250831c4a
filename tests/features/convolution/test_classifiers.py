"""Every kind of classifier behind convolutions takes the bytes of the last layer as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from convolution_factory import random_convolution, random_images_of, random_layers
from dense_factory import random_dense_model
from extension_parts import additions
from forest_factory import random_forest_model
from model_factory import random_model

from protonn_edge.features.convolution.making import layered
from protonn_edge.model.features import Features
from protonn_edge.model.integer_chain import own_inputs
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics, Normalizer

KINDS = {
    "protonn": random_model,
    "dense": random_dense_model,
    "forest": random_forest_model,
    **additions("kinds behind layers"),
}


def behind(stage: Features, kind: str) -> Model:
    """Return a random classifier of what the layers give."""
    features = stage.apply(random_images_of(0, 100, stage))
    scale = 1 / np.maximum(features.std(axis=0), 1)
    model: Model = KINDS[kind](0, features=stage.n_outputs)
    return replace(
        model,
        normalizer=Normalizer("standard", features.mean(axis=0), scale),
        inputs=InputStatistics.of(features).with_one_range(),
        features=stage,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_are_the_bytes_of_the_last_layer(kind: str) -> None:
    for stage in (random_layers(), layered((random_convolution(2, (6, 6, 1)),))):
        integers, images = quantize(behind(stage, kind)), random_images_of(1, 20, stage)
        values = own_inputs(integers, integers.quantize(images))
        assert integers.inputs.maximum == stage.stages[-1].maximum
        assert (values == stage.apply(images)).all()
        assert (integers.inputs.quantize(values) == values).all()
