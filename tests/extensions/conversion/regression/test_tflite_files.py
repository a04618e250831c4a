"""Networks of TensorFlow Lite that once gave other bytes than its kernels, or a traceback."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.tflite_factory import FLOAT32, INT32, network, tensor
from fuzz.sentences import check_refusal
from refusals import refused_by

from protonn_edge.chips.toolchain.javascript import scripts_folder
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.extensions.conversion.reading import StoredClassifier
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.point_format import PointFormat
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

AVERAGE, CONV, DEPTHWISE, DENSE, MEAN, QUANTIZE = 1, 3, 4, 9, 40, 114
MAX, RELU, RESHAPE = 17, 19, 22
VALID, STILL = {0: 1, 1: 1, 2: 1}, {0: 0, 1: 0, 2: 0}  # padding and strides
WEB = scripts_folder()
IDENTITY = np.eye(4, dtype=np.int8)

# ai-edge-litert 2.3.0, reference kernels: for k / 127.5 - 1, QUANTIZE gives k - 1, or k, by a bit.
UP = bytes.fromhex("ffffffff00000000ffff0000ff00f0c8ecf0ff00ffff0000ffffffff00000000")


def test_inputs_between_two_bytes_are_rounded_as_quantize_does(tmp_path: Path) -> None:
    scaled = tensor((1, 4), 2 / 255, -1)
    given = tensor((1, 4), kind=FLOAT32)
    weights = tensor((4, 4), 1.0, data=IDENTITY)
    operators = [(QUANTIZE, [0], 1, {}), (DENSE, [1, 2], 3, {})]
    found = load_network(network([given, scaled, weights, scaled], operators), "the file").rule
    X = (np.arange(256) / 127.5 - 1).astype(np.float32).reshape(-1, 4)
    expected = np.arange(256) - 1 + np.unpackbits(np.frombuffer(UP, np.uint8))
    assert (found.pixels.to_bytes(X).ravel() == expected).all()
    stored = StoredClassifier("network", found, 4, np.array([], str), np.arange(4))
    model = from_sklearn(stored, X).model
    save_model(model, tmp_path / "model.npz")
    integers = quantize(load_model(tmp_path / "model.npz"))
    assert integers.model_sha256 == quantize(model).model_sha256
    assert (integers.quantize(X).ravel() == expected).all()
    assert (integers.quantize(X.astype(np.float64)).ravel() == expected).all()
    in_page = page_bytes(X, integers.quantizer)
    assert in_page is None or in_page == expected.tolist()


def page_bytes(X: Any, features: InputQuantizer) -> list[int] | None:
    """Return the bytes of points X (n, D) in the report's page; None without Node.js."""
    if shutil.which("node") is None:
        return None
    model = {"zero": features.zero.tolist(), "step": features.step.tolist()}
    model |= {"maximum": features.maximum, "features": len(features.zero), "single": True}
    script = (
        f"import {{ Features }} from {json.dumps((WEB / 'features.js').as_uri())};"
        f"const features = new Features({json.dumps(model)});"
        f"const rows = {json.dumps(X.tolist())}.map((row) => [...features.quantize(row)]);"
        "console.log(JSON.stringify(rows.flat()));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], check=True, capture_output=True
    )
    return json.loads(done.stdout)


def test_a_zero_beyond_the_bytes_is_refused() -> None:
    for zero in (-256.5, 1.0, 3e38):
        with refused_by("model.point_format"):
            PointFormat(InputQuantizer(np.array([zero]), np.ones(1, np.float32), 255), (1, 1))


@pytest.mark.parametrize("window", [(1, 1), (1, 2), (3, 1), (5, 5), (54, 55), (60, 59), (254, 255)])
def test_averages_round_halves_away_from_0(window: tuple[int, int]) -> None:
    shape, made = (1, *window, 1), (1, 1, 1, 1)
    options = VALID | {3: window[1], 4: window[0]}
    content = network([tensor(shape, 0.1), tensor(made, 0.1)], [(AVERAGE, [0], 1, options)])
    (layer,) = load_network(content, "the file").rule.layers
    area = window[0] * window[1]
    halves = np.arange(-256, 255) * area // 2
    sums = (halves[:, None] + np.arange(-2, 3)).clip(-128 * area, 127 * area)
    away = np.sign(sums) * ((2 * np.abs(sums) + area) // (2 * area))
    assert (arrays_of(layer.scale.values, sums[..., None])[..., 0] - 128 == away).all()


def weights(*shape: int, scales: Any = 0.1) -> dict[Any, Any]:
    """Return a constant of ones."""
    return tensor(shape, scales, data=np.ones(math.prod(shape), np.int8))


def bias(*shape: int) -> dict[Any, Any]:
    """Return a constant of biases."""
    return tensor(shape, kind=INT32, data=np.ones(math.prod(shape), "<i4"))


AXES = tensor((2,), kind=INT32, data=np.array([1, 2], "<i4"))
IMAGE, LINE = tensor((1, 4, 4, 1), 0.1), tensor((1, 4), 0.1)
REFUSED: dict[str, tuple[int, Mapping[int, int], list[dict[Any, Any]], str]] = {
    "one bias for three outputs": (
        *(DENSE, {}, [LINE, weights(3, 4), bias(1)]),
        "has 1 biases for 3 outputs",
    ),
    "more biases than outputs": (
        *(CONV, VALID, [IMAGE, weights(2, 3, 3, 1), bias(2, 2)]),
        "has 4 biases for 2 outputs",
    ),
    "weights of 72 axes": (
        DENSE,
        {},
        [LINE, weights(*[1] * 72)],
        "72, expected 0 to 8",
    ),
    "a single weight": (DENSE, {}, [LINE, weights()], "has weights of shape ()"),
    "many scales": (
        *(DENSE, {}, [LINE, weights(3, 4, scales=np.ones(70_000))]),
        "70,000, expected 0 to 65,535",
    ),
    "windows of a convolution that stay": (
        *(CONV, STILL, [IMAGE, weights(2, 3, 3, 1)]),
        "node 'operator 0 (CONV_2D)' (Conv) has a kernel of (3, 3), strides (0, 0)",
    ),
    "windows of averages that stay": (
        *(AVERAGE, STILL | {3: 2, 4: 2}, [IMAGE]),
        "(AveragePool) has a kernel of (2, 2), strides (0, 0)",
    ),
    "averages of a huge image": (
        *(AVERAGE, VALID | {3: 1, 4: 1}, [tensor((1, 1, 1, 2**31 - 1), 0.1)]),
        "takes points of shape (1, 1, 2147483647)",
    ),
    "means of a huge image": (
        *(MEAN, {}, [tensor((1, 2**15, 2**15, 2**15), 0.1), AXES]),
        "takes points of shape (32768, 32768, 32768)",
    ),
    "several outputs for each of many channels": (
        *(DEPTHWISE, VALID, [tensor((1, 1, 1, 2**15), 0.1), weights(1, 1, 1, 2**16)]),
        "has an input or output of 1 x 1 x 65,536; use at most 255",
    ),
    "an activation of an image": (RELU, {}, [IMAGE], "changes values of the input"),
    "an average of rows": (
        *(MEAN, {}, [IMAGE, tensor((1,), kind=INT32, data=np.array([1], "<i4"))]),
        "does not average all pixels of an image",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_no_converter_writes_are_refused_in_one_sentence(
    name: str, tmp_path: Path
) -> None:
    code, options, tensors, sentence = REFUSED[name]
    tensors = [*tensors, tensor((1, 1), 0.1)]
    operator = code, [*range(len(tensors) - 1)], len(tensors) - 1, options
    path = tmp_path / "network.tflite"
    path.write_bytes(network(tensors, [operator]))
    with pytest.raises(InputError) as refused:
        load_network(path, str(path))
    check_refusal(refused.value)
    assert sentence in str(refused.value)


def test_a_line_of_samples_may_be_a_row_or_a_column() -> None:
    """Keras 2 writes Conv1D with rows, and MaxPooling1D with columns."""
    row, column, made = ((1, 1, 6, 2), (1, 6, 1, 2), (1, 3, 1, 2))
    same = {0: 0, 1: 1, 2: 1}
    parts = [tensor(row, 0.1), weights(2, 1, 3, 2), tensor(row, 0.1), tensor(column, 0.1)]
    operators = [
        (CONV, [0, 1], 2, same),
        (RESHAPE, [2], 3, {}),
        (MAX, [3], 4, {0: 1, 1: 1, 2: 2, 3: 1, 4: 2}),
    ]
    tensors = [*parts, tensor(made, 0.1), tensor((1, 6), 0.1), weights(2, 6), tensor((1, 2), 0.1)]
    operators += [(RESHAPE, [4], 5, {}), (DENSE, [5, 6], 7, {})]
    layers = load_network(network(tensors, operators), "the file").rule.layers
    assert [layer.shape for layer in layers] == [(6, 1, 2), (6, 1, 2), (3, 1, 2)]
    assert [layer.window for layer in layers] == [(3, 1), (2, 1), (3, 1)]
