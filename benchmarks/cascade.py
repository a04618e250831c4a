"""Cascades on the emulated Uno, beside their second models alone.

Both models learn from the training part without a held-out share, on which the margin is chosen, as
the settings of the first models were. The test points are read for nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from columns import Column, Record, figure, mean_percent
from emulated import MEASURED, run_on_uno
from feature_rows import LARGER
from kind_rows import LETTER, MNIST
from protonn_rows import GRADIENTS_2KB
from runner import Benchmark
from trained import Row, Trained, first_tested, integer_accuracy

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.cascades.kinds.cascade.head import margins
from protonn_edge.extensions.cascades.kinds.cascade.integers import IntegerCascade
from protonn_edge.extensions.cascades.kinds.cascade.train import joined
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

_HELD_OUT = 0.2
_ALONE = 1_000  # test points that the second model alone is given


@dataclass(frozen=True)
class Cascade(Row):
    """Two models, each as its kind and its settings."""

    first: tuple[str, dict[str, Any]] = field(default=("", {}), kw_only=True)
    second: tuple[str, dict[str, Any]] = field(default=("", {}), kw_only=True)
    last: int = field(default=0, kw_only=True)  # training points to hold out; 0 for a share of all
    # of points to pass on, and whether scores are added; None: chosen
    share: float | None = field(default=None, kw_only=True)
    adds: bool | None = field(default=None, kw_only=True)

    def divisions(self, dataset: Dataset) -> list[Dataset]:
        """Return what is learned, and what is held out."""
        n = len(dataset.y_train)
        held = np.arange(n) >= n - self.last
        if not self.last:
            held[np.random.default_rng(0).permutation(n)[: round(_HELD_OUT * n)]] = True
        X, y = dataset.X_train, dataset.y_train
        return [replace(dataset, X_train=X[rows], y_train=y[rows]) for rows in (~held, held)]

    def models(self, which: str, learned: Dataset, seeds: Sequence[int]) -> list[Model]:
        """Return the first or the second model, trained with each seed."""
        kind, settings = getattr(self, which)
        return Trained(replace(self, kind=kind, settings=settings), learned, seeds).models


def _prototypes(d: int, m: int, **settings: Any) -> tuple[str, dict[str, Any]]:
    return "protonn", {"n_projections": d, "n_prototypes": m, **settings}


def _forest(trees: int, n_bytes: int) -> tuple[str, dict[str, Any]]:
    return "forest", {"n_trees": trees, "size_budget": n_bytes}


def _network(layers: str, passes: int) -> tuple[str, dict[str, Any]]:
    return "linear", LARGER | {"features": f"conv:{layers},bits:4", "network_epochs": passes}


CASES = (
    Cascade(
        "mnist10",
        MNIST,
        first=_prototypes(16, 37, **GRADIENTS_2KB),
        second=_network("5x5/2,12x3,max2,24x3,88x3", passes=96),
        last=4_000,
        share=0.08,  # as accurate on the last 10,000 images as any of 2 to 20 %
    ),
    Cascade(
        "mnist10-4kB",
        MNIST,
        first=_prototypes(16, 37, **GRADIENTS_2KB),
        second=_network("6x5/2,8x3,max2,12x3,18x3", passes=64),
        last=4_000,
        share=0.1,
        adds=True,  # more accurate on the last 10,000 images, with each of three first models
    ),
    Cascade("letter26", LETTER, first=_forest(10, 12_000), second=_prototypes(12, 260)),
    Cascade("fsdd", "fsdd_mfcc.npz", first=_forest(15, 5_000), second=_prototypes(10, 40)),
)


def measure(case: Cascade, dataset: Dataset, seeds: Sequence[int]) -> Record:
    """Train both models with each seed, join them, and run the test points."""
    learned, held = case.divisions(dataset)
    firsts, seconds = (case.models(each, learned, seeds) for each in ("first", "second"))
    X, y = np.asarray(held.X_train).astype(np.float32), held.y_train
    pairs = zip(firsts, seconds, strict=True)
    cascades = [joined(*pair, X, y, share=case.share, adds=case.adds) for pair in pairs]
    record = run_on_uno(cascades[0], dataset).record
    alone = _cycles_of(seconds[0], dataset)
    every = {"cascade": cascades, "first": firsts, "second": seconds}
    return record | {
        "name": case.name,
        **{name: [integer_accuracy(m, dataset) for m in models] for name, models in every.items()},
        "share": float(np.mean([_share(each, dataset) for each in cascades])),
        "second_cycles": alone,
        "faster": alone and alone / record["cycles"]["mean"],
    }


def _cycles_of(model: Model, dataset: Dataset) -> float | None:
    """Return the mean cycles of a model alone for some test points; None if it is too large."""
    try:
        return float(run_on_uno(model, first_tested(_ALONE)(dataset)).record["cycles"]["mean"])
    except CheckFailed:
        return None


def _share(model: Model, dataset: Dataset) -> float:
    """Return the share of test points that the second model answers."""
    chain = quantize(model)
    stage = chain.own_stages[0]
    assert isinstance(stage, IntegerCascade)
    values = chain.quantize(np.asarray(dataset.X_test))
    for each in (*chain.feature_stages, *stage.first.stages):
        values = each.run(values)
    return float(np.mean(margins(values.astype(np.int64)) < stage.margin))


BENCHMARKS = {
    "cascade": Benchmark(
        "Cascades beside their second models alone; *passed on* are points that these answer.",
        CASES,
        (
            figure("data", "name"),
            *(figure(f"{name} %", name, mean_percent) for name in ("cascade", "second", "first")),
            Column("passed on %", lambda r: 100 * r["share"], ".1f"),
            figure("mean cycles", "cycles.mean", ",.0f"),
            figure("second alone", "second_cycles", ",.0f"),
            figure("faster", "faster", ".2f"),
            figure("model B", "model_bytes", ","),
            *MEASURED,
        ),
        measure,
        seeds=5,
    ),
}
