"""Write a model as ONNX, in integers: each stage's formula in standard operators.

A kind of stage has a function with its name, which takes the previous stage's values and
the stage, and returns the same integers as `IntegerStage.run`. Python's operators on these values
add nodes to an `IntegerGraph`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.chain.model import Model
from protonn_edge.datasets.naming import NO_CLASS
from protonn_edge.errors import InputError
from protonn_edge.features.average_pooling.pooling import IntegerAveragePooling
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.deskew import deskew
from protonn_edge.features.gradients.gradients import LEVELS, IntegerGradients
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.features.int8_layer.integers import IntegerInt8Layer
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.kinds.bonsai.integers import PRODUCT_SHIFT, IntegerBonsaiTree, Sums
from protonn_edge.kinds.dense.integers import UNIT_SHIFT, IntegerDense
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.linear.integers import IntegerLinear
from protonn_edge.kinds.naive_bayes.integers import TERM_SHIFT, IntegerNaiveBayes
from protonn_edge.kinds.protonn.projection.integers import REQUANTIZE_SHIFT, IntegerProjection
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.policy.rejection.rule import IntegerRejection
from protonn_edge.quantization import quantize
from protonn_edge.system.lazy import require


def to_onnx(model: Model | IntegerChain) -> bytes:
    """Return the integer model as the content of an ONNX file, for other programs.

    The input "bytes", (n, features) uint8, is what a device receives, the result of
    `IntegerChain.quantize`. The outputs are int64: "scores", (n, L), and "class", (n, 1), the index
    of the class or 255 for an unknown point. All integers equal those of `IntegerChain.answers`.
    The metadata are the names of the classes, the model's hash, and the numbers that quantize
    features x: ``floor((x - zero) / step + 0.5)``, at least 0 and at most ``maximum``.

    Raises
    ------
    InputError
        If ONNX cannot express a stage, or the package onnx is missing.
    """
    chain = quantize(model) if isinstance(model, Model) else model
    before = x = Values(IntegerGraph(), "bytes").wide
    for stage in (*chain.feature_stages, *chain.own_stages):
        if stage.kind not in _OPERATORS:
            raise InputError(
                f"the model has the stage '{stage.kind.replace('_', ' ')}', but ONNX cannot "
                "express the square roots and filters of this stage in integers; choose a model "
                "with other features"
            )
        before, x = x, _OPERATORS[stage.kind](x, stage)
    given = chain.features
    scale = {"zero": given.zero.tolist(), "step": given.step.tolist(), "maximum": given.maximum}
    facts = {name: json.dumps(fact) for name, fact in (scale | {"classes": chain.classes}).items()}
    facts["model_sha256"] = chain.model_sha256
    outputs = {"class": (_class(x, before, chain), 1), "scores": (x, chain.n_classes)}
    return x.graph.content(chain.n_features, outputs, facts)


def _class(scores: Values, before: Values, chain: IntegerChain) -> Values:
    best = answer = scores.op("ArgMax", axis=1)
    least = chain.policy.find(IntegerRejection)
    if least is None:
        return best
    largest = scores.op("ReduceMax", [1])
    lowest = chain.score_range()[0] if chain.n_classes > 1 else 0  # a margin is above the second
    others = best.op("Equal", np.arange(chain.n_classes)).op("Where", lowest, scores)
    statistics = [(largest, least.score), (largest - others.op("ReduceMax", [1]), least.margin)]
    if least.rbf > 0:
        nearest = _rbf(before, chain.stage(IntegerPrototypes)).op("ReduceMax", [1])
        statistics.append((nearest, least.rbf))
    for value, threshold in statistics:
        if threshold > 0:
            answer = value.op("Less", threshold).op("Where", NO_CLASS, answer)
    return answer


def _linear(x: Values, stage: IntegerLinear) -> Values:
    sums = x.product(stage.weights) + stage.bias
    return sums if stage.n_sums > 1 else sums @ [[-1, 1]]


def _dense(x: Values, stage: IntegerDense) -> Values:
    upper = (x.product(stage.weights) + stage.bias) >> stage.accumulator_bits - 16
    return ((upper.op("Max", 0) * stage.multiplier) >> UNIT_SHIFT).op("Min", 255)


def _projection(x: Values, stage: IntegerProjection) -> Values:
    upper = (x.product(stage.weights) + stage.bias) >> stage.accumulator_bits - 16
    return ((upper * stage.multiplier + stage.offset) >> REQUANTIZE_SHIFT).op("Clip", -128, 127)


def _rbf(x: Values, stage: IntegerPrototypes) -> Values:
    B = stage.prototypes.T
    lengths = (x * x).op("ReduceSum", [1]) + np.square(B.astype(int)).sum(axis=1)
    squares = lengths - x.product(B, signed=True) * 2
    places = (squares >> stage.distance_shift).op("Min", len(stage.table))
    return x.graph.constant(np.append(stage.table, 0)).op("Gather", places)


def _prototypes(x: Values, stage: IntegerPrototypes) -> Values:
    return _rbf(x, stage).product(stage.labels)


def _forest(x: Values, stage: IntegerForest) -> Values:
    trees, inner = stage.trees, stage.trees.inner
    left = np.arange(len(inner)) + inner  # a leaf points to itself
    numbers = stage.features * inner, trees.at_nodes(stage.thresholds), left, trees.right
    tables = [x.graph.constant(each) for each in numbers]
    at = x.op("ReduceMax", [1]) * 0 + trees.roots
    steps = inner.astype(np.int64)
    for _ in range(int(trees.down(steps, steps).max())):
        feature, limit, low, high = (table.op("Gather", at) for table in tables)
        is_low = x.op("GatherElements", feature, axis=1).op("LessOrEqual", limit)
        at = is_low.op("Where", low, high)
    values = np.zeros((len(inner), stage.n_outputs))
    values[~inner] = stage.leaves
    return x.graph.constant(values).op("Gather", at).op("ReduceSum", [1], keepdims=0) + stage.bias


def _naive_bayes(x: Values, stage: IntegerNaiveBayes) -> Values:
    distances = x.op("Unsqueeze", [1]) * (1 << stage.shift) - stage.means
    terms = (distances * distances * stage.weights) >> TERM_SHIFT
    return terms.op("ReduceSum", [2], keepdims=0) * -1 + stage.bias


def _bonsai_tree(x: Values, stage: IntegerBonsaiTree) -> Values:
    def sums(rows: Sums) -> Values:
        return x.product(rows.weights, signed=stage.signed) + rows.bias

    gates = (sums(stage.gates) >> stage.gate_shift).op("Clip", -128, 127) + 128
    upper = sums(stage.weights) >> stage.weight_shift
    values = (upper * x.graph.constant(stage.table).op("Gather", gates)) >> PRODUCT_SHIFT
    node = ways = x.op("ReduceMax", [1]) * 0
    for _ in range(stage.depth):
        node = node * 2 + 1 + (sums(stage.branches).op("GatherElements", node, axis=1) > -1)
        ways = ways.op("Concat", node, axis=1)
    by_node = values.op("Reshape", [-1, stage.n_nodes, stage.n_rows])
    met = by_node.op("GatherND", ways.op("Unsqueeze", [2]), batch_dims=1)
    scores = met.op("ReduceSum", [1], keepdims=0)
    return scores if stage.n_rows > 1 else scores @ [[-1, 1]]


def _window_sums(x: Values, stage: IntegerConvolution | IntegerInt8Layer) -> Values:
    (above, below), (left, right) = stage.margins
    images = x.op("Reshape", [-1, *stage.shape]).op("Transpose", perm=[0, 3, 1, 2])
    groups, around = stage.shape[2] if stage.depthwise else 1, stage.padding_value
    pads = [above, left, below, right]
    places = {"strides": [*stage.stride], "pads": pads, "group": groups}
    sums = images.sums("ConvInteger", stage.weights.transpose(0, 3, 1, 2), around, **places)
    bias: IntArray = stage.bias + around * stage.weights.sum(axis=(1, 2, 3), dtype=np.int64)
    return sums.op("Transpose", perm=[0, 2, 3, 1]) + bias


def _convolution(x: Values, stage: IntegerConvolution) -> Values:
    sums = _window_sums(x, stage)
    values = sums * stage.multiplier + (1 << stage.shift - 1) * stage.to_even
    whole = values >> stage.shift
    if stage.to_even:
        was_half = values.op("Mod", 1 << stage.shift).op("Equal", 0).wide
        whole = whole - was_half * whole.op("Mod", 2)
    return whole.op("Clip", 0, stage.maximum).op("Reshape", [-1, stage.n_outputs])


def _pooling(x: Values, stage: IntegerPooling) -> Values:
    (height, width, channels), (rows, columns) = stage.output_shape, stage.window
    images = x.op("Reshape", [-1, *stage.shape])[slice(0, height * rows), slice(0, width * columns)]
    windows = images.op("Reshape", [-1, height, rows, width, columns, channels])
    if stage.how == "maximum":
        pooled = windows.op("ReduceMax", [2, 4])
    else:
        pooled = (windows.op("ReduceSum", [2, 4]) * stage.multiplier + (1 << 15)) >> 16
    return pooled.op("Reshape", [-1, stage.n_outputs])


def _int8_layer(x: Values, stage: IntegerInt8Layer) -> Values:
    a = _window_sums(x, stage)
    products = a * (stage.multipliers << np.maximum(-stage.shifts, 0))
    shifts = np.maximum(stage.shifts, 0)
    if stage.rounds_once:
        values = (products + (1 << 30 + shifts)) >> 31 + shifts
    else:
        high = (products + (1 << 30)) >> 31
        values = ((high.op("Abs") + ((1 << shifts) >> 1)) >> shifts) * high.op("Sign")
    limited = (values + stage.offset).op("Clip", *stage.limits)
    return limited.op("Reshape", [-1, stage.n_outputs])


def _cropped(x: Values, image: CroppedImage) -> Values:
    return x.op("Reshape", [-1, *image.image_shape])[image.rows.counted, image.columns.counted]


def _average_pooling(x: Values, stage: IntegerAveragePooling) -> Values:
    areas = stage.pooling
    down, across = (
        np.kron(np.eye(axis.pixels // axis.output_units, dtype=int), axis.weights())
        for axis in (areas.rows, areas.columns)
    )
    sums = x.graph.constant(down) @ (_cropped(x, areas) @ across.T)
    averages = (sums * stage.multiplier + stage.half) >> 16
    return averages.op("Reshape", [-1, stage.n_outputs])


def _gradients(x: Values, stage: IntegerGradients) -> Values:
    cells, (h, w) = stage.cells, stage.cells.cropped_shape
    p, rows, columns = _cropped(x, cells).op("Pad", [0, 1, 1] * 2), slice(1, h + 1), slice(1, w + 1)
    gx = p[rows, slice(2, w + 2)] - p[rows, slice(0, w)]
    gy = p[slice(2, h + 2), columns] - p[slice(0, h), columns]
    (along, ahead), (down, below) = ((each.op("Abs"), each > 0) for each in (gx, gy))
    largest, steep = along.op("Max", down), down > along
    if cells.directions == 4:
        straight, slanting = steep, ahead.op("Equal", below).wide + 2
    else:
        straight, slanting = steep * (below * 3 + 2 - ahead) + ahead, ahead + below * 3 + 3
    direction = straight + (along.op("Min", down) * 2 > largest) * (slanting - straight)
    each = np.arange(cells.directions)[:, None, None]
    shared = (largest >> cells.halvings()).op("Unsqueeze", [1])
    some = direction.op("Unsqueeze", [1]).op("Equal", each).wide * shared
    sums = x.graph.constant(cells.rows.members().T) @ (some @ cells.columns.members())
    places = (sums.op("Transpose", perm=[0, 2, 3, 1]) >> stage.shift).op("Min", LEVELS - 1)
    roots = x.graph.constant(stage.table).op("Gather", places)
    return roots.op("Reshape", [-1, stage.n_outputs])


def _deskew(x: Values, stage: deskew.IntegerDeskew) -> Values:
    height, width = stage.image.image_shape
    images = x.op("Reshape", [-1, height, width])
    y, columns = (np.arange(side)[:, None] - side // 2 for side in (height, width))
    along_row = (images @ columns).op("Reshape", [-1, height])
    in_row = images.op("ReduceSum", [2], keepdims=0)
    mass, across = (each.op("ReduceSum", [1]) for each in (in_row, along_row))
    down = in_row @ y
    centre = _quotient(down * (1 << deskew.CENTRE_BITS), mass)
    product = along_row @ y - ((centre * across) >> deskew.CENTRE_BITS)
    square = in_row @ (y * y) - ((centre * down) >> deskew.CENTRE_BITS)
    upper = (product.op("Abs") >> deskew.MOMENT_BITS) * (1 << deskew.SLOPE_BITS)
    steep = _quotient(upper, square >> deskew.MOMENT_BITS).op("Min", 1 << deskew.SLOPE_BITS)
    slope = product.op("Sign") * steep
    first = (slope * (centre * -1 + int(y[0, 0] << deskew.CENTRE_BITS))) >> deskew.CENTRE_BITS
    half = 1 << deskew.SLOPE_BITS - 1
    shifts = (slope * np.arange(height) + first + half) >> deskew.SLOPE_BITS
    source = shifts.op("Unsqueeze", [2]) + np.arange(width)
    inside = source.op("Clip", 0, width - 1)
    moved = images.op("GatherElements", inside, axis=2) * source.op("Equal", inside).wide
    cropped = _cropped(moved, stage.image)
    return cropped.op("Reshape", [-1, len(stage.output.low)])


def _quotient(numerator: Values, denominator: Values) -> Values:
    """Return quotients, rounded towards 0; 0 if the denominator is not positive."""
    return numerator.op("Div", denominator.op("Max", 1)) * (denominator > 0)


_FEATURES = (_average_pooling, _convolution, _deskew, _gradients, _int8_layer, _pooling)
_KINDS = (_bonsai_tree, _dense, _forest, _linear, _naive_bayes, _projection, _prototypes)
_OPERATORS: dict[str, Callable[[Values, Any], Values]] = {
    each.__name__[1:]: each for each in (*_FEATURES, *_KINDS)
}


_OPSET, _IR_VERSION = 18, 8  # from 2022, so that older programs can read the files
_BYTE, _WIDE = 2, 7  # ONNX's numbers of uint8 and int64
_MIDDLE = 128  # added to a signed byte to make it unsigned


@dataclass(eq=False)
class IntegerGraph:
    """A graph with an input of bytes, in which all other values have 64 bits."""

    nodes: list[tuple[str, list[str], str, dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def constant(self, values: Any, bits: type = np.int64) -> Values:
        """Return a constant."""
        name = f"constant_{len(self.constants)}"
        self.constants[name] = np.asarray(values).astype(bits)
        return Values(self, name)

    def content(
        self, n_inputs: int, outputs: dict[str, tuple[Values, int]], facts: dict[str, str]
    ) -> bytes:
        """Return the file: the input "bytes", outputs with their sizes by name, and metadata."""
        require("onnx")
        from onnx import helper, numpy_helper  # noqa: PLC0415  (an extra)

        made = [helper.make_node(kind, ins, [out], **more) for kind, ins, out, more in self.nodes]
        made += [helper.make_node("Identity", [t.name], [name]) for name, (t, _) in outputs.items()]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            made,
            "protonn-edge",
            [value("bytes", _BYTE, ["n", n_inputs])],
            [value(name, _WIDE, ["n", size]) for name, (_, size) in outputs.items()],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        model.producer_name = "protonn-edge"
        helper.set_model_props(model, facts)
        content: bytes = model.SerializeToString(deterministic=True)
        return content


def _binary(operator: str) -> Callable[[Values, Any], Values]:
    return lambda values, other: values.op(operator, other)


@dataclass(frozen=True, eq=False)
class Values:
    """The outputs of a node, for n points."""

    graph: IntegerGraph
    name: str

    def op(self, operator: str, *others: Any, **attributes: Any) -> Values:
        """Add a node with this value as its first operand; numbers and arrays become constants."""
        graph, name = self.graph, f"value_{len(self.graph.nodes)}"
        given = (each if isinstance(each, Values) else graph.constant(each) for each in others)
        names = [self.name, *(each.name for each in given)]
        graph.nodes.append((operator, names, name, attributes))
        return Values(graph, name)

    __add__ = _binary("Add")
    __sub__ = _binary("Sub")
    __mul__ = _binary("Mul")
    __matmul__ = _binary("MatMul")

    def __gt__(self, other: Any) -> Values:
        return self.op("Greater", other).wide

    def __rshift__(self, bits: Any) -> Values:
        """Shift and round down; ONNX rounds quotients towards 0, and cannot shift signed values."""
        divisor = 1 << np.asarray(bits, np.int64)
        return (self - self.op("Mod", divisor)).op("Div", divisor)

    def __getitem__(self, places: tuple[slice, ...]) -> Values:
        """Return slices along the axes after the first."""
        starts, ends = [each.start for each in places], [each.stop for each in places]
        return self.op("Slice", starts, ends, [*range(1, len(places) + 1)])

    @property
    def wide(self) -> Values:
        """The values in 64 bits."""
        return self.op("Cast", to=_WIDE)

    def product(self, weights: NDArray[np.int8], *, signed: bool = False) -> Values:
        """Return W x for bytes (n, D) and weights W (d, D)."""
        values, zero = (self + _MIDDLE, _MIDDLE) if signed else (self, 0)
        return values.sums("MatMulInteger", weights.T, zero)

    def sums(self, operator: str, weights: NDArray[np.int8], zero: int, **more: Any) -> Values:
        """Return sums of weights times (bytes - `zero`); `zero` also pads images.

        The weights are unsigned and centred at 128, because some processors saturate sums of
        products of unsigned and signed bytes.
        """
        numbers = weights.astype(np.int64) + _MIDDLE, zero, _MIDDLE
        unsigned = (self.graph.constant(each, np.uint8) for each in numbers)
        return self.op("Cast", to=_BYTE).op(operator, *unsigned, **more).wide
