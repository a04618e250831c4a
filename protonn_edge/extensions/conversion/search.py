"""The search for the model that agrees best with an estimator, among those that fit a board.

The rule of a fitted classifier is in the folder of the kind of model that it becomes, and makes its
own candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import Any, ClassVar, Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, make_plan
from protonn_edge.codegen.projects.checks import check_estimate
from protonn_edge.extensions.conversion.affine import AffineMap, Float64, filling
from protonn_edge.extensions.conversion.answered import CLASSES, Answered, Answers
from protonn_edge.learn.points import Float32, Indices, check_varying
from protonn_edge.model.head import Remedies
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy
from protonn_edge.model.quantization import quantize
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_enough
from protonn_edge.system.errors import CheckFailed

_COMPARED_POINTS = 10_000
_REMEDIES = Remedies.only("fewer projections or prototypes")
NUMBER = "value"
"""The only label of an estimator that answers with numbers."""


class ModelNames(TypedDict):
    """What a model has of an estimator."""

    classes: tuple[str, ...]
    feature_names: tuple[str, ...]
    policy: FloatPolicy


class Rule:
    """Maps an estimator's own features to its answer, the index of a class or a number."""

    answered: ClassVar[Answered] = CLASSES
    plain: bool = False  # whether its only score, as it is, may stand for a number
    landmarks: Float64 | None  # the points (m, k) that inputs are compared with, if any
    not_tuned: ClassVar[str] = "is not a network"  # why it has no fine-tuning; empty if it has

    def answers(self, Z: Float64) -> Answers:
        """Return the answer (n,) to each point Z (n, k)."""
        raise NotImplementedError

    def for_numbers(self, name: str) -> Rule:
        """Return the rule, called by this name, that answers with numbers."""
        check(
            self.plain,
            f"labels for {name}",
            "numbers",
            "classes",
            "use labels that are classes, or a network that ends in one output without a Sigmoid",
        )
        return number_of(self)

    @property
    def directions(self) -> Float64 | None:
        """The only directions (L, k) along which answers change, if they are few."""
        return None

    def best(self, search: ModelSearch) -> Candidate:
        """Return the model that fits and agrees best; raises `CheckFailed` if none fits."""
        return search.reduced()

    def warned(self, X: Float32, features: AffineMap, model: Model) -> str | None:
        """Return a warning if the model may answer differently than the rule, given raw points."""


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """A fitted estimator, from raw features to the label of a class."""

    name: str  # the classifier's, such as "SVC"
    features: AffineMap  # the steps before the classifier, from the features x in use
    rule: Rule
    labels: Array  # (L,): the labels, in the order of class indices
    feature_names: tuple[str, ...]  # the names of x, if the estimator was fitted with names
    # the same steps without values that fill gaps only for the device, if there are such values
    own: AffineMap | None = None

    @property
    def accepts_gaps(self) -> bool:
        """Whether the classifier has answers to points with missing values."""
        return getattr(self.rule, "gaps", None) is not None

    def filling(self, values: Sequence[float]) -> Self:
        """Return this estimator for a device that gets `values` (D,) in place of gaps."""
        return replace(self, features=filling(self.features, values), own=self.features)

    @property
    def answered(self) -> Answered:
        """What its answers are."""
        return self.rule.answered

    def answers_with_gaps(self, X: ArrayLike, what: str) -> Answers | None:
        """Return the answer to each raw point X (n, D) if it keeps its gaps (NaN).

        None if no gap is left to the estimator, or if it refuses gaps.
        """
        if self.own is None or not self.accepts_gaps:
            return None
        x = self.own.with_gaps(X, what)
        return self.rule.answers(self.own.apply(x)) if np.isnan(x).any() else None

    def answers(self, X: Array) -> Answers:
        """Return the answer to each raw point X."""
        return self.rule.answers(self.features.apply(X))

    def for_numbers(self) -> Self:
        """Return this estimator for labels that are numbers; raises if it predicts classes."""
        return replace(self, rule=self.rule.for_numbers(self.name), labels=np.array([NUMBER]))


Readers = Mapping[type, Callable[[Any, int, int], Rule]]
"""What reads the rule of a fitted estimator of scikit-learn, of k features and n labels."""


@singledispatch
def number_of(rule: Rule) -> Rule:
    """Return a rule with one score as the rule of a number; modules of `values` register some."""
    raise NotImplementedError(type(rule).__name__)


@dataclass(frozen=True)
class SizeLimit:
    """The size limits of a converted model."""

    board: Board  # the board that its firmware must fit
    budget: int | None = None  # bytes of int8 parameters
    n_projections: int | None = None  # d and m, if they are given
    n_prototypes: int | None = None
    remedies: Remedies = _REMEDIES  # for a model that does not fit

    def plan(self, model: IntegerChain) -> Plan:
        """Return the fastest plan that fits the board and the budget, or raise `CheckFailed`."""
        limits = Limits.of(self.board)
        plan = make_plan(model, limits)
        flash = self.remedies.flash[0]
        if not limits.hold(plan):
            remedy = self.remedies.sram if plan.sram_bytes > limits.sram_bytes else flash
            raise CheckFailed(
                f"the model needs about {plan.flash_bytes:,} B of flash and {plan.sram_bytes:,} B "
                f"of SRAM, but {self.board.name} has {self.board.flash_bytes:,} B and "
                f"{self.board.sram_bytes:,} B; try {remedy}"
            )
        check_estimate(plan, self.board, self.remedies)
        if self.budget is not None:
            check_enough(
                "the model",
                model.model_bytes,
                "the budget is",
                self.budget,
                "B of int8 parameters",
                f"try {flash}",
            )
        return plan


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model that fits, its integers, and its named float predecessors."""

    integers: IntegerChain
    steps: tuple[tuple[str, Model], ...]
    agreement: float
    plan: Plan

    @property
    def model(self) -> Model:
        """The model itself."""
        return self.steps[-1][1]


@dataclass(frozen=True, eq=False)
class ModelSearch:
    """Finds the model that fits and whose integers agree best with an estimator."""

    estimator: FittedEstimator
    X: Float32  # (n, D): raw representative points
    classes: tuple[str, ...]
    limit: SizeLimit
    epochs: int
    seed: int
    reduce: Callable[[ModelSearch], Candidate]  # to a kind of model that can approximate any rule
    y: Indices | None = None  # (n,): the classes of the points, if a network is trained on them

    @cached_property
    def inputs(self) -> InputStatistics:
        """The statistics of the points."""
        return InputStatistics.of(self.X)

    @cached_property
    def answers(self) -> Answers:
        """The estimator's answers (n,) to the points."""
        return self.estimator.answers(self.X)

    @cached_property
    def policy(self) -> FloatPolicy:
        """What the model concludes from scores."""
        return self.estimator.answered.policy(self.answers)

    @property
    def names(self) -> ModelNames:
        """The names of classes and features, and the policy, for a `Model`."""
        names = self.estimator.feature_names
        return ModelNames(classes=self.classes, feature_names=names, policy=self.policy)

    def best(self) -> Candidate:
        """Return the best model; raises `CheckFailed` if none fits."""
        check_varying(self.inputs.lower, self.inputs.upper)
        return self.estimator.rule.best(self)

    def reduced(self) -> Candidate:
        """Return a model of a kind that can approximate any rule."""
        return self.reduce(self)

    def advising(self, remedies: Remedies) -> ModelSearch:
        """Return the same search with this advice if a model does not fit."""
        return replace(self, limit=replace(self.limit, remedies=remedies))

    def candidate(self, *steps: tuple[str, Model]) -> Candidate:
        """Return the last of these models as a candidate; raises if it does not fit."""
        integers = quantize(steps[-1][1])
        plan = self.limit.plan(integers)
        some = slice(None, None, -(-len(self.X) // _COMPARED_POINTS))
        answered = self.estimator.answered
        predicted = answered.of_integers(integers, self.X[some])
        agreement = answered.quality(predicted, self.answers[some])
        return Candidate(integers, steps, agreement, plan)
