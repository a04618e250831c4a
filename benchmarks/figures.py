"""Show how a change affects small models on the Uno: accuracy, cycles and bytes, with differences.

    python benchmarks/figures.py [--only NAME] [--json] [--write]

trains small models on scikit-learn's digits, runs a hundred test points of each on the emulated
Uno, and prints each figure with its difference from the one in `figures.json`; `--write` stores the
new figures there. It takes a minute. Cycles and bytes are exact. They differ where a change makes
them differ, or where another machine's floats have trained another model: then its hash is another,
too, and the row shows it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
from on_uno import run_on_uno
from printing import Columns, print_table

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.system.errors import ProtoNNEdgeError

KEPT = Path(__file__).with_name("figures.json")
SEED = 0
POINTS = 100
# A classifier and its settings, by the name of the row.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "protonn": ("protonn", {"epochs": 20}),
    "protonn, 4 bits": ("protonn", {"epochs": 20, "projection_bits": 4}),
    "protonn, averages": (
        "protonn",
        {"epochs": 20, "features": "pool:4x4", "image_shape": (8, 8)},
    ),
    "protonn, gradients": (
        "protonn",
        {"epochs": 20, "features": "gradients:4x4", "image_shape": (8, 8)},
    ),
    "linear": ("linear", {"regularization": 1e-3}),
    "dense": ("dense", {"epochs": 25}),
    "bonsai": ("bonsai", {"epochs": 20}),
    "local-deep-kernel": ("local-deep-kernel", {"epochs": 20}),
    "forest": ("forest", {"n_trees": 10}),
}
FIGURES = ("accuracy", "cycles", "bound", "flash_bytes", "sram_bytes", "stack_bytes", "model_bytes")


def _compared(name: str) -> Any:
    def cell(record: dict[str, Any]) -> str:
        now, before = record[name], record["kept"].get(name)
        text = f"{100 * now:.1f}" if name == "accuracy" else f"{now:,.0f}"
        if before is None or before == now:
            return text
        return f"{text} ({100 * (now - before) / before:+.2f} %)"

    return cell


COLUMNS: Columns = [
    ("model", lambda r: r["name"]),
    *((name.replace("_", " "), _compared(name)) for name in FIGURES),
    ("mismatches", lambda r: f"{r['mismatches']}"),
    ("the same model", lambda r: "yes" if r["kept"].get("model") == r["model"] else "no"),
]


def measure_case(name: str, dataset: Dataset) -> dict[str, Any]:
    """Train a model, run points on the emulated Uno, and return its figures."""
    kind, settings = CASES[name]
    classifier = CLASSIFIERS[kind](random_state=SEED, **settings)
    model = classifier.fit(dataset.X_train, dataset.y_train).to_model(classes=dataset.classes)
    record = run_on_uno(model, dataset).record
    return {
        "accuracy": record["accuracy"],
        "mismatches": record["mismatches"] + record["lost"],
        "cycles": round(record["cycles"]["mean"]),
        "bound": record["bound"],
        **{each: record[each] for each in FIGURES if each.endswith("_bytes")},
        "model": record["model_sha256"][:16],
    }


@click.command()
@click.option("--only", type=click.Choice(list(CASES)), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
@click.option("--write", is_flag=True, help="Keep the figures.")
def main(only: str | None, as_json: bool, write: bool) -> None:
    """Print figures of small models, and what they have become."""
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    digits = load_digits_dataset()
    dataset = replace(digits, X_test=digits.X_test[:POINTS], y_test=digits.y_test[:POINTS])
    found: dict[str, dict[str, Any]] = {}

    def records() -> Iterator[dict[str, Any]]:
        for name in [only] if only else CASES:
            found[name] = measure_case(name, dataset)
            yield {"name": name, **found[name], "kept": kept.get(name, {})}

    print_table(records(), COLUMNS, as_json)
    if write:
        KEPT.write_text(json.dumps(kept | found, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
