"""Make the int8 networks of tests/data/tflite with TensorFlow; they are in the repository.

    python benchmarks/tflite_networks.py FOLDER [--only NAME]

Each is trained in Keras on a data set of PROTONN_EDGE_DATA, and quantized by TensorFlow's
converter with 500 of its training points. Needs: pip install tensorflow-cpu. It prints versions.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np

DATA = Path(os.environ.get("PROTONN_EDGE_DATA", Path(__file__).parents[2] / "shared" / "data"))
_EPOCHS = {"mnist10": 6, "usps10": 25, "har_hapt": 30, "fsdd_mfcc": 40}
_CALIBRATED = 500
_RATE, _PIXEL = 0.002, 255


Layer = tuple[str, tuple[Any, ...], dict[str, Any]]  # its class in Keras, and the arguments


def _dense(*units: int, activation: str = "relu") -> list[Layer]:
    return [("Dense", (each,), {"activation": activation}) for each in units]


def _conv(channels: int, side: int, stride: int = 1, padding: str = "valid") -> Layer:
    return "Conv2D", (channels, side, stride, padding), {"activation": "relu"}


def _each(stride: int = 1) -> Layer:
    return "DepthwiseConv2D", (3, stride, "same"), {"activation": "relu6"}


def _image(*shape: int) -> Layer:
    return "Reshape", (shape,), {}


def _pooling(name: str) -> Layer:
    return name, (2,), {}


NETWORKS: dict[str, list[Layer]] = {
    "mnist10-mlp": _dense(24),
    "mnist10-mlp-pixels": _dense(16, 16),
    "usps10-mlp": _dense(32),
    "usps10-mlp-relu6": _dense(40, 20, activation="relu6"),
    "har_hapt-mlp": _dense(32),
    "har_hapt-mlp-softmax": _dense(48, 24),
    "mnist10-cnn": [_image(28, 28, 1), _conv(6, 5, 2, "same"), _conv(12, 3, 2)],
    "usps10-cnn": [
        *(_image(16, 16, 1), _conv(8, 3), _pooling("MaxPooling2D")),
        *(_conv(12, 3), _pooling("MaxPooling2D")),
    ],
    "usps10-depthwise": [
        *(_image(16, 16, 1), _conv(8, 3, 2, "same"), _each(), _conv(16, 1)),
        *(_each(2), _pooling("AveragePooling2D")),
    ],
    "fsdd_mfcc-conv1d": [
        *(_image(20, 13), ("Conv1D", (16, 5), {"activation": "relu"}), _pooling("MaxPooling1D")),
        ("Conv1D", (16, 3), {"padding": "same", "activation": "relu"}),
    ],
}


def points_of(name: str) -> tuple[Any, Any, Any, Any, int]:
    """Return X_train, y_train, X_test, y_test and the number of classes for a network."""
    data = name.split("-", maxsplit=1)[0]
    with np.load(DATA / f"{data}.npz", allow_pickle=False) as arrays:
        X, X_test = (arrays[f"X_{part}"].astype(np.float32) for part in ("train", "test"))
        y, y_test = (arrays[f"y_{part}"].astype(np.int64) for part in ("train", "test"))
    if data in ("har_hapt", "fsdd_mfcc"):
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        X, X_test = (np.clip((each - mean) / deviation, -4, 4) for each in (X, X_test))
    elif data == "mnist10" and not name.endswith("pixels"):
        X, X_test = X / 255, X_test / 255
    return X, y, X_test, y_test, int(y.max()) + 1


def made(name: str) -> bytes:
    """Return the file of a trained network."""
    tf: Any = import_module("tensorflow")
    tf.keras.utils.set_random_seed(0)
    X, y, X_test, y_test, classes = points_of(name)
    logits = not name.endswith("softmax")
    last: Layer = "Dense", (classes, None if logits else "softmax"), {}
    body = [("Input", ((X.shape[1],),), {}), *NETWORKS[name], ("Flatten", (), {}), last]
    network = tf.keras.Sequential(
        [getattr(tf.keras.layers, layer)(*given, **named) for layer, given, named in body]
    )
    network.compile(
        tf.keras.optimizers.Adam(_RATE),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=logits),
        metrics=["accuracy"],
    )
    unit = _PIXEL if name.endswith("pixels") else 1  # large inputs would train badly
    network.fit(
        X / unit, y, batch_size=64, epochs=_EPOCHS[name.split("-", maxsplit=1)[0]], verbose=0
    )
    first = next(layer for layer in network.layers if layer.weights)
    first.set_weights([first.get_weights()[0] / unit, first.get_weights()[1]])
    accuracy = network.evaluate(X_test, y_test, verbose=0)[1]
    converter = tf.lite.TFLiteConverter.from_keras_model(network)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([each[None]] for each in X[:_CALIBRATED])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    if name.endswith("relu6"):  # one scale for the weights of a layer, as older versions have
        converter._experimental_disable_per_channel_quantization_for_dense_layers = True
    if logits:  # the other one takes and gives floats
        converter.inference_input_type = converter.inference_output_type = tf.int8
    content: bytes = converter.convert()
    print(f"{name}: {100 * accuracy:.2f} % in floats, {len(content):,} B")
    return content


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--only", type=click.Choice(list(NETWORKS)), help="One network.")
def main(folder: Path, only: str | None) -> None:
    """Train and quantize the networks into FOLDER."""
    tf: Any = import_module("tensorflow")
    print(f"TensorFlow {tf.__version__}, Keras {tf.keras.__version__}, NumPy {np.__version__}")
    folder.mkdir(parents=True, exist_ok=True)
    for name in [only] if only else NETWORKS:
        (folder / f"{name}.tflite").write_bytes(made(name))


if __name__ == "__main__":
    main()
