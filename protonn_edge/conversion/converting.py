"""Convert a fitted estimator of scikit-learn to a model that fits a board, and measure the loss.

Linear functions, including nearest centroids, become a linear model, and trees become forests
(`trees`), pruned until they fit. All others, and linear models that are too large, are reduced
(`prototypes`) and then trained on the estimator's answers instead of labels. The result
is the model whose integers agree with the estimator on most points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike

import protonn_edge
from protonn_edge.boards import Board, board_of
from protonn_edge.chain.head import Remedies
from protonn_edge.chain.model import Model, with_units_of
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.codegen.plan import Plan
from protonn_edge.conversion import EPOCHS, prototypes
from protonn_edge.conversion.affine import rows_of
from protonn_edge.conversion.estimators import FittedEstimator, LinearRule, read_estimator
from protonn_edge.conversion.int8_network import Int8Network
from protonn_edge.conversion.kept import Conversion, class_indices, measured_steps, warning_of_gaps
from protonn_edge.conversion.networks import FloatNetwork, Tuning, network_models
from protonn_edge.conversion.reading import numbers_in_range
from protonn_edge.conversion.trees import TreeRule, cuts, forest_model
from protonn_edge.datasets.naming import check_names, label_text
from protonn_edge.errors import CheckFailed, InputError, ProtoNNEdgeError
from protonn_edge.evaluation.accuracy import share_right
from protonn_edge.kinds.forest.train import GrownTrees, fitting
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.protonn.train.budget_rules import ModelSizes
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.quantization import IntegerChain, check_counts, measure_activity, quantize
from protonn_edge.system.rounding import one_thread
from protonn_edge.training.normalization import normalizer_from
from protonn_edge.training.points import Float32, Indices, check_varying

_COMPARED_POINTS = 10_000
_ACTIVITY_POINTS = 1_000

# Leaves become finer until this share of answers agrees.
_NEARLY_ALL, _PARTS = 0.9998, (1, 2, 3, 4, 6, 8)


@numbers_in_range()
def from_sklearn(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    board: str | Board = "uno",
    budget: int | None = None,
    n_projections: int | None = None,
    n_prototypes: int | None = None,
    epochs: int = EPOCHS,
    evaluate_on: tuple[ArrayLike, ArrayLike | None] | None = None,
    classes: Sequence[str] | None = None,
    fine_tune: bool = False,
    random_state: int = 0,
) -> Conversion:
    """Convert a fitted classifier of scikit-learn into a model for a board.

    Parameters
    ----------
    estimator : estimator
        A fitted SVC or NuSVC with ``kernel="rbf"``, KNeighborsClassifier (Euclidean),
        NearestCentroid (Euclidean), LogisticRegression, LinearSVC, LinearDiscriminantAnalysis,
        DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier,
        GradientBoostingClassifier or HistGradientBoostingClassifier; an XGBClassifier, an
        LGBMClassifier or a Booster of either library; a Pipeline of the transformers that
        `from_pipeline` supports, or PCA, and one of these; or a search for the parameters of one.
    X : array or sparse matrix of shape (n, D)
        Raw representative points, before the pipeline's first step; preferably those that the
        estimator was fitted on.
    y : array of shape (n,), optional
        Their labels, used only to compute accuracies, or for `fine_tune`: otherwise, the model
        learns the estimator's answers.
    board : str or Board, default="uno"
        The board that the model must fit.
    budget : int, optional
        Maximum bytes of int8 parameters, or of trees.
    n_projections, n_prototypes : int, optional
        d and m of a reduced model. By default, they follow from the budget; without a budget, d is
        20 and m is 10 per class, at least 40.
    epochs : int, default=60
        Epochs of training for a reduced model; 0 skips it.
    evaluate_on : tuple of X (n', D) and y (n',) or None, optional
        Points to measure the steps on, instead of `X` and `y`; they do not affect the model.
    classes : sequence of L str, optional
        Display names in the order of the estimator's ``classes_``; by default the labels.
    fine_tune : bool, default=False
        Whether to train a network in floats on the labels `y`, in the integers of the device. A
        fifth of the points chooses the learning rate and the pass.
    random_state : int, default=0
        The same number gives the same model.

    Returns
    -------
    Conversion

    Raises
    ------
    InputError
        If the estimator cannot be converted, or the points do not match it.
    CheckFailed
        If no model is small enough for the board, or the budget.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from protonn_edge import from_sklearn
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> digits = load_digits_dataset()
    >>> machine = SVC(C=10).fit(digits.X_train, digits.y_train)
    >>> test = (digits.X_test, digits.y_test)
    >>> converted = from_sklearn(machine, digits.X_train, evaluate_on=test)
    >>> bool(converted.accuracy > 0.96)
    True
    """
    for name, number, least in (
        ("budget", budget, 1),
        ("n_projections", n_projections, 1),
        ("n_prototypes", n_prototypes, 1),
        ("epochs", epochs, 0),
    ):
        if number is not None and number < least:
            raise InputError(f"{name} is {number}; it must be at least {least}")
    fitted = estimator
    if not isinstance(estimator, FittedEstimator):
        fitted = read_estimator(estimator, rows_of(X, "X").shape[1])
    points = fitted.features.taken(X, "X")
    check_counts(features=points.shape[1], classes=len(fitted.labels))
    names = tuple(label_text(str(label)) for label in fitted.labels)
    names = names if classes is None else tuple(map(str, classes))
    check_names(names, f"the classes of the {fitted.name}", distinct=True)
    (raw, labels), what = (X, y) if evaluate_on is None else evaluate_on, "X"
    measured = points
    if evaluate_on is not None:
        measured, what = fitted.features.taken(raw, "evaluate_on"), "evaluate_on"
    as_given = fitted.answers_with_gaps(raw, what)
    actual = None if labels is None else class_indices(fitted, np.asarray(labels), len(measured))
    some = points[:: -(-len(points) // _ACTIVITY_POINTS)]
    tuning = _tuning(fitted, points, y, epochs, random_state) if fine_tune else None
    limit = prototypes.SizeLimit(board_of(board), budget, n_projections, n_prototypes)
    with one_thread():  # for reproducible numbers
        candidate = _Search(fitted, points, names, limit, epochs, random_state, tuning).best()
    activity = measure_activity(candidate.integers, candidate.integers.quantize(some))
    model = replace(with_units_of(candidate.model, points), activity=activity)
    rule, warning = fitted.rule, None
    if isinstance(rule, FloatNetwork):
        warning = rule.warning(points, model.feature_stage)
    elif isinstance(rule, TreeRule):
        warning = rule.warning(fitted.features.apply(points))
    if as_given is not None:
        warning = warning_of_gaps(share_right(fitted.answers(measured), as_given)) or warning
    facts = {"board": limit.board, "held_out": evaluate_on is not None, "warning": warning}
    return _conversion(candidate, model, fitted, measured, as_given, actual, **facts)


def _tuning(
    fitted: FittedEstimator, X: Float32, y: ArrayLike | None, epochs: int, seed: int
) -> Tuning:
    """Return the training on labelled points, or refuse what cannot be trained on them."""
    if not isinstance(fitted.rule, FloatNetwork):
        other = {Int8Network: "has int8 layers", TreeRule: "consists of trees"}
        raise InputError(
            f"fine-tuning applies only to networks of floats, but the {fitted.name} "
            f"{other.get(type(fitted.rule), 'is not a network')}; omit fine-tuning"
        )
    if y is None:
        raise InputError("fine-tuning needs the labels of the points; pass them as y")
    return Tuning.of(X, class_indices(fitted, np.asarray(y), len(X)), epochs, seed)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A model that fits, its integers, and its named float predecessors."""

    integers: IntegerChain
    steps: tuple[tuple[str, Model], ...]
    agreement: float
    plan: Plan

    @property
    def model(self) -> Model:
        return self.steps[-1][1]


@dataclass(frozen=True, eq=False)
class _Search:
    """Finds the model that fits and whose integers agree best with an estimator."""

    estimator: FittedEstimator
    X: Float32
    classes: tuple[str, ...]
    limit: prototypes.SizeLimit
    epochs: int
    seed: int
    tuning: Tuning | None = None  # if that is wanted

    @cached_property
    def inputs(self) -> InputStatistics:
        return InputStatistics.of(self.X)

    @cached_property
    def answers(self) -> Indices:
        return self.estimator.answers(self.X)

    def best(self) -> _Candidate:
        """Return the best model; raises `CheckFailed` if none fits."""
        check_varying(self.inputs.lower, self.inputs.upper)
        if isinstance(self.estimator.rule, TreeRule):
            return self._trees(self.estimator.rule)
        if isinstance(self.estimator.rule, FloatNetwork):
            return self._network(self.estimator.rule)
        if isinstance(self.estimator.rule, Int8Network):
            return self._int8(self.estimator.rule)
        if isinstance(self.estimator.rule, LinearRule):
            return self._linear(self.estimator.rule)
        return self._reduced()

    def _network(self, network: FloatNetwork) -> _Candidate:
        """Return a network, its layers on images in integers."""
        network = network.after(self.estimator.features)
        models = network_models(network, self.X, self.classes, self.epochs, self.seed, self.tuning)
        names = self.estimator.feature_names
        remedies = Remedies.only("a network with fewer channels, units or weights")
        limited = replace(self, limit=replace(self.limit, remedies=remedies))
        steps: tuple[tuple[str, Model], ...] = ()
        candidates: list[_Candidate] = []
        for name, model in models:
            steps, too_large = (*steps, (name, replace(model, feature_names=names))), None
            try:
                candidates.append(limited._candidate(*steps))
            except CheckFailed as error:  # training fills zeros, which take no flash
                if not candidates:
                    raise
                too_large = str(error)
        if self.tuning is None:
            return max(candidates, key=lambda candidate: candidate.agreement)
        return _tuned(candidates, self.tuning, too_large)

    def _int8(self, network: Int8Network) -> _Candidate:
        """Return the model of a network of int8 layers, unchanged."""
        limited = replace(self, limit=replace(self.limit, remedies=network.remedies))
        return limited._candidate(("exact", network.model(self.X, self.classes)))

    def _trees(self, rule: TreeRule) -> _Candidate:
        """Return the trees: unchanged if they fit, otherwise pruned, with shares or with votes."""
        pruned = [self._pruned(rule)]
        if pruned[0] is None or pruned[0].steps[0][0] != "exact":
            pruned += [] if rule.grown.boosted else [self._pruned(rule, GrownTrees.voting)]
        fitting_ones = [candidate for candidate in pruned if candidate is not None]
        if not fitting_ones:
            raise CheckFailed(
                f"no subset of the {self.estimator.name}'s trees is small enough for the "
                f"{self.limit.board.name} or the budget; fit smaller trees, use fewer classes, or "
                "choose a larger board or budget"
            )
        return max(fitting_ones, key=lambda candidate: candidate.agreement)

    def _pruned(
        self, rule: TreeRule, finished: Callable[[GrownTrees], GrownTrees] = lambda trees: trees
    ) -> _Candidate | None:
        """Return the largest pruned form of these trees that fits."""
        for budget in cuts(self.limit.budget, self.limit.board.flash_bytes):
            try:
                trees = fitting(rule.grown, budget, finished)[0]
            except InputError:  # no tree is left
                return None
            name = "exact" if trees is rule.grown else "pruned"
            try:
                return self._forest(name, replace(rule, grown=trees))
            except CheckFailed:
                continue
        return None

    def _forest(self, name: str, rule: TreeRule) -> _Candidate:
        """Return these trees, with finer leaves if these fit and change fewer answers."""
        names = {"classes": self.classes, "feature_names": self.estimator.feature_names}
        candidates: list[_Candidate] = []
        for parts in _PARTS if rule.fine else (0,):
            trees = rule.grown.divided(parts) if parts else rule.grown
            model = forest_model(replace(rule, grown=trees), self.estimator.features, self.X, names)
            try:
                candidates.append(self._candidate((name, model)))
            except CheckFailed:
                if not candidates:
                    raise
                break
            if candidates[-1].agreement >= _NEARLY_ALL:
                break
        return max(candidates, key=lambda candidate: candidate.agreement)

    def _linear(self, rule: LinearRule) -> _Candidate:
        """Return linear functions as a linear model, or a reduced one if that does not fit."""
        if not rule.differences.any():
            raise InputError(
                "the estimator has the same coefficients for all classes, so no feature affects "
                "the answer; fit it on data that separates the classes"
            )
        features, normalizer = self.estimator.features, normalizer_from("standard", self.inputs)
        W = features.weights(rule.differences) / normalizer.scale
        b = rule.decisions(features.apply(normalizer.offset[None]))[0]
        b -= b.mean()
        if len(b) == 2:  # one row is enough for two classes
            W, b = np.diff(W, axis=0), np.diff(b)
        model = Model(
            head=LinearHead(W.astype(np.float32), b),
            normalizer=normalizer,
            inputs=self.inputs,
            classes=self.classes,
            feature_names=self.estimator.feature_names,
        )
        with suppress(ProtoNNEdgeError):  # too large, or without integers
            return self._candidate(("exact", model))
        return self._reduced()

    def _reduced(self) -> _Candidate:
        """Return the largest reduced model that fits, trained if that is better."""
        if len(np.unique(self.answers)) < len(self.classes):
            raise InputError(
                f"the {self.estimator.name} predicts only {len(np.unique(self.answers)):,} of its "
                f"{len(self.classes):,} classes for these points; use points of every class"
            )
        start = self._largest_that_fits()
        if start is None:
            raise CheckFailed(
                f"not even the smallest model of {self.X.shape[1]:,} features and "
                f"{len(self.classes):,} classes is small enough for the {self.limit.board.name} or "
                "the budget; use fewer features, or choose a larger board or budget"
            )
        if self.epochs == 0:
            return start
        learner = ProtoNNClassifier(
            initial_model=start.model, epochs=self.epochs, random_state=self.seed
        )
        trained = learner.fit(self.X, self.answers).to_model(
            classes=self.classes, feature_names=self.estimator.feature_names
        )
        candidates = [start]
        with suppress(ProtoNNEdgeError):  # too large, or without integers
            candidates.insert(0, self._candidate(*start.steps, ("trained", trained)))
        return max(candidates, key=lambda candidate: candidate.agreement)  # the first of equals

    def _largest_that_fits(self) -> _Candidate | None:
        given = self.limit.n_projections is not None and self.limit.n_prototypes is not None
        for sizes in self.limit.sizes(
            n_features=self.X.shape[1],
            n_classes=len(self.classes),
            n_points=len(self.X),
            most_projections=self._directions(),
        ):
            try:
                return self._reduced_candidate(sizes)
            except CheckFailed:
                if given:
                    raise
        return None

    def _reduced_candidate(self, sizes: ModelSizes) -> _Candidate:
        """Return a model of these sizes, with the narrowest RBF that can be quantized."""
        for numerator in prototypes.GAMMA_NUMERATORS:
            given = self.estimator, self.X, self.answers, self.inputs, self.classes
            model = prototypes.reduced_model(*given, sizes, self.seed, numerator)
            try:
                return self._candidate(("reduced", model))
            except InputError:  # the prototypes are too far apart for integers
                continue
        raise InputError(
            "integers cannot represent both the outliers and the other points; clip or scale the "
            f"features, and fit the {self.estimator.name} again"
        )

    def _directions(self) -> int:
        """Return the maximum number of dimensions of the estimator's features."""
        rule = self.estimator.rule
        if not isinstance(rule, LinearRule):
            return self.estimator.features.n_outputs
        return max(1, int(np.linalg.matrix_rank(rule.differences)))

    def _candidate(self, *steps: tuple[str, Model]) -> _Candidate:
        """Return the last of these models as a candidate; raises if it does not fit."""
        integers = quantize(steps[-1][1])
        plan = self.limit.plan(integers)
        some = slice(None, None, -(-len(self.X) // _COMPARED_POINTS))
        predicted = integers.predict(integers.quantize(self.X[some]))
        agreement = share_right(predicted, self.answers[some])
        return _Candidate(integers, steps, agreement, plan)


def _tuned(candidates: Sequence[_Candidate], tuning: Tuning, too_large: str | None) -> _Candidate:
    """Return the last candidate if more held-out points are right than without tuning."""
    untuned = (each for each in candidates if each.steps[-1][0] != "tuned")
    before = max(untuned, key=lambda candidate: candidate.agreement)
    was, now = (tuning.right(each.integers) for each in (before, candidates[-1]))
    best = candidates[-1] if now > was else before
    record = {**tuning.sizes, "before": was, "after": max(was, now), "too_large": too_large}
    *steps, (name, model) = best.steps
    return replace(best, steps=(*steps, (name, replace(model, record={"fine_tuning": record}))))


def _conversion(
    candidate: _Candidate,
    model: Model,
    estimator: FittedEstimator,
    X: Float32,
    as_given: Indices | None,
    y: Indices | None,
    **facts: Any,
) -> Conversion:
    """Measure the steps on points of classes y, and record the conversion in the model.

    `as_given` are the estimator's answers to the same points with their gaps, if it accepts these.
    """
    predicted = {"estimator": estimator.answers(X)}
    if as_given is not None:
        predicted = {"estimator": as_given, "filled": predicted["estimator"]}
    predicted |= {name: model.predict(X) for name, model in candidate.steps}
    predicted["integers"] = candidate.integers.predict(candidate.integers.quantize(X))
    landmarks = estimator.rule.landmarks
    origin = {
        "converted_from": estimator.name,
        "steps": [name for name, _ in candidate.steps],
        "scikit-learn": sklearn.__version__,
        "protonn-edge": protonn_edge.__version__,
    }
    features = estimator.own or estimator.features
    record = {"trainer": "conversion", **model.record, **features.record}
    record["conversion"] = origin
    return Conversion(
        model=replace(model, record=record),
        estimator=estimator.name,
        landmarks=None if landmarks is None else len(landmarks),
        steps=measured_steps(predicted, y),
        n=len(X),
        model_bytes=candidate.integers.model_bytes,
        plan=candidate.plan,
        source=estimator,
        **facts,
    )
