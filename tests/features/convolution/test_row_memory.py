"""Layers keep their rows in one array, which is small, and none is written over too early."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from convolution_factory import random_convolution, random_images_of, random_model
from generated_programs import assert_equal_to_reference
from random_chains import random_network
from random_shapes import random_plan

from protonn_edge.codegen.host import host_program
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.images.image_rows import row_memory
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.features import Features
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError


@pytest.mark.parametrize("seed", [*range(6), 36])  # the last one has zeros in lines that are kept
def test_no_row_is_written_over_while_it_is_needed(seed: int) -> None:
    """The C of a network gives the reference's scores, whatever its layers."""
    rng = np.random.default_rng(seed)
    while True:
        with suppress(InputError):  # a window is larger than its image
            stage, _ = random_network(rng, 6)
            chain = quantize(random_model(stage, seed))
            break
    Q = random_images_of(seed, 20, stage)
    with host_program(chain, random_plan(rng, chain), sanitize=True) as program:
        assert_equal_to_reference(program, chain, Q)


@pytest.fixture(scope="module")
def wide() -> Features:
    """A network of seven layers, the last of which has a single row of values."""
    parts = [(8, 5, 2), (8, 3, 1), (12, 3, 1), (24, 3, 1)]
    layers: list[IntegerConvolution | IntegerPooling] = []
    shape = (28, 28, 1)
    for seed, (channels, side, stride) in enumerate(parts):
        layer = random_convolution(seed, shape, channels, side, largest=1, stride=stride)
        layers.append(layer)
        shape = layer.output_shape
    layers.append(IntegerPooling(shape, (2, 2), "maximum", 15))
    layers.append(random_convolution(9, layers[-1].output_shape, 80, 3, largest=1, weight_bits=4))
    assert all(one.output_shape == two.shape for one, two in pairwise(layers))
    return layered(tuple(layers))


def test_values_take_over_lines_that_are_used_up(wide: Features) -> None:
    lines = sum(layer.lines * layer.line_bytes for layer in wide.stages)
    values = wide.stages[-1].n_outputs
    assert (lines, values, row_memory(wide.stages).size) == (1_316, 80, 1_316)
