"""Layers and heads of networks: values against loops, gradients against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from finite_differences import assert_slope

from protonn_edge.features.convolution.train.layers import (
    Convolution,
    Normalization,
    Pooling,
    TrainedLayer,
)
from protonn_edge.features.convolution.train.network import (
    Network,
    PrototypeHead,
    TrainableHead,
    folded,
    layers_of,
)
from protonn_edge.features.convolution.train.notation import Layout, read_layers
from protonn_edge.kinds.dense.learner import DenseNetwork
from protonn_edge.learn.objective import Parameters

LAYERS = ["3x3", "2x5p", "4x3/2", "3x3/2p", "dw3", "dw5/2p", "2x1", "window 2x5/2p", "window dw3"]
POOLINGS = ["max2", "average2", "max", "average"]


def layout_of(text: str) -> Layout:
    """Return the layer of a text, of windows if it begins with that word."""
    return read_layers(text.removeprefix("window "), signal="window" in text)[0]


def convolution(text: str, channels: int = 3, seed: int = 0) -> Convolution:
    """Return a random one in float64, with biases."""
    rng = np.random.default_rng(seed)
    made = Convolution.random(layout_of(text), channels, rng)
    biases = rng.normal(size=len(made.biases))
    return replace(made, weights=made.weights.astype(np.float64), biases=biases)


def layer_of(text: str) -> TrainedLayer:
    if text in POOLINGS:
        return Pooling(read_layers(f"1x1,{text}")[1])
    if text == "normalization":
        plain = Normalization.plain(3)
        return replace(plain, gain=np.array([1.0, 0.5, 2.0]), offset=np.array([0.1, -1.0, 0.3]))
    return convolution(text)


def in_loops(layer: Convolution, x: np.ndarray) -> np.ndarray:
    (above, left), stride, (h, w) = layer.layout.padding, layer.layout.stride, layer.layout.window
    x = np.pad(x, ((0, 0), (above, above), (left, left), (0, 0)))
    sides = [(side - k) // stride + 1 for side, k in zip(x.shape[1:3], (h, w), strict=True)]
    values = np.zeros((len(layer.weights), *sides, x.shape[3]))
    for o, row, column in np.ndindex(values.shape[:3]):
        seen = x[:, row * stride : row * stride + h, column * stride : column * stride + w]
        if layer.layout.depthwise:
            seen = seen[o : o + 1]
        weights = layer.weights[o].transpose(2, 0, 1)[..., None]
        values[o, row, column] = (seen * weights).sum(axis=(0, 1, 2)) + layer.biases[o]
    return values


@pytest.mark.parametrize("text", LAYERS)
def test_convolution_is_the_sum_over_its_window(text: str) -> None:
    x = np.random.default_rng(1).normal(size=(3, 7, 6, 2))
    layer = convolution(text)
    np.testing.assert_allclose(layer.forward(x)[0], in_loops(layer, x), atol=1e-12)


@pytest.mark.parametrize("text", [*LAYERS, *POOLINGS, "normalization"])
def test_layers_have_the_gradient_of_their_values(text: str) -> None:
    rng = np.random.default_rng(2)
    layer, x = layer_of(text), rng.normal(size=(3, 6, 7, 4))
    values, kept = layer.forward(x)
    slope = rng.normal(size=values.shape)
    of_x, of_parameters = layer.backward(kept, slope)
    for array, derivative in zip([x, *layer.parameters], [of_x, *of_parameters], strict=True):
        assert_slope(lambda: np.vdot(layer.forward(x)[0], slope), array, derivative)


def head_of(kind: str, features: int, Y: np.ndarray) -> TrainableHead:
    rng = np.random.default_rng(5)
    if kind == "dense":
        weights, biases = DenseNetwork.random((features, 3), rng, 1.0).parameters
        return DenseNetwork([weights.astype(float)], [biases.astype(float)])
    prototypes = PrototypeHead.of_points(rng.random((20, features)), Y, (4, 6), rng)
    return PrototypeHead(Parameters(*(array.astype(float) for array in prototypes.of)))


@pytest.mark.parametrize("head", ["dense", "prototypes"])
def test_networks_have_the_gradient_of_their_loss(head: str) -> None:
    rng = np.random.default_rng(3)
    x, Y = rng.random((1, 9, 8, 20)), np.eye(3)[rng.integers(3, size=20)]
    layers = [
        replace(layer, weights=layer.weights.astype(float), biases=layer.biases.astype(float))
        if isinstance(layer, Convolution)
        else layer
        for layer in layers_of(read_layers("4x3,max2,5x3p"), rng)
    ]
    features = 3 * 3 * 5
    network = Network(tuple(layers), head_of(head, features, Y))
    weights = rng.random(20) * 2
    _, gradient = network.gradient(x, Y, weights)
    for array, derivative in zip(network.parameters, gradient, strict=True):
        if array.dtype != np.float64:  # of a normalization, tried by itself above
            continue
        assert_slope(lambda: network.gradient(x, Y, weights)[0], array, derivative)


def test_folded_normalization_gives_the_same_values() -> None:
    rng = np.random.default_rng(4)
    layer, x = convolution("4x3"), rng.normal(size=(3, 6, 6, 50))
    normalization = Normalization.plain(4)
    for _ in range(600):  # until the running moments are those of this batch
        expected = normalization.forward(layer.forward(x)[0])[0]
    (together,) = folded([layer, normalization])
    np.testing.assert_allclose(together.forward(x)[0], expected, atol=2e-3)
