"""How well models of other programs survive the conversion to models for the Uno.

    python benchmarks/conversion.py [--only NAME] [--json]

Each row is for a data set and an estimator of scikit-learn, fitted on the training points: the
accuracy after each step of the conversion, how often the answers equal the estimator's, and the
resources of the firmware. Settings of the estimators were chosen on a fifth of the training points;
test points are read once, for what is printed. usps10-svc is also built, and runs on the emulated
Uno. `reference` writes a model as the reference implementation does, and reads it again. Exits with
1 where a figure falls short.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import print_figures
from rows import DATA
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.data.dataset import Dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.extensions.conversion import LAYOUTS
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.kept import Conversion
from protonn_edge.extensions.conversion.protonn.reference import (
    ReferenceModel,
    from_reference,
    read_reference_model,
    to_reference,
    write_reference_model,
)
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation.measurement import measure

Figures = dict[str, Any]
Row = tuple[Figures, bool]  # and whether what was asked is reached

_UNO = load_board("uno")


@dataclass(frozen=True)
class Converted:
    """A data set, an estimator, and the accuracy that its integers have to keep, in percent."""

    file: str
    estimator: Callable[[], Any]
    percent: float = 0.0
    on_the_uno: bool = False


def scaled(classifier: Any) -> Any:
    """Return a classifier of standardized features."""
    return make_pipeline(StandardScaler(), classifier)


_CONVERTED = {
    "usps10-svc": Converted(
        "usps10_libsvm.npz", lambda: SVC(C=10, gamma=0.0234), percent=94.0, on_the_uno=True
    ),
    "usps10-neighbours": Converted("usps10_libsvm.npz", lambda: scaled(KNeighborsClassifier(3))),
    "usps10-centroids": Converted("usps10_libsvm.npz", lambda: scaled(NearestCentroid())),
    "usps10-logistic": Converted(
        "usps10_libsvm.npz", lambda: scaled(LogisticRegression(C=0.01, max_iter=1000))
    ),
    "letter26-svc": Converted("letter26.npz", lambda: scaled(SVC(C=10, gamma=0.25))),
    "letter26-neighbours": Converted("letter26.npz", lambda: scaled(KNeighborsClassifier(1))),
    "letter26-logistic": Converted(
        "letter26.npz", lambda: scaled(LogisticRegression(max_iter=1000))
    ),
    "har-svc": Converted("har_hapt.npz", lambda: scaled(SVC(C=10))),
    "har-neighbours": Converted("har_hapt.npz", lambda: scaled(KNeighborsClassifier(1))),
    "har-centroids": Converted("har_hapt.npz", lambda: scaled(NearestCentroid())),
    "har-logistic": Converted("har_hapt.npz", lambda: scaled(LogisticRegression(max_iter=1000))),
    "occupancy-logistic": Converted("occupancy.npz", lambda: scaled(LogisticRegression())),
}


def dataset_of(file: str) -> Dataset:
    """Return a data set of the folder of the data."""
    path = DATA / file
    if not path.is_file():
        raise click.UsageError(f"no {file} in {DATA}; set PROTONN_EDGE_DATA")
    return load_dataset(path)


def convert(folder: Path, of: Converted) -> Row:
    """Return what is kept of an estimator."""
    data = dataset_of(of.file)
    estimator = of.estimator().fit(data.X_train, data.y_train)
    begin = time.perf_counter()
    test = (data.X_test, data.y_test)
    found = from_sklearn(estimator, data.X_train, evaluate_on=test, classes=data.classes)
    seconds = time.perf_counter() - begin
    figures = _figures(found) | {"seconds": round(seconds)}
    holds = 100 * (found.accuracy or 0.0) >= of.percent
    if of.on_the_uno:
        build(found.model, _UNO, folder)
        measured = measure(Project(folder), test, _UNO)
        assert measured.summary.cycles is not None
        figures |= {
            "uno_percent": round(100 * measured.summary.accuracy, 2),
            "points": measured.summary.n,
            "mismatches": measured.agreement.mismatches,
            "mean_cycles": round(measured.summary.cycles.mean),
            "linked_flash_bytes": measured.usage.flash_bytes,
        }
        holds &= not measured.agreement.mismatches
    return figures, holds


def _figures(found: Conversion) -> Figures:
    figures: Figures = {"landmarks": found.landmarks} if found.landmarks is not None else {}
    if isinstance(found.model.head, ProtoNNHead):
        figures |= {"d": found.model.head.n_projections, "m": found.model.head.n_prototypes}
    for step in found.steps:
        if step.name != "estimator":
            figures[f"{step.name}_agreement_percent"] = round(100 * step.agreement, 2)
        if step.accuracy is not None:
            figures[f"{step.name}_percent"] = round(100 * step.accuracy, 2)
    figures["lost_points"] = round(100 * (found.lost or 0.0), 2)
    return figures | {"int8_bytes": found.model_bytes, "flash_bytes": found.flash_bytes}


def reference(folder: Path) -> Row:
    """Return how many points are answered alike before and after a way through text and .npy."""
    data = dataset_of("usps10_libsvm.npz")
    learner = ProtoNNClassifier(optimizer="alternating", loss="squared_error", n_prototypes=40)
    learner.set_params(iterations=3, pass_epochs=3, random_state=0)
    model = learner.fit(data.X_train, data.y_train).to_model(classes=data.classes)
    written, expected = to_reference(model), model.predict(data.X_test)
    figures: Figures = {"points": len(expected)}
    for layout in LAYOUTS:
        write_reference_model(written, folder / layout, layout)
        read: ReferenceModel = read_reference_model(folder / layout)
        again = from_reference(read, data.X_train, "none", data.classes)
        figures[f"{layout}_alike"] = int(np.sum(again.predict(data.X_test) == expected))
    alike = [figures[f"{layout}_alike"] for layout in LAYOUTS]
    figures["percent"] = round(100 * float(np.mean(expected == data.y_test)), 2)
    return figures, alike == [len(expected)] * len(LAYOUTS)


_ROWS: dict[str, Callable[[Path], Row]] = {
    **{name: partial(convert, of=of) for name, of in _CONVERTED.items()},
    "reference": reference,
}


@click.command()
@click.option("--only", type=click.Choice(list(_ROWS)), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print what conversions keep."""
    short = False
    for name, row in _ROWS.items():
        if only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="protonn-edge-conversion-") as scratch:
            figures, holds = row(Path(scratch))
        short |= not holds
        print_figures(name, figures, holds, as_json)
    sys.exit(short)


if __name__ == "__main__":
    main()
