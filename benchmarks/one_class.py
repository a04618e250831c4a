"""Normal or not: false alarms compared with the requested rate, and the share of anomalies found.

    python benchmarks/one_class.py [--only NAME] [--json]

A model learns half of the normal points, drawn at random: a room that is empty, a heartbeat that is
normal. The other half, and all other points, are put to the emulated Uno. Where points come from
one origin, false alarms are beta-binomial: the k-th of n held-out points is the threshold, which
the tested points fall beyond. The exit code is 1 if their number is not within 99 % of that
distribution, or if an execution differs. What a model of the official training part makes of the
official test part, which may be of other days, is printed beside it.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from on_uno import run_on_uno
from printing import print_table
from rows import Row, chosen
from scipy.stats import betabinom

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.extensions.one_class.train.target import hold_out_normal, of_normal_points
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.calibration import check_rate
from protonn_edge.policy.rejection.held_out import calibrate_rejection
from protonn_edge.system.errors import ProtoNNEdgeError

SEED = 0
RATES = (0.01, 0.05)
WITHIN = 0.99  # of the distribution of false alarms


CASES = (Row("occupancy", "occupancy.npz"), Row("ecg5000", "ecg5000.npz"))
"""Data sets whose first class is normal."""

COLUMNS = [
    ("data set", lambda r: r["name"]),
    ("points learned", lambda r: f"{r['n_train']:,}"),
    ("requested %", lambda r: f"{100 * r['rate']:g}"),
    ("false alarms %", lambda r: f"{100 * r['false_alarms'] / r['normal']:.2f}"),
    ("of points", lambda r: f"{r['normal']:,}"),
    ("expected %", lambda r: "{:.2f} to {:.2f}".format(*r["expected_percent"])),
    ("detected %", lambda r: f"{100 * r['others_found'] / r['others']:.2f}"),
    ("of abnormal points", lambda r: f"{r['others']:,}"),
    (
        "official part: false alarms, detected %",
        lambda r: "{:.2f}, {:.2f}".format(*r["official_percent"]),
    ),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    ("cycles mean (max)", lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
    ("bound", lambda r: f"{r['bound']:,}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("SRAM + stack B", lambda r: f"{r['sram_bytes']:,} + {r['stack_bytes']:,}"),
]


def measure_case(case: Row, dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Learn, choose the threshold, and run all points, for each rate."""
    official = of_normal_points(dataset, dataset.classes[0])
    every = hold_out_normal(_pooled(dataset), 0.5, SEED)
    for rate in RATES:
        model = _model(case, every, rate)
        record = run_on_uno(model, every).record
        normal = record["n"] - record["others"]
        alarms = record["unknown"] - record["others_found"]
        low, high = _interval(len(every.y_train), normal, rate)
        yield record | {
            "name": case.name,
            "rate": rate,
            "n_train": len(every.y_train),
            "normal": normal,
            "false_alarms": alarms,
            "expected_percent": [100 * low / normal, 100 * high / normal],
            "official_percent": _rejected_percent(_model(case, official, rate), official),
            "holds": low <= alarms <= high and not record["mismatches"] + record["lost"],
        }


def _pooled(dataset: Dataset) -> Dataset:
    """Return all points as training points, the normal ones alone; the others test."""
    pooled = replace(
        dataset,
        X_train=np.concatenate([dataset.X_train, dataset.X_test]),
        y_train=np.concatenate([dataset.y_train, dataset.y_test]),
        X_test=dataset.X_test[:0],
        y_test=dataset.y_test[:0],
    )
    normal: Dataset = of_normal_points(pooled, dataset.classes[0])
    return normal


def _model(case: Row, dataset: Dataset, rate: float) -> Model:
    classifier = ProtoNNClassifier(one_class=True, random_state=SEED, **case.settings)
    X, y = dataset.X_train, dataset.y_train
    calibrate_rejection(classifier.fit(X, y), X, y, rate=rate, by=("distance",))
    return classifier.to_model(classes=dataset.classes)


def _interval(n_known: int, n_tested: int, rate: float) -> tuple[float, float]:
    """Return how many false alarms are to be expected at least and at most."""
    k = check_rate(n_known, rate)
    low, high = betabinom(n_tested, k, n_known + 1 - k).interval(WITHIN)
    return float(low), float(high)


def _rejected_percent(model: Model, dataset: Dataset) -> list[float]:
    integers = quantize(model)
    rejected = integers.predict(integers.quantize(np.asarray(dataset.X_test))) == NO_CLASS
    others = dataset.y_test == NO_CLASS
    return [100 * float(rejected[each].mean()) for each in (~others, others)]


@click.command()
@click.option("--only", type=click.Choice([case.name for case in CASES]), help="One data set.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print false alarms and what is found."""
    held: list[bool] = []

    def records() -> Iterator[dict[str, Any]]:
        for case, dataset in chosen(CASES, only):
            for record in measure_case(case, dataset):
                held.append(record["holds"])
                yield record

    print_table(records(), COLUMNS, as_json)
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
