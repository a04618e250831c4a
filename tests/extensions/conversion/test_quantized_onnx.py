"""Networks in ONNX with QuantizeLinear and DequantizeLinear: the values that onnxruntime gives.

onnxruntime is asked for real sums that it quantizes, as ONNX defines it. They are sums of floats,
so values next to the middle of two integers may be one of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from extensions.conversion.files import refused
from extensions.conversion.onnx_factory import network, node, onnx, perceptron
from laws.fuzz.sentences import check_refusal
from refusals import refused_by

from protonn_edge import from_network
from protonn_edge.extensions.conversion.networks.int8_network import Int8Network
from protonn_edge.extensions.conversion.networks.onnx_int8 import factor_of
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

POINTS = 60


class Quantized:
    """A network that grows node by node; it begins with x, and `name` are its present values."""

    def __init__(self, *shape: int, kind: type = np.uint8, seed: int = 0) -> None:
        self.shape, self.kind, self.rng = shape, kind, np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.name = "x"

    def constant(self, array: Any, kind: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array, kind)
        return name

    def add(self, operator: str, *others: str, **attributes: Any) -> Quantized:
        made = f"n{len(self.nodes)}"
        self.nodes.append(node(operator, " ".join((self.name, *others)), made, **attributes))
        self.name = made
        return self

    def of(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Return the output of a node of constants."""
        made = f"n{len(self.nodes)}"
        self.nodes.append(node(operator, " ".join(inputs), made, **attributes))
        return made

    def quantized(self, scale: float, zero: int, *, real: bool = True) -> Quantized:
        """Quantize the present values, and dequantize them if they are to be `real`."""
        low = np.iinfo(self.kind).min
        own = self.constant(scale, np.float32), self.constant(zero + low, self.kind)
        self.add("QuantizeLinear", *own)
        return self.add("DequantizeLinear", *own) if real else self

    def weights(self, *shape: int, axis: int | None = 0) -> str:
        """Return int8 weights, dequantized with a scale for each output, or one."""
        whole = self.constant(self.rng.integers(-128, 128, shape), np.int8)
        count = () if axis is None else shape[axis]
        scale = self.constant(self.rng.uniform(0.002, 0.01, count), np.float32)
        zero = self.constant(np.zeros(count), np.int8)
        return self.of("DequantizeLinear", whole, scale, zero, axis=axis or 0)

    def bias(self, size: int) -> str:
        return self.constant(self.rng.normal(size=size) / 4, np.float32)

    def layer(self, operator: str, *shape: int, axis: int | None = 0, **more: Any) -> Quantized:
        size = shape[1] if operator == "MatMul" else shape[0]
        given = [self.weights(*shape, axis=axis)]
        if operator != "MatMul":
            given.append(self.bias(size))
        return self.add(operator, *given, **more)

    def content(self) -> bytes:
        return network(self.nodes, self.shape, self.name, **self.constants)


def an_image() -> Quantized:
    made = Quantized(2, 9, 7).quantized(0.008, 3)
    made.layer("Conv", 6, 2, 3, 2, strides=[2, 1], pads=[1, 0, 0, 1]).add("Relu")
    made.quantized(0.02, 0).layer("Conv", 6, 1, 3, 3, group=6, auto_pad="SAME_UPPER")
    made.quantized(0.03, 120).add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    made.quantized(0.03, 120).add("Flatten").quantized(0.03, 120)
    made.add("Transpose", perm=[0, 1]).layer("Gemm", 4, 36, transB=1)
    return made.quantized(0.05, 100).add("Softmax").quantized(1 / 256, 0)


def averages() -> Quantized:
    made = Quantized(1, 12, 12, kind=np.int8).quantized(0.01, 0)
    made.layer("Conv", 4, 1, 5, 5, axis=None, strides=[1, 1])
    zero = made.constant(0, np.float32)
    made.add("Clip", zero, made.constant(1.5, np.float32)).quantized(0.007, 0)
    made.add("AveragePool", kernel_shape=[3, 2], strides=[1, 2]).quantized(0.0061, 0)
    made.layer("Conv", 8, 1, 1, 1, group=4).quantized(0.01, 128).add("Relu").quantized(0.006, 0)
    return made.add("GlobalAveragePool").quantized(0.005, 7).add("Flatten").quantized(0.005, 7)


def scaled_signal() -> Quantized:
    """A signal that a quantized normalization precedes, which was once taken for an image."""
    made = Quantized(2, 9).quantized(0.0123, 60)
    made.add("Mul", made.constant([[1.5], [-0.7]], np.float32)).quantized(0.0131, 127)
    made.layer("Conv", 3, 2, 3, pads=[1, 1]).add("Relu").quantized(0.02, 0).add("Flatten")
    return made.layer("Gemm", 3, 27, transB=1).quantized(0.05, 100)


def scaled() -> Quantized:
    """An image whose channels are normalized with their own scales, as a layer of their own."""
    made = Quantized(2, 5, 4).quantized(0.0123, 60)
    made.add("Sub", made.constant([[[0.2]], [[-0.1]]], np.float32)).quantized(0.0117, 110)
    made.add("Mul", made.constant([[[1.5]], [[-0.7]]], np.float32)).quantized(0.0131, 127)
    made.add("Transpose", perm=[0, 2, 3, 1]).add("Flatten").layer("Gemm", 3, 40, transB=1)
    return made.quantized(0.0219, 128)


def a_signal() -> Quantized:
    made = Quantized(3, 20).quantized(0.01, 10).layer("Conv", 5, 3, 4, dilations=[1], strides=[2])
    made.add("Relu").quantized(0.03, 0).add("MaxPool", kernel_shape=[3], strides=[3])
    made.quantized(0.03, 0).add("GlobalAveragePool").quantized(0.019, 2)
    return made.add("Flatten").layer("Gemm", 3, 5, transB=1).quantized(0.03, 140, real=False)


def products() -> Quantized:
    """Sums of matrices and biases that are quantized each, as networks of skl2onnx are."""
    made = Quantized(10).quantized(0.007, 30).layer("MatMul", 10, 8, axis=1).quantized(0.02, 128)
    made.add("Add", made.bias(8)).quantized(0.021, 125).add("Relu").quantized(0.021, 125)
    made.add("Mul", made.constant([1, -2, 0, 3, 1, 1, 1, 1], np.float32)).quantized(0.0313, 90)
    made.layer("MatMul", 8, 4, axis=None).add("Add", made.bias(4)).quantized(0.03, 128)
    return made.add("ArgMax", axis=1)


def as_pytorch() -> Quantized:
    """A layer as PyTorch writes it: with casts, and a bias divided by the product of scales."""
    made = Quantized(6)
    step, zero = made.of("Identity", made.constant(0.01, np.float64)), made.constant(5, np.int64)
    step, zero = made.of("Cast", step, to=1), made.of("Cast", zero, to=2)
    made.add("QuantizeLinear", step, zero).add("Cast", to=2).add("DequantizeLinear", step, zero)
    real, scale = made.rng.normal(size=(4, 6)), made.constant([0.02, 0.03, 0.01, 0.02], np.float32)
    zeros = made.constant(np.zeros(4), np.int8)
    whole = made.of("QuantizeLinear", made.constant(real, np.float32), scale, zeros, axis=0)
    W = made.of("DequantizeLinear", made.of("Cast", whole, to=3), scale, zeros, axis=0)
    unit = made.of("Mul", scale, step)
    none = onnx.numpy_helper.from_array(np.zeros(1, np.int32))
    zeros = made.of("ConstantOfShape", made.of("Shape", unit), value=none)
    bias = made.of("Cast", made.of("Div", made.bias(4), unit), to=6)
    bias = made.of("DequantizeLinear", bias, unit, zeros, axis=0)
    return made.add("Gemm", W, bias, transB=1).quantized(0.04, 128)


NETWORKS = {
    each.__name__: each
    for each in (an_image, averages, scaled, scaled_signal, a_signal, products, as_pytorch)
}


def of_onnxruntime(made: Quantized, X: np.ndarray) -> list[np.ndarray]:
    """Return the bytes of each QuantizeLinear of values, in order, with channels innermost."""
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[test]'")
    model = onnx.load_from_string(made.content())
    constants = {*made.constants}
    quantizing = [
        each
        for each in model.graph.node
        if each.op_type == "QuantizeLinear" and each.input[0] not in constants
    ]
    del model.graph.output[:]
    model.graph.output.extend(
        onnx.helper.make_empty_tensor_value_info(each.output[0]) for each in quantizing
    )
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(model.SerializeToString(), options)
    found = session.run([each.output[0] for each in quantizing], {"x": X})
    return [
        np.moveaxis(each.astype(int) + 128 * (each.dtype == np.int8), 1, -1).reshape(len(X), -1)
        for each in found
    ]


def points_of(made: Quantized) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1.5, (POINTS, *made.shape)).astype(np.float32)


def rule_of(made: Quantized) -> Int8Network:
    found = load_network(made.content(), "m.onnx").rule
    assert isinstance(found, Int8Network)
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_each_layer_has_the_values_of_onnxruntime(name: str) -> None:
    made = NETWORKS[name]()
    X, rule = points_of(made), rule_of(made)
    expected = of_onnxruntime(made, X)
    given = rule.pixels.to_bytes(np.asarray(rule.rows(X)).reshape(POINTS, -1))
    assert (given == expected[0]).all()
    place, worst = 0, 0
    for layer in rule.layers:
        # The next values that onnxruntime quantizes to as many; layers that limit are joined.
        values = layer.run(given)
        fits = [i for i in range(place + 1, len(expected)) if expected[i].shape == values.shape]
        best = min(fits, key=lambda i: int((expected[i] != values).sum()))
        differ = values.astype(int) - expected[best]
        worst = max(worst, int(np.abs(differ).max()))
        assert np.count_nonzero(differ) <= 0.01 * differ.size
        place, given = best, expected[best].astype(np.uint8)
    assert worst <= 1


def test_halves_of_inputs_are_rounded_to_even(tmp_path: Path) -> None:
    made = Quantized(5).quantized(0.5, 10).layer("Gemm", 3, 5, transB=1).quantized(0.05, 128)
    X = np.float32([[0.25, 0.75, -0.25, -0.75, 1.25], [-9, 500, 1.75, 2.25, -1.25]])
    found = from_network(made.content(), X)
    save_model(found.model, tmp_path / "model.npz")
    for model in (found.model, load_model(tmp_path / "model.npz")):
        Q = quantize(model).quantize(X)
        assert Q.tolist() == [[10, 12, 10, 8, 12], [0, 255, 14, 14, 8]]
    assert (of_onnxruntime(made, X)[0] == Q).all()


def test_weights_alone_may_be_quantized() -> None:
    made = Quantized(5)
    made.layer("Gemm", 3, 5, transB=1)
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[test]'")
    X = points_of(made)
    expected = runtime.InferenceSession(made.content()).run(None, {"x": X})[0]
    found = load_network(made.content(), "m.onnx").rule
    np.testing.assert_allclose(found.scores(X), expected, rtol=1e-4, atol=1e-4)


def a_perceptron() -> bytes:
    rng = np.random.default_rng(3)
    return perceptron(
        [rng.normal(size=shape) / 4 for shape in ((20, 9), (9, 4))], [rng.normal(size=9), [0] * 4]
    )


def a_small_network() -> bytes:
    """Depthwise and pointwise layers, averages of everything, and a matrix with one output."""
    rng = np.random.default_rng(4)
    shapes = {"a": (4, 2, 3, 3), "b": (4,), "c": (4, 1, 3, 3), "d": (6, 4, 1, 1), "e": (6, 1)}
    layers = [
        *(node("Conv", "x a b", "1", pads=[1] * 4), node("Clip", "1 zero six", "2")),
        *(node("Conv", "2 c", "3", group=4), node("Conv", "3 d", "4"), node("Relu", "4", "5")),
        *(node("GlobalAveragePool", "5", "6"), node("Flatten", "6", "7")),
        *(node("MatMul", "7 e", "8"), node("Sigmoid", "8", "y")),
    ]
    weights = {name: np.float32(rng.normal(size=shape)) for name, shape in shapes.items()}
    return network(layers, (2, 6, 7), **weights, zero=np.float32(0), six=np.float32(6))


def _keras() -> bytes:
    return (Path(__file__).parents[2] / "data/networks/keras-cnn-usps10.onnx").read_bytes()


@pytest.mark.parametrize("make", [a_perceptron, a_small_network, _keras])
def test_networks_that_onnxruntime_quantizes_have_its_values(
    tmp_path: Path, make: Callable[[], bytes]
) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[test]'")
    quantization = import_module("onnxruntime.quantization")
    given, made = onnx.load_from_string(make()), tmp_path / "made.onnx"
    name, shape = given.graph.input[0].name, given.graph.input[0].type.tensor_type.shape
    sizes = [axis.dim_value for axis in shape.dim[1:]]
    X = np.random.default_rng(1).uniform(-1, 1.5, (POINTS, *sizes)).astype(np.float32)
    points = iter([*({name: x[None]} for x in X[:10]), None])

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        def get_next(self) -> Any:
            return next(points)

    formats = quantization.QuantFormat, quantization.QuantType.QUInt8, quantization.QuantType.QInt8
    quantization.quantize_static(
        *(given, made, Reader()),
        quant_format=formats[0].QDQ,
        activation_type=formats[1],
        weight_type=formats[2],
        per_channel=True,
        reduce_range=True,  # sums of 16 bits overflow on some processors
    )
    rule = load_network(made, "made.onnx").rule
    model = onnx.load(made)
    ends = next(each for each in model.graph.node if re.search("Softmax|Sigmoid", each.op_type))
    del model.graph.output[:]
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(ends.input[0]))
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    values = runtime.InferenceSession(model.SerializeToString(), options).run(None, {name: X})[0]
    if values.dtype != np.uint8:
        values = np.rint(values / rule.output_step) + rule.output_zero
    outputs = rule.outputs(np.asarray(rule.rows(X)).reshape(POINTS, -1))
    differ = np.abs(outputs - values.astype(int))
    assert np.ptp(values) > 50
    assert differ.max() <= 1
    assert np.count_nonzero(differ) <= 0.01 * differ.size


def begun(**given: Any) -> Quantized:
    return Quantized(*given.pop("shape", (6,)), **given).quantized(0.01, 10)


def _with_floats() -> Quantized:
    made = begun()
    return made.add("Gemm", made.constant(np.eye(6), np.float32)).quantized(0.1, 0)


def _redefined() -> Quantized:
    made = Quantized(6).quantized(0.1, 0, real=False)
    step, zero = made.constant(0.2, np.float32), made.constant(0, np.uint8)
    return made.add("DequantizeLinear", step, zero)


def _uneven() -> Quantized:
    made = begun()
    whole = made.constant(made.rng.integers(-128, 128, (6, 3)), np.int8)
    scale, zero = made.constant(0.1, np.float32), made.constant(9, np.int8)
    return made.add("MatMul", made.of("DequantizeLinear", whole, scale, zero)).quantized(0.1, 0)


def _of_quantized_values() -> Quantized:
    made = Quantized(6).quantized(0.1, 0, real=False)
    scale, zero = made.constant(0.1, np.float32), made.constant(0, np.uint8)
    whole = made.constant(made.rng.integers(-128, 128, (6, 3)), np.int8)
    weights = whole, scale, made.constant(0, np.int8)
    return made.add("QLinearMatMul", scale, zero, *weights, scale, zero)


@pytest.mark.parametrize(("made", "words"), refused("ONNX in int8"))
def test_other_networks_are_refused_in_one_sentence(made: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        load_network(eval(made).content(), "m.onnx")
    check_refusal(error.value)


def test_fewer_bits_are_for_floats() -> None:
    with refused_by("extensions.conversion.networks.stored_networks"):
        load_network(an_image().content(), "m.onnx", 4)


def test_the_command_converts(tmp_path: Path) -> None:
    made = products()
    X = points_of(made)
    (tmp_path / "m.onnx").write_bytes(made.content())
    labels = rule_of(made).answers(X)
    points, labels = np.concatenate([X, X[:4]]), np.concatenate([labels, np.arange(4)])
    np.savez(tmp_path / "data.npz", X_train=points, y_train=labels)
    paths = tmp_path / "m.onnx", "--data", tmp_path / "data.npz", "-o", tmp_path / "model.npz"
    done = run("convert", *paths)
    assert done.exit_code == 0, done.stderr
    assert "integers  agreement 100.00 %" in done.stdout
    assert "m.onnx, converted to int8 layers, " in done.stdout
    assert re.search("classifier +int8 layers", run("inspect", paths[-1]).stdout)


def test_an_operator_that_is_no_text_is_shown_in_plain_characters() -> None:
    content = products().content().replace(b"MatMul", b"Mat\xfful", 1)
    with pytest.raises(
        InputError, match="has no counterpart on the device; use layers of"
    ) as refused:
        load_network(content, "m.onnx")
    check_refusal(refused.value)


def test_a_factor_that_is_too_small_is_the_smallest() -> None:
    assert [factor_of(0.5), factor_of(2.0**-31), factor_of(2.0**-90)] == [
        *((2**30, 0), (2**30, 30), (1, 31))
    ]
