"""What conversion adds to tables of the core's tests: files of other programs, and int8 layers."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from convolution_factory import random_model as random_convolutional_model
from extensions.conversion.files import BOOSTERS, flowers
from extensions.conversion.int8_factory import random_int8_layer, whole_window

from protonn_edge.features.convolution.making import layered
from protonn_edge.model.model import Model


def write_run(folder: Path) -> Path:
    """Write a folder as the reference implementation has it: data, and a run's results below."""
    results = folder / "results" / "ProtoNNTrainer_d3_m6"
    results.mkdir(parents=True)
    y = np.arange(90) % 3
    X = np.random.default_rng(0).normal(size=(90, 5)) + 3 * np.eye(3, 5)[y]
    for name, rows in (("train.txt", slice(0, 60)), ("test.txt", slice(60, 90))):
        np.savetxt(folder / name, np.column_stack([y + 1, X])[rows], delimiter="\t", fmt="%.6g")
    B, Z = np.repeat(3 * np.eye(3), 2, axis=1), np.repeat(np.eye(3), 2, axis=1)
    for name, matrix in (("W", np.eye(3, 5)), ("B", B), ("Z", Z), ("gamma", np.array([[0.4]]))):
        np.savetxt(results / name, matrix, delimiter="\t", fmt="%.9g")
    return results


def write_others(folder: Path) -> None:
    """Write a run, boosters, and files that are none of these."""
    shutil.copytree(write_run(folder / "foo"), folder / "run")
    flowers(folder / "flowers.csv", ["lily", "rose", "tulip"])
    flowers(folder / "two.csv", ["lily", "rose", "rose"])
    for name in ("iris.json", "iris.txt"):
        shutil.copy(BOOSTERS / name, folder)
    for name, content in OF_OTHERS.items():
        (folder / name).write_bytes(content)


OF_OTHERS = {
    "machine.pkl": b"\x80\x04cos\nsystem\n(S'true'\ntR.",
    "net.h5": b"\x89HDF\r\n\x1a\n0000",
    "net.pkl": b"\x80\x04\x95\x10",
    "net.json": b'{"oblivious_trees": []}',
    "net.pb": b"\x08\x01\x12\x05abcde",
    "net": b"\0\1\2\3",
    "net.onnx": b"no network",
    **{f"a net{end}": b"\0\1\2\3 but no zip" for end in (".skops", ".ubj", ".tflite", ".ONNX")},
}


def int8_layers() -> Model:
    """Return a model of two layers in int8."""
    layers = random_int8_layer(3), whole_window(4, (4, 5, 3), 2)
    return random_convolutional_model(layered(layers))


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "given files": {"of others": write_others},
    "stored models": {"layers in int8": int8_layers},
}
