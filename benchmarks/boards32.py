"""Models on cores of 32 bits: equal to NumPy in every point, and cycles by the cores' tables.

    python benchmarks/boards32.py [--only NAME] [--json]

trains a model of each kind on scikit-learn's digits, and one of features of windows, and runs its
generated C in QEMU on a Cortex-M0 and a Cortex-M4, compiled by arm-none-eabi-gcc -O2. Cycles are
those of the executed instructions, by the tables of a Cortex-M0+ (ARM DDI 0484C) and a Cortex-M4
(DDI 0439) for memory without wait states: no chip was measured. Bytes are those of the model's
object file, with its constants.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Record, print_table

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from words.chips import CHIPS, HOW, emulated

from protonn_edge import DenseClassifier, ForestClassifier, LinearClassifier, ProtoNNClassifier
from protonn_edge.datasets import load_digits_dataset
from protonn_edge.quantization import quantize

ASKED = {
    "protonn": (7_000, 4_500),
    "linear": (1_500, 1_300),
    "dense": (3_800, 3_200),
    "forest": (900, 700),
    "conv": (74_670 // 2, 52_911 // 2),
    "windows": (37_304 // 2, 25_147 // 2),
}
"""Most mean cycles on M0+ and M4 for which the kernels were written."""

WINDOW, CLASSES = (64, 3), 3
FEATURES = "mean,deviation,min,max,crossings,bands:4"


def windows() -> tuple[np.ndarray, ...]:
    """Return windows of three channels: noise, a slow wave, a fast wave; a third are for tests."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % CLASSES
    turns = np.arange(WINDOW[0])[:, None] * np.array([0.1, 0.4, 1.5])[y][:, None, None]
    waves = (40 * np.array([0, 1, 1]))[y][:, None, None] * np.sin(turns + rng.random((300, 1, 3)))
    X = (128 + waves + rng.normal(0, 15, (300, *WINDOW))).round().reshape(300, -1)
    return X[:200], y[:200], X[200:], y[200:]


def digits() -> tuple[np.ndarray, ...]:
    """Return scikit-learn's digits."""
    of = load_digits_dataset()
    return of.X_train, of.y_train, of.X_test, of.y_test


_ROWS: dict[str, tuple[Callable[[], tuple[Any, ...]], Any]] = {
    "protonn": (digits, ProtoNNClassifier(n_projections=10, n_prototypes=40, random_state=0)),
    "linear": (digits, LinearClassifier(random_state=0)),
    "dense": (digits, DenseClassifier(random_state=0)),
    "forest": (digits, ForestClassifier(random_state=0)),
    "conv": (
        digits,
        DenseClassifier(features="conv:8x3,max2", image_shape=(8, 8), random_state=0),
    ),
    "windows": (
        windows,
        ProtoNNClassifier(features=FEATURES, window_shape=WINDOW, random_state=0),
    ),
}

COLUMNS = [
    ("model", lambda r: r["name"]),
    ("accuracy %", lambda r: f"{100 * r['accuracy']:.1f}"),
    ("mismatches", lambda r: f"{r['mismatches']} of {r['n']:,}"),
    ("M0+ cycles (max)", lambda r: f"{r['m0']['cycles']:,} ({r['m0']['most']:,})"),
    ("M4 cycles (max)", lambda r: f"{r['m4']['cycles']:,} ({r['m4']['most']:,})"),
    ("asked", lambda r: " / ".join(f"{each:,}" for each in r["asked"])),
    ("M0+ B", lambda r: f"{r['m0']['code_bytes']:,}"),
    ("M4 B", lambda r: f"{r['m4']['code_bytes']:,}"),
]


def records(only: str | None) -> Iterator[Record]:
    """Yield the figures of each model."""
    for name, (data, learner) in _ROWS.items():
        if only not in (None, name):
            continue
        X, y, X_test, y_test = data()
        model = learner.fit(X, y).to_model()
        chain = quantize(model)
        Q = chain.quantize(X_test)
        record: Record = {"name": name, "n": len(Q), "asked": ASKED[name], "mismatches": 0}
        record["accuracy"] = float(np.mean(chain.predict(Q) == y_test))
        for chip in (CHIPS["m0"], CHIPS["m4"]):
            done = emulated(chip, chain, Q, count=True)
            record["mismatches"] += done.differing
            figures = {"cycles": done.cycles, "most": done.most, "code_bytes": done.code_bytes}
            record[chip.name] = figures
        yield record


@click.command()
@click.option("--only", metavar="NAME", help="One model.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print the figures of the models."""
    if CHIPS["m4"].missing:
        sys.exit(f"error: {HOW}")
    print_table(records(only), COLUMNS, as_json)


if __name__ == "__main__":
    main()
