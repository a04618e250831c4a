"""Logistic regression as a scikit-learn estimator for devices: one weight a feature and class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from protonn_edge.errors import InputError
from protonn_edge.model.linear import LinearModel
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.options import PASSES, Choices, real
from protonn_edge.training.points import TrainingSet
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import EpochReport, Learned
from protonn_edge.training.refusals import Refusal, one_class_in_memory
from protonn_edge.training.searched import FEATURES_SEARCHED, Between, Room, Searched
from protonn_edge.training.settings import TrainingSettings

SOLVERS = ("auto", "liblinear", "saga")


@dataclass(kw_only=True, eq=False)
class LinearSettings(TrainingSettings):
    """What the training of a linear classifier reads besides; see `LinearClassifier`."""

    regularization: float
    solver: str
    max_iterations: int
    tolerance: float


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(DeviceClassifier):
    """L1-regularized logistic regression, trained by scikit-learn.

    The scores are ``W x + b``, a row of W for each class; of two classes one row is enough. The
    penalty makes weights zero that are worth little, which take neither flash nor time on a device.
    Training minimizes the mean logistic loss plus `regularization` times the sum of the weights'
    magnitudes.

    Its further parameters are those of `DeviceClassifier`.

    Parameters
    ----------
    regularization : float, default=1e-4
        What the weights' magnitudes count, for normalized features: larger is sparser. In terms of
        scikit-learn it is ``1 / (n C)`` for n points, so that it means the same for more of them.
    solver : {"auto", "liblinear", "saga"}, default="auto"
        scikit-learn's: liblinear, which is the faster one, is for two classes, and has a penalty on
        the bias, too. "auto" takes it where it can, saga elsewhere.
    max_iterations : int, default=500
        Passes over the points, at most.
    tolerance : float, default=3e-3
        How little must change in a pass for training to end before; see scikit-learn's ``tol``.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.training.linear import LinearClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = LinearClassifier(regularization=1e-3, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.93)
    True
    """

    regularization: float = 1e-4
    solver: str = "auto"
    max_iterations: int = 500
    tolerance: float = 3e-3

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "regularization": [real(1e-12, 1e3)],
        "solver": [Choices(SOLVERS)],
        "max_iterations": [PASSES],
        "tolerance": [real(1e-12, 1.0)],
    }
    flags: ClassVar[dict[str, tuple[str, str]]] = {
        "regularization": (
            "--regularization",
            "Linear: what the magnitudes of weights count; larger is sparser.",
        ),
        "solver": ("--solver", "Linear: that of scikit-learn; liblinear is for two classes."),
        "max_iterations": ("--max-iterations", "Linear: passes over the points, at most."),
        "tolerance": ("--tolerance", "Linear: the change at which training ends."),
    }
    refusals: ClassVar[tuple[Refusal, ...]] = one_class_in_memory("a linear classifier")

    @classmethod
    def searched(cls, room: Room) -> Searched:  # noqa: ARG003
        """Return the regularization, and what is done to the features."""
        features = {name: getattr(cls, name) for name in FEATURES_SEARCHED}
        return Searched(
            {"regularization": Between(1e-6, 3e-2), **FEATURES_SEARCHED},
            tuple({"regularization": each, **features} for each in (1e-4, 1e-3, 1e-2, 1e-5)),
            columns={"regularization": ("regularization",)},
        )

    def training_settings(self) -> LinearSettings:
        """Return what training reads: the parameters, as they are now."""
        return LinearSettings.of(self.get_params(deep=False))

    @property
    def _scores_are_logits(self) -> bool:
        return True

    def _train(self, prepared: PreparedPoints) -> Learned:
        settings, data = self.training_settings(), prepared.training_set()
        solver = _solver(settings, prepared.n_classes)
        weights = np.ones(len(data)) if data.weights is None else data.weights
        regression = LogisticRegression(
            **_l1_penalty(),
            C=1 / (settings.regularization * float(weights.sum())),
            solver=solver,
            max_iter=settings.max_iterations,
            tol=settings.tolerance,
            random_state=prepared.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it becomes a remark
            regression.fit(data.X, data.y, sample_weight=weights)
        bias = regression.intercept_.astype(np.float64)
        model = LinearModel(weights=regression.coef_, bias=bias, **prepared.parts)
        report = _report(model, data, weights, settings.regularization)
        if self.callback is not None:
            self.callback(report)
        passes = int(np.max(regression.n_iter_))
        converged = passes < settings.max_iterations
        remarks = () if converged else (_not_converged(passes),)
        facts = {"trainer": solver, "passes": passes}
        return Learned(model, (report,), remarks=remarks, facts=facts)


def _solver(settings: LinearSettings, n_classes: int) -> str:
    """Return the solver for this many classes."""
    if settings.solver == "liblinear" and n_classes > 2:
        raise InputError(
            f"the solver liblinear tells two classes apart, but there are {n_classes:,}; take saga"
        )
    if settings.solver == "auto":
        return "liblinear" if n_classes == 2 else "saga"
    return settings.solver


def _l1_penalty() -> dict[str, Any]:
    """Return what makes scikit-learn's penalty L1; since version 1.8 a ratio does so alone."""
    by_ratio = LogisticRegression().penalty == "deprecated"
    return {"l1_ratio": 1.0} if by_ratio else {"penalty": "l1"}


def _report(
    model: LinearModel, data: TrainingSet, weights: NDArray[Any], regularization: float
) -> EpochReport:
    """Return the report of the one epoch that there is."""
    scores = model.scores_of_normalized(data.X)
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(data)), data.y]
    penalty = regularization * float(np.abs(model.weights).sum())
    return EpochReport(
        epoch=1,
        epochs=1,
        objective=float(np.average(losses, weights=weights)) + penalty,
        accuracy=_share_right(model, *data.evaluated),
        test_accuracy=None if data.test is None else _share_right(model, *data.test),
    )


def _share_right(model: LinearModel, X: Any, y: Any) -> float:
    return float(np.mean(model.scores_of_normalized(X).argmax(axis=1) == y))


def _not_converged(passes: int) -> str:
    return (
        f"training had not converged after {passes:,} passes over the points, which is the most "
        "that it may make; allow for more, or take a larger tolerance or regularization"
    )
