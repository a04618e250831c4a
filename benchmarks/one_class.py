"""Normal or not: false alarms compared with the requested rate, and the share of anomalies found.

A model learns half of the normal points, drawn at random: a room that is empty, a heartbeat that is
normal. The other half, and all other points, are put to the emulated Uno. Where points come from
one origin, false alarms are beta-binomial: the k-th of n held-out points is the threshold, which
the tested points fall beyond. A row is SHORT if their number is not within 99 % of that
distribution, or if an execution differs. What a model of the official training part makes of the
official test part, which may be of other days, is printed beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from columns import Column, Record, figure, named
from emulated import MEASURED, run_on_uno
from runner import Benchmark
from scipy.stats import betabinom
from trained import Row

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.one_class.kinds.one_class.train.classifier import (
    OneClassProtoNNClassifier,
)
from protonn_edge.extensions.one_class.kinds.one_class.train.target import (
    hold_out_normal,
    of_normal_points,
)
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.calibration import check_rate
from protonn_edge.policy.rejection.held_out import calibrate_rejection

RATES = (0.01, 0.05)
WITHIN = 0.99  # of the distribution of false alarms

CASES = (Row("occupancy", "occupancy.npz"), Row("ecg5000", "ecg5000.npz"))
"""Data sets whose first class is normal."""


def measure(case: Row, dataset: Dataset) -> Iterator[Record]:
    """Learn, choose the threshold, and run all points, for each rate."""
    official = of_normal_points(dataset, dataset.classes[0])
    every = hold_out_normal(_pooled(dataset), 0.5, 0, by_rows=True)
    for rate in RATES:
        record = run_on_uno(_model(every, rate), every).record
        normal = record["n"] - record["others"]
        alarms = record["unknown"] - record["others_found"]
        low, high = _interval(len(every.y_train), normal, rate)
        yield record | {
            "data_set": case.name,
            "rate": rate,
            "false_alarms": 100 * alarms / normal,
            "expected": [100 * low / normal, 100 * high / normal],
            "detected": 100 * record["others_found"] / record["others"],
            "official": _rejected(_model(official, rate), official),
            "holds": low <= alarms <= high and not record["mismatches"],
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


def _model(dataset: Dataset, rate: float) -> Model:
    classifier = OneClassProtoNNClassifier(one_class=True, random_state=0)
    X, y = dataset.X_train, dataset.y_train
    calibrate_rejection(classifier.fit(X, y), X, y, rate=rate, by=("distance",))
    return classifier.to_model(classes=dataset.classes)


def _interval(n_known: int, n_tested: int, rate: float) -> tuple[float, float]:
    """Return how many false alarms are to be expected at least and at most."""
    k = check_rate(n_known, rate)
    low, high = betabinom(n_tested, k, n_known + 1 - k).interval(WITHIN)
    return float(low), float(high)


def _rejected(model: Model, dataset: Dataset) -> list[float]:
    """Return how many normal and how many other points are rejected, in %."""
    integers = quantize(model)
    rejected = integers.predict(integers.quantize(np.asarray(dataset.X_test))) == NO_CLASS
    others = dataset.y_test == NO_CLASS
    return [100 * float(rejected[each].mean()) for each in (~others, others)]


BENCHMARKS = {
    "one_class": Benchmark(
        "False alarms of one-class models beside the requested rate, and what they detect.",
        CASES,
        (
            *named("data_set"),
            Column("requested %", lambda r: 100 * r["rate"], "g"),
            figure("false alarms %", "false_alarms", ".2f"),
            figure("expected %", "expected", "{0[0]:.2f} to {0[1]:.2f}".format),
            figure("detected %", "detected", ".2f"),
            figure(
                "official part: false alarms, detected %",
                "official",
                "{0[0]:.2f}, {0[1]:.2f}".format,
            ),
            *MEASURED,
        ),
        measure,
    ),
}
