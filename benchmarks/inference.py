"""What a prediction takes: every test point on the emulated Uno, beside what the chip allows.

    python benchmarks/inference.py [--only NAME] [--json]

prints one row a model: its plan, the cycles (mean, most, and the plan's bound), milliseconds and
millijoules of one prediction, what the firmware takes of the board, the accuracy in floats and on
the Uno, and points on which host C or the Uno differ from the NumPy model. *floor* is the mean
cycles over that of the multiplications that the same points need, at the least that one takes on
this chip (see `floor_cycles`). The float build of the first model has in *times* how much longer it
takes than the integer build.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from presets import PRESETS
from rows import Row, chosen

from protonn_edge.boards import load_board
from protonn_edge.codegen import KernelName
from protonn_edge.datasets import Dataset
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.measurement import measure
from protonn_edge.model import ProtoNNModel
from protonn_edge.project import Wishes, trial_build
from protonn_edge.quantization import IntegerModel, device_model, measure_activity
from protonn_edge.report.accuracy import share_right
from protonn_edge.verification import verify_host

# The least that a multiplication takes, with what it needs: a coefficient from flash (3 cycles),
# the product (2), and its sum (1 for each byte); one more for the difference in a distance.
WEIGHT_CYCLES = {16: 7, 24: 8, 32: 9}
COORDINATE_CYCLES = 8
LABEL_CYCLES = 7

_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Case(Row):
    """A row; `kernel` forces a plan, `precision` is that of the build."""

    kernel: KernelName | None = None
    precision: str = "int8"


def _case(
    name: str,
    preset: str,
    *,
    kernel: KernelName | None = None,
    precision: str = "int8",
    **settings: Any,
) -> Case:
    """Return a row for one of the models whose accuracy `accuracy.py` measures."""
    model = next(each for each in PRESETS if each.name == preset)
    return Case(name, model.file, {**model.settings, **settings}, kernel, precision)


CASES = [
    _case("usps10-columns", "usps10-small", kernel="columns"),
    _case("usps10", "usps10-small"),
    _case("usps10-sparse", "usps10-small", sparsity_projection=0.3),
    _case("mnist10", "mnist10"),
    _case("letter26", "letter26"),
    _case("har", "har"),
    _case("usps10-float", "usps10-small", precision="float32"),
]
COLUMNS = [
    ("model", lambda r: r["name"]),
    ("D, d, m, L", lambda r: ", ".join(str(size) for size in r["sizes"])),
    ("plan", lambda r: r["plan"]["kernel"]),
    ("cycles mean (max)", lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
    ("bound", lambda r: _count(r["plan"].get("cycles"))),
    ("floor", lambda r: _times(r["floor_ratio"])),
    ("ms", lambda r: f"{r['latency_ms']['mean']:.2f}"),
    ("mJ", lambda r: f"{r['energy_mj']['mean']:.3f}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("SRAM + stack B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
    ("float %", lambda r: f"{100 * r['float_accuracy']:.2f}"),
    ("Uno %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("points", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    ("times", lambda r: _times(r.get("slower"))),
]


class Models:
    """Trained models: those of the rows that differ in the build alone are trained once."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._trained: dict[str, ProtoNNModel] = {}

    def of(self, case: Case, dataset: Dataset) -> ProtoNNModel:
        """Return the model of a row."""
        key = repr((case.file, sorted(case.settings.items())))
        if key not in self._trained:
            self._trained[key] = case.train(dataset, self._seed)[0]
        return self._trained[key]


def measure_case(case: Case, dataset: Dataset, model: ProtoNNModel) -> dict[str, Any]:
    """Build a model and run all test points; mismatches count both the host's C and the Uno."""
    record = _run(model, dataset, Wishes(kernel=case.kernel, precision=case.precision))
    if case.precision == "float32":
        integers = _run(model, dataset, Wishes())
        record["slower"] = record["cycles"]["mean"] / integers["cycles"]["mean"]
    return {
        "name": case.name,
        "precision": case.precision,
        "sizes": [model.n_features, model.n_projections, model.n_prototypes, model.n_classes],
        "float_accuracy": share_right(model.predict(dataset.X_test), dataset.y_test),
        **record,
    }


def _run(model: ProtoNNModel, dataset: Dataset, wishes: Wishes) -> dict[str, Any]:
    board, points = load_board("uno"), (dataset.X_test, dataset.y_test)
    reference = device_model(model, wishes.precision)
    Q = reference.quantize(dataset.X_test)
    on_host = verify_host(reference, Q)
    if isinstance(reference, IntegerModel):
        wishes = replace(wishes, activity=measure_activity(reference, Q))
    with trial_build(model, board, wishes=wishes) as trial:
        record = measure(trial.project, points, board).to_json()
        record["plan"] = trial.plan.to_json()
    record["mismatches"] += on_host.mismatches
    record["floor_cycles"] = record["floor_ratio"] = None
    if isinstance(reference, IntegerModel):
        record["floor_cycles"] = floor_cycles(reference, dataset.X_test)
        record["floor_ratio"] = record["cycles"]["mean"] / record["floor_cycles"]
    return record


def floor_cycles(model: IntegerModel, X: NDArray[np.float32]) -> float:
    """Return the mean cycles that the multiplications of points X (n, D) take at the least.

    Counted are those that cannot be left out: weights of inputs that are not 0, coordinates of
    prototypes until they are far, labels of those that are near. Weights, coordinates and labels
    that are 0 themselves count, but not in a sparse projection.
    """
    fed = model.quantize(X)
    return float(np.mean([cycles for part in _parts(fed) for cycles in _floors(model, part)]))


def _parts(Q: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    yield from (Q[i : i + _ROWS_AT_ONCE] for i in range(0, len(Q), _ROWS_AT_ONCE))


def _floors(model: IntegerModel, fed: NDArray[np.uint8]) -> NDArray[np.int64]:
    inputs = model.reduce(fed)
    weights = (inputs != 0) @ np.count_nonzero(model.projection, axis=0)
    P = model.project(inputs)
    difference = P[:, None, :] - model.prototypes.T.astype(np.int64)
    squares = np.cumsum(np.square(difference), axis=2)
    passed = np.count_nonzero(squares < model.distance_limit, axis=2)
    looked_at = np.minimum(passed + 1, model.n_projections).sum(axis=1)
    near = np.count_nonzero(model.kernels(P), axis=1)
    total: NDArray[np.int64] = (
        WEIGHT_CYCLES[model.accumulator_bits] * weights
        + COORDINATE_CYCLES * looked_at
        + LABEL_CYCLES * model.n_classes * near
    )
    return total


@click.command()
@click.option("--only", type=click.Choice([case.name for case in CASES]), help="One row.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row.")
def main(only: str | None, seed: int, as_json: bool) -> None:
    """Print what a prediction takes on the emulated Uno."""
    models = Models(seed)
    if not as_json:
        click.echo("| " + " | ".join(heading for heading, _ in COLUMNS) + " |")
        click.echo("|" + "---|" * len(COLUMNS))
    for case, dataset in chosen(CASES, only):
        record = measure_case(case, dataset, models.of(case, dataset))
        click.echo(json.dumps(record) if as_json else _table_row(record))


def _count(cycles: dict[str, Any] | None) -> str:
    return "" if cycles is None else f"{cycles['worst']:,}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x"


def _table_row(record: dict[str, Any]) -> str:
    return "| " + " | ".join(cell(record) for _, cell in COLUMNS) + " |"


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
