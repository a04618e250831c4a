"""How many known points, and how many others, a model answers with "unknown".

    python benchmarks/rejection.py [--only NAME] [--rate 0.01] [--json]

Models are trained on the training points, their thresholds chosen on parts of these that were held
out in turn. The test points are read once, for the false alarms and the accuracy that are printed;
nothing is chosen by them, nor by letters. Outlier exposure was chosen with Greek and Cyrillic
letters and symbols against points held out. Exits with 1 where a row that should reject 80 % of
the letters rejects fewer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from letters import Canvas, drawn_letters, noise_kinds, printed_letters, without_digit_shapes
from numpy.typing import NDArray
from rows import Row, chosen

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device, verify_host
from protonn_edge.data.dataset import Dataset
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.augmentation import make_exposure_points
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection import Statistic
from protonn_edge.policy.rejection.calibration import with_rejection
from protonn_edge.policy.rejection.held_out import held_out_statistics
from protonn_edge.system.errors import ProtoNNEdgeError

_BY: tuple[tuple[Statistic, ...], ...] = (
    ("score",),
    ("distance",),
    ("margin",),
    ("score", "margin"),
)
_LETTERS = "letters printed"
_WANTED = 80.0  # % of them
_NOISE_POINTS = 1_000
_VERIFIED = 300
_OUTLIER_EXPOSURE = 0.5
Points = NDArray[np.float32]


@dataclass(frozen=True)
class Known(Row):
    """A data set, and what is strange to a model of it."""

    wanted: bool = False  # whether enough letters shall be rejected

    def strange(self, dataset: Dataset) -> dict[str, Points]:
        """Return points of no class, by kind."""
        raise NotImplementedError


@dataclass(frozen=True)
class Digits(Known):
    """A set of digits: how images show them."""

    canvas: Canvas = field(default_factory=lambda: Canvas(8, 8, 0, 16))

    def strange(self, dataset: Dataset) -> dict[str, Points]:
        """Return images that are no digits; noise is made of test points."""
        generator = np.random.default_rng(0)
        test = dataset.X_test[:_NOISE_POINTS].astype(np.float64)
        kinds = noise_kinds(test, self.canvas, generator)
        printed, drawn = printed_letters(self.canvas), drawn_letters(self.canvas, generator)
        kinds |= {
            _LETTERS: printed[0],
            "printed, unlike a digit": without_digit_shapes(*printed),
            "letters drawn": drawn[0],
            "drawn, unlike a digit": without_digit_shapes(*drawn),
        }
        return {name: images.astype(np.float32) for name, images in kinds.items()}


@dataclass(frozen=True)
class LeftOut(Known):
    """A data set with one class that was left out of training."""

    left_out: str = ""

    def dataset(self) -> Dataset | None:
        """Return the data set without that class."""
        whole = super().dataset()
        return None if whole is None else _of_classes(whole, self._others(whole))

    def strange(self, dataset: Dataset) -> dict[str, Points]:
        """Return the test points of that class, and test points whose features are mixed."""
        whole = super().dataset()
        assert whole is not None
        left_out = whole.classes.index(self.left_out)
        generator = np.random.default_rng(0)
        return {
            "left out": np.asarray(whole.X_test)[whole.y_test == left_out],
            "mixed features": make_exposure_points(
                np.asarray(dataset.X_test), None, _NOISE_POINTS, generator
            ),
        }

    def _others(self, whole: Dataset) -> list[int]:
        return [i for i, name in enumerate(whole.classes) if name != self.left_out]


def _of_classes(dataset: Dataset, kept: list[int]) -> Dataset:
    number = np.full(dataset.n_classes, -1)
    number[kept] = np.arange(len(kept))
    train, test = (np.isin(y, kept) for y in (dataset.y_train, dataset.y_test))
    return replace(
        dataset,
        X_train=dataset.X_train[train],
        y_train=number[dataset.y_train[train]],
        X_test=dataset.X_test[test],
        y_test=number[dataset.y_test[test]],
        classes=tuple(dataset.classes[i] for i in kept),
    )


def _rows() -> Sequence[Known]:
    sets = (
        ("digits", None, Canvas(8, 8, 0.0, 16.0),
         {"n_projections": 10, "n_prototypes": 40, "batch_size": 64, "image_shape": (8, 8)}),
        ("usps10", "usps10_libsvm.npz", Canvas(16, 16, -1.0, 1.0),
         {"n_projections": 24, "n_prototypes": 120, "image_shape": (16, 16), "epochs": 60}),
        ("mnist10", "mnist10.npz", Canvas(28, 20, 0.0, 255.0, by_mass=True),
         {"n_projections": 24, "n_prototypes": 200, "image_shape": (28, 28), "epochs": 20,
          "features": "crop:24x24,pool:12x12"}),
    )  # fmt: skip
    activities = {"n_projections": 10, "n_prototypes": 30, "epochs": 60}
    return [
        *(
            Digits(
                _name(name, share),
                file,
                settings | {"strangers": share},
                wanted=share > 0 and name != "mnist10",
                canvas=canvas,
            )
            for name, file, canvas, settings in sets
            for share in (0.0, _OUTLIER_EXPOSURE)
        ),
        *(
            LeftOut(
                _name(f"har-without-{left_out.lower()}", share),
                "har_hapt.npz",
                activities | {"strangers": share},
                left_out=left_out,
            )
            for left_out in ("WALKING", "SITTING", "LAYING")
            for share in (0.0, _OUTLIER_EXPOSURE)
        ),
    ]


def _name(name: str, share: float) -> str:
    return f"{name}-outlier-exposure" if share else name


def measure_row(row: Known, dataset: Dataset, rate: float, seed: int) -> list[dict[str, Any]]:
    """Train once; return the figures of each choice of statistics, the default first."""
    model, seconds = row.train(dataset, seed)
    classifier = ProtoNNClassifier(random_state=seed, **row.settings)
    known = held_out_statistics(classifier, dataset.X_train, dataset.y_train, model)
    strange = row.strange(dataset)
    measured = []
    for by in _BY:
        name = "+".join(by)
        try:
            rejecting = with_rejection(model, known, rate, by)
        except ProtoNNEdgeError as error:
            click.echo(f"{name}: {error}", err=True)
            continue
        figures = {"row": row.name, "by": name, "rate_percent": 100 * rate}
        figures |= _figures(rejecting, dataset, strange)
        if by == _BY[0]:
            figures |= _on_device(rejecting, dataset, strange)
        measured.append(figures | {"training_s": round(seconds)})
    return measured


def _figures(model: Model, dataset: Dataset, strange: dict[str, Points]) -> dict[str, Any]:
    """Return shares in % that are answered with "unknown", and the accuracy of the others."""
    integers = quantize(model)
    found, scores = integers.answers(integers.quantize(dataset.X_test))
    rejected, plain = found == NO_CLASS, scores.argmax(axis=1)
    shares = {
        name: float(np.mean(integers.predict(integers.quantize(images)) == NO_CLASS))
        for name, images in strange.items()
    }
    return {
        "false_alarms_percent": _percent(rejected.mean()),
        "accuracy_percent": _percent((plain == dataset.y_test).mean()),
        "of_classified_percent": _percent((found == dataset.y_test)[~rejected].mean()),
        "mistakes_rejected_percent": _percent(rejected[plain != dataset.y_test].mean()),
        "unknown_percent": {name: _percent(share) for name, share in shares.items()},
    }


def _on_device(model: Model, dataset: Dataset, strange: dict[str, Points]) -> dict[str, Any]:
    """Return how NumPy, host C and the emulated Uno agree on known and strange points."""
    board, integers = load_board("uno"), quantize(model)
    some = [images[:: -(-len(images) // 30)] for images in strange.values()]
    points = np.concatenate([dataset.X_test[:_VERIFIED], *some])
    Q = integers.quantize(points)
    with trial_build(model, board) as trial, EmulatedUno(trial.elf, board=board) as uno:
        device, results = verify_device("emulated uno", uno.url, integers, Q)
        usage = trial.usage
    host = verify_host(integers, Q)
    answers = [result.predicted for result in results]
    return {
        "verified": len(Q),
        "verified_unknown": answers.count(NO_CLASS),
        "mismatches": host.mismatches + device.mismatches + device.lost,
        "mean_cycles": round(float(np.mean([result.cycles for result in results[:_VERIFIED]]))),
        "flash_bytes": usage.flash_bytes,
    }


def _percent(share: Any) -> float:
    return round(100 * float(share), 2)


_ROWS = _rows()


@click.command()
@click.option("--only", type=click.Choice([row.name for row in _ROWS]), help="One row.")
@click.option("--rate", default=0.01, show_default=True, help="False alarms to calibrate for.")
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per row and statistic."
)
def main(only: str | None, rate: float, seed: int, as_json: bool) -> None:
    """Print what is answered with "unknown"."""
    short = False
    for row, dataset in chosen(_ROWS, only):
        for figures in measure_row(row, dataset, rate, seed):
            first = figures["by"] == _BY[0][0]
            holds = not (row.wanted and first) or _enough(figures)
            holds &= not figures.get("mismatches", 0)
            short |= not holds
            if as_json:
                click.echo(json.dumps(figures))
            else:
                click.echo(f"{_sentence(figures)}{'' if holds else '  SHORT'}")
    sys.exit(short)


def _enough(figures: dict[str, Any]) -> bool:
    return bool(figures["unknown_percent"][_LETTERS] >= _WANTED)


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
