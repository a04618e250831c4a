"""Train the networks in tests/data/networks with PyTorch, Keras and scikit-learn, and export them.

    pip install torch keras skl2onnx onnxscript onnxruntime
    python benchmarks/framework_networks.py [NAME ...]

A network is named after its framework, its kind and its data set. onnxruntime quantizes another
framework's network to int8, which it writes with QuantizeLinear and DequantizeLinear.
`answers.json` has the versions, and of each network the share of right answers that its framework
gives on the test points, and the scores of random points that it gives itself;
benchmarks/imported.py compares with both.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from trained import DATA

os.environ["KERAS_BACKEND"] = "torch"

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "networks"
MOST_TRAINED = 10_000  # points of a data set
SCORED = 4  # random points whose scores are kept
CALIBRATED = 500  # points of a data set on which the scales of int8 values are chosen


def points(name: str, shape: tuple[int, ...]) -> tuple[Any, Any, Any, Any]:
    """Return the parts of a data set, with points of a network's shape."""
    with np.load(DATA / f"{name}.npz") as arrays:
        X_train, y_train, X_test, y_test = (
            arrays[f"{each}_{part}"] for part in ("train", "test") for each in "Xy"
        )
    X_train, X_test = (X.astype(np.float32).reshape(-1, *shape) for X in (X_train, X_test))
    X_train, y_train = X_train[:MOST_TRAINED], y_train[:MOST_TRAINED]
    return X_train, y_train.astype(np.int64), X_test, y_test


def random_points(shape: tuple[int, ...]) -> Any:
    """Return points for the comparison of scores, always the same."""
    return np.random.default_rng(0).random((SCORED, *shape), np.float32)


def _torch(make: Callable[[Any], list[Any]], name: str, shape: tuple[int, ...], epochs: int) -> Any:
    torch = import_module("torch")
    torch.manual_seed(0)
    X, y, X_test, y_test = points(name.rpartition("-")[2], shape)
    network = torch.nn.Sequential(*make(torch.nn))
    size, steps = 128, epochs * -(-len(X) // 128)
    adam = torch.optim.Adam(network.parameters(), 0.01)
    rate = torch.optim.lr_scheduler.OneCycleLR(adam, 0.01, total_steps=steps)
    for _ in range(epochs):
        for rows in torch.randperm(len(X)).split(size):
            adam.zero_grad()
            loss = torch.nn.functional.cross_entropy(
                network(torch.tensor(X[rows])), torch.tensor(y[rows])
            )
            loss.backward()
            adam.step()
            rate.step()
    network.eval()
    path = FOLDER / f"{name}.onnx"
    torch.onnx.export(network, (torch.zeros(1, *shape),), path, dynamo=False,
                      input_names=["x"], dynamic_axes={"x": {0: "n"}})  # fmt: skip

    def answers(some: Any) -> Any:
        with torch.no_grad():
            return network(torch.tensor(some)).numpy()

    return answers, X_test, y_test


def _keras(make: Callable[[Any], list[Any]], name: str, shape: tuple[int, ...], epochs: int) -> Any:
    keras = import_module("keras")
    keras.utils.set_random_seed(0)
    X, y, X_test, y_test = points(name.rpartition("-")[2], shape)
    network = keras.Sequential([keras.Input(shape), *make(keras.layers)])
    network.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=False))
    network.fit(X, y, batch_size=128, epochs=epochs, verbose=0)
    network.export(FOLDER / f"{name}.onnx", format="onnx", verbose=False)
    return (lambda some: network.predict(some, verbose=0)), X_test, y_test


def _sklearn(hidden: Any, name: str, shape: tuple[int, ...], epochs: int) -> Any:
    X, y, X_test, y_test = points(name.rpartition("-")[2], shape)
    perceptron = MLPClassifier(hidden, alpha=0.01, max_iter=epochs, random_state=0)
    fitted = make_pipeline(StandardScaler(), perceptron).fit(X, y)
    content = (
        import_module("skl2onnx")
        .to_onnx(fitted, X[:1], options={"zipmap": False})
        .SerializeToString()
    )
    (FOLDER / f"{name}.onnx").write_bytes(content)
    return fitted.predict_proba, X_test, y_test


def onnxruntime_scores(path: Path, points: Any) -> Any:
    """Return the scores (n, L) that onnxruntime gives, in operators of integers."""
    session = import_module("onnxruntime").InferenceSession(path)
    scores = session.run(None, {session.get_inputs()[0].name: points.astype(np.float32)})[0]
    return scores.reshape(len(points), -1)


def quantized(source: Path, target: Path, points: Any) -> None:
    """Quantize a network to int8 with onnxruntime, calibrated on points."""
    library: Any = import_module("onnxruntime.quantization")

    class Reader(library.CalibrationDataReader):  # type: ignore[misc]
        """Hands over one point after the other."""

        def __init__(self) -> None:
            name = import_module("onnx").load(source).graph.input[0].name
            self.left = iter([{name: point[None]} for point in points])

        def get_next(self) -> Any:
            """Return the next point by the name of the input, or None."""
            return next(self.left, None)

    library.quantize_static(
        *(source, target, Reader()),
        quant_format=library.QuantFormat.QDQ,
        activation_type=library.QuantType.QInt8,
        weight_type=library.QuantType.QInt8,
        per_channel=True,
    )


def _onnxruntime(source: str, name: str, shape: tuple[int, ...], _: int) -> Any:
    X, _, X_test, y_test = points(name.rpartition("-")[2], shape)
    path = FOLDER / f"{name}.onnx"
    quantized(FOLDER / f"{source}.onnx", path, X[:CALIBRATED])
    return (lambda some: onnxruntime_scores(path, some)), X_test, y_test


def _lenet(nn: Any) -> list[Any]:
    return [
        *(nn.BatchNorm2d(1), nn.Conv2d(1, 6, 5), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 12, 5), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(192, 24), nn.ReLU(), nn.Linear(24, 10)),
    ]


def _all_convolutional(nn: Any) -> list[Any]:
    return [
        *(nn.Conv2d(1, 12, 5, stride=2), nn.BatchNorm2d(12), nn.ReLU6()),
        *(nn.Conv2d(12, 24, 3), nn.BatchNorm2d(24), nn.ReLU6()),
        *(nn.Conv2d(24, 10, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()),
    ]


def _perceptron(inputs: int, classes: int) -> Callable[[Any], list[Any]]:
    return lambda nn: [
        *(nn.Linear(inputs, 16), nn.BatchNorm1d(16), nn.ReLU()),
        *(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, classes)),
    ]


def _depthwise(layers: Any) -> list[Any]:
    return [
        layers.Rescaling(1 / 255),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.DepthwiseConv2D(3, padding="same"),
        *(layers.BatchNormalization(), layers.ReLU()),
        layers.Conv2D(16, 1, activation="relu"),
        *(layers.MaxPooling2D(), layers.Conv2D(16, 3), layers.ReLU(), layers.MaxPooling2D()),
        *(layers.Flatten(), layers.Dropout(0.1), layers.Dense(10, activation="softmax")),
    ]


def _padded(layers: Any) -> list[Any]:
    return [
        layers.Rescaling(0.5, 0.5),
        *(layers.Conv2D(6, 3, padding="same", activation="relu"), layers.MaxPooling2D()),
        *(layers.Conv2D(12, 3, padding="same", activation="relu"), layers.AveragePooling2D(2)),
        *(layers.Flatten(), layers.Dense(10, activation="softmax")),
    ]


def _two_layers(layers: Any) -> list[Any]:
    return [
        *(layers.BatchNormalization(), layers.Dense(24, activation="relu")),
        *(layers.Dropout(0.1), layers.Dense(12, activation="relu")),
        layers.Dense(6, activation="softmax"),
    ]


NETWORKS: dict[str, tuple[Callable[..., Any], Any, tuple[int, ...], int]] = {
    "sklearn-mlp-har_hapt": (_sklearn, (24,), (46,), 30),
    "sklearn-mlp-letter26": (_sklearn, (40,), (16,), 30),
    "pytorch-mlp-har_hapt": (_torch, _perceptron(46, 6), (46,), 15),
    "pytorch-mlp-usps10": (_torch, _perceptron(256, 10), (256,), 15),
    "pytorch-cnn-usps10": (_torch, _all_convolutional, (1, 16, 16), 8),
    "keras-mlp-har_hapt": (_keras, _two_layers, (46,), 10),
    "keras-cnn-usps10": (_keras, _padded, (16, 16, 1), 8),
    "pytorch-cnn-mnist10": (_torch, _lenet, (1, 28, 28), 4),
    "keras-cnn-mnist10": (_keras, _depthwise, (28, 28, 1), 6),
    "onnxruntime-cnn-usps10": (_onnxruntime, "pytorch-cnn-usps10", (1, 16, 16), 0),
}


PACKAGES = {
    "sklearn": ("scikit-learn", "skl2onnx", "onnx"),
    "pytorch": ("torch", "onnx"),
    "keras": ("keras", "torch", "onnx"),
    "onnxruntime": ("onnxruntime", "onnx"),
}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(NETWORKS)))
def main(names: tuple[str, ...]) -> None:
    """Write these networks, or all, and their answers."""
    path = FOLDER / "answers.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if names else {}
    versions = found.setdefault("versions", {})
    for name in names or NETWORKS:
        train, layers, shape, epochs = NETWORKS[name]
        versions |= {each: version(each) for each in PACKAGES[name.partition("-")[0]]}
        scores, X_test, y_test = train(layers, name, shape, epochs)
        found[name] = {
            "shape": list(shape),
            "accuracy": float(np.mean(scores(X_test).argmax(axis=1) == y_test)),
            "scores": np.asarray(scores(random_points(shape)), np.float64).round(5).tolist(),
        }
        print(name, found[name]["accuracy"], flush=True)
        path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
