"""Check that onnxruntime computes the same integers as NumPy for models written as ONNX.

    python benchmarks/onward.py [--points N] [--json]

prints a row for each kind of stage, for all its models of tests/conformance, and for each
classifier, trained on scikit-learn's digits: how many points were compared in all, and how many of
these differ in a class or in a score; or why the kind cannot be written. Half of the points have
random bytes; the others are the models' own points, or digits with noise.
Needs: pip install onnx onnxruntime. Exits with 1 if a point differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from conformance.instances import KINDS as STAGES
from conformance.instances import instances_of
from numpy.typing import NDArray
from printing import Columns, Record, print_table

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.extensions.conversion.onward import to_onnx
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.model.registry import ESTIMATORS, HEADS
from protonn_edge.system.errors import InputError

COLUMNS: Columns = [
    ("stage or classifier", lambda r: r["row"]),
    ("models", lambda r: f"{r['models']}" if r["models"] else ""),
    ("points", lambda r: f"{r['points']:,}" if r["models"] else ""),
    ("differ", lambda r: f"{r['differ']}" if r["models"] else r["why"]),
]


def of_stage(kind: str) -> Iterator[tuple[IntegerChain, NDArray[np.uint8]]]:
    """Yield small models with a kind of stage, with points of their own."""
    for instance in instances_of(kind):
        yield instance.model, instance.points


def trained(kind: str) -> Iterator[tuple[IntegerChain, NDArray[np.uint8]]]:
    """Yield the classifier of a kind for handwritten digits, and digits."""
    data = load_digits_dataset()
    estimator = ESTIMATORS[kind](random_state=0).fit(data.X_train, data.y_train)
    chain = quantize(estimator.to_model())
    yield chain, chain.quantize(np.asarray(data.X_test))


def compared(
    row: str, models: Iterator[tuple[IntegerChain, NDArray[np.uint8]]], points: int
) -> Record:
    """Return how many points of some models differ."""
    record: Record = {"row": row, "models": 0, "points": 0, "differ": 0, "why": ""}
    for chain, own in models:
        Q = drawn_points(chain, own, points)
        try:
            record["differ"] += differing(chain, Q)
        except InputError as error:
            record["why"] = str(error)
            continue
        record["models"] += 1
        record["points"] += len(Q)
    return record


def drawn_points(chain: IntegerChain, own: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Return random points, and a model's own points with noise but for their first occurrence."""
    rng, most = np.random.default_rng(0), chain.quantizer.maximum
    half = count // 2
    random = rng.integers(0, most + 1, (count - half, chain.n_features))
    known = np.resize(own, (half, chain.n_features)).astype(np.int64)
    known[len(own) :] += rng.integers(-8, 9, known[len(own) :].shape)
    drawn: NDArray[np.uint8] = np.concatenate([known, random]).clip(0, most).astype(np.uint8)
    return drawn


def differing(chain: IntegerChain, Q: NDArray[np.uint8]) -> int:
    """Return the number of points whose class or scores differ between NumPy and onnxruntime."""
    onnxruntime: Any = import_module("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(chain))
    wrong = 0
    for part in np.array_split(Q, -(-len(Q) // 1_000)):
        answers, scores = session.run(["class", "scores"], {"bytes": part})
        classes, expected = chain.answers(part)
        unequal = (answers[:, 0] != classes) | (scores != expected).any(axis=1)
        wrong += int(np.count_nonzero(unequal))
    return wrong


@click.command()
@click.option("--points", type=click.IntRange(1), default=10_000, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(points: int, as_json: bool) -> None:
    """Print whether onnxruntime computes the integers of NumPy."""
    wrong = []

    def records() -> Iterator[Record]:
        for maker, kinds in ((of_stage, STAGES), (trained, HEADS)):
            for kind in kinds:
                record = compared(kind, maker(kind), points)
                wrong.append(record["differ"])
                yield record

    try:
        print_table(records(), COLUMNS, as_json)
    except ModuleNotFoundError as error:
        raise click.UsageError(f"{error.name} is missing; pip install {error.name}") from error
    sys.exit(any(wrong))


if __name__ == "__main__":
    main()
