"""Compare quantized networks in ONNX with onnxruntime: how many outputs and answers differ.

    python benchmarks/quantized_outputs.py [--points N] [--only ROW] [--json]

onnxruntime quantizes networks of tests/data/networks in four ways: values of int8 or uint8, and
weights with one scale or one for each output. It then computes up to N test points of their data
(PROTONN_EDGE_DATA) in real numbers, as ONNX defines it, and with its fused operators of integers.
Needs: pip install onnx onnxruntime. Exits with 1 if more than one answer in 1,000 differs.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from framework_networks import (
    CALIBRATED,
    FOLDER,
    NETWORKS,
    onnxruntime_scores,
    points,
    quantized,
)
from printing import Columns, Record, print_table

from protonn_edge.extensions.conversion.networks.stored_networks import load_network

_SOURCES = tuple(f"pytorch-{each}" for each in ("cnn-usps10", "cnn-mnist10", "mlp-usps10"))
_WAYS = {
    f"{'int8' if signed else 'uint8'}, {'a scale each' if each else 'one scale'}": (signed, each)
    for signed in (True, False)
    for each in (False, True)
}
_KINDS = {"real": False, "fused": True}
_MOST_OTHER = 0.001  # of answers

COLUMNS: Columns = [
    ("network", lambda r: r["row"]),
    ("points", lambda r: f"{r['n']:,}"),
    ("outputs", lambda r: f"{r['outputs']:,}"),
    *(
        (f"{kind}: {what}", lambda r, kind=kind, what=what: f"{r[kind][what]:,}")
        for kind in _KINDS
        for what in ("outputs", "most", "answers")
    ),
]


def compared(source: str, way: str, most: int) -> Record:
    """Quantize a network, and compare its outputs; "most" is the largest difference in steps."""
    signed, by_channel = _WAYS[way]
    X, _, X_test, _ = points(source.rpartition("-")[2], NETWORKS[source][2])
    X_test = X_test[:most]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        quantized(
            *(FOLDER / f"{source}.onnx", path, X[:CALIBRATED]), signed=signed, by_channel=by_channel
        )
        rule = load_network(path, source).rule
        outputs = rule.outputs(np.asarray(rule.rows(X_test)).reshape(len(X_test), -1)).astype(int)
        record: Record = {"row": f"{source}, {way}", "n": len(X_test), "outputs": outputs.size}
        for kind, fused in _KINDS.items():
            scores = onnxruntime_scores(path, X_test, fused=fused)
            expected = np.rint(scores / rule.output_step).astype(int) + rule.output_zero
            differ = np.abs(outputs - expected)
            record[kind] = {
                "outputs": int(np.count_nonzero(differ)),
                "most": int(differ.max()),
                "answers": int(np.sum(outputs.argmax(axis=1) != expected.argmax(axis=1))),
            }
    return record


@click.command()
@click.option("--points", "most", default=10_000, show_default=True, help="Most points of a row.")
@click.option("--only", type=click.Choice(_SOURCES), help="One network.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(most: int, only: str | None, *, as_json: bool) -> None:
    """Print how many outputs differ from onnxruntime's."""
    short: list[str] = []

    def records() -> Iterator[Record]:
        for source in [only] if only else _SOURCES:
            for way in _WAYS:
                record = compared(source, way, most)
                other = max(record[kind]["answers"] for kind in _KINDS)
                short.extend([source] * (other > _MOST_OTHER * record["n"]))
                yield record

    print_table(records(), COLUMNS, as_json=as_json)
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
