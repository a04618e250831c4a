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
from protonn_edge.kinds.forest.quantize import (
    byte_inputs,
    device_bytes,
    threshold_of,
    with_whole_steps,
)
from protonn_edge.kinds.forest.train.grown_trees import GrownTrees, fitting
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.parameters import COUNT, SIZE_BUDGET, Choices, Number, parameter
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import EpochReport, Learned, TrainingStopped
from protonn_edge.training.refusals import Refusal, one_class_in_memory
from protonn_edge.training.searched import FEATURES_SEARCHED, Among, Between, Searched, SearchTask

ENSEMBLES = ("random", "extra", "boosting")
LEAVES = ("votes", "shares")

_BOOSTED_DEPTH = 3  # if no depth is given


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(DeviceClassifier):
    """A random forest, extra trees, or gradient boosting, trained by scikit-learn.

    Trees are trained on the bytes that the device receives, so the device takes the same path
    through each tree as scikit-learn. The scores of random forests and extra trees are the shares
    of the classes. Those of boosting are logits, to which no leaf adds more than L times the
    shrinkage, or 4 times if there are fewer classes.

    Its further parameters are those of `DeviceClassifier`; the normalization has no influence.

    Parameters
    ----------
    ensemble : {"random", "extra", "boosting"}, default="random"
        scikit-learn's `RandomForestClassifier`, `ExtraTreesClassifier` or
        `GradientBoostingClassifier`.
    n_trees : int, default=10
        Trees; for boosting, rounds, which have a tree per class, or one for two classes.
    max_depth : int, default=None
        Maximum depth; None is 3 for boosting, and unlimited for the others.
    min_samples_leaf : int, default=1
        Training points that a leaf has at least.
    shrinkage : float, default=0.1
        Weight of a tree in boosting: scikit-learn's ``learning_rate``.
    leaves : {"votes", "shares"}, default="votes"
        What a leaf of a random forest or extra trees adds to the scores: a vote for its most
        frequent class, which takes one byte, or the share of each class, as scikit-learn does.
    size_budget : int, default=16000
        Maximum size of the trees on the device, in bytes; None is no limit. Random forests and
        extra trees are pruned by minimal cost-complexity pruning with the least sufficient
        ``ccp_alpha``; boosting ends with the last round that fits.

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

    normalization: str = "none"
    ensemble: str = parameter(
        "random",
        Choices(ENSEMBLES),
        help="Random forest, extra trees or gradient boosting.",
        option="--ensemble",
    )
    n_trees: int = parameter(
        10,
        COUNT,
        help="Number of trees; for boosting, rounds with a tree per class.",
        option="--trees",
    )
    max_depth: int | None = parameter(
        None, COUNT, None, help="Maximum depth of the trees.", option="--max-depth"
    )
    min_samples_leaf: int = parameter(
        1, COUNT, help="Minimum number of training points in a leaf.", option="--min-leaf"
    )
    shrinkage: float = parameter(
        0.1, Number(float, 1e-6, 1.0), help="Weight of a tree in boosting."
    )
    leaves: str = parameter(
        "votes", Choices(LEAVES), help="What leaves add to the scores; not for boosting."
    )
    size_budget: int | None = SIZE_BUDGET(16_000)

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
