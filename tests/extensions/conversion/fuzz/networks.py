"""Random chains of ONNX operators: one is refused, or has the scores and answers of onnxruntime.

Some operators have odd attributes or shapes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.onnx_factory import network, node, onnx
from laws.fuzz.sentences import check_refusal

from protonn_edge.extensions.conversion.networks.networks import _equalized, _of_bytes, _rectified
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.features.convolution.train.layers import Convolution
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.system.errors import InputError

BRIEF_CASES = 120
TOLERANCE = 2e-3  # of sums in float32, in another order
SURE = 1e-2  # answers are compared where the best scores differ by more
ODD = 0.12  # the share of attributes and shapes that are odd


class Chain:
    """A network that grows node by node; its points have the shape `points`, and it ends with y."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.points = self.pick((7,), (24,), (2, 12), (1, 8, 8), (3, 6, 8), (2, 7, 6), (6, 6, 2))
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        self.name, self.shape = "x", self.points

    def pick(self, *choices: Any) -> Any:
        """Return one of the choices."""
        return choices[self.rng.integers(len(choices))]

    def odd(self) -> bool:
        """Return whether something is to be odd."""
        return bool(self.rng.random() < ODD)

    def constant(self, array: Any, kind: type = np.float32) -> str:
        """Return the name of a new constant."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array, kind)
        return name

    def weights(self, *shape: int) -> str:
        """Return the name of new weights."""
        return self.constant(self.rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]) or 1))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> bool:
        """Append a node if ONNX can infer its shape."""
        name = f"n{len(self.nodes)}"
        made = node(operator, " ".join(inputs or (self.name,)), name, **attributes)
        whole = onnx.load_from_string(self.content([*self.nodes, made], name))
        try:
            inferred = onnx.shape_inference.infer_shapes(whole, True, True, True)
        except onnx.shape_inference.InferenceError:
            return False
        kind = inferred.graph.output[0].type.tensor_type
        sizes = [axis.dim_value for axis in kind.shape.dim[1:]]
        if not sizes or not all(0 < size < 400 for size in sizes):
            return False
        self.nodes.append(made)
        self.name, self.shape = name, tuple(sizes)
        return True

    def content(self, nodes: list[Any], *outputs: str) -> bytes:
        """Return these nodes as a file."""
        model = onnx.load_from_string(network(nodes, self.points, outputs[0], **self.constants))
        del model.graph.output[:]
        for name in outputs:
            model.graph.output.append(onnx.ValueInfoProto(name=name))
            last = next((each for each in nodes if name in each.output), None)
            whole = last is not None and last.op_type == "ArgMax"
            kind = onnx.TensorProto.INT64 if whole else onnx.TensorProto.FLOAT
            model.graph.output[-1].type.tensor_type.elem_type = kind
        return bytes(model.SerializeToString())

    def convolve(self) -> None:
        """Append a convolution, perhaps padded or depthwise."""
        axes = len(self.shape) - 1
        channels, side = self.shape[0], 1 if axes == 1 else self.pick(1, 3, 3, 5)
        attributes: dict[str, Any] = {}
        if self.pick(0, 1):
            attributes["strides"] = [self.pick(1, 2)] * axes
        if self.pick(0, 0, 1):
            attributes["pads"] = [(side - 1) // 2] * 2 * axes
        if self.odd():
            attributes["auto_pad"] = self.pick("SAME_UPPER", "SAME_LOWER", "VALID")
            attributes.pop("pads", None)
        elif self.odd():
            attributes["pads"] = [0, 1] * axes
        if self.odd():
            attributes["dilations"] = [self.pick(1, 2)] * axes
        depthwise = channels > 1 and self.pick(0, 0, 1)
        if depthwise:
            attributes["group"] = channels
        outputs = channels if depthwise else self.pick(2, 3, 4)
        W = self.weights(outputs, 1 if depthwise else channels, *[side] * axes)
        self.add("Conv", self.name, W, *[self.weights(outputs)][: self.pick(0, 1)], **attributes)

    def pool(self) -> None:
        """Append pooling of windows or of everything."""
        axes = len(self.shape) - 1
        kind = self.pick("MaxPool", "MaxPool", "AveragePool", "Global", "ReduceMean")
        if kind == "Global":
            self.add(self.pick("GlobalAveragePool", "GlobalMaxPool"))
        elif kind == "ReduceMean":
            rank = axes + 2
            usual = list(range(2, rank)) if self.pick(0, 0, 1) else list(range(1, rank - 1))
            given = [self.pick(*range(-rank, rank))] if self.odd() else usual
            self.add(kind, self.name, self.constant(given, np.int64), keepdims=self.pick(0, 1))
        else:
            side = self.pick(2, 2, 3)
            attributes = {"kernel_shape": [side] * axes, "strides": [side] * axes}
            if self.odd():
                attributes["auto_pad"] = self.pick("SAME_UPPER", "SAME_LOWER", "VALID")
            elif self.odd():
                attributes["pads"] = [self.pick(0, 1)] * 2 * axes
            if self.odd():
                attributes["ceil_mode"] = 1
            if self.odd():
                attributes["strides"] = [1] * axes
            self.add(kind, **attributes)

    def rectify(self) -> None:
        """Append a limit at 0, perhaps one more above, of sums."""
        summed = any(each.op_type in ("Conv", "Gemm", "MatMul") for each in self.nodes)
        if not summed and not self.odd():
            return
        for _ in range(self.pick(1, 1, 1, 2)):
            if self.pick(0, 0, 1) and (len(self.shape) > 1 or self.odd()):
                low = self.pick(0.0, 0.0, -1.0) if self.odd() else 0.0
                ends = self.constant(low), self.constant(self.pick(0.5, 6.0))
                self.add("Clip", self.name, *ends)
            else:
                self.add("Relu")

    def scale(self) -> None:
        """Append factors or shifts."""
        kind = self.pick("BatchNormalization", "Add", "Sub", "Mul", "Div", "from")
        if kind == "BatchNormalization":
            given = [self.weights(self.shape[0]) for _ in range(3)]
            spread = self.constant(self.rng.random(self.shape[0]) + 0.5)
            mode = {"training_mode": 1} if self.odd() else {}
            self.add(kind, self.name, *given, spread, **mode)
            return
        shape = self.pick((), (1,), self.shape[:1] + (1,) * (len(self.shape) - 1), self.shape[-1:])
        value = self.constant(self.rng.random(shape) + 0.5)
        if kind == "from":
            self.add("Sub", value, self.name)
        else:
            self.add(kind, self.name, value)

    def lay(self) -> None:
        """Append a change of shape, or another operator without arithmetic."""
        n, rank = int(np.prod(self.shape)), len(self.shape) + 1
        kind = self.pick(
            "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Cast", "Dropout"
        )
        if kind == "Reshape":
            rows = [(n,), (1, -1), (2, n // 2), (1, 4, n // 4), (2, 3, n // 6), (n // 2, 2)]
            sizes = [size for size in (*rows, self.shape[::-1]) if abs(np.prod(size)) in (1, n)]
            target = [self.pick(0, -1) if -1 not in (row := self.pick(*sizes)) else 0, *row]
            self.add(kind, self.name, self.constant(target, np.int64))
        elif kind == "Transpose":
            moved = self.rng.permutation(rank - 1) + 1
            self.add(kind, perm=[0, *moved.tolist()])
        elif kind == "Cast":
            to = onnx.TensorProto
            self.add(kind, to=to.FLOAT)
            if self.odd():
                self.add(kind, to=self.pick(to.INT32, to.BOOL)) and self.add(kind, to=to.FLOAT)
        elif kind.endswith("queeze"):
            axis = self.pick(*range(1, rank + (kind == "Unsqueeze")), -1)
            self.add(kind, self.name, self.constant([axis], np.int64))
        else:
            self.add(kind)

    def multiply(self) -> None:
        """Append a matrix, of flat values."""
        if len(self.shape) != 1:
            self.add("Flatten")
        n, out = int(np.prod(self.shape)), self.pick(1, 2, 3, 5)
        if self.pick(0, 1):
            self.add("MatMul", self.name, self.weights(n, out))
            return
        turned = self.pick(0, 1)
        W = self.weights(out, n) if turned else self.weights(n, out)
        bias = [self.weights(*self.pick((out,), (1, out)))][: self.pick(0, 1)]
        extra = {"alpha": 0.5, "beta": -2.0} if self.odd() else {}
        self.add("Gemm", self.name, W, *bias, transB=turned, **extra)

    def decide(self) -> str:
        """Append what makes an answer of scores, and return their name."""
        scores = self.name
        kind = self.pick("", "", "", "ArgMax", "Softmax", "LogSoftmax", "Sigmoid", "rest", "both")
        axis = {"axis": self.pick(*range(-2, 2)) if self.odd() else 1}
        if kind in ("rest", "both"):
            sure = not self.odd() and self.add("Sigmoid")
            p, one = self.name, self.pick(1.0, 2.0) if self.odd() else 1.0
            self.add("Sub", self.constant(one), p)
            scores = scores if sure else self.name
            if kind == "both":
                pair = (p, self.name) if self.odd() else (self.name, p)
                self.add("Concat", *pair, axis=1)
        elif kind:
            last = {"select_last_index": 1} if kind == "ArgMax" and self.odd() else {}
            self.add(kind, **({} if kind == "Sigmoid" else axis), **last)
        return scores


def random_chain(seed: int) -> tuple[Chain, str]:
    """Return a chain with its decision, and the name of its scores."""
    chain = Chain(seed)
    steps = [chain.lay] if chain.odd() or len(chain.points) == 1 else []
    if chain.odd():
        steps.append(chain.scale)
    for _ in range(chain.pick(0, 1, 2, 3)):
        steps += [chain.convolve, chain.pool, chain.rectify, chain.scale, chain.lay]
    for _ in range(chain.pick(0, 1, 2)):
        steps += [chain.multiply, chain.scale, chain.rectify]
    steps += [chain.lay, chain.multiply]
    likely = {chain.convolve: 0.8, chain.rectify: 0.85, chain.multiply: 0.9}
    for step in steps:
        flat = len(chain.shape) == 1 and step in (chain.convolve, chain.pool)
        if not flat and chain.rng.random() < likely.get(step, 0.35):
            step()
    return chain, chain.decide()


def run_case(seed: int, folder: Path) -> None:
    """Compare a random network with onnxruntime."""
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install '.[test]'")
    runtime.set_default_logger_severity(4)
    chain, scores = random_chain(seed)
    X = chain.rng.normal(size=(6, *chain.points)).astype(np.float32)
    try:
        rule = load_network(chain.content(chain.nodes, chain.name), "m.onnx").rule
    except InputError as error:
        check_refusal(error)
        assert "node" in str(error) or "m.onnx" in str(error)  # noqa: PT017
        return
    both = chain.content(chain.nodes, *dict.fromkeys((scores, chain.name)))
    outputs = runtime.InferenceSession(both).run(None, {"x": X})
    expected, last, rows = outputs[0].reshape(len(X), -1), outputs[-1], rule.rows(X)
    close = {"rtol": TOLERANCE, "atol": TOLERANCE * (1 + np.abs(expected).max())}
    np.testing.assert_allclose(scores_of(rule, rows), expected, **close)
    alone = "Sigmoid" in [each.op_type for each in chain.nodes]
    ordered = np.sort(expected if len(expected[0]) > 1 else np.c_[-expected, expected], axis=1)
    sure = ordered[:, -1] - ordered[:, -2] > SURE
    assert (answers_of(last, alone / 2) == rule.answers(rows)[:, None])[sure].all(), "answers"
    if rule.image is not None:
        ready = _equalized(_rectified(rule, rows), rows)
        np.testing.assert_allclose(scores_of(ready, rows), expected, **close)
        assert_same_of_bytes(rule, rows)


def scores_of(rule: Any, X: np.ndarray) -> np.ndarray:
    """Return the scores as the network itself has them: a single one for two classes."""
    found = rule.scores(X)
    return found if rule.weights[-1].shape[0] > 1 else found[:, 1:] - found[:, :1]


def answers_of(output: np.ndarray, threshold: float) -> np.ndarray:
    """Return the class of each point by a network's last output."""
    flat = output.reshape(len(output), -1)
    if output.dtype.kind == "i":
        return flat
    if flat.shape[1] == 1:
        return flat > threshold
    return flat.argmax(axis=1, keepdims=True)


def assert_same_of_bytes(rule: Any, X: np.ndarray) -> None:
    """Compare a network of bytes with that of the values they stand for; the edge may differ."""
    if any(isinstance(layer, Convolution) and layer.layout.padded for layer in rule.layers):
        return
    pixels = PixelScale.between(float(X.min()), float(X.max()), float(X.min()))
    values = pixels.to_bytes(X)
    found = _of_bytes(rule, pixels).scores(values)
    expected = rule.scores(pixels.zero + pixels.step * values)
    np.testing.assert_allclose(found, expected, TOLERANCE, TOLERANCE * (1 + np.abs(expected).max()))
