"""What `train --rejection` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from protonn_edge.cli.command import Output
from protonn_edge.cli.train_options import was_given
from protonn_edge.data.naming import NO_CLASS_NAME
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.learn.folds import check_classes_of_groups
from protonn_edge.learn.learner import Learner
from protonn_edge.model.model import Model
from protonn_edge.policy.rejection import Statistic
from protonn_edge.policy.rejection.calibration import (
    check_margin,
    check_rate,
    statistics_of,
    with_rejection,
)
from protonn_edge.policy.rejection.held_out import FOLDS, calibrate_rejection
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_OUTLIER_EXPOSURE = 0.5


@dataclass(frozen=True)
class ThresholdChoice:
    """The choice of thresholds for a rate of false alarms."""

    flag: ClassVar[str] = "--rejection"
    needs_classes: ClassVar[bool] = True

    rate: float
    by: tuple[Statistic, ...]

    def prepare(self, learner: Learner, _dataset: Dataset) -> None:
        """Add outlier exposure if the optimizer supports it and the option is not given."""
        if was_given("strangers"):
            return
        if learner.learns_strangers:
            learner.strangers = _OUTLIER_EXPOSURE

    def check(self, dataset: Dataset, *, floats_alone: bool) -> None:
        """Refuse settings that would fail only after the training."""
        if floats_alone:
            raise InputError(
                "--rejection applies only to models that a device can run; omit --rejection, or "
                "train with one label per point and a normalization other than l2"
            )
        _check_names(dataset.classes)
        check_rate(len(dataset.y_train), self.rate, len(self.by))
        check_margin(dataset.n_classes, self.by)
        if dataset.groups is not None:
            check_classes_of_groups(np.array(dataset.classes)[dataset.y_train], dataset.groups)

    def after(self, learner: Learner, dataset: Dataset, out: Output) -> None:
        """Choose thresholds on the training points, each scored by a model not trained on it."""
        with out.progress("calibrating", FOLDS) as bar:
            calibrate_rejection(
                learner,
                dataset.X_train,
                dataset.y_train,
                rate=self.rate,
                by=self.by,
                groups=dataset.groups,
                on_fold=lambda number, folds: bar.move_to(number - 1, f"model {number} of {folds}"),
            )
        model = learner.model_
        out.say(fact_table(model.policy.facts(model.head)))

    def applied(self, model: Model, X: Array, _y: Array) -> Model:
        """Return the model with thresholds from points X (n, features) of its classes."""
        _check_names(model.classes)
        return with_rejection(model, statistics_of(model, X), self.rate, self.by)

    def facts(self, _model: Model, _n: int) -> list[tuple[str, str]]:
        """Return what `train --calibrate` prints beside the thresholds: nothing."""
        return []

    def to_json(self, _model: Model) -> JsonObject:
        """Return what the JSON object of `train --calibrate` has of it."""
        return {"rate": self.rate}


def _check_names(classes: Sequence[str]) -> None:
    """Refuse a class that is called like the answer to points that are unlike all classes."""
    if NO_CLASS_NAME in classes:
        raise InputError(
            f"a class is called {NO_CLASS_NAME!r}, as the answer of --rejection is; rename the "
            "class, or omit --rejection"
        )
