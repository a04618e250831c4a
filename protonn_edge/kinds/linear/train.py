"""Logistic regression as a scikit-learn estimator: a weight per feature and class."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.linear.parameters import NETWORK, LinearParameters
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.network_head import NetworkHead
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.searched import (
    FEATURES_BEGUN,
    FEATURES_SEARCHED,
    Between,
    SearchSpec,
    SearchTask,
)
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.statistics import Normalizer
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject

_HEAD_KEPT = (
    "the training of the layers was stopped, so the classifier keeps the weights that were trained "
    "with the layers, as with the solver 'network'"
)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(LinearParameters, DeviceClassifier):
    """L1-regularized logistic regression, trained by scikit-learn.

    The scores are ``W x + b``, with a row of W for each class, or a single row for two classes.
    Training minimizes the mean logistic loss plus `regularization` times the sum of the weights'
    magnitudes. The penalty makes unimportant weights zero, which take no flash or time on a device.

    Examples
    --------
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge.kinds.linear.train import LinearClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = LinearClassifier(regularization=1e-3, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.93)
    True
    """

    network_head: NetworkHead | None = field(init=False, default=None)

    scores_are_logits = True

    @classmethod
    def searched(cls, _task: SearchTask) -> SearchSpec:
        """Return the search space: regularization and features."""
        return SearchSpec(
            {"regularization": Between(1e-6, 3e-2), **FEATURES_SEARCHED},
            tuple({"regularization": each, **FEATURES_BEGUN} for each in (1e-4, 1e-3, 1e-2, 1e-5)),
            columns={"regularization": ("regularization",)},
        )

    def learn(self, data: TrainingSet) -> Learned:
        """Learn with scikit-learn's solvers, or keep the head of a network."""
        network, points = self.network_head, data.points
        stopped = network is not None and network.stopped
        if self.solver == NETWORK or (stopped and data.for_device):
            assert network is not None  # otherwise refused before
            head = _head_of(network, data.space.normalizer)
            report = data.logistic_report(head)
            remarks = (_HEAD_KEPT,) if self.solver != NETWORK else ()
            facts: JsonObject = {"trainer": NETWORK}
            return Learned.at_once(head, report, self.callback, remarks=remarks, facts=facts)
        most_passes = 1 if stopped else self.max_iterations
        solver = _solver(self, data.n_classes)
        weights = np.ones(len(points)) if points.weight is None else points.weight
        regression = LogisticRegression(
            **_l1_penalty(),
            C=1 / (self.regularization * float(weights.sum())),
            solver=solver,
            max_iter=most_passes,
            tol=self.tolerance,
            random_state=data.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a remark reports it
            regression.fit(points.X, points.y, sample_weight=weights)
        bias = regression.intercept_.astype(np.float64)
        head = LinearHead(regression.coef_, bias)
        penalty = self.regularization * float(np.abs(head.weights).sum())
        report = data.logistic_report(head, penalty)
        passes = int(np.max(regression.n_iter_))
        not_converged = (
            f"training did not converge within the limit of {passes:,} passes over the points; "
            "allow more passes, or choose a larger tolerance or regularization"
        )
        remarks = () if passes < most_passes else (not_converged,)
        facts = {"trainer": solver, "passes": passes}
        return Learned.at_once(head, report, self.callback, remarks=remarks, facts=facts)

    def keep_head(self, head: NetworkHead) -> None:
        """Keep the head of the network; it may become the classifier."""
        self.network_head = head


def _head_of(network: NetworkHead, normalizer: Normalizer) -> LinearHead:
    """Return a network's head as the head of normalized points."""
    weights, bias = (each.astype(np.float64) for each in network.parameters)
    weights *= network.unit
    if len(bias) == 2:  # one row is enough for two classes
        weights, bias = np.diff(weights, axis=0), np.diff(bias)
    scale = np.where(normalizer.scale == 0, np.inf, normalizer.scale)
    normalized = (weights / scale).astype(np.float32)
    return LinearHead(normalized, bias + weights @ normalizer.offset)


def _solver(settings: LinearClassifier, n_classes: int) -> str:
    """Return the solver that "auto" stands for, or the given one."""
    if settings.solver == "liblinear" and n_classes > 2:
        raise InputError(
            f"the solver 'liblinear' supports only two classes, but there are {n_classes:,}; "
            "choose 'saga'"
        )
    if settings.solver == "auto":
        return "liblinear" if n_classes == 2 else "saga"
    return settings.solver


def _l1_penalty() -> dict[str, object]:
    """Return scikit-learn's arguments for an L1 penalty, which version 1.8 changed."""
    by_ratio = LogisticRegression().penalty == "deprecated"
    return {"l1_ratio": 1.0} if by_ratio else {"penalty": "l1"}
