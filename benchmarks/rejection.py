"""How many known points, and how many that are none, a model answers with "unknown".

    python benchmarks/rejection.py [--only NAME] [--rate 0.01] [--json]

Models are trained on the training points, their thresholds chosen on parts of these that were held
out in turn. The test points are read once, for the false alarms and the accuracy that are printed;
nothing is chosen by them, nor by letters. Strangers were chosen with Greek and Cyrillic letters and
symbols against points held out. Exits with 1 where a row that should reject 80 % of the letters
rejects fewer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import numpy as np
from letters import Canvas, drawn_letters, noise_kinds, printed_letters, without_digit_shapes
from numpy.typing import NDArray
from rows import Row, chosen

from protonn_edge.boards import load_board
from protonn_edge.codegen import make_plan
from protonn_edge.datasets import Dataset
from protonn_edge.emulator import EmulatedUno
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.model import ProtoNNModel
from protonn_edge.project import trial_build
from protonn_edge.quantization import (
    Statistics,
    measure_activity,
    quantize,
    rejection_for,
    with_rejection,
)
from protonn_edge.rejection import UNKNOWN, Statistic
from protonn_edge.training import ProtoNNClassifier
from protonn_edge.training.held_out import held_out_statistics
from protonn_edge.verification import verify_device, verify_host

_BY: tuple[tuple[Statistic, ...], ...] = (
    ("score",),
    ("distance",),
    ("margin",),
    ("score", "margin"),
)
_WANTED = 80.0  # % of the letters
_NOISE_POINTS = 1_000
_VERIFIED = 300
_STRANGERS = 0.5
Points = NDArray[np.float32]


@dataclass(frozen=True)
class Digits(Row):
    """A set of digits: how images show them, and whether letters shall be rejected."""

    canvas: Canvas = field(default_factory=lambda: Canvas(8, 8, 0, 16))
    letters: bool = False


def _rows() -> Sequence[Digits]:
    sets = (
        ("digits", None, Canvas(8, 8, 0.0, 16.0),
         {"n_projections": 10, "n_prototypes": 40, "batch_size": 64, "image_shape": (8, 8)}),
        ("usps10", "usps10_libsvm.npz", Canvas(16, 16, -1.0, 1.0),
         {"n_projections": 24, "n_prototypes": 120, "image_shape": (16, 16), "epochs": 60,
          "dead_zone": 0.15}),
        ("mnist10", "mnist10.npz", Canvas(28, 20, 0.0, 255.0, by_mass=True),
         {"n_projections": 24, "n_prototypes": 200, "image_shape": (28, 28), "epochs": 20,
          "cropped_shape": (24, 24), "reduced_shape": (12, 12)}),
    )  # fmt: skip
    return [
        Digits(
            f"{name}{'-strangers' if share else ''}",
            file,
            settings | {"strangers": share},
            canvas,
            letters=share > 0 and name != "mnist10",
        )
        for name, file, canvas, settings in sets
        for share in (0.0, _STRANGERS)
    ]


def strange_images(row: Digits, dataset: Dataset) -> dict[str, Points]:
    """Return images that are no digits, by kind; noise is made of test points."""
    generator = np.random.default_rng(0)
    test = dataset.X_test[:_NOISE_POINTS].astype(np.float64)
    kinds = noise_kinds(test, row.canvas, generator)
    printed, drawn = printed_letters(row.canvas), drawn_letters(row.canvas, generator)
    kinds |= {
        "letters printed": printed[0],
        "unlike a digit": without_digit_shapes(*printed),
        "letters drawn": drawn[0],
        "drawn, unlike": without_digit_shapes(*drawn),
    }
    return {name: images.astype(np.float32) for name, images in kinds.items()}


def measure_row(row: Digits, dataset: Dataset, rate: float, seed: int) -> list[dict[str, Any]]:
    """Train once; return the figures of each choice of statistics, the default first."""
    model, seconds = row.train(dataset, seed)
    classifier = ProtoNNClassifier(random_state=seed, **row.settings)
    known = held_out_statistics(classifier, dataset.X_train, dataset.y_train, model)
    strange = strange_images(row, dataset)
    return [
        {
            "row": row.name,
            "by": "+".join(by),
            "rate_percent": 100 * rate,
            **_figures(with_rejection(model, known, rate, by), dataset, strange),
            **(
                _on_device(with_rejection(model, known, rate, by), dataset, strange)
                if not i
                else {}
            ),
            "training_s": round(seconds),
        }
        for i, by in enumerate(_BY)
        if _calibrates(known, rate, by)
    ]


def _calibrates(known: Statistics, rate: float, by: Sequence[Statistic]) -> bool:
    try:
        rejection_for(known, rate, by)
    except ProtoNNEdgeError as error:
        click.echo(f"{'+'.join(by)}: {error}", err=True)
        return False
    return True


def _figures(model: ProtoNNModel, dataset: Dataset, strange: dict[str, Points]) -> dict[str, Any]:
    """Return shares in % that are answered with "unknown", and the accuracy of the others."""
    integers = quantize(model)
    found = integers.predict(integers.quantize(dataset.X_test))
    rejected = found == UNKNOWN
    plain = integers.scores(integers.quantize(dataset.X_test)).argmax(axis=1)
    shares = {
        name: float(np.mean(integers.predict(integers.quantize(images)) == UNKNOWN))
        for name, images in strange.items()
    }
    return {
        "false_alarms_percent": _percent(rejected.mean()),
        "accuracy_percent": _percent((plain == dataset.y_test).mean()),
        "of_classified_percent": _percent((found == dataset.y_test)[~rejected].mean()),
        "mistakes_rejected_percent": _percent(rejected[plain != dataset.y_test].mean()),
        "unknown_percent": {name: _percent(share) for name, share in shares.items()},
    }


def _on_device(model: ProtoNNModel, dataset: Dataset, strange: dict[str, Points]) -> dict[str, Any]:
    """Return how NumPy, host C and the emulated Uno agree on known and strange points."""
    board, integers = load_board("uno"), quantize(model)
    some = [images[:: -(-len(images) // 30)] for images in strange.values()]
    points = np.concatenate([dataset.X_test[:_VERIFIED], *some])
    Q = integers.quantize(points)
    known = integers.quantize(dataset.X_test[:1000])
    plan = make_plan(integers, activity=measure_activity(integers, known))
    with trial_build(model, board) as trial, EmulatedUno(trial.elf, board=board) as uno:
        device, results = verify_device("emulated uno", uno.url, integers, Q)
        usage = trial.usage
    host = verify_host(integers, Q)
    answers = [result.predicted for result in results]
    return {
        "verified": len(Q),
        "verified_unknown": answers.count(UNKNOWN),
        "mismatches": host.mismatches + device.mismatches + device.lost,
        "mean_cycles": round(plan.mean_cycles or 0),
        "flash_bytes": usage.flash_bytes,
    }


def _percent(share: Any) -> float:
    return round(100 * float(share), 2)


_ROWS = _rows()


@click.command()
@click.option("--only", type=click.Choice([row.name for row in _ROWS]), help="One row.")
@click.option("--rate", default=0.01, show_default=True, help="False alarms to calibrate for.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row and statistic.")
def main(only: str | None, rate: float, seed: int, as_json: bool) -> None:
    """Print what is answered with "unknown"."""
    short = False
    for row, dataset in chosen(_ROWS, only):
        for figures in measure_row(row, dataset, rate, seed):
            first = figures["by"] == _BY[0][0]
            holds = not (row.letters and first) or _enough(figures)
            holds &= not figures.get("mismatches", 0)
            short |= not holds
            if as_json:
                click.echo(json.dumps(figures))
            else:
                click.echo(f"{_sentence(figures)}{'' if holds else '  SHORT'}")
    sys.exit(short)


def _enough(figures: dict[str, Any]) -> bool:
    return bool(figures["unknown_percent"]["letters printed"] >= _WANTED)


def _sentence(figures: dict[str, Any]) -> str:
    plain = {name: value for name, value in figures.items() if not isinstance(value, dict)}
    name, by = plain.pop("row"), plain.pop("by")
    shown = [f"{key.replace('_', ' ')} {value}" for key, value in plain.items()]
    unknown = [f"{kind} {share}" for kind, share in figures["unknown_percent"].items()]
    return f"{name} by {by}: {', '.join(shown)}; unknown %: {', '.join(unknown)}"


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
