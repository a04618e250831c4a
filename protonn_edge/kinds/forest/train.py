"""Forests as a scikit-learn estimator, trained on the bytes that a device receives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

from protonn_edge.kinds.forest import quantize
from protonn_edge.kinds.forest.adaboost import AdaBoost
from protonn_edge.kinds.forest.grown import GrownTrees, fitting, too_small
from protonn_edge.kinds.forest.head import ForestHead
from protonn_edge.kinds.forest.parameters import ENSEMBLES, LEAVES, ForestParameters
from protonn_edge.kinds.forest.ranges import between_thresholds, fine_enough, with_best_steps
from protonn_edge.kinds.forest.shared_tests import SharedTests
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.points import Float32, Points, sample_with_all_classes
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.searched import Among, Between, SearchSpec, SearchTask
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.schema import JsonObject

_HALF = 0.5 - 1e-9  # of a step, slightly less because halves are rounded up
_FIRST_TREES, _FIRST_POINTS = 10, 5_000  # at most, of the forest whose thresholds place the steps
_LARGEST_EXPONENT = 100  # of its features; float32 has up to 127

_BOOSTED_DEPTH = 3  # default depth for boosting


CLASSIFIERS: dict[str, Callable[..., Any]] = {
    "random": RandomForestClassifier,
    "extra": ExtraTreesClassifier,
    "boosting": GradientBoostingClassifier,
    "adaboost": AdaBoost,
}


_FEW_TREES = 5  # that show which tests are used, and the bytes of a leaf
_LEAF_BYTES = 4  # of a leaf and a test
# of growing trees to a size: how often once some fit, to what share of it, and when to stop
_TRIES, _MARGIN, _CLOSE = 3, 0.98, 1.05
_FEWEST_LEAVES = 2


@dataclass(frozen=True)
class Growth:
    """Grows the trees of an ensemble."""

    settings: ForestClassifier
    seed: int
    Q: NDArray[np.float32]  # (n, D): bytes
    points: Points
    tests: SharedTests | None = None  # the only ones to use

    def grown(self, n_trees: int | None = None, leaves: int | None = None) -> GrownTrees:
        """Return trees: as many as set, or fewer, each of at most `leaves`."""
        more: dict[str, Any] = {} if leaves is None else {"max_leaf_nodes": leaves}
        if n_trees is not None:
            more["n_estimators"] = n_trees
        forest = new_ensemble(self.settings, self.seed, **more)
        X = self.Q if self.tests is None else self.tests.codes(self.Q)
        grown = GrownTrees.of(forest.fit(X, self.points.y, sample_weight=self.points.weight), X[:1])
        thresholds = grown.thresholds
        if self.tests is not None:
            thresholds = self.tests.thresholds(grown.shape, thresholds)
        return replace(grown, thresholds=thresholds, on_bytes=True)

    @property
    def _begun(self) -> tuple[int, int | None]:
        """The number of trees to grow at first, and of leaves."""
        n_trees, budget = self.settings.n_trees, self.settings.size_budget
        guess = None if budget is None else max(2, budget // (n_trees * _LEAF_BYTES))
        return min(_FEW_TREES, n_trees), guess

    def with_shared_tests(self, n_classes: int) -> Growth:
        """Return the growth with few tests, those of a few trees."""
        n_trees, leaves = self._begun
        few = self.grown(n_trees, leaves)
        most = min(int(self.settings.tests or 0), 256 - n_classes)
        tests = SharedTests.of(
            few.shape, few.thresholds, few.risks, n_features=self.Q.shape[1], most=most
        )
        return replace(self, tests=tests)

    def to_size(self) -> tuple[GrownTrees, JsonObject]:
        """Return trees that vote within the budget, and facts for the model's record."""
        settings = self.settings
        n_trees, leaves = self._begun
        if leaves is None or settings.size_budget is None:
            return self.grown().voting(), {}
        budget, fitting_ones = settings.size_budget, dict[int, GrownTrees]()
        grown = self.grown(n_trees, leaves)
        share = budget * n_trees / (grown.voting().n_bytes * settings.n_trees)
        tries = 0
        while tries < _TRIES or (not fitting_ones and leaves > _FEWEST_LEAVES):
            # a limit above what the trees have would not change them
            leaves = max(_FEWEST_LEAVES, int(min(leaves, grown.most_leaves) * share))
            grown, tries = self.grown(leaves=leaves), tries + 1
            trees = grown.voting()
            share = budget / trees.n_bytes
            if share >= 1:
                fitting_ones[leaves] = trees
            if share >= 1 and (share <= _CLOSE or grown.most_leaves < leaves):
                break
            share *= _MARGIN
        if not fitting_ones:
            raise too_small(budget, settings.n_trees)
        most = max(fitting_ones)
        return fitting_ones[most], {"max_leaf_nodes": most}


def _reduced(grown: GrownTrees, settings: ForestClassifier) -> tuple[GrownTrees, JsonObject]:
    """Return trees within the budget, and facts for the model's record."""
    if grown.boosted:
        return fitting(grown.limited(settings.shrinkage), settings.size_budget)
    if settings.leaves == "votes":
        return fitting(grown, settings.size_budget, GrownTrees.voting)
    return fitting(grown, settings.size_budget)


def _head_of(trees: GrownTrees, statistics: InputStatistics, normalizer: Normalizer) -> ForestHead:
    """Return trees that compare bytes as the head of normalized points."""
    inner = trees.shape.inner
    inputs, asked = quantize.byte_inputs(statistics), trees.features[inner]
    # the largest byte that goes left, and a half
    highest = np.floor(trees.thresholds[inner]) + _HALF
    raw = inputs.zero[asked] + inputs.step[asked] * highest
    return ForestHead(
        features=trees.features,
        thresholds=(raw - normalizer.offset[asked]) * normalizer.scale[asked],
        leaves=trees.leaves,
        bias=trees.bias,
        n_features=len(normalizer.scale),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(ForestParameters, DeviceClassifier):
    """A random forest, extra trees, or gradient boosting, trained by scikit-learn.

    Trees are trained on the bytes that the device receives, so the device takes the same path
    through each tree as scikit-learn. The scores of random forests and extra trees are the shares
    of the classes. The scores of boosting are logits, to which a leaf adds at most ``max(L, 4)``
    times the shrinkage.

    The normalization does not affect the result.

    Examples
    --------
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge.kinds.forest.train import ForestClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = ForestClassifier(n_trees=20, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.9)
    True
    """

    ensembles: ClassVar[Mapping[str, Callable[..., Any]]] = CLASSIFIERS

    def learn(self, data: TrainingSet) -> Learned:
        """Grow trees on the bytes of a device, and reduce them to a size."""
        space, statistics = data.space, data.space.inputs
        if space.stage is None:
            statistics = self._fine_where_asked(statistics, data)
        Q = quantize.device_bytes(statistics, space.stage, data.raw).astype(np.float32)
        trees, facts = self.grown(Q, data.points, data.seed)
        head = _head_of(trees, statistics, space.normalizer)
        report = data.report(head, 0.0)
        report = replace(report, objective=1 - report.accuracy)
        return Learned.at_once(head, report, self.callback, facts=facts, inputs=statistics)

    def _fine_where_asked(self, statistics: InputStatistics, data: TrainingSet) -> InputStatistics:
        """Return ranges with fine steps where a first forest, of raw points, has its thresholds.

        Integers of up to 256 values need none. A feature keeps its range if its steps separate the
        points at its thresholds, so that later trees may have other ones.
        """
        raw, points = data.raw, data.points
        statistics, whole = quantize.with_whole_steps(statistics, raw)
        if whole.all():
            return statistics
        generator = np.random.default_rng(data.seed)
        some = sample_with_all_classes(points.y, _FIRST_POINTS, generator)
        X = np.clip(raw[some], statistics.lower, statistics.upper)
        asked, limits = self._first_tests(X, points.part(some), data.seed)
        coarse = ~(whole | fine_enough(statistics, asked, limits, X))
        asked, limits = asked[coarse[asked]], limits[coarse[asked]]
        return with_best_steps(between_thresholds(statistics, asked, limits), asked, limits, X)

    def _first_tests(
        self, X: Float32, points: Points, seed: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the features and thresholds, (k,), of a small forest of raw X (n, D).

        Features are multiplied by powers of two, because scikit-learn takes differences below 1e-7
        for none.
        """
        _, exponents = np.frexp(np.abs(X).max(axis=0))
        y = points.y if points.y.ndim == 1 else points.y[:, 0]
        settings = self.frozen(ensemble="random", n_trees=min(_FIRST_TREES, self.n_trees))
        forest = new_ensemble(settings, seed)
        forest.fit(np.ldexp(X, _LARGEST_EXPONENT - exponents), y, points.weight)
        trees = [each.tree_ for each in forest.estimators_]
        asked = np.concatenate([tree.feature[tree.feature >= 0] for tree in trees])
        limits = np.concatenate([tree.threshold[tree.feature >= 0] for tree in trees])
        return asked, np.ldexp(limits, exponents[asked] - _LARGEST_EXPONENT)

    def grown(self, Q: Float32, points: Points, seed: int) -> tuple[GrownTrees, JsonObject]:
        """Return trees within the budget for bytes Q (n, D), and facts for the model's record."""
        growth = Growth(self, seed, Q, points)
        if self.shares_tests:
            growth = growth.with_shared_tests(len(np.unique(points.y)))
        if self.ensemble == "adaboost":
            trees, facts = growth.to_size()
        else:
            trees, facts = _reduced(growth.grown(), self)
        return trees, {"trainer": CLASSIFIERS[self.ensemble].__name__, **facts}

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:
        """Return the search space: kind of forest, trees and bytes."""
        most = max(2_000, task.parameter_bytes)
        begun = {name: getattr(cls, name) for name in ("min_samples_leaf", "leaves")}
        starts = (
            *(("random", 10), ("adaboost", 20), ("extra", 10), ("boosting", 30), ("random", 30)),
        )
        return SearchSpec(
            {
                "ensemble": Among(ENSEMBLES),
                "n_trees": Between(5, 200),
                "min_samples_leaf": Between(1, 10),
                "leaves": Among(LEAVES),
                "size_budget": Between(most // 8, most),
            },
            tuple(
                {"ensemble": kind, "n_trees": n, "size_budget": most, **begun} for kind, n in starts
            ),
            columns={"ensemble": ("ensemble",), "trees": ("n_trees",), "bytes": ("size_budget",)},
        )

    @property
    def scores_are_logits(self) -> bool:
        """Whether training makes the scores logits."""
        return self.ensemble == "boosting"

    @property
    def shares_tests(self) -> bool:
        """Whether trees share few tests."""
        return self.tests is not None and self.leaves_vote


def new_ensemble(settings: ForestClassifier, seed: int, **more: object) -> Any:
    """Return scikit-learn's estimator with these settings."""
    shared = {
        "n_estimators": settings.n_trees,
        "min_samples_leaf": settings.min_samples_leaf,
        "random_state": seed,
        **more,
    }
    kind, depth = settings.ensembles[settings.ensemble], settings.max_depth
    if settings.ensemble == "boosting":
        rate = float(settings.shrinkage)
        return kind(max_depth=depth or _BOOSTED_DEPTH, learning_rate=rate, **shared)
    return kind(max_depth=depth, **shared)
