"""Convert a network in a file of ONNX or TensorFlow Lite.

Both become a graph of ONNX's operators, from which a float network or int8 layers are made.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from protonn_edge.extensions.conversion.networks import numbers  # noqa: F401  (registers rules)
from protonn_edge.extensions.conversion.networks.int8_network import Int8Network
from protonn_edge.extensions.conversion.networks.networks import FloatNetwork
from protonn_edge.extensions.conversion.networks.onnx_file import OnnxGraph, load_graph
from protonn_edge.extensions.conversion.networks.onnx_int8 import (
    QUANTIZATION,
    Int8Builder,
    TfliteBuilder,
)
from protonn_edge.extensions.conversion.networks.onnx_network import NetworkBuilder
from protonn_edge.extensions.conversion.networks.onnx_operators import OPERATORS, Builder
from protonn_edge.extensions.conversion.networks.tflite_file import IDENTIFIER, tflite_graph
from protonn_edge.extensions.conversion.reading import StoredClassifier, refusing
from protonn_edge.features.convolution.integers import WEIGHT_BITS
from protonn_edge.features.convolution.train.layers import Convolution
from protonn_edge.model.integer_stage import check_counts
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import MODEL_LIMIT_BYTES, read_file


def load_network(source: Path | bytes, what: str, bits: int = 8) -> StoredClassifier:
    """Read the network from a file or its contents; errors call it `what`.

    The weights of its convolutions will have 8, 4 or 2 `bits`.
    """
    content = (
        source if isinstance(source, bytes) else read_file(source, limit_bytes=MODEL_LIMIT_BYTES)
    )
    is_tflite = content[4:8] == IDENTIFIER or what.endswith(".tflite")
    with refusing(what, "TensorFlow Lite" if is_tflite else "ONNX"):
        graph = (tflite_graph if is_tflite else load_graph)(content, what)
        check_counts(features=(n := math.prod(graph.shape)))
        builder = _builder(graph, TfliteBuilder if is_tflite else Int8Builder)
        network = replace(builder.network(), plain=builder.plain)
        if bits != 8:
            network = _with_bits(network, bits, what)
        name = what.removeprefix("the ")
        return StoredClassifier(name, network, n, np.array([], str), builder.classes)


def _builder(graph: OnnxGraph, int8: type[Int8Builder]) -> Builder:
    """Return the builder of a network: of int8 layers if nodes quantize more than weights."""
    named = (node for node in graph.nodes if node.operator in QUANTIZATION)
    if any(not graph.constants.keys() & node.inputs[:1] for node in named):
        return int8(graph, OPERATORS | QUANTIZATION)
    return NetworkBuilder(graph, OPERATORS)


def _with_bits(network: FloatNetwork | Int8Network, bits: int, what: str) -> FloatNetwork:
    """Return a network with fewer bits of weights, for which only convolutions have kernels."""
    convolves = any(isinstance(layer, Convolution) for layer in network.layers)
    if bits not in WEIGHT_BITS or not convolves or isinstance(network, Int8Network):
        raise InputError(
            f"{what} cannot have weights of {bits} bits; choose 8, 4 or 2 bits for a network of "
            "floats with a Conv, and 8 bits for any other network"
        )
    return replace(network, bits=replace(network.bits, weights=bits))
