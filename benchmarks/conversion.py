"""How well models of other programs survive the conversion to models for the Uno.

A row is for a data set and an estimator of scikit-learn, fitted on the training points: the
accuracy after each step of the conversion, how often the answers equal the estimator's, and the
resources of the firmware. Settings of the estimators were chosen on a fifth of the training points;
test points are read once, for what is printed. usps10-svc also runs on the emulated Uno.
"""

from __future__ import annotations

from typing import Any

from columns import Record
from emulated import run_on_uno
from kind_rows import LETTER, USPS
from runner import Benchmark
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from trained import Row

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.extensions.conversion.converting import from_sklearn
from protonn_edge.extensions.conversion.kept import Conversion
from protonn_edge.kinds.protonn.head import ProtoNNHead


def _row(name: str, file: str, estimator: Any, percent: float = 0.0) -> Row:
    """Return a row; with `percent`, the integers reach this accuracy, and run on the Uno."""
    return Row(name, file, about={"estimator": estimator, "percent": percent})


def _scaled(classifier: Any) -> Any:
    return make_pipeline(StandardScaler(), classifier)


CASES = (
    _row("usps10-svc", USPS, SVC(C=10, gamma=0.0234), percent=94.0),
    _row("usps10-neighbours", USPS, _scaled(KNeighborsClassifier(3))),
    _row("usps10-logistic", USPS, _scaled(LogisticRegression(C=0.01, max_iter=1000))),
    _row("letter26-svc", LETTER, _scaled(SVC(C=10, gamma=0.25))),
)


def measure(case: Row, data: Dataset) -> Record:
    """Return what is kept of an estimator."""
    estimator = case.about["estimator"].fit(data.X_train, data.y_train)
    test = (data.X_test, data.y_test)
    found = from_sklearn(estimator, data.X_train, evaluate_on=test, classes=data.classes)
    figures = _figures(found)
    if case.about["percent"]:
        ran = run_on_uno(found.model, data).record
        figures |= {
            "uno_percent": round(100 * ran["accuracy"], 2),
            "points": ran["n"],
            "mismatches": ran["mismatches"],
            "mean_cycles": round(ran["cycles"]["mean"]),
            "linked_flash_bytes": ran["flash_bytes"],
        }
    reached = 100 * (found.accuracy or 0.0) >= case.about["percent"]
    return figures | {"holds": reached and not figures.get("mismatches")}


def _figures(found: Conversion) -> Record:
    figures: Record = {"landmarks": found.landmarks} if found.landmarks is not None else {}
    if isinstance(found.model.head, ProtoNNHead):
        figures |= {"d": found.model.head.n_projections, "m": found.model.head.n_prototypes}
    for step in found.steps:
        if step.name != "estimator":
            figures[f"{step.name}_agreement_percent"] = round(100 * step.agreement, 2)
        if step.accuracy is not None:
            figures[f"{step.name}_percent"] = round(100 * step.accuracy, 2)
    figures["lost_points"] = round(100 * (found.lost or 0.0), 2)
    return figures | {"int8_bytes": found.model_bytes, "flash_bytes": found.flash_bytes}


BENCHMARKS = {"conversion": Benchmark("What conversions keep.", CASES, measure=measure)}
