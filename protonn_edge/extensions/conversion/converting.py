"""Convert a fitted estimator of scikit-learn to a model that fits a board, and measure the loss.

Linear functions, including nearest centroids, become a linear model, and trees become forests,
pruned until they fit. All others, and linear models that are too large, are reduced to prototypes
and then trained on the estimator's answers instead of labels. The result is the model whose
integers agree with the estimator on most points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sklearn
from numpy.typing import ArrayLike

import protonn_edge
from protonn_edge.chips.boards import Board, board_of
from protonn_edge.data.naming import check_names, label_text
from protonn_edge.extensions.conversion import EPOCHS
from protonn_edge.extensions.conversion.affine import rows_of
from protonn_edge.extensions.conversion.answered import CLASSES, Answers
from protonn_edge.extensions.conversion.estimators import read_estimator
from protonn_edge.extensions.conversion.kept import (
    Conversion,
    measured_steps,
    warning_of_gaps,
)
from protonn_edge.extensions.conversion.protonn.reduction import reduced
from protonn_edge.extensions.conversion.reading import numbers_in_range
from protonn_edge.extensions.conversion.search import (
    Candidate,
    FittedEstimator,
    ModelSearch,
    SizeLimit,
)
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.integer_stage import check_counts
from protonn_edge.model.model import Model, with_units_of
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.rounding import one_thread


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
    """Convert a fitted classifier or regressor of scikit-learn into a model for a board.

    Parameters
    ----------
    estimator : estimator
        A fitted SVC or NuSVC with ``kernel="rbf"``, KNeighborsClassifier (Euclidean),
        NearestCentroid (Euclidean), a linear classifier of scikit-learn, such as
        LogisticRegression, LinearSVC, RidgeClassifier or SGDClassifier, a DecisionTreeClassifier,
        RandomForestClassifier, ExtraTreesClassifier, GradientBoostingClassifier or
        HistGradientBoostingClassifier; an XGBClassifier, an LGBMClassifier or a Booster of either
        library; a Pipeline of the transformers that `from_pipeline` supports, and one of these; or
        a search for the parameters of one.
        Or a regressor of the same kinds, as docs/conversion.md lists them.
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
        Display names in the order of the estimator's ``classes_``; by default the labels. Of a
        regressor, the only one names its number.
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
    >>> from protonn_edge import load_digits_dataset
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
        check(number is None or number >= least, name, number, f"at least {least}")
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
    answered, actual = fitted.answered, None
    if labels is not None:
        actual = answered.of_labels(fitted, labels, len(measured))
    tuned = _classes_to_tune_on(fitted, y, len(points)) if fine_tune else None
    limit = SizeLimit(board_of(board), budget, n_projections, n_prototypes)
    with one_thread():  # for reproducible numbers
        candidate = ModelSearch(
            fitted, points, names, limit, epochs, random_state, reduced, tuned
        ).best()
    model = with_units_of(candidate.model, points)
    warning = fitted.rule.warned(points, fitted.features, model)
    if as_given is not None:
        warning = warning_of_gaps(share_right(fitted.answers(measured), as_given)) or warning
    facts = {"board": limit.board, "held_out": evaluate_on is not None, "warning": warning}
    return _conversion(candidate, model, fitted, measured, as_given, actual, **facts)


def _classes_to_tune_on(fitted: FittedEstimator, y: ArrayLike | None, n: int) -> Indices:
    """Return the classes of n labelled points, or refuse what cannot be trained on them."""
    if fitted.rule.not_tuned:
        raise InvalidValue(
            "fine-tuning",
            f"only for networks of floats, but the {fitted.name} {fitted.rule.not_tuned}",
            "omit fine-tuning",
        )
    if y is None:
        raise InvalidValue("fine-tuning", "no labels of the points", "pass them as y")
    classes: Indices = CLASSES.of_labels(fitted, y, n)
    return classes


def _conversion(
    candidate: Candidate,
    model: Model,
    estimator: FittedEstimator,
    X: Float32,
    as_given: Answers | None,
    y: Answers | None,
    **facts: Any,
) -> Conversion:
    """Measure the steps on points of labels y, and record the conversion in the model.

    `as_given` are the estimator's answers to the same points with their gaps, if it accepts these.
    """
    predicted = {"estimator": estimator.answers(X)}
    if as_given is not None:
        predicted = {"estimator": as_given, "filled": predicted["estimator"]}
    predicted |= {name: model.predict(X) for name, model in candidate.steps}
    answered = estimator.answered
    predicted["integers"] = of_integers = answered.of_integers(candidate.integers, X)
    if y is not None and facts["held_out"]:
        model = answered.completed(model, of_integers, y)
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
        steps=measured_steps(answered, predicted, y),
        n=len(X),
        model_bytes=candidate.integers.model_bytes,
        plan=candidate.plan,
        source=estimator,
        **facts,
    )
