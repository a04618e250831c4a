"""Forests as a scikit-learn estimator for devices: trained on the bytes that a device receives."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

from protonn_edge.chain.model import Model
from protonn_edge.datasets.rows import dense_rows
from protonn_edge.kinds.forest.head import ForestHead
from protonn_edge.kinds.forest.parameters import ENSEMBLES, LEAVES, ForestParameters
from protonn_edge.kinds.forest.quantize import (
    byte_inputs,
    device_bytes,
    threshold_of,
    with_whole_steps,
)
from protonn_edge.kinds.forest.train.grown_trees import GrownTrees, fitting
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import EpochReport, Learned, TrainingStopped
from protonn_edge.training.refusals import Refusal, one_class_in_memory
from protonn_edge.training.searched import FEATURES_SEARCHED, Among, Between, Searched, SearchTask

_BOOSTED_DEPTH = 3  # if no depth is given


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(ForestParameters, DeviceClassifier):
    """A random forest, extra trees, or gradient boosting, trained by scikit-learn.

    Trees are trained on the bytes that the device receives, so the device takes the same path
    through each tree as scikit-learn. The scores of random forests and extra trees are the shares
    of the classes. Those of boosting are logits, to which no leaf adds more than L times the
    shrinkage, or 4 times if there are fewer classes.

    The normalization has no influence.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.forest.train.classifier import ForestClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = ForestClassifier(n_trees=20, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.9)
    True
    """

    refusals: ClassVar[tuple[Refusal, ...]] = one_class_in_memory("a forest")

    @classmethod
    def searched(cls, task: SearchTask) -> Searched:
        """Return the search space: kind of forest, trees, bytes and features."""
        features = {name: FEATURES_SEARCHED[name] for name in ("dead_zone", "clip")}
        most = max(2_000, task.parameter_bytes)
        begun = {name: getattr(cls, name) for name in ("min_samples_leaf", "leaves", *features)}
        starts = (("random", 10), ("extra", 10), ("boosting", 30), ("random", 30))
        return Searched(
            {
                "ensemble": Among(ENSEMBLES),
                "n_trees": Between(5, 200),
                "min_samples_leaf": Between(1, 10),
                "leaves": Among(LEAVES),
                "size_budget": Between(most // 8, most),
                **features,
            },
            tuple(
                {"ensemble": kind, "n_trees": n, "size_budget": most, **begun} for kind, n in starts
            ),
            columns={"ensemble": ("ensemble",), "trees": ("n_trees",), "bytes": ("size_budget",)},
        )

    @property
    def _scores_are_logits(self) -> bool:
        return self.ensemble == "boosting"

    def _train(self, prepared: PreparedPoints) -> Learned:
        settings, data = self.frozen(), prepared.training_set()
        points = _raw_points(prepared)
        statistics = prepared.inputs
        if prepared.making.stage is None:
            statistics = with_whole_steps(statistics, points)
        Q = device_bytes(statistics, prepared.making.stage, points).astype(np.float32)
        forest = new_ensemble(settings, prepared.seed).fit(Q, data.y, sample_weight=data.weights)
        grown = GrownTrees.of(forest, Q[:1])
        if grown.boosted:
            trees, facts = fitting(grown.limited(settings.shrinkage), settings.size_budget)
        elif settings.leaves == "votes":
            trees, facts = fitting(grown, settings.size_budget, GrownTrees.voting)
        else:
            trees, facts = fitting(grown, settings.size_budget)
        inner = trees.shape.inner
        inputs, asked = byte_inputs(statistics), trees.features[inner]
        raw = threshold_of(np.floor(trees.thresholds[inner]), inputs, asked)
        normalizer = prepared.normalizer
        head = ForestHead(
            features=trees.features,
            thresholds=(raw - normalizer.offset[asked]) * normalizer.scale[asked],
            leaves=trees.leaves,
            bias=trees.bias,
            n_features=len(normalizer.scale),
        )
        model = Model(head=head, **{**prepared.parts, "inputs": statistics})
        report = _report(model, prepared)
        if self.callback is not None:
            with suppress(TrainingStopped):  # nothing is left to stop
                self.callback(report)
        return Learned(model, (report,), facts={"trainer": type(forest).__name__, **facts})


def new_ensemble(settings: ForestClassifier, seed: int) -> Any:
    """Return scikit-learn's estimator with these settings."""
    shared = {
        "n_estimators": settings.n_trees,
        "min_samples_leaf": settings.min_samples_leaf,
        "random_state": seed,
    }
    if settings.ensemble == "boosting":
        depth = settings.max_depth or _BOOSTED_DEPTH
        rate = float(settings.shrinkage)
        return GradientBoostingClassifier(max_depth=depth, learning_rate=rate, **shared)
    kind = RandomForestClassifier if settings.ensemble == "random" else ExtraTreesClassifier
    return kind(max_depth=settings.max_depth, **shared)


def _raw_points(prepared: PreparedPoints) -> NDArray[Any]:
    """Return the raw points (n, features), dense."""
    raw = prepared.raw
    return dense_rows(raw, slice(None)) if issparse(raw) else raw


def _report(model: Model, prepared: PreparedPoints) -> EpochReport:
    """Return the report of the only epoch; its loss is the error rate."""
    accuracy = _share_right(model, *prepared.calibration)
    return EpochReport(
        epoch=1,
        epochs=1,
        objective=1 - accuracy,
        accuracy=accuracy,
        test_accuracy=None if prepared.test is None else _share_right(model, *prepared.test),
    )


def _share_right(model: Model, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) == y))
