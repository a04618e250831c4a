"""Make the small networks of this folder, and the outputs of all of them on random points.

    python tests/data/tflite/make.py

Run with TensorFlow 2.21.0 and ai-edge-litert 2.3.0; the larger networks come from
`benchmarks/tflite_networks.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from tensorflow.keras import layers

FOLDER = Path(__file__).parent
POINTS = 12
DECISIONS = ("SOFTMAX", "LOGISTIC", "DEQUANTIZE")


def networks() -> dict[str, list[Any]]:
    """Return the layers of each network."""
    dense = [layers.Input((4,)), layers.Dense(3, "relu")]
    return {
        "floats": [*dense, layers.Dense(2)],
        "tanh": [layers.Input((4,)), layers.Dense(3, "tanh"), layers.Dense(2)],
        "one-output": [*dense, layers.Dense(1, "sigmoid")],
        "mixed": [
            layers.Input((8, 8, 2)),
            layers.Conv2D(4, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(6.0),
            layers.DepthwiseConv2D(3, depth_multiplier=2),
            layers.AveragePooling2D((2, 3)),
            layers.Flatten(),
            layers.Dense(3, "softmax"),
        ],
        "means": [
            layers.Input((9, 7, 2)),
            layers.Conv2D(5, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3),
        ],
    }


def converted(name: str, parts: list[Any]) -> bytes:
    """Return the file of a network with random weights."""
    tf.keras.utils.set_random_seed(0)
    network = tf.keras.Sequential(parts)
    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    if name != "floats":
        X = np.random.default_rng(0).normal(size=(100, 1, *network.input_shape[1:]))
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([x.astype(np.float32)] for x in X)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def outputs(path: Path) -> np.ndarray:
    """Return the outputs of random bytes, before a decision: q + 128 of int8 values q."""
    interpreter = Interpreter(
        str(path),
        experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )
    interpreter.allocate_tensors()
    operators = interpreter._get_ops_details()
    quantizes = operators[0]["op_name"] == "QUANTIZE"
    given = operators[0]["outputs"][0] if quantizes else interpreter.get_input_details()[0]["index"]
    details = {each["index"]: each for each in interpreter.get_tensor_details()}[given]
    *_, last = (each for each in operators if each["op_name"] not in DECISIONS)
    values = []
    for point in points(int(np.prod(details["shape"]))):
        q = (point.astype(np.int64) - 128).astype(np.int8).reshape(details["shape"])
        if quantizes:
            scale, zero = details["quantization"]
            real = ((q.astype(np.float64) - zero) * scale).astype(np.float32)
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], real)
        else:
            interpreter.set_tensor(given, q)
        interpreter.invoke()
        values.append(interpreter.get_tensor(last["outputs"][0]).ravel().astype(np.int64) + 128)
    return np.array(values, np.uint8)


def points(size: int) -> np.ndarray:
    """Return random points (POINTS, size), uint8."""
    return np.random.default_rng(size).integers(0, 256, (POINTS, size)).astype(np.uint8)


if __name__ == "__main__":
    for name, parts in networks().items():
        (FOLDER / f"{name}.tflite").write_bytes(converted(name, parts))
    known = [
        path for path in sorted(FOLDER.glob("*.tflite")) if path.stem not in ("floats", "tanh")
    ]
    np.savez_compressed(FOLDER / "outputs.npz", **{path.stem: outputs(path) for path in known})
