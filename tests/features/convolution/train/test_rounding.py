"""Rounded layers: what training computes is what the device's stages compute, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace

from protonn_edge.features.convolution.train.layers import Convolution, Rectifier
from protonn_edge.features.convolution.train.network import Network, flat, layers_of
from protonn_edge.features.convolution.train.notation import read_layers, shapes_of
from protonn_edge.features.convolution.train.rounding import (
    SUM_RANGE,
    Bits,
    RoundedConvolution,
    integer_stages,
    sum_ends,
)
from protonn_edge.kinds.dense.learner import DenseNetwork
from protonn_edge.model.shapes import ImageShape

BITS = [Bits(8, 8), Bits(4, 8), Bits(2, 8), Bits(4, 4), Bits(2, 4)]
NETWORKS = ["4x3,6x3,max2", "4x5/2p,max2,dw3p,8x1,6x3,average", "3x3p,average2,5x5,max"]
IMAGE, WINDOW = (17, 15, 1), (40, 1, 3)


def rounded_network(
    text: str, bits: Bits, shape: ImageShape = IMAGE, seed: int = 0
) -> tuple[Network, np.ndarray]:
    """Return a random network on integers, for images of bytes (channels, h, w, n), also them."""
    rng = np.random.default_rng(seed)
    layouts = read_layers(text, signal=shape == WINDOW)
    images = rng.integers(256, size=(shape[2], *shape[:2], 60)).astype(np.float32)
    images[..., ::2] *= images[..., ::2] > 128
    features = int(np.prod(list(shapes_of(layouts, shape))[-1]))
    network = Network(
        layers_of(layouts, rng, shape[2]), DenseNetwork.random((features, 3), rng, 1.0)
    )
    Y = np.eye(3, dtype=np.float32)[rng.integers(3, size=60)]
    network.gradient(images / np.float32(255), Y, None)  # moves the running moments
    return network.rounded(images / np.float32(255), bits, 1 / 255, 255), images


@pytest.mark.parametrize("shape", [IMAGE, WINDOW], ids=("image", "window"))
@pytest.mark.parametrize("text", NETWORKS)
@pytest.mark.parametrize("bits", BITS, ids=lambda bits: f"{bits.weights}-{bits.activations}")
def test_stages_give_what_training_sees(text: str, bits: Bits, shape: ImageShape) -> None:
    network, images = rounded_network(text, bits, shape)
    x = flat(images).astype(np.uint8)
    for stage in integer_stages(network.layers, shape, 255):
        x = stage.run(x)
    np.testing.assert_array_equal(network.features(images), x * np.float32(network.unit))
    assert len(np.unique(x)) > 2


@pytest.mark.parametrize("bits", BITS, ids=lambda bits: f"{bits.weights}-{bits.activations}")
def test_rounding_keeps_most_of_what_a_layer_says(bits: Bits) -> None:
    rng = np.random.default_rng(1)
    (layout,) = read_layers("6x3")
    layer = Convolution.random(layout, 3, rng)
    whole = rng.integers(256, size=(3, 9, 9, 50)).astype(np.float32)
    step = 1 / 255
    made, out_step = RoundedConvolution.of(layer, whole * np.float32(step), step, 255, bits)
    values = np.maximum(layer.forward(whole * np.float32(step))[0], 0)
    seen = made.forward(whole)[0] * out_step
    assert np.corrcoef(values.ravel(), seen.ravel())[0, 1] > (0.85 if bits.weights == 2 else 0.98)


def test_sums_stay_within_16_bits_however_far_training_moves() -> None:
    network, _ = rounded_network("4x3,6x3,max2", Bits(8, 8))
    for layer in network.layers:
        for parameter in layer.parameters:
            np.multiply(parameter, 40, out=parameter)
    network.hold()
    first, second, _ = network.layers
    for layer in (first, second):
        assert isinstance(layer, RoundedConvolution)
        low, high = sum_ends(layer.rounded, layer.largest_input)
        assert low.min() >= SUM_RANGE[0]
        assert high.max() <= SUM_RANGE[1]
    integer_stages(network.layers, IMAGE, 255)  # which refuse what could overflow


def test_gradients_pass_rounding_where_values_are_not_limited() -> None:
    network, images = rounded_network("4x3", Bits(4, 8))
    (layer,) = network.layers
    assert isinstance(layer, RoundedConvolution)
    values, kept = layer.forward(images)
    of_x, (of_weights, of_biases) = layer.backward(kept, np.ones_like(values))
    scale = layer.multiplier / 2**layer.shift
    inside = (values > 0) & (values < 255)
    sums, seen = layer.rounded.forward(images)
    expected = layer.rounded.backward(seen, inside * np.float32(scale))
    np.testing.assert_allclose(of_biases, expected[1][1], rtol=0.02)
    np.testing.assert_allclose(of_weights, expected[1][0], rtol=0.1)
    np.testing.assert_allclose(of_x, expected[0], atol=0.2)
    assert sums.shape == values.shape


def test_values_are_smaller_where_the_next_sums_have_many_inputs() -> None:
    rng = np.random.default_rng(2)
    first, wide = (
        Convolution.random(*each, rng)
        for each in ((read_layers("40x3p")[0], 1), (read_layers("8x5")[0], 40))
    )
    layers = (first, Rectifier(), wide, Rectifier())
    network = Network(layers, DenseNetwork.random((8, 3), rng, 1.0))
    images = rng.random((1, 5, 5, 100), dtype=np.float32)
    rounded = network.rounded(images, Bits(4, 8), 1 / 255, 255)
    one, two = (each for each in rounded.layers if isinstance(each, RoundedConvolution))
    assert 10 < one.maximum < 150
    assert two.maximum == 255
    assert np.mean(two.rounded.weights != 0) > 0.7
    integer_stages(rounded.layers, (5, 5, 1), 255)


def test_a_layer_of_zeros_becomes_integers() -> None:
    (layout,) = read_layers("2x3")
    layer = Convolution.random(layout, 1, np.random.default_rng(0))
    layer = replace(layer, weights=layer.weights * 0)
    x = np.zeros((1, 5, 5, 3), np.float32)
    made, step = RoundedConvolution.of(layer, x, 1 / 255, 255, Bits(4, 8))
    assert step > 0
    assert not made.forward(x)[0].any()
