"""Int8 networks of TensorFlow Lite: the outputs of its reference kernels, bit for bit.

The files in `tests/data/tflite` come from `make.py` there, and `benchmarks/tflite_networks.py`.
"""

from __future__ import annotations

import json
import math
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extensions.conversion.files import refused
from extensions.conversion.tflite_factory import FLOAT32, INT32, network, tensor
from laws.fuzz.sentences import check_refusal
from refusals import refused_by

from protonn_edge import from_network
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain.javascript import scripts_folder
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.networks.flatbuffer import FlatTable
from protonn_edge.extensions.conversion.networks.stored_networks import load_network
from protonn_edge.extensions.conversion.reading import StoredClassifier
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.point_format import PointFormat
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed, InputError

FOLDER = Path(__file__).parents[2] / "data" / "tflite"
OUTPUTS = np.load(FOLDER / "outputs.npz")
NAMES = list(OUTPUTS)


def points_of(size: int) -> np.ndarray:
    """Return the points of `make.py`, (n, size) uint8."""
    return np.random.default_rng(size).integers(0, 256, (12, size)).astype(np.uint8)


def real_points(name: str) -> np.ndarray:
    """Return them as the network takes them."""
    network = load_network(FOLDER / f"{name}.tflite", name).rule
    return network.pixels.zero + network.pixels.step * points_of(network.n_inputs)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_the_interpreter(name: str) -> None:
    network = load_network(FOLDER / f"{name}.tflite", name).rule
    assert (network.outputs(real_points(name)) == OUTPUTS[name]).all()


@pytest.mark.parametrize("name", ["har_hapt-mlp", "mixed", "fsdd_mfcc-conv1d"])
def test_a_model_has_the_outputs_as_scores(name: str, tmp_path: Path) -> None:
    X = real_points(name)
    found = from_network(FOLDER / f"{name}.tflite", X, board="mega2560")
    expected = OUTPUTS[name].astype(int) - 128
    assert found.agreement == 1.0
    assert (found.model.scores(X) == expected).all()
    save_model(found.model, tmp_path / "model.npz")
    integers = quantize(load_model(tmp_path / "model.npz"))
    assert integers.model_sha256 == quantize(found.model).model_sha256
    assert (integers.scores(integers.quantize(X)) == expected).all()


def test_one_output_decides_between_two_classes() -> None:
    X = real_points("one-output")
    found = from_network(FOLDER / "one-output.tflite", X, classes=("no", "yes"))
    integers = quantize(found.model)
    zero = found.source.rule.output_zero
    assert (integers.predict(integers.quantize(X)) == (OUTPUTS["one-output"][:, 0] > zero)).all()
    assert found.model.classes == ("no", "yes")


def test_a_row_of_samples_becomes_a_column() -> None:
    layers = load_network(FOLDER / "fsdd_mfcc-conv1d.tflite", "conv1d").rule.layers
    assert [layer.shape for layer in layers[:2]] == [(20, 1, 13), (16, 1, 16)]


def test_a_network_in_floats_is_rounded() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    assert from_network(FOLDER / "floats.tflite", X).agreement > 0.97


def test_a_network_in_floats_has_the_scores_of_its_operators() -> None:
    rng = np.random.default_rng(0)
    shapes = (3, 3, 3, 2), (3,), (1, 3, 3, 3), (4, 3), (4,)
    given = [rng.normal(size=shape).astype("<f4") for shape in shapes]
    kernel, bias, each, W, b = given
    parts = (1, 6, 5, 2), (1, 6, 5, 3), (1, 2, 2, 3), (1, 3), (1, 4)
    tensors = [tensor(shape, kind=FLOAT32) for shape in parts]
    tensors += [tensor(array.shape, kind=FLOAT32, data=array) for array in given]
    tensors.append(tensor((2,), kind=INT32, data=np.array([1, 2], "<i4")))
    content = network(
        tensors,
        [
            (3, [0, 5, 6], 1, {0: 0, 1: 1, 2: 1, 3: 3, 4: 1, 5: 1}),  # CONV_2D, SAME, ReLU6
            (4, [1, 7], 2, {0: 1, 1: 2, 2: 2, 3: 1, 4: 1, 5: 1, 6: 1}),  # DEPTHWISE, VALID, ReLU
            (40, [2, 10], 3, {}),  # MEAN
            (9, [3, 8, 9], 4, {}),  # FULLY_CONNECTED
        ],
    )
    X = rng.normal(size=(10, 6, 5, 2)).astype(np.float32)
    padded = np.pad(X, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    values = np.clip(np.einsum("nyxcij,oijc->nyxo", windows, kernel) + bias, 0, 6)
    windows = np.lib.stride_tricks.sliding_window_view(values, (3, 3), (1, 2))[:, ::2, ::2]
    values = np.maximum(np.einsum("nyxcij,ijc->nyxc", windows, each[0]), 0)
    expected = values.mean(axis=(1, 2)) @ W.T + b
    rule = load_network(content, "floats").rule
    assert np.allclose(rule.scores(rule.rows(X)), expected, atol=1e-4)


def test_other_networks_are_refused_with_a_way_out() -> None:
    with refused_by("extensions.conversion.networks.tflite_file"):
        load_network(FOLDER / "tanh.tflite", "tanh")


def test_a_network_that_is_too_large_names_its_layer() -> None:
    layer = "layer 1 (the largest: 1x1x784 to 1x1x24)"
    with refused_by("extensions.conversion.search", kind=CheckFailed, naming=layer):
        small = replace(load_board("uno"), flash_bytes=8_192)
        from_network(FOLDER / "mnist10-mlp.tflite", real_points("mnist10-mlp"), board=small)


def test_each_offset_of_a_file_may_be_wrong() -> None:
    content = (FOLDER / "one-output.tflite").read_bytes()
    for place in range(0, len(content) - 3, 2):
        for wrong in (0xFFFFFFFF, 0x7FFFFFF0):
            damaged = content[:place] + struct.pack("<I", wrong) + content[place + 4 :]
            try:
                load_network(damaged, "the file")
            except InputError as error:
                check_refusal(error)


@pytest.mark.parametrize("content", [b"", b"TFL3", b"\0\0\0\0TFL3", b"\xff" * 4 + b"TFL3"])
def test_short_files_are_refused(content: bytes) -> None:
    with refused_by(
        "extensions.conversion.networks.flatbuffer", "extensions.conversion.networks.tflite_file"
    ):
        load_network(content, "network.tflite")


def test_a_vector_cannot_be_longer_than_its_file() -> None:
    #          root, identifier, vtable: 6 B for one field at 4, table, vector
    content = struct.pack("<I4sHHHxxiII", 16, b"TFL3", 6, 8, 4, 8, 4, 2**31)
    with refused_by("extensions.conversion.networks.flatbuffer"):
        FlatTable.root(content, b"TFL3", "the file").array(0, "i4", 2**31)


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


@pytest.mark.parametrize(("parts", "words"), refused("TFLite"))
def test_files_that_no_converter_writes_are_refused_in_one_sentence(
    parts: str, words: str, tmp_path: Path
) -> None:
    code, options, tensors = eval(parts)
    tensors = [*tensors, tensor((1, 1), 0.1)]
    operator = code, [*range(len(tensors) - 1)], len(tensors) - 1, options
    path = tmp_path / "network.tflite"
    path.write_bytes(network(tensors, [operator]))
    with pytest.raises(InputError, match=words) as error:
        load_network(path, str(path))
    check_refusal(error.value)


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
