"""Figure 1: accuracy by size.

As in the paper: models of 2 to 16 kB for two classes, and 16 to 128 kB for more, in the paper's
accounting. ProtoNN has the paper's settings (its optimizer, squared error, d and the shares of its
heuristic, with 15 iterations in place of 150) and ours (the joint optimizer with cross-entropy).
Beside it is a random forest of the device, cut to as many bytes. mnist is left out: the paper's
optimizer takes hours there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from printing import Columns, Record
from rows import SplitRow

from protonn_edge.datasets import Dataset
from protonn_edge.errors import InputError
from protonn_edge.evaluation.accuracy import share_right
from protonn_edge.training.registry import CLASSIFIERS
from reproduction.drawing import OTHERS, PROTONN, panels
from reproduction.part import Part, percent
from reproduction.sets import BINARY_SETS, MULTI_CLASS_SETS

SEED = 0
BINARY_KB, MULTI_CLASS_KB = (2, 4, 8, 16), (16, 32, 64, 128)
_BINARY_D = dict(zip(BINARY_KB, (5, 5, 10, 15), strict=True))
_MULTI_CLASS_D = dict(zip(MULTI_CLASS_KB, (10, 15, 15, 20), strict=True))
_SHARE = 0.8  # of B's and Z's entries that are not 0
_SETS = [row for row in (*BINARY_SETS, *MULTI_CLASS_SETS) if not row.name.startswith("mnist")]

COLUMNS: Columns = [
    ("data", lambda r: r["data"]),
    ("kB", lambda r: str(r["kb"])),
    ("method", lambda r: r["method"]),
    ("accuracy %", lambda r: percent(r["accuracy"])),
]


def _sizes(kb: int, dataset: Dataset) -> dict[str, Any]:
    """Return the paper's heuristic: d by the size, s_W = 1 if that leaves 40 prototypes room.

    Otherwise there are 40 prototypes (5 a class, of more than two), or as many as fit, and W has
    what is left.
    """
    D, L = dataset.n_features, len(dataset.classes)
    d = min(D, (_BINARY_D if L == 2 else _MULTI_CLASS_D)[kb])
    values, least = 1_000 * kb // 4, 40 if L == 2 else 5 * L
    if values - least * (d + L) >= d * D:
        m, share = (values - d * D) // (d + L), 1.0
    else:
        m = min(least, (values - 2 * d) // (d + L))
        share = (values - m * (d + L)) / (2 * d * D)
    return {"n_projections": d, "n_prototypes": m, "sparsity_projection": share}


def _papers(kb: int, dataset: Dataset) -> Any:
    return CLASSIFIERS["protonn"](
        random_state=SEED,
        optimizer="alternating",
        loss="squared_error",
        gamma_numerator=2.5,
        iterations=15,
        sparsity_prototypes=_SHARE,
        sparsity_labels=_SHARE,
        **_sizes(kb, dataset),
    )


def _ours(kb: int, dataset: Dataset) -> Any:
    return CLASSIFIERS["protonn"](
        random_state=SEED, quantization_aware=False, epochs=100, **_sizes(kb, dataset)
    )


METHODS = {"ProtoNN, the paper's": _papers, "ProtoNN, ours": _ours}


def _forest(kb: int, _: Dataset) -> Any:
    """Trees of the device: they have bytes in place of the paper's values of 4."""
    return CLASSIFIERS["forest"](random_state=SEED, n_trees=20, size_budget=1_000 * kb)


METHODS["forest"] = _forest


def _rows(row: SplitRow, dataset: Dataset) -> Iterator[Record]:
    for kb in BINARY_KB if len(dataset.classes) == 2 else MULTI_CLASS_KB:
        for method, make in METHODS.items():
            accuracy = _accuracy(make, kb, dataset)
            yield {"data": row.name, "kb": kb, "method": method, "accuracy": accuracy}


def _accuracy(make: Any, kb: int, dataset: Dataset) -> float | None:
    """Return the accuracy of a method; None if it has no model of this size."""
    try:
        model = make(kb, dataset).fit(dataset.X_train, dataset.y_train).model_
    except InputError:
        return None
    return share_right(model.predict(dataset.X_test), dataset.y_test)


def _draw(records: Sequence[Record], path: Path) -> None:
    sets = list(dict.fromkeys(record["data"] for record in records))
    methods = list(dict.fromkeys(record["method"] for record in records))
    colours = dict(zip(methods, (PROTONN, "#e07b39", *OTHERS), strict=False))
    with panels(path, 1, len(sets), (2.7 * len(sets), 3.2)) as axes:
        for axis, data in zip(axes[0], sets, strict=True):
            for method in methods:
                of_it = [r for r in records if (r["data"], r["method"]) == (data, method)]
                found = [(r["kb"], 100 * r["accuracy"]) for r in of_it if r["accuracy"] is not None]
                if found:
                    axis.plot(*zip(*found, strict=True), "o-", color=colours[method], label=method)
            axis.set_xscale("log", base=2)
            axis.set_xticks([r["kb"] for r in of_it], [str(r["kb"]) for r in of_it])
            axis.set_title(data)
            axis.set_xlabel("kB")
        axes[0][0].set_ylabel("test accuracy, %")
        axes[0][0].legend(fontsize=7)


PART = Part("accuracy by size, in the paper's accounting", _SETS, _rows, COLUMNS, _draw)
