"""Forests as a scikit-learn estimator, trained on the bytes that a device receives.

scikit-learn grows the trees, and minimal cost-complexity pruning (Breiman et al., 1984) reduces
them to a size in bytes: of all subtrees with the same root, it chooses the one for which the sum of
the leaves' risks, plus alpha per leaf, is smallest. With one alpha for all trees, the least useful
leaves of the whole forest are removed first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)

from protonn_edge.chain.checks import Float64
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.errors import InputError, InvalidValue
from protonn_edge.kinds.forest import quantize
from protonn_edge.kinds.forest.adaboost import AdaBoost
from protonn_edge.kinds.forest.head import ForestHead
from protonn_edge.kinds.forest.packed import PackedTable
from protonn_edge.kinds.forest.parameters import ENSEMBLES, LEAVES, ForestParameters
from protonn_edge.kinds.forest.shared_tests import SharedTests
from protonn_edge.kinds.forest.table import LEAF, ForestTable, Trees
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.learner import Learner
from protonn_edge.training.mapped_rows import in_memory
from protonn_edge.training.points import Points
from protonn_edge.training.progress import EpochReport, Learned, qualities
from protonn_edge.training.refusals import Refusal, without_effect
from protonn_edge.training.searched import FEATURES_SEARCHED, Among, Between, SearchSpec, SearchTask

_OF_NODES = ("features", "thresholds", "values", "risks")

# The most that a leaf of boosting adds, in units of the shrinkage, is L, about as much as a pure
# leaf of the first round, or for few classes LogitBoost's limit (Friedman et al., 2000, section
# 4.3). scikit-learn has no limit and divides by values that may be almost 0.
_LEAST_LIMIT = 4.0
_ALPHAS = 1e-9  # smallest alpha to try, relative to the largest risk
_HALVINGS = 24  # steps of the bisection of log(alpha)
_HALF = 0.5 - 1e-9  # of a step, slightly less because halves are rounded up


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """The nodes of all trees, in preorder."""

    features: NDArray[np.int64]  # (N,): see `Trees`
    thresholds: Float64  # (N,): smaller or equal values go left; 0 at leaves
    values: Float64  # (N, L): the values that each node would have as a leaf
    risks: Float64  # (N,): impurity times the node's share of the points
    bias: Float64  # (L,): initial scores
    boosted: int = 0  # trees per round of boosting; 0 for independent trees
    packed: bool = False  # whether their size is that of a packed table, if this is possible

    @classmethod
    def of(cls, forest: Any, some: NDArray[np.float32]) -> Self:
        """Convert the trees of a scikit-learn ensemble; `some` is any point, (1, D)."""
        if not isinstance(forest, GradientBoostingClassifier):
            return cls.averaged([each.tree_ for each in forest.estimators_])
        first = [each.predict(some)[0] for each in forest.estimators_[0]]
        behind_first = next(forest.staged_decision_function(some)).ravel()
        start = behind_first - forest.learning_rate * np.array(first)
        rounds = [[each.tree_ for each in some] for some in forest.estimators_]
        return cls.boosting(rounds, forest.learning_rate, start)

    @classmethod
    def averaged(cls, trees: Sequence[Any]) -> Self:
        """Convert scikit-learn's trees, with class shares divided by the number of trees."""
        each = []
        for tree in trees:
            counts = tree.value[:, 0]
            each.append(nodes_of(tree, counts / counts.sum(axis=1)[:, None] / len(trees)))
        return cls(**joined_nodes(each), bias=np.zeros(trees[0].value.shape[2]))

    @classmethod
    def boosting(cls, rounds: Sequence[Sequence[Any]], rate: float, start: Float64) -> Self:
        """Convert rounds of scikit-learn's trees: one per class, or one for the second of two.

        Each tree adds with the weight `rate`; `start` (trees of a round,) are the initial scores.
        """
        each, together = [], len(start)
        bias = np.zeros(max(2, together))
        bias[-together:] = start
        for trees in rounds:
            for place, tree in enumerate(trees, len(bias) - together):
                values = np.zeros((tree.node_count, len(bias)))
                values[:, place] = rate * tree.value[:, 0, 0]
                each.append(nodes_of(tree, values))
        return cls(**joined_nodes(each), bias=bias, boosted=together)

    def limited(self, rate: float) -> Self:
        """Return the trees of boosting with leaves limited for this rate."""
        most = rate * max(_LEAST_LIMIT, len(self.bias))
        return replace(self, values=np.clip(self.values, -most, most))

    @cached_property
    def shape(self) -> Trees:
        """The trees' shape."""
        return Trees(self.features)

    @property
    def leaves(self) -> NDArray[np.float32]:
        """The values of leaves (leaves, L), as in a model."""
        return self.values[~self.shape.inner].astype(np.float32)

    @property
    def n_bytes(self) -> int:
        """Bytes that the trees take on the device."""
        thresholds = np.floor(self.thresholds[self.shape.inner]) if self.packed else 0
        of_inner = np.broadcast_to(np.uint8(thresholds), int(self.shape.inner.sum()))
        leaves, bias, _ = quantize.quantized_leaves(self.shape, self.leaves, self.bias)
        table = ForestTable(self.shape, of_inner, leaves, bias)
        if self.packed and (packed := PackedTable(table)).possible:
            return packed.n_bytes
        return table.n_bytes

    @cached_property
    def _ends(self) -> list[int]:
        """End of each node's subtree."""
        right, ends = self.shape.right.tolist(), list(range(1, len(self.features) + 1))
        for place in reversed(np.flatnonzero(self.shape.inner).tolist()):
            ends[place] = ends[right[place]]
        return ends

    def pruned(self, alpha: float) -> Self:
        """Return the trees pruned with this cost per leaf; see the module's docstring."""
        costs = (self.risks + alpha).tolist()
        leaf, right = (~self.shape.inner).tolist(), self.shape.right.tolist()
        for place in reversed(np.flatnonzero(self.shape.inner).tolist()):
            below = costs[place + 1] + costs[right[place]]
            leaf[place] = costs[place] <= below
            costs[place] = min(costs[place], below)
        return self._with_leaves(leaf)

    def _with_leaves(self, leaf: list[bool]) -> Self:
        """Return the trees without the nodes below new leaves."""
        kept, place = [], 0
        while place < len(leaf):
            kept.append(place)
            place = self._ends[place] if leaf[place] else place + 1
        left, ends = self._part(np.array(kept)), np.array(leaf)[kept]
        return replace(
            left,
            features=np.where(ends, LEAF, left.features),
            thresholds=np.where(ends, 0, left.thresholds),
        )

    def voting(self) -> Self:
        """Return the trees with each leaf voting for its most frequent class.

        A node becomes a leaf if all of its leaves vote for the same class.
        """
        votes, classes = np.zeros_like(self.values), self.values.argmax(axis=1)
        votes[np.arange(len(votes)), classes] = self.values.sum(axis=1)
        leaf, right = (~self.shape.inner).tolist(), self.shape.right.tolist()
        for place in reversed(np.flatnonzero(self.shape.inner).tolist()):
            below = place + 1, right[place]
            leaf[place] = all(leaf[each] and classes[each] == classes[place] for each in below)
        return replace(self, values=votes)._with_leaves(leaf)

    def merged(self) -> Self:
        """Return the trees with a leaf in place of each node that has only equal leaves."""
        values, leaf = self.values.copy(), (~self.shape.inner).tolist()
        for place in reversed(np.flatnonzero(self.shape.inner).tolist()):
            left, right = place + 1, int(self.shape.right[place])
            leaf[place] = leaf[left] and leaf[right] and np.array_equal(values[left], values[right])
            values[place] = values[left] if leaf[place] else 0.0
        return replace(self, values=values)._with_leaves(leaf)

    def divided(self, parts: int) -> Self:
        """Return trees with the same sums and int8 leaves that are `parts` times as fine.

        The leaves of each tree are centred around 0, and the bias compensates. A tree with large
        leaves occurs several times, each time with a part of its values.
        """
        shape, leaf = self.shape, ~self.shape.inner
        leaves, rest = self.values[leaf], np.zeros_like(self.values)
        ends = [each.reduceat(leaves, shape.leaf_starts) for each in (np.minimum, np.maximum)]
        middle = (ends[0] + ends[1]) / 2
        of_leaf = np.searchsorted(shape.roots, np.flatnonzero(leaf), side="right") - 1
        rest[leaf] = leaves - middle[of_leaf]
        most, forests = np.abs(rest).max() / parts, []
        for _ in range(parts):
            part = np.clip(rest, -most, most)
            forests.append(replace(self, values=part).merged())
            rest = rest - part
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(each, name) for each in forests]) for name in _OF_NODES
        }
        several = replace(self, **joined, bias=self.bias + middle.sum(axis=0))
        roots = several.shape.roots
        alone = roots[~several.shape.inner[roots]]  # single leaves add the same to all points
        if len(alone) == len(roots):
            return several
        kept = several._part(np.setdiff1d(np.arange(len(several.features)), alone))
        return replace(kept, bias=several.bias + several.values[alone].sum(axis=0))

    def first(self, count: int) -> Self:
        """Return the first trees."""
        end = len(self.features) if count >= len(self.shape.roots) else self.shape.roots[count]
        return self._part(np.arange(end))

    def _part(self, nodes: NDArray[np.int64]) -> Self:
        return replace(self, **{name: getattr(self, name)[nodes] for name in _OF_NODES})


def fitting(
    grown: GrownTrees,
    budget: int | None,
    finished: Callable[[GrownTrees], GrownTrees] = lambda trees: trees,
) -> tuple[GrownTrees, dict[str, Any]]:
    """Return the trees reduced to a budget in bytes, and facts for the model's record.

    `finished` is applied to pruned trees. Raises `InputError` if no trees are left.
    """
    whole = finished(grown)
    if budget is None or whole.n_bytes <= budget:
        return whole, {}
    if grown.boosted:
        return _first_rounds(grown, budget)

    def left(logarithm: float) -> GrownTrees:
        return finished(grown.pruned(float(np.exp(logarithm))))

    low, high = np.log(grown.risks.max() * np.array([_ALPHAS, 1.0]))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if left(middle).n_bytes <= budget else (middle, high)
    pruned = left(high)
    if pruned.n_bytes > budget or not pruned.shape.inner.any():
        raise _too_small(budget, len(grown.shape.roots))
    return pruned, {"ccp_alpha": float(np.exp(high))}


def _first_rounds(grown: GrownTrees, budget: int) -> tuple[GrownTrees, dict[str, Any]]:
    """Return as many rounds of boosting as fit."""
    low, high = 0, len(grown.shape.roots) // grown.boosted
    while high - low > 1:
        middle = (low + high) // 2
        fits = grown.first(middle * grown.boosted).n_bytes <= budget
        low, high = (middle, high) if fits else (low, middle)
    if low == 0:
        raise _too_small(budget, grown.boosted)
    return grown.first(low * grown.boosted), {"rounds": low}


def _too_small(budget: int, trees: int) -> InputError:
    return InvalidValue(
        f"a budget of {budget:,} B",
        f"too small for {trees:,} trees",
        "train with a larger --size-budget or fewer --trees",
    )


def joined_nodes(trees: Sequence[tuple[NDArray[Any], ...]]) -> dict[str, Any]:
    """Return the arrays of all trees' nodes by name."""
    joined = (np.concatenate(arrays) for arrays in zip(*trees, strict=True))
    return dict(zip(_OF_NODES, joined, strict=True))


def preorder(tree: Any) -> NDArray[np.int64]:
    """Return the numbers of a scikit-learn tree's nodes, in preorder."""
    order, waiting = [], [0]
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    while waiting:
        node = waiting.pop()
        order.append(node)
        if left[node] >= 0:
            waiting += [right[node], left[node]]
    return np.array(order)


def nodes_of(tree: Any, values: Float64) -> tuple[NDArray[Any], ...]:
    """Return features, thresholds, values and risks of a scikit-learn tree, in preorder."""
    places = preorder(tree)
    inner = tree.children_left[places] >= 0
    risks = (tree.impurity * tree.weighted_n_node_samples)[places]
    return (
        np.where(inner, tree.feature[places], LEAF).astype(np.int64),
        np.where(inner, tree.threshold[places], 0),
        values[places],
        risks / tree.weighted_n_node_samples[0],
    )


_BOOSTED_DEPTH = 3  # default depth for boosting


class ForestLearner(Learner):
    """Grows trees on the bytes of a device, and reduces them to a size."""

    settings: ForestClassifier

    def fit(self, points: Points) -> Learned:
        """Learn trees; see `Learner.fit`."""
        settings, space = self.settings, points.space
        assert space is not None
        assert points.raw is not None
        statistics, raw = space.inputs, in_memory(points.raw, "a forest")
        if space.stage is None:
            statistics = quantize.with_whole_steps(statistics, raw)
        Q = quantize.device_bytes(statistics, space.stage, raw).astype(np.float32)
        trees, facts = self.grown(Q, points)
        head = _head_of(trees, statistics, space.normalizer)
        report, callback = _report(head, points), settings.callback
        return Learned.at_once(head, report, callback, facts=facts, inputs=statistics)

    def grown(self, Q: NDArray[np.float32], points: Points) -> tuple[GrownTrees, dict[str, Any]]:
        """Return trees within the budget for bytes Q (n, D), and facts for the model's record."""
        settings, growth = self.settings, Growth(self.settings, self.seed, Q, points)
        if settings.shares_tests:
            growth = growth.with_shared_tests(len(np.unique(points.y)))
        if settings.ensemble == "adaboost":
            trees, facts = growth.to_size()
        else:
            trees, facts = _reduced(growth.grown(), settings)
        return trees, {"trainer": CLASSIFIERS[settings.ensemble].__name__, **facts}


_FEW_TREES = 5  # that show which tests are used, and the bytes of a leaf
_LEAF_BYTES = 4  # of a leaf and a test
# of growing trees to a size: how often at most, to what share of it, and when to stop
_TRIES, _MARGIN, _CLOSE = 3, 0.98, 1.05


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
        if self.tests is None:
            return grown
        thresholds = self.tests.thresholds(grown.shape, grown.thresholds)
        return replace(grown, thresholds=thresholds, packed=True)

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

    def to_size(self) -> tuple[GrownTrees, dict[str, Any]]:
        """Return trees that vote within the budget, and facts for the model's record."""
        settings = self.settings
        n_trees, leaves = self._begun
        if leaves is None or settings.size_budget is None:
            return self.grown().voting(), {}
        budget, fitting_ones = settings.size_budget, dict[int, GrownTrees]()
        begun = self.grown(n_trees, leaves).voting().n_bytes * settings.n_trees / n_trees
        share = budget / begun
        for _ in range(_TRIES):
            leaves = max(2, int(leaves * share))
            trees = self.grown(leaves=leaves).voting()
            share = budget / trees.n_bytes
            if share >= 1:
                fitting_ones[leaves] = trees
            if 1 <= share <= _CLOSE:
                break
            share *= _MARGIN
        if not fitting_ones:
            raise _too_small(budget, settings.n_trees)
        most = max(fitting_ones)
        return fitting_ones[most], {"max_leaf_nodes": most}


def _reduced(grown: GrownTrees, settings: ForestClassifier) -> tuple[GrownTrees, dict[str, Any]]:
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


def _report(head: ForestHead, points: Points) -> EpochReport:
    """Return a report as of a single epoch, with the error rate as its loss."""
    accuracy, of_test = qualities(head.scores, points)
    return EpochReport(1, 1, 1 - accuracy, accuracy, test_accuracy=of_test)


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
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.forest.train import ForestClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = ForestClassifier(n_trees=20, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.9)
    True
    """

    learner = ForestLearner
    refusals: ClassVar[tuple[Refusal, ...]] = (
        without_effect(
            lambda case: case.settings.ensemble == "boosting",
            "leaves",
            "{ensemble} is 'boosting', whose leaves add corrections",
        ),
        without_effect(
            lambda case: case.settings.ensemble != "boosting",
            "shrinkage",
            "only {ensemble} 'boosting' uses it",
        ),
        without_effect(
            lambda case: case.settings.ensemble == "adaboost",
            "leaves",
            "{ensemble} is 'adaboost', whose leaves vote",
        ),
        without_effect(
            lambda case: not case.settings.leaves_vote,
            "tests",
            "only trees whose leaves vote share tests",
        ),
    )

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:
        """Return the search space: kind of forest, trees, bytes and features."""
        features = {"clip": FEATURES_SEARCHED["clip"]}
        most = max(2_000, task.parameter_bytes)
        begun = {name: getattr(cls, name) for name in ("min_samples_leaf", "leaves", *features)}
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
                **features,
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
    def leaves_vote(self) -> bool:
        """Whether all leaves vote."""
        return self.ensemble == "adaboost" or (
            self.ensemble != "boosting" and self.leaves == "votes"
        )

    @property
    def shares_tests(self) -> bool:
        """Whether trees share few tests."""
        return self.tests is not None and self.leaves_vote


CLASSIFIERS: dict[str, Callable[..., Any]] = {
    "random": RandomForestClassifier,
    "extra": ExtraTreesClassifier,
    "boosting": GradientBoostingClassifier,
    "adaboost": AdaBoost,
}


def new_ensemble(
    settings: ForestClassifier,
    seed: int,
    kinds: Mapping[str, Callable[..., Any]] = CLASSIFIERS,
    **more: Any,
) -> Any:
    """Return scikit-learn's estimator with these settings, of its kinds by name of ensemble."""
    shared = {
        "n_estimators": settings.n_trees,
        "min_samples_leaf": settings.min_samples_leaf,
        "random_state": seed,
        **more,
    }
    kind, depth = kinds[settings.ensemble], settings.max_depth
    if settings.ensemble == "boosting":
        rate = float(settings.shrinkage)
        return kind(max_depth=depth or _BOOSTED_DEPTH, learning_rate=rate, **shared)
    return kind(max_depth=depth, **shared)
