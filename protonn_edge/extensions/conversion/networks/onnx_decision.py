"""The nodes after a network's scores: values in the same order, or labels of classes.

A device chooses the largest score, or tests whether a single score is above 0. Operators after the
scores must be equivalent to this. Each value there has a kind, and a table lists the kinds that
each operator accepts and produces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from protonn_edge.extensions.conversion.networks.onnx_file import FLOATS, Node
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

BEGINNINGS = ("ArgMax", "LogSoftmax", "Sigmoid", "Softmax", "ai.onnx.ml.ZipMap")
"""Operators that take scores."""

_SCORE, _PROBABILITY, _SCORES, _REST = "a score", "a probability", "scores", "1 - a probability"
_INDEX, _LABEL, _PART, _CONSTANT = "an index", "a label", "one of the scores", "a constant"
_COARSE, _SCALE = "rounded scores", (_CONSTANT, _CONSTANT)  # with a scale and a zero point
_DECIDING = {_SCORE, _PROBABILITY, _SCORES, _INDEX, _LABEL, _COARSE}
_KINDS: dict[tuple[str, ...], str] = {
    ("ArgMax", _SCORES): _INDEX,
    ("LogSoftmax", _SCORES): _SCORES,
    ("Sigmoid", _SCORE): _PROBABILITY,
    ("Sigmoid", _SCORES): _SCORES,
    ("Softmax", _SCORES): _SCORES,
    ("Sub", _CONSTANT, _PROBABILITY): _REST,
    ("Concat", _REST, _PROBABILITY): _SCORES,  # the single score belongs to the second class
    ("ai.onnx.ml.Normalizer", _SCORES): _SCORES,
    ("ai.onnx.ml.ArrayFeatureExtractor", _CONSTANT, _INDEX): _LABEL,
    ("ai.onnx.ml.ArrayFeatureExtractor", _SCORES, _CONSTANT): _PART,
    ("ai.onnx.ml.ZipMap", _SCORES): _LABEL,
    **{("Cast", kind): kind for kind in (*_DECIDING, _REST)},
    **{("QuantizeLinear", kind, *_SCALE): _COARSE for kind in (_SCORE, _PROBABILITY, _SCORES)},
    ("DequantizeLinear", _COARSE, *_SCALE): _COARSE,
    **{("Identity", kind): kind for kind in (*_DECIDING, _REST)},
    **{("Reshape", kind, _CONSTANT): kind for kind in (_INDEX, _LABEL)},
}
_KEEPING = ("Cast", "DequantizeLinear", "Identity", "QuantizeLinear")
_LABEL_TYPES = (1, 6, 7, 8, 11)
_NORMS = ("L1", "L2")  # which divide by a positive number


class Decision:
    """The values after the scores of a network."""

    def __init__(self, what: str, scores: str, shape: Sequence[int]) -> None:
        if math.prod(shape) != max(shape):
            raise InputError(
                f"the scores {scores[:40]!r} of {what} have the shape {tuple(shape)}; end the "
                "network with one score per class, and use Sigmoid and Softmax only at its end"
            )
        self.labels: list[Any] | None = None  # of the classes, if the network names them
        self.plain = True  # whether all nodes keep scores as they are, up to their rounding
        self._shape = (1, *shape)  # of the scores, with an axis of points
        self._kinds = {scores: _SCORE if max(shape) == 1 else _SCORES}

    def decides(self, outputs: Sequence[str]) -> bool:
        """Return whether one of a graph's outputs determines the class."""
        return any(self._kinds.get(name) in _DECIDING for name in outputs)

    def take(self, node: Node, constants: Mapping[str, Array]) -> None:
        """Take a node after the scores; raises `InputError` if it could change the class."""
        kinds = [
            _CONSTANT if name in constants else self._kinds.get(name, "something else")
            for name in node.inputs
        ]
        made = _KINDS.get((node.operator, *kinds))
        usual = _USUAL.get(node.operator)
        if made and usual and not usual(self, node, kinds[0], constants.get(node.inputs[0])):
            raise node.unsupported(
                "has an attribute (such as an axis that is not the axis of the classes) or a "
                "constant that could change the class",
                "apply the node along the axis of the classes, or end the network with its scores",
            )
        if made is None:
            raise node.unsupported(
                f"comes after the scores and takes {' and '.join(kinds[:3])}, so it could change "
                "the class",
                "end the network with its scores, or with their Softmax, Sigmoid or ArgMax",
            )
        node.read.update(range(len(node.inputs)))
        node.check_read("")
        self._kinds[node.outputs[0]] = made
        self.plain &= node.operator in _KEEPING
        if node.operator == "Concat":
            self._shape = (1, 2)

    def along_classes(self, node: Node, default: int) -> bool:
        """Return whether an operator works along the axis of the classes."""
        axis, rank = int(node.number("axis", default)), len(self._shape)
        return -rank <= axis < rank and self._shape[axis] > 1

    def join(self, node: Node) -> bool:
        """Return whether a Concat forms a row of two probabilities."""
        return len(self._shape) == 2 and node.number("axis", 0) in (1, -1)

    def name(self, node: Node, labels: Any) -> bool:
        """Take the labels of the classes; raises `InputError` if their number is wrong."""
        texts = [
            each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in labels
        ]
        classes = max(2, *self._shape)
        if len(texts) != classes or self.labels not in (None, texts):
            raise node.unsupported(
                f"names {len(texts)} labels for {classes} classes, or labels that differ from "
                "those of an earlier node"
            )
        self.labels = texts
        return True

    def classify(self, node: Node) -> None:
        """Take a node whose first output is a label, next to the scores."""
        self._kinds[node.outputs[0]] = _LABEL
        self.name(node, node.attribute("classlabels_strings") or node.attribute("classlabels_ints"))


def _is_one(constant: Array | None) -> bool:
    return constant is not None and constant.size == 1 and bool(constant.item() == 1)


# Whether a node's attributes and constants have the expected values; arguments are the decision,
# the node, the kind of its first input, and the constant there.
_USUAL: dict[str, Callable[[Decision, Node, str, Array | None], bool]] = {
    "ArgMax": lambda decision, node, *_: (
        decision.along_classes(node, 0)
        and not node.number("select_last_index", 0)
        and node.number("keepdims", 1) in (0, 1)
    ),
    **dict.fromkeys(
        ("LogSoftmax", "Softmax"), lambda decision, node, *_: decision.along_classes(node, -1)
    ),
    "Cast": lambda _, node, kind, __: (
        node.number("to", 0) in (_LABEL_TYPES if kind in (_INDEX, _LABEL) else FLOATS)
    ),
    "Concat": lambda decision, node, *_: decision.join(node),
    "Sub": lambda _, __, ___, constant: _is_one(constant),
    "ai.onnx.ml.Normalizer": lambda _, node, *__: node.text("norm", "MAX") in _NORMS,
    "ai.onnx.ml.ArrayFeatureExtractor": lambda decision, node, _, constant: (
        constant is None or decision.name(node, constant.ravel().tolist())
    ),
    "ai.onnx.ml.ZipMap": lambda decision, node, *_: decision.name(
        node, node.attribute("classlabels_strings") or node.attribute("classlabels_int64s")
    ),
}
