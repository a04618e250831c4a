"""Convert fitted decision trees and ensembles of them to forests of raw features.

Trees are read and checked node by node, without scikit-learn's compiled code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import AffineMap, Float64
from protonn_edge.extensions.conversion.answered import Answers
from protonn_edge.extensions.conversion.search import Candidate, ModelNames, ModelSearch, Rule
from protonn_edge.kinds.forest.grown import GrownTrees, fitting, preorder
from protonn_edge.kinds.forest.head import ForestHead
from protonn_edge.kinds.forest.ranges import between_thresholds, with_best_steps
from protonn_edge.kinds.forest.table import LEAF, Trees, sum_of_leaves
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.learn.points import Float32
from protonn_edge.model.model import Model
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue

Indices = NDArray[np.int64]

_ROWS_AT_ONCE, _LEAVES_AT_ONCE = 2_048, 2**22
_LEAST_BYTES, _SHRINK = 64, 0.85  # ratio of the sizes that trees are pruned to
_ROUNDED = 1e-4  # more than the rounding error of a scaler for a whole number
BY_GAPS = 2  # the side of a split between missing values and all numbers
_LEAST_SHARE = float(np.finfo(np.float32).eps)  # as scikit-learn bounds the shares of classes


@dataclass(frozen=True, eq=False)
class TreeRule(Rule):
    """The class with the largest sum of values over the leaves that a point reaches."""

    grown: GrownTrees  # trees with thresholds of the estimator's own features
    strict: bool = False  # whether these are the largest float32 below the estimator's
    fine: bool = False  # whether to search for steps that change fewer answers
    # (N,): which nodes send missing values (NaN) to the left; None if the estimator refuses these
    gaps: NDArray[np.bool_] | None = None
    learned: int = 0  # how many sides for them may have been learned
    landmarks = None
    not_tuned: ClassVar[str] = "consists of trees"
    votes: ClassVar[bool] = True  # whether pruned trees may have leaves that are votes

    def answers(self, Z: Float64) -> Answers:
        """Return the class index of each point Z (n, k); see `sums`."""
        classes: Answers = self.sums(Z).argmax(axis=1).astype(np.int64)
        return classes

    def sums(self, Z: Float64) -> Float64:
        """Return the scores (n, L) of points Z (n, k), in float32 as in scikit-learn.

        Missing values are NaN, if the estimator accepts them.
        """
        grown, sums = self.grown, np.empty((len(Z), len(self.grown.bias)))
        leaves = grown.values[~grown.shape.inner]
        some = min(_ROWS_AT_ONCE, 1 + _LEAVES_AT_ONCE // len(grown.shape.roots))
        for start in range(0, len(Z), some):
            rows = slice(start, start + some)
            ends = self._leaves_of(Z[rows], len(grown.features))
            sums[rows] = sum_of_leaves(ends, leaves, grown.bias)
        return sums

    def _leaves_of(self, Z: Float64, n_nodes: int) -> Indices:
        """Return the leaves (n, T) that points Z (n, k) reach in the trees of the first nodes."""
        z, features = Z.astype(np.float32), self.grown.features[:n_nodes]
        inner = features != LEAF
        if self.gaps is not None:  # once more for nodes that send them to the left
            features = np.where(self.gaps[:n_nodes] & inner, features + Z.shape[1], features)
            z = np.hstack([np.where(np.isnan(z), end, z) for end in (np.inf, -np.inf)])
        return Trees(features).leaves_of(z, self.grown.thresholds[:n_nodes][inner])

    def best(self, search: ModelSearch) -> Candidate:
        """Return the trees: unchanged if they fit, otherwise pruned, with shares or with votes."""
        pruned = [self._pruned(search)]
        if pruned[0] is None or pruned[0].steps[0][0] != "exact":
            votes = self.votes and not self.grown.boosted
            pruned += [self._pruned(search, GrownTrees.voting)] if votes else []
        fitting_ones = [candidate for candidate in pruned if candidate is not None]
        if not fitting_ones:
            raise CheckFailed(
                f"no subset of the {search.estimator.name}'s trees is small enough for the "
                f"{search.limit.board.name} or the budget; fit smaller trees, use fewer classes, "
                "or choose a larger board or budget"
            )
        return max(fitting_ones, key=lambda candidate: candidate.agreement)

    def _pruned(
        self,
        search: ModelSearch,
        finished: Callable[[GrownTrees], GrownTrees] = lambda trees: trees,
    ) -> Candidate | None:
        """Return the largest pruned form of these trees that fits."""
        for budget in cuts(search.limit.budget, search.limit.board.flash_bytes):
            try:
                trees = fitting(self.grown, budget, finished)[0]
            except InputError:  # no tree is left
                return None
            name = "exact" if trees is self.grown else "pruned"
            try:
                rule = replace(self, grown=trees)
                model = forest_model(rule, search.estimator.features, search.X, search.names)
                return search.candidate((name, model))
            except CheckFailed:
                continue
        return None

    def warned(self, _X: Float32, _features: AffineMap, _model: Model) -> str | None:
        """Return a warning if some splits may have learned their sides for missing values."""
        if not self.learned:
            return None
        return (
            f"{self.learned:,} of {int(self.grown.shape.inner.sum()):,} splits send missing values "
            "to another side than the rest, which the device cannot; if there were missing values "
            "in training (NaN, or the number given as missing), fill these gaps, and train again"
        )


def tree_rule(classifier: object, k: int, n_classes: int) -> TreeRule:
    """Return the trees of a tree, a random forest, extra trees or gradient boosting."""
    boosted = isinstance(classifier, GradientBoostingClassifier)
    columns, name = 1 if boosted else n_classes, type(classifier).__name__
    if isinstance(classifier, DecisionTreeClassifier):
        trees = [[checked_tree(classifier, k, columns, name)]]
    else:
        estimators = reading.array_of(classifier, "estimators_")
        together = (1 if n_classes == 2 else n_classes) if boosted else 1
        if estimators.size == 0 or estimators.size % together:
            count = f"are {estimators.size} in number, which is not a multiple of {together}"
            raise _damaged(name, count)
        rows = estimators.reshape(-1, together)
        trees = [[checked_tree(each, k, columns, name) for each in row] for row in rows]
    if not boosted:
        gaps = [tree.missing_go_to_left[preorder(tree)] > 0 for (tree,) in trees]
        grown = GrownTrees.averaged([tree for (tree,) in trees])
        return TreeRule(grown, gaps=np.concatenate(gaps))
    rate = float(reading.numbers_of(classifier, "learning_rate", ()))
    return TreeRule(GrownTrees.boosting(trees, rate, _start(classifier, n_classes)))


def _start(classifier: object, n_classes: int) -> Float64:
    """Return the initial scores of boosting, the logarithms of the class shares."""
    first, together = reading.attribute(classifier, "init_"), 1 if n_classes == 2 else n_classes
    if isinstance(first, str) and first == "zero":
        return np.zeros(together)
    prior = type(first) is DummyClassifier and reading.text_of(first, "strategy") == "prior"
    check(prior, "GradientBoostingClassifier.init", "an estimator", "None or 'zero'")
    shares = reading.numbers_of(first, "class_prior_", (n_classes,))
    logs: Float64 = np.log(np.clip(shares, _LEAST_SHARE, 1 - _LEAST_SHARE))
    start: Float64 = logs[1:] - logs[:1] if n_classes == 2 else logs - logs.mean()
    halved = reading.text_of(classifier, "loss") == "exponential"  # its link is half the logit
    return start * (0.5 if halved else 1.0)


def checked_tree(estimator: object, k: int, columns: int, owner: str) -> Any:
    """Return a tree of scikit-learn after checking that it is a tree with finite numbers."""
    tree = reading.attribute(estimator, "tree_")
    if type(tree).__name__ != "Tree" or not 0 < tree.node_count <= tree.capacity:
        raise _damaged(owner, "state a wrong number of nodes")
    left, right = tree.children_left, tree.children_right
    nodes, inner = np.arange(tree.node_count), left >= 0
    children = np.concatenate([left[inner], right[inner]])
    in_order = np.array_equal(np.sort(children), nodes[1:])
    behind = (left[inner] > nodes[inner]).all() and (right[inner] > nodes[inner]).all()
    if not (in_order and behind):
        raise _damaged(owner, "have nodes that are not linked as a tree")
    asked = tree.feature[inner]
    if len(asked) and not (asked.min() >= 0 and asked.max() < k):
        raise _damaged(owner, f"use features other than the {k:,} given")
    if tree.n_outputs != 1:
        raise reading.several_outputs(estimator)
    if tree.value.shape != (tree.node_count, 1, columns):
        raise _damaged(owner, f"have values of {tree.max_n_classes} classes, not {columns}")
    values = tree.value[:, 0]
    most = tree.n_node_samples[left[inner]] > tree.n_node_samples[right[inner]]
    sides = np.where(np.isinf(tree.threshold[inner]), BY_GAPS, tree.missing_go_to_left[inner])
    check_gaps(f"the {owner}", sides, most, np.zeros(len(most)))
    of_nodes = (tree.threshold[inner], values, tree.impurity, tree.weighted_n_node_samples)
    if not all(
        np.isfinite(each).all() and (np.abs(each) < reading.LARGEST).all() for each in of_nodes
    ):
        raise _damaged(owner, "have numbers that are not finite")
    if columns > 1 and not (values.min() >= 0 and values.sum(axis=1).min() > 0):
        raise _damaged(owner, "have negative class shares")
    return tree


def unsupported(what: str, has: str, remedy: str) -> InputError:
    """Return the error for trees that cannot be converted."""
    return InvalidValue(what, f"{has}, which have no counterpart on the device", remedy)


def check_gaps(what: str, left: Array, *usual: Array, share: float = 0.0) -> int:
    """Return how many splits send missing values to another side than without such in training.

    `left` (n,) are the sides in a file, and each of `usual` sides without missing values. More than
    this share is refused: a byte cannot be missing, so the device could not follow.
    """
    learned = min(int(np.count_nonzero(left != each)) for each in usual)
    if learned > share * len(left):
        raise unsupported(
            what,
            f"{learned:,} of {len(left):,} splits with learned sides for missing values",
            "fill the missing values of the training data, such as with the median of each column, "
            "train again (in XGBoost, with missing=nan), and convert with this data",
        )
    return learned


def _damaged(name: str, what: str) -> InputError:
    return InvalidValue(f"trees of the {name}", what)


def forest_model(rule: TreeRule, features: AffineMap, X: Float32, names: ModelNames) -> Model:
    """Convert trees on an estimator's own features to a model of raw features.

    `features` maps raw features to the estimator's; X (n, D) are raw representative points.
    Raises `InputError` if the map mixes or negates features.
    """
    if features.axes is not None or not (features.scale > 0).all():
        raise InvalidValue(
            "the pipeline",
            "it mixes or negates features, but trees test single ones",
            "fit the trees without the PCA, on unscaled features",
        )
    grown, inner = rule.grown, rule.grown.shape.inner
    if not inner.any():
        raise InvalidValue("the trees", "each is a single leaf", "fit trees that test features")
    asked = grown.features[inner]
    raw = (grown.thresholds[inner] - features.shift[asked]) / features.scale[asked]
    thresholds = raw + features.offset[asked]
    whole = (np.rint(X) == X).all(axis=0)[asked]
    # Thresholds may be whole numbers; these values are as far from whole numbers as possible.
    rounded = (-_ROUNDED if rule.strict else _ROUNDED) if features.scales else 0.0
    thresholds = np.where(whole, np.floor(thresholds + rounded) + 0.5, thresholds)
    inputs = between_thresholds(InputStatistics.of(X), asked, thresholds)
    head = ForestHead(
        features=grown.features,
        thresholds=thresholds,
        leaves=grown.leaves,
        bias=grown.bias,
        n_features=len(inputs.lower),
    )
    return Model(
        head=head,
        normalizer=normalizer_from("none", inputs),
        inputs=with_best_steps(inputs, asked, thresholds, X) if rule.fine else inputs,
        **names,
    )


def cuts(budget: int | None, largest: int) -> Iterator[int | None]:
    """Yield sizes in bytes for trees: all bytes, then fewer and fewer, or only the budget."""
    if budget is not None:
        yield budget
        return
    yield None
    while largest > _LEAST_BYTES:
        yield largest
        largest = int(_SHRINK * largest)
