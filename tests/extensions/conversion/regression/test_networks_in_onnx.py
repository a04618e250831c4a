"""Networks in ONNX that were converted to something else, or ended in a traceback."""

from __future__ import annotations

import numpy as np
import pytest
from extensions.conversion.onnx_factory import network, numbers, written
from refusals import refused_by

from protonn_edge import from_network
from protonn_edge.extensions.conversion.networks.networks import _equalized, _rectified
from protonn_edge.extensions.conversion.networks.stored_networks import load_network


def test_a_clip_may_state_a_limit_that_no_value_reaches():
    """Some exporters write it; the advice was to train the network again."""
    nodes = written(
        "Clip x > a : max=3.4028235e38; MatMul a w > b; Clip b zero > c; MatMul c v > y"
    )
    X, w, v = numbers(30, 4), numbers(4, 3), numbers(3, 3)
    rule = load_network(network(nodes, (4,), w=w, v=v, zero=np.float32(0)), "m.onnx").rule
    np.testing.assert_allclose(rule.scores(X), np.maximum(X @ w, 0) @ v, rtol=1e-4, atol=1e-4)


def test_a_network_without_convolutions_may_average_images():
    nodes = written("GlobalAveragePool x > a; Flatten a > b; MatMul b w > y")
    found = from_network(network(nodes, (3, 6, 6), w=numbers(3, 3)), np.abs(numbers(60, 3, 6, 6)))
    assert found.agreement > 0.9


def test_a_network_whose_channels_stay_0_keeps_finite_scores():
    """The sums of channels were divided by the largest of them."""
    nodes = written(
        "Conv x k > a : pads=[1] * 4; Relu a > b; Conv b l > c; Relu c > d; Flatten d > f; "
        "MatMul f w > y"
    )
    given = {"k": -np.ones((2, 1, 3, 3), np.float32), "l": numbers(2, 2, 1, 1), "w": numbers(98, 3)}
    X = np.abs(numbers(30, 49))
    rule = load_network(network(nodes, (1, 7, 7), **given), "m.onnx").rule
    assert np.isfinite(_equalized(_rectified(rule, X), X).scores(X)).all()


POINTS = {
    "lists of several lengths": [[1, 2, 3, 4], [1, 2]],
    "images of several sizes": [[[1, 2], [3, 4]], [[1], [2]]],
    "no points": np.empty((0, 2, 2)),
    "points without values": np.empty((5, 0, 4)),
    "points of another size": np.ones((5, 3)),
}


@pytest.mark.parametrize("name", POINTS)
def test_points_of_other_shapes_are_refused(name: str):
    with refused_by("extensions.conversion.affine", "extensions.conversion.estimators"):
        from_network(network(written("MatMul x w > a"), (4,), "a", w=numbers(4, 4)), POINTS[name])


def test_numbers_of_classes_are_the_classifiers_own():
    """They were 0, 1 and so on."""
    made = written(
        "ai.onnx.ml.LinearClassifier x > label y : post_transform='SOFTMAX', "
        "coefficients=[1.0] * 12, intercepts=[0.0] * 3, classlabels_ints=[5, 3, 9]"
    )
    assert load_network(network(made, (4,)), "m.onnx").classes_.tolist() == [5, 3, 9]


@pytest.mark.parametrize("operator", ["GlobalAveragePool", "GlobalMaxPool"])
def test_layers_of_pooling_alone_are_scaled_like_convolutions(operator: str) -> None:
    nodes = written(f"{operator} x > a; Flatten a > f; Gemm f w b > y")
    constants = {"w": np.eye(2, dtype=np.float32), "b": np.float32([0, 5])}
    X = np.random.default_rng(0).normal(5, 1, (200, 2, 2, 2)).astype(np.float32)
    X[:, 1] = 0  # so that the first channel is compared with 5
    converted = from_network(network(nodes, (2, 2, 2), **constants), X, epochs=0)
    assert converted.steps[-1].agreement > 0.95


def test_a_reshape_of_pytorch_that_keeps_no_axis_is_read():
    """All of its Flatten were refused for allowzero=1, and AdaptiveAvgPool1d for its Unsqueeze."""
    nodes = written(
        "Conv x k > a; Relu a > b; Unsqueeze b one > c; ReduceMean c both > d : keepdims=1; "
        "Squeeze d one > e; Reshape e flat > f : allowzero=1; MatMul f w > y"
    )
    given = {"k": numbers(2, 3, 3), "one": np.array([-2]), "both": np.array([-1, -2])}
    given |= {"w": numbers(2, 3), "flat": np.array([1, 2])}
    X = np.abs(numbers(80, 3, 16))
    content = network(nodes, (3, 16), **given)
    windows = np.lib.stride_tricks.sliding_window_view(X, 3, axis=2)
    averages = np.maximum(np.einsum("nctw,ocw->not", windows, given["k"]), 0).mean(axis=2)
    found = from_network(content, X)
    assert np.array_equal(
        found.source.answers(
            found.source.features.taken(X.transpose(0, 2, 1).reshape(80, -1), "X")
        ),
        (averages @ given["w"]).argmax(axis=1),
    )
    assert found.agreement > 0.9
