"""How many known points, and how many others, a model answers with "unknown".

Thresholds were chosen on parts of the training points that were held out in turn. The test points
are read once, for the false alarms and the accuracy that are printed; nothing is chosen by them,
nor by letters. Outlier exposure was chosen with Greek and Cyrillic letters and symbols against
points held out. A row that should reject 80 % of the printed letters and rejects fewer is SHORT.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import click
import numpy as np
from columns import Record, figure, named
from kind_rows import HAR, MNIST
from letters import Canvas, drawn_letters, noise_kinds, printed_letters
from numpy.typing import NDArray
from runner import Benchmark
from trained import Row

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device, verify_host
from protonn_edge.data.dataset import Dataset
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
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
_RATE = 0.01  # of false alarms
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
        kinds |= {
            _LETTERS: printed_letters(self.canvas),
            "letters drawn": drawn_letters(self.canvas, generator),
        }
        return {name: images.astype(np.float32) for name, images in kinds.items()}


@dataclass(frozen=True)
class LeftOut(Known):
    """A data set with one class that was left out of training."""

    left_out: str = ""

    def dataset(self) -> Dataset | None:
        """Return the data set without that class."""
        whole = super().dataset()
        if whole is None:
            return None
        kept = [i for i, name in enumerate(whole.classes) if name != self.left_out]
        return _of_classes(whole, kept)

    def strange(self, dataset: Dataset) -> dict[str, Points]:  # noqa: ARG002
        """Return the test points of that class."""
        whole = super().dataset()
        assert whole is not None
        left_out = whole.classes.index(self.left_out)
        return {"left out": np.asarray(whole.X_test)[whole.y_test == left_out]}


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


_SMALL = {"n_projections": 10, "n_prototypes": 40, "batch_size": 64, "image_shape": (8, 8)}
_LARGE = {
    "n_projections": 24,
    "n_prototypes": 200,
    "image_shape": (28, 28),
    "epochs": 20,
    "features": "crop:24x24,pool:12x12",
}
_SETS = (
    ("digits", None, Canvas(8, 8, 0.0, 16.0), _SMALL),
    ("mnist10", MNIST, Canvas(28, 20, 0.0, 255.0, by_mass=True), _LARGE),
)
_ACTIVITIES = {"n_projections": 10, "n_prototypes": 30, "epochs": 60, "strangers": 0.5}
CASES = (
    *(
        Digits(
            f"{name}-outlier-exposure" if share else name,
            file,
            settings | {"strangers": share},
            wanted=share > 0 and name == "digits",
            canvas=canvas,
        )
        for name, file, canvas, settings in _SETS
        for share in (0.0, 0.5)
    ),
    *(
        LeftOut(f"har-without-{left_out.lower()}", HAR, _ACTIVITIES, left_out=left_out)
        for left_out in ("WALKING", "SITTING", "LAYING")
    ),
)


def measure(row: Known, dataset: Dataset) -> Iterator[Record]:
    """Train once; yield the figures of each choice of statistics, the default first."""
    model = row.train(dataset, 0)
    classifier = ProtoNNClassifier(random_state=0, **row.settings)
    known = held_out_statistics(classifier, dataset.X_train, dataset.y_train, model)
    strange = row.strange(dataset)
    for by in _BY:
        name = "+".join(by)
        try:
            rejecting = with_rejection(model, known, _RATE, by)
        except ProtoNNEdgeError as error:
            click.echo(f"{name}: {error}", err=True)
            continue
        figures = {"model": row.name, "by": name, **_figures(rejecting, dataset, strange)}
        if by == _BY[0]:
            figures |= _on_device(rejecting, dataset, strange)
            short = row.wanted and figures["unknown_percent"][_LETTERS] < _WANTED
            figures["holds"] = not (short or figures["mismatches"])
        yield figures


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
    return {
        "verified": len(Q),
        "mismatches": host.mismatches + device.mismatches + device.lost,
        "mean_cycles": round(float(np.mean([result.cycles for result in results[:_VERIFIED]]))),
        "flash_bytes": usage.flash_bytes,
    }


def _percent(share: Any) -> float:
    return round(100 * float(share), 2)


def _kinds(unknown: dict[str, float]) -> str:
    return ", ".join(f"{kind} {share}" for kind, share in unknown.items())


BENCHMARKS = {
    "rejection": Benchmark(
        'How many known points, and how many others, are answered with "unknown", in %.',
        CASES,
        (
            *named("model", "by"),
            figure("false alarms", "false_alarms_percent", ".2f"),
            figure("accuracy", "accuracy_percent", ".2f"),
            figure("unknown", "unknown_percent", _kinds),
            *named("verified", "mismatches", "mean_cycles", "flash_bytes"),
        ),
        measure,
    ),
}
