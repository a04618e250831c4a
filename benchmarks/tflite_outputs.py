"""Int8 networks beside ai-edge-litert: how many outputs differ in a bit, for each resolver.

The networks are those of tests/data/tflite that have data here (PROTONN_EDGE_DATA), with up to N of
their test points. Needs: pip install ai-edge-litert. A row is SHORT if an output differs from the
reference kernels'. `tflite_uno` runs some of the points on the emulated Uno, where they must have
the scores of NumPy; this needs no other package.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click
import numpy as np
from columns import Record, figure, named, percent
from emulated import MEASURED, run_on_uno
from numpy.typing import NDArray
from runner import Benchmark, Case
from tflite_networks import NETWORKS, points_of

from protonn_edge import from_network
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.conversion.networks.stored_networks import load_network

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "tflite"
_RESOLVERS = {
    "reference": "BUILTIN_REF",
    "optimized": "BUILTIN_WITHOUT_DEFAULT_DELEGATES",
    "default": "AUTO",
}
_DECISIONS = ("SOFTMAX", "DEQUANTIZE")


def on_uno(case: Case, points: int) -> Record:
    """Convert a network and run some test points on the emulated Uno."""
    name = case.name
    X, y, X_test, y_test, classes = points_of(name)
    names = tuple(map(str, range(classes)))
    found = from_network(FOLDER / f"{name}.tflite", X[:1000], y[:1000], classes=names)
    dataset = Dataset(X[:1000], y[:1000], X_test[:points], y_test[:points], names)
    record = run_on_uno(found.model, dataset).record
    return {"network": name, "holds": not record["mismatches"], **record}


def interpreted(name: str, resolver: str, X: NDArray[Any], Q: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the bytes of a network's int8 outputs, before a decision, of points X, or bytes Q."""
    library: Any = import_module("ai_edge_litert.interpreter")
    interpreter = library.Interpreter(
        str(FOLDER / f"{name}.tflite"),
        experimental_op_resolver_type=library.OpResolverType[resolver],
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    given = interpreter.get_input_details()[0]
    whole = given["dtype"] == np.int8
    points = (Q.astype(np.int16) - 128).astype(np.int8) if whole else X.astype(np.float32)
    operators = interpreter._get_ops_details()
    last = [each for each in operators if each["op_name"] not in (*_DECISIONS, "DELEGATE")][-1]
    outputs = []
    for point in points:
        interpreter.set_tensor(given["index"], point.reshape(given["shape"]))
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(last["outputs"][0]).ravel().astype(np.int64) + 128)
    return np.array(outputs)


def compared(case: Case, points: int) -> Record:
    """Compare the outputs of a network."""
    name = case.name
    _, _, X, y, _ = points_of(name)
    X, y = X[:points], y[:points]
    network = load_network(FOLDER / f"{name}.tflite", name).rule
    own = network.outputs(X)
    record: Record = {"network": name, "n": len(X), "outputs": own.size}
    for kind, resolver in _RESOLVERS.items():
        outputs = interpreted(name, resolver, X, network.pixels.to_bytes(X))
        record[kind] = int((outputs != own).sum())
        if kind == "reference":
            record["reference_accuracy"] = float((outputs.argmax(axis=1) == y).mean())
            record["holds"] = not record[kind]
    return record | {"accuracy": float((network.answers(X) == y).mean())}


def _option(count: int) -> Any:
    return click.option("--points", default=count, show_default=True, help="Most of a network.")


CASES = [Case(name, file=f"{name.partition('-')[0]}.npz") for name in NETWORKS]
BENCHMARKS = {
    "tflite": Benchmark(
        "How many outputs of int8 networks differ from TensorFlow Lite's, for each resolver.",
        CASES,
        (
            *named("network"),
            figure("points", "n", ","),
            figure("outputs", "outputs", ","),
            *(figure(name, name, ",") for name in _RESOLVERS),
            figure("right %", "accuracy", percent),
            figure("reference right %", "reference_accuracy", percent),
        ),
        compared,
        options=[_option(1_500)],
    ),
    "tflite_uno": Benchmark(
        "The same networks on the emulated Uno.",
        CASES,
        (
            *named("network"),
            figure("Uno %", "accuracy", percent),
            *MEASURED,
        ),
        on_uno,
        options=[_option(100)],
    ),
}
