"""Int8 networks beside ai-edge-litert: how many outputs differ in a bit, for each resolver.

    python benchmarks/tflite_outputs.py [--points N | --uno N] [--only NETWORK] [--json]

The networks are those of tests/data/tflite that have data here (PROTONN_EDGE_DATA), with up to N of
their test points. Needs: pip install ai-edge-litert. Exits with 1 if an output differs from the
reference kernels'. With --uno, N of the points run on the emulated Uno instead, and must give the
scores of NumPy; this needs no other package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from numpy.typing import NDArray
from on_uno import ACCURACY_COLUMN, BYTES_COLUMN, CHECKED, CYCLES, TAKEN, run_on_uno
from printing import Columns, Record, print_table
from tflite_networks import NETWORKS, points_of

from protonn_edge import from_network
from protonn_edge.data.dataset import Dataset
from protonn_edge.extensions.conversion.networks.stored_networks import load_network

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "tflite"
_RESOLVERS = {
    "reference": "BUILTIN_REF",
    "optimized": "BUILTIN_WITHOUT_DEFAULT_DELEGATES",
    "default": "AUTO",
}
_DECISIONS = ("SOFTMAX", "DEQUANTIZE")

COLUMNS: Columns = [
    ("network", lambda r: r["row"]),
    ("points", lambda r: f"{r['n']:,}"),
    ("outputs", lambda r: f"{r['outputs']:,}"),
    *((name, lambda r, name=name: f"{r[name]:,}") for name in _RESOLVERS),
    ("right %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("reference right %", lambda r: f"{100 * r['reference_accuracy']:.2f}"),
]


UNO_COLUMNS: Columns = [
    ("network", lambda r: r["row"]),
    ACCURACY_COLUMN,
    *CHECKED,
    BYTES_COLUMN,
    *CYCLES,
    *TAKEN[:-1],
]


def on_uno(name: str, most: int) -> Record:
    """Convert a network and run some test points on the emulated Uno."""
    X, y, X_test, y_test, classes = points_of(name)
    names = tuple(map(str, range(classes)))
    found = from_network(FOLDER / f"{name}.tflite", X[:1000], y[:1000], classes=names)
    dataset = Dataset(X[:1000], y[:1000], X_test[:most], y_test[:most], names)
    return {"row": name, **run_on_uno(found.model, dataset).record}


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


def compared(name: str, most: int) -> Record:
    """Compare the outputs of a network."""
    _, _, X, y, _ = points_of(name)
    X, y = X[:most], y[:most]
    network = load_network(FOLDER / f"{name}.tflite", name).rule
    own = network.outputs(X)
    record: Record = {"row": name, "n": len(X), "outputs": own.size}
    for kind, resolver in _RESOLVERS.items():
        outputs = interpreted(name, resolver, X, network.pixels.to_bytes(X))
        record[kind] = int((outputs != own).sum())
        if kind == "reference":
            record["reference_accuracy"] = float((outputs.argmax(axis=1) == y).mean())
    return record | {"accuracy": float((network.answers(X) == y).mean())}


@click.command()
@click.option("--points", default=1_500, show_default=True, help="Most points of a network.")
@click.option("--uno", type=click.IntRange(1), help="Points on the emulated Uno.")
@click.option("--only", type=click.Choice(list(NETWORKS)), help="One network.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(points: int, uno: int | None, only: str | None, *, as_json: bool) -> None:
    """Print how many outputs differ from TensorFlow Lite's."""
    differs: list[str] = []

    def records() -> Iterator[Record]:
        for name in [only] if only else NETWORKS:
            record = on_uno(name, uno) if uno else compared(name, points)
            wrong = record["mismatches"] + record["lost"] if uno else record["reference"]
            differs.extend([name] * bool(wrong))
            yield record

    print_table(records(), UNO_COLUMNS if uno else COLUMNS, as_json=as_json)
    sys.exit(1 if differs else 0)


if __name__ == "__main__":
    main()
