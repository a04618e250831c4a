"""The parameters of forests, apart from the training so that help needs no scikit-learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.learn import parameters as declared
from protonn_edge.learn.training_request import TrainingRequest

OF_NUMBERS = ("random", "extra", "boosting")
ENSEMBLES = (*OF_NUMBERS, "adaboost")
LEAVES = ("votes", "shares")


@dataclass(kw_only=True, eq=False, repr=False)
class ForestParameters(declared.SharedParameters):
    """The parameters for training a forest.

    Parameters
    ----------
    ensemble : {"random", "extra", "boosting", "adaboost"}, default="adaboost"
        scikit-learn's `RandomForestClassifier`, `ExtraTreesClassifier` or
        `GradientBoostingClassifier`; or AdaBoost, trees that vote, each grown on points weighted by
        the mistakes of those before it.
    n_trees : int, default=30
        Number of trees. For boosting, number of rounds; a round has one tree per class, or one tree
        for two classes.
    max_depth : int, default=None
        Maximum depth; None means 3 for boosting, and no limit otherwise.
    min_samples_leaf : int, default=1
        Minimum number of training points in a leaf.
    shrinkage : float, default=0.1
        Weight of a tree in boosting, scikit-learn's ``learning_rate``.
    leaves : {"votes", "shares"}, default="votes"
        The values of the leaves of a random forest or extra trees: a vote for the most frequent
        class, which takes one byte, or the share of each class, as in scikit-learn.
    tests : int, default=None
        Maximum number of different tests in all trees, a test being a feature with a threshold, so
        that a test takes one byte; None means no limit. Only for leaves that vote.
    size_budget : int, default=8000
        Maximum size of the trees as a table, in bytes; None means no limit. Instructions, which
        ``build`` prefers where they fit the board, are larger. Random forests and
        extra trees are pruned by minimal cost-complexity pruning with the smallest sufficient
        ``ccp_alpha``; boosting ends with the last round that fits; the other trees are grown with
        as many leaves as fit.
    """

    largest_normalized: ClassVar[float] = math.inf  # values are only compared
    tried_for: ClassVar[frozenset[str]] = frozenset({"class", "value"})

    normalization: str = "none"
    ensemble: str = declared.parameter(
        "adaboost",
        declared.Choices(ENSEMBLES),
        help="Random forest, extra trees, gradient boosting or AdaBoost.",
        option="--ensemble",
    )
    n_trees: int = declared.parameter(
        30,
        declared.Number(int, 1, 10_000),
        help="Number of trees; for boosting, number of rounds, each with a tree per class.",
        option="--trees",
    )
    max_depth: int | None = declared.parameter(
        None, declared.COUNT, None, help="Maximum depth of the trees.", option="--max-depth"
    )
    min_samples_leaf: int = declared.parameter(
        1, declared.COUNT, help="Minimum number of training points in a leaf.", option="--min-leaf"
    )
    shrinkage: float = declared.parameter(
        0.1,
        declared.Number(float, 1e-6, 1.0),
        help="Weight of a tree in boosting.",
        only="ensemble=boosting",
    )
    leaves: str = declared.parameter(
        "votes",
        declared.Choices(LEAVES),
        help="What each leaf adds to the scores; does not apply to boosting.",
        only="classes ensemble=random|extra",
    )
    tests: int | None = declared.parameter(
        None,
        declared.Number(int, 8, 254),
        None,
        help="Most tests, each a feature with a threshold, that the trees share.",
        only="classes",
    )
    size_budget: int | None = declared.SIZE_BUDGET(8_000)

    def refuse(self, case: TrainingRequest) -> None:
        """Refuse tests that trees cannot share."""
        if not self.leaves_vote:
            case.refuse_without_effect("tests", "only trees whose leaves vote share tests")

    @property
    def leaves_vote(self) -> bool:
        """Whether all leaves vote."""
        return self.ensemble == "adaboost" or (
            self.ensemble != "boosting" and self.leaves == "votes"
        )
