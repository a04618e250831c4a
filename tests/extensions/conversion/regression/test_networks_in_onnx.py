"""Networks in ONNX that were converted to something else, or ended in a traceback."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from extensions.conversion.onnx_factory import network, node, numbers, onnx
from refusals import refused_by

from protonn_edge import from_network
from protonn_edge.extensions.conversion.networks.networks import _equalized, _rectified
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.system.errors import InputError

IMAGE = {"shape": (1, 7, 7), "k": numbers(2, 1, 3, 3)}
TWO = {"kernel_shape": [2, 2], "strides": [2, 2]}
CONV = node("Conv", "x k", "a", pads=[1] * 4)
GEMM = node("MatMul", "x w", "a")
ALONE = {"w": numbers(4, 1)}
SIGMOID = [node("MatMul", "x w", "a"), node("Sigmoid", "a", "p"), node("Sub", "one p", "q")]
NORMALIZATION = {name: np.abs(numbers(4)) for name in "gomv"}


def machine_learning(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """Return a node of the domain ai.onnx.ml."""
    made = onnx.helper.make_node(operator, inputs.split(), outputs.split(), "y", **attributes)
    made.domain = "ai.onnx.ml"
    return made


def foreign(operator: str) -> Any:
    """Return a node of a domain that nobody knows."""
    made = node(operator, "a", "y")
    made.domain = "example"
    return made


def unfinished(operator: str, scores: int) -> Any:
    """Return a linear classifier whose probabilities are not in the order of its scores."""
    given = {"coefficients": [1.0] * 4 * scores, "intercepts": [0.0] * scores}
    labels = {"classlabels_ints": list(range(max(2, scores)))}
    return machine_learning(
        "LinearClassifier", "x", "label y", post_transform=operator, **given, **labels
    )


REFUSED: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "factors of pixels, for which the next Conv was blamed": (
        [node("Mul", "x v", "a"), node("Conv", "a k", "y")],
        IMAGE | {"v": numbers(7, 1)},
        "node 'y' \\(Conv\\) has, or follows, factors or offsets that differ",
    ),
    "a Sigmoid between convolutions, which was taken for the scores": (
        [CONV, node("Sigmoid", "a", "b"), node("Conv", "b k", "y")],
        IMAGE,
        "the scores 'a' of m.onnx have the shape .* use Sigmoid and Softmax only at its end",
    ),
    "a matrix of zeros, whose refusal advised options of train": (
        [node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("MatMul", "b v", "y")],
        {"w": numbers(4, 3), "v": np.zeros((3, 2), np.float32)},
        "a matrix of m.onnx: only zeros, .*; train the network again",
    ),
    "a Relu of pooled inputs": (
        [node("MaxPool", "x", "a", **TWO), node("Relu", "a", "y")],
        IMAGE,
        "node 'y' \\(Relu\\) follows no Conv or Gemm; move the node after one of these",
    ),
    "a Clip of averages": (
        [CONV, node("Relu", "a", "b"), node("AveragePool", "b", "c", **TWO),
         node("Clip", "c zero six", "y")],
        {**IMAGE, "zero": np.float32(0), "six": np.float32(6)},
        "node 'y' \\(Clip\\) follows an average pooling; move the node before it",
    ),
    "pooling that pads by itself": (
        [node("MaxPool", "x", "a", auto_pad="SAME_UPPER", **TWO), node("Conv", "a k", "y")],
        IMAGE,
        "node 'a' \\(MaxPool\\) has windows that extend beyond the edge of the image; pool without",
    ),
    "a convolution with an unknown padding": (
        [node("Conv", "x k", "y", auto_pad="SAME")], IMAGE, r"pads \[0\] \(auto_pad SAME\)"
    ),
    "an image in another shape": (
        [CONV, node("Relu", "a", "b"), node("Reshape", "b s", "c"), node("Conv", "c l", "y")],
        {**IMAGE, "s": np.array([0, 2, -1, 1]), "l": numbers(2, 2, 1, 1)},
        "node 'y' \\(Conv\\) takes an image .7x7x2. that comes from",
    ),
    "averages of rows": (
        [node("Conv", "x k", "a"), node("Relu", "a", "b"), node("ReduceMean", "b axes", "y")],
        {**IMAGE, "k": numbers(1, 1, 3, 3), "axes": np.array([1, 2])},
        "node 'y' \\(ReduceMean\\) takes an image .5x5. that comes from",
    ),
    "whole numbers": (
        [GEMM, node("Cast", "a", "b", to=6), node("Cast", "b", "y", to=1)],
        {},
        "node 'b' \\(Cast\\) casts to the ONNX type 6; use floats only",
    ),
    "truth values": ([GEMM, node("Cast", "a", "y", to=9)], {}, "casts to the ONNX type 9"),
    "the class of another axis": (
        [GEMM, node("ArgMax", "a", "y")], {}, "node 'y' \\(ArgMax\\) has an attribute"
    ),
    "the last of equal scores": (
        [GEMM, node("ArgMax", "a", "y", axis=1, select_last_index=1)], {}, "could change the class"
    ),
    "probabilities among points": (
        [GEMM, node("Softmax", "a", "y", axis=0)], {}, "node 'y' \\(Softmax\\) has an attribute"
    ),
    "moments of a batch": (
        [GEMM, node("BatchNormalization", "a g o m v", "y", training_mode=1)],
        NORMALIZATION,
        "node 'y' \\(BatchNormalization\\) normalizes with batch statistics",
    ),
    "one minus a probability": (
        SIGMOID, {**ALONE, "one": np.float32(1), "output": "q"}, "ends with 'a', which is not one"
    ),
    "two minus a probability": (
        SIGMOID, {**ALONE, "one": np.float32(2), "output": "q"}, "or a constant that could"
    ),
    "probabilities in the other order": (
        [*SIGMOID, node("Concat", "p q", "y", axis=1)],
        {**ALONE, "one": np.float32(1)},
        "node 'y' \\(Concat\\) comes after the scores and takes a probability and 1 - a",
    ),
    "operators of another domain": (
        [GEMM, foreign("Relu")], {}, "node 'y' \\(example.Relu\\) has no counterpart"
    ),
    "probabilities that hide scores of 0": (
        [unfinished("SOFTMAX_ZERO", 3)], {}, "has the post_transform SOFTMAX_ZERO"
    ),
    "a classifier of one score": ([unfinished("NONE", 1)], {}, "has the post_transform NONE"),
    "labels of fewer classes": (
        [GEMM, machine_learning("ZipMap", "a", "y", classlabels_int64s=[1, 2])],
        {},
        "names 2 labels for 4 classes",
    ),
    "an attribute that has no counterpart": (
        [GEMM, node("Relu", "a", "y", slope=1.0)], {}, "node 'y' \\(Relu\\) has .* 'slope'"
    ),
    "a constant that has no counterpart": (
        [GEMM, node("Relu", "a w", "y")], {}, "node 'y' \\(Relu\\) has the input 2, which has no"
    ),
    "biases of points": (
        [node("Gemm", "x w b", "y")], {"b": numbers(4, 1)}, "Gemm. cannot be applied to its inputs"
    ),
    "channels that follow each other in a row": (
        [node("Reshape", "x s", "a"), node("Conv", "a k", "y")],
        {"shape": (18,), "s": np.array([-1, 2, 3, 3]), "k": numbers(2, 2, 3, 3)},
        "node 'y' \\(Conv\\) takes an image whose channels are stored one after the other",
    ),
    "no weights": (
        [GEMM, node("MatMul", "a e", "y")],
        {"e": np.zeros((4, 0), np.float32)},
        r"constant 'e' .* \(4, 0\), expected",
    ),
    "an attribute that is no number": (
        [GEMM, node("BatchNormalization", "a g o m v", "y", epsilon=float("nan"))],
        NORMALIZATION,
        "BatchNormalization. has the attribute 'epsilon' with more than",
    ),
    "a class for each of many inputs": (
        [node("Identity", "x", "y")], {"shape": (30_000,)}, "classes: 30,000"
    ),
    "a convolution of 125 GiB": (
        [node("Conv", "x k", "y")],
        {"shape": (1, 65_000, 1), "k": np.ones((250_000, 1, 1, 1), np.float32)},
        "Conv. has an input or output of 65,000 x 1 x 1; use at most 255 rows",
    ),
    "windows of many values": (
        [node("Conv", "x k", "y")],
        {"shape": (4, 120, 120), "k": numbers(2, 4, 5, 5)},
        "node 'y' \\(Conv\\) takes windows of 100 values at .*, but .*; use smaller images",
    ),
    "many values from a few": (
        [node("Gather", "c i", "g"), GEMM],
        {"c": np.ones((9, 9)), "i": np.zeros((9, 9), int)},
        "node 'g' \\(Gather\\) gathers values other than the sizes of axes",
    ),
    "a layer of many units": (
        [node("MatMul", "x m", "y")], {"m": numbers(4, 300)}, "Gemm or MatMul with 300 outputs"
    ),
    "a point of many axes": (
        [GEMM], {"shape": (1,) * 2_000}, "in at most 8 axes, all of fixed size"
    ),
    "a name that is there already": (
        [GEMM, node("Relu", "a", "w")], {"output": "w"}, "repeats outputs of earlier nodes"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_network_that_was_read_as_another_is_refused(name: str):
    nodes, given, words = REFUSED[name]
    with pytest.raises(InputError, match=words) as refused:
        load_network(network(nodes, **{"shape": (4,), "w": numbers(4, 4), **given}), "m.onnx")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 700


LIMITED = {
    "a Clip behind a Relu": [node("Relu", "a", "b"), node("Clip", "b zero high", "c")],
    "a Clip behind maxima of a Relu": [
        node("Relu", "a", "m"), node("MaxPool", "m", "b", **TWO), node("Clip", "b zero high", "c"),
    ],
    "two Clips": [node("Clip", "a zero six", "b"), node("Clip", "b zero high", "c")],
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITED)
def test_limits_behind_each_other_are_one(name: str):
    """Channels were scaled against each other between them."""
    pools = "maxima" in name
    sizes = np.float32([9, 1])[:, None, None, None]
    given = {
        "k": numbers(2, 1, 3, 3) * sizes,
        "w": numbers(18 if pools else 98, 3),
        "zero": np.float32(0),
        "six": np.float32(6),
        "high": np.float32(2),
    }
    nodes = [CONV, *LIMITED[name], node("Flatten", "c", "f"), node("MatMul", "f w", "y")]
    X = numbers(30, 49)
    rule = load_network(network(nodes, (1, 7, 7), **given), "m.onnx").rule
    ready = _equalized(_rectified(rule, X), X)
    np.testing.assert_allclose(ready.scores(X), rule.scores(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("as_inputs", [True, False])
@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (-3.4028235e38, 3.4028235e38)])
def test_a_clip_may_have_limits_that_no_value_reaches(low: float, high: float, as_inputs: bool):
    """Some exporters write them; the advice was to train the network again."""
    limits = {} if as_inputs else {"max": high}
    nodes = [
        node("Clip", "x low high" if as_inputs else "x", "a", **limits),
        node("MatMul", "a w", "b"),
        node("Clip", "b zero high", "c"),
        node("MatMul", "c v", "y"),
    ]
    ends = {"low": np.float32(low), "high": np.float32(high), "zero": np.float32(0)}
    X, w, v = numbers(30, 4), numbers(4, 3), numbers(3, 3)
    rule = load_network(network(nodes, (4,), w=w, v=v, **ends), "m.onnx").rule
    np.testing.assert_allclose(rule.scores(X), np.maximum(X @ w, 0) @ v, rtol=1e-4, atol=1e-4)


def test_an_infinite_factor_is_refused():
    content = network([node("Mul", "x k", "y")], (4,), k=np.float32(np.inf))
    with refused_by("extensions.conversion.networks.onnx_chain"):
        load_network(content, "m.onnx")


def test_a_network_without_convolutions_may_average_images():
    nodes = [node("GlobalAveragePool", "x", "a"), node("Flatten", "a", "b"),
             node("MatMul", "b w", "y")]  # fmt: skip
    found = from_network(network(nodes, (3, 6, 6), w=numbers(3, 3)), np.abs(numbers(60, 3, 6, 6)))
    assert found.agreement > 0.9


def test_a_network_whose_channels_stay_0_keeps_finite_scores():
    """The sums of channels were divided by the largest of them."""
    nodes = [
        *(CONV, node("Relu", "a", "b"), node("Conv", "b l", "c"), node("Relu", "c", "d")),
        *(node("Flatten", "d", "f"), node("MatMul", "f w", "y")),
    ]
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
        from_network(network([GEMM], (4,), "a", w=numbers(4, 4)), POINTS[name])


def test_numbers_of_classes_are_the_classifiers_own():
    """They were 0, 1 and so on."""
    made = unfinished("SOFTMAX", 3)
    labels = next(each for each in made.attribute if each.name == "classlabels_ints")
    labels.ints[:] = [5, 3, 9]
    assert load_network(network([made], (4,)), "m.onnx").classes_.tolist() == [5, 3, 9]


@pytest.mark.parametrize("operator", ["GlobalAveragePool", "GlobalMaxPool"])
def test_layers_of_pooling_alone_are_scaled_like_convolutions(operator: str) -> None:
    nodes = [node(operator, "x", "a"), node("Flatten", "a", "f"), node("Gemm", "f w b", "y")]
    constants = {"w": np.eye(2, dtype=np.float32), "b": np.float32([0, 5])}
    X = np.random.default_rng(0).normal(5, 1, (200, 2, 2, 2)).astype(np.float32)
    X[:, 1] = 0  # so that the first channel is compared with 5
    converted = from_network(network(nodes, (2, 2, 2), **constants), X, epochs=0)
    assert converted.steps[-1].agreement > 0.95


def test_trees_are_refused_with_a_remedy() -> None:
    """The remedy was to use layers of networks."""
    trees = machine_learning("TreeEnsembleClassifier", "x", "a b")
    with refused_by("extensions.conversion.networks.onnx_chain"):
        load_network(network([trees], (4,), "a"), "m.onnx")


def flattened(**shape: Any) -> Any:
    """Return a network that averages the samples of two channels as PyTorch 2.13 writes it."""
    nodes = [
        *(node("Conv", "x k", "a"), node("Relu", "a", "b"), node("Unsqueeze", "b one", "c")),
        *(node("ReduceMean", "c both", "d", keepdims=1), node("Squeeze", "d one", "e")),
        *(node("Reshape", "e flat", "f", **shape), node("MatMul", "f w", "y")),
    ]
    given = {"k": numbers(2, 3, 3), "one": np.array([-2]), "both": np.array([-1, -2])}
    return nodes, given | {"w": numbers(2, 3)}


def test_a_reshape_of_pytorch_that_keeps_no_axis_is_read():
    """All of its Flatten were refused for allowzero=1, and AdaptiveAvgPool1d for its Unsqueeze."""
    nodes, given = flattened(allowzero=1)
    X = np.abs(numbers(80, 3, 16))
    content = network(nodes, (3, 16), **given, flat=np.array([1, 2]))
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


@pytest.mark.parametrize("shape", [(0, 2), (80, 2)])
def test_a_reshape_to_no_points_or_several_is_refused(shape: tuple[int, int]):
    nodes, given = flattened(allowzero=1)
    content = network(nodes, (3, 16), **given, flat=np.array(shape))
    with refused_by("extensions.conversion.networks.onnx_chain"):
        load_network(content, "m.onnx")
