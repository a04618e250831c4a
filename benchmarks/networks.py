"""Convolutional networks on an Arduino Uno: their accuracy, bytes and milliseconds.

    python benchmarks/networks.py [--only NAME] [--seeds N] [--points N] [--avr8js N] [--json]

prints one row a network: the test points that the emulated Uno has right, the points on which a
plain reading of the network's arithmetic, host C, the Uno or, for the first points, avr8js differ
from the NumPy model (none may), the bytes of the parameters, and the plan.

*mnist-cnn-4bit* is the network of Gural and Murmann (ICML 2019), which nobody here trained: three
convolutions and a layer of scores in 4 bits. Its authors run it on this chip in 682 ms, with 1,512
bytes of parameters and 434 of values in SRAM.

The others are trained here, with five seeds (`--seeds`); see `trained_networks.py`. *Uno %* is
their mean and standard deviation; all else is of seed 0. The test points are read for nothing else.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from four_bit_network import convolutional_network
from network import Int64, Network
from numpy.typing import NDArray
from on_uno import ACCURACY_COLUMN, BYTES_COLUMN, CYCLES, TAKEN, run_on_uno
from printing import Columns, Record, print_table
from rows import DATA, chosen, integer_accuracy, over_seeds, seeds_option
from second_emulator import on_avr8js
from trained_networks import CASES as TRAINED

from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.projects.project import BuildOptions, Trial
from protonn_edge.data.dataset import Dataset
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

_MEASURED = 2_000  # training points that give the ranges of a network's features
_SIDE, _MAXIMUM = 28, 15


@dataclass(frozen=True)
class Imported(Network):
    """A network that was trained elsewhere, whose numbers are in a file beside the data."""

    numbers: str = ""

    def models(self, dataset: Dataset, seeds: Sequence[int]) -> list[Model]:  # noqa: ARG002
        """Return the network as a model, the only one."""
        with np.load(DATA / self.numbers, allow_pickle=False) as numbers:
            images = np.asarray(dataset.X_train)[:_MEASURED]
            return [convolutional_network(numbers, images, _SIDE, dataset.classes)]

    def scores(self, X: NDArray[Any]) -> Int64:
        """Return the scores (n, L) of images (n, 784): the arithmetic as its authors state it."""
        with np.load(DATA / self.numbers, allow_pickle=False) as numbers:
            image = X.reshape(-1, _SIDE // 2, 2, _SIDE // 2, 2).astype(np.int64)
            values = (image.sum(axis=(2, 4)) >> 6)[..., None]
            for name in ("conv1", "conv2", "conv3"):
                weights, bias = numbers[f"{name}_weights"], numbers[f"{name}_bias"]
                left, right = numbers[f"{name}_shifts"].tolist()
                a = (_windows(values, weights) << left) + bias
                values = np.minimum(_rounded(np.maximum(a, 0), right + 1), _MAXIMUM)
            n, side, _, channels = values.shape
            pooled = values.reshape(n, side // 2, 2, side // 2, 2, channels).max(axis=(2, 4))
            left, _ = numbers["dense_shifts"].tolist()
            sums: Int64 = pooled.reshape(n, -1) @ numbers["dense_weights"].astype(np.int64)
            scores: Int64 = (sums << left) + numbers["dense_bias"]
            return scores


def _windows(values: Int64, weights: NDArray[np.int8]) -> Int64:
    """Return the sums of weights (out, k, k, in) over the windows of values (n, h, w, in)."""
    k = weights.shape[1]
    windows = np.lib.stride_tricks.sliding_window_view(values, (k, k), axis=(1, 2))
    exact = np.tensordot(windows.astype(np.float64), weights, ((3, 4, 5), (3, 1, 2)))
    sums: Int64 = exact.astype(np.int64)
    return sums


def _rounded(values: Int64, bits: int) -> Int64:
    """Return values without their lowest bits, rounded, halves to even."""
    rounded: Int64 = np.rint(values / (1 << bits)).astype(np.int64)  # rint does that
    return rounded


CASES: list[Network] = [
    Imported("mnist-cnn-4bit", "mnist10.npz", numbers="mnist_cnn_4bit.npz", sram_bytes=1_300),
    *TRAINED,
]
COLUMNS: Columns = [
    ("network", lambda r: r["name"]),
    ACCURACY_COLUMN,
    ("right of", lambda r: f"{r['right']:,} of {r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    BYTES_COLUMN,
    *CYCLES,
    *TAKEN,
]


def measure_case(
    case: Network, dataset: Dataset, seeds: Sequence[int], points: int | None, on_second: int
) -> dict[str, Any]:
    """Build a network, and run test points, the first ones on avr8js, too."""
    begin = time.perf_counter()
    models = case.models(dataset, seeds)
    training_seconds = time.perf_counter() - begin
    X, y = np.asarray(dataset.X_test)[:points], dataset.y_test[:points]
    some = replace(dataset, X_test=X, y_test=y)

    def beside(trial: Trial, reference: IntegerChain, Q: NDArray[np.uint8]) -> Record:
        return on_avr8js(trial, reference, Q[:on_second])

    on_uno = run_on_uno(models[0], some, BuildOptions(sram_bytes=case.sram_bytes), beside)
    record, plain = on_uno.record, case.scores(X)
    if plain is not None:
        scores = quantize(models[0]).scores(on_uno.Q)
        record["mismatches"] += int((scores != plain).any(axis=1).sum())
    record["mismatches"] += record["avr8js_mismatches"]
    accuracies = [integer_accuracy(model, some) for model in models]
    assert isinstance(on_uno.plan, Plan)
    return record | {
        "name": case.name,
        **over_seeds(accuracies),
        "training_s": training_seconds / len(models),
        "right": round(accuracies[0] * len(y)),
        "choices": on_uno.plan.choices,
        "seconds": time.perf_counter() - begin,
    }


@click.command()
@click.option("--only", type=click.Choice([case.name for case in CASES]), help="One row.")
@seeds_option
@click.option("--points", type=click.IntRange(1), help="The first test points only.")
@click.option(
    "--avr8js",
    "on_second",
    type=click.IntRange(0),
    default=50,
    show_default=True,
    help="Test points on that emulator, too, 0.1 to 0.2 s of each.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(
    only: str | None, seeds: Sequence[int], points: int | None, on_second: int, as_json: bool
) -> None:
    """Print convolutional networks on an Arduino Uno."""
    rows = chosen(CASES, only)
    records = (measure_case(case, data, seeds, points, on_second) for case, data in rows)
    print_table(records, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
