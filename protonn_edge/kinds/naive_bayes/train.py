"""Gaussian naive Bayes as a scikit-learn estimator for devices."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import logsumexp
from sklearn.naive_bayes import GaussianNB

from protonn_edge.chain.model import Model
from protonn_edge.kinds.naive_bayes.head import NaiveBayesHead
from protonn_edge.kinds.naive_bayes.parameters import NaiveBayesParameters
from protonn_edge.kinds.naive_bayes.quantize import least_variances
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.points import TrainingSet
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import EpochReport, Learned, TrainingStopped
from protonn_edge.training.refusals import Refusal, one_class_in_memory
from protonn_edge.training.searched import FEATURES_SEARCHED, Between, Searched, SearchTask


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayesClassifier(NaiveBayesParameters, DeviceClassifier):
    """Gaussian naive Bayes, trained by scikit-learn.

    In each class the features are independent and normally distributed. A score is the logarithm of
    a class's prior times its density, relative to a density that is the same over the range of the
    training points. Variances are at least the square of a step of the bytes that the device
    receives.

    Examples
    --------
    >>> from protonn_edge.datasets import load_digits_dataset
    >>> from protonn_edge.kinds.naive_bayes.train import NaiveBayesClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = NaiveBayesClassifier(random_state=0).fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.8)
    True
    """

    refusals: ClassVar[tuple[Refusal, ...]] = one_class_in_memory("naive Bayes")

    @classmethod
    def searched(cls, task: SearchTask) -> Searched:  # noqa: ARG003
        """Return the search space: smoothing and features."""
        features = {name: getattr(cls, name) for name in FEATURES_SEARCHED}
        return Searched(
            {"var_smoothing": Between(1e-9, 1.0), **FEATURES_SEARCHED},
            tuple({"var_smoothing": each, **features} for each in (1e-9, 1e-1, 1e-2, 1e-3)),
            columns={"smoothing": ("var_smoothing",)},
        )

    @property
    def _scores_are_logits(self) -> bool:
        return True

    def _train(self, prepared: PreparedPoints) -> Learned:
        data = prepared.training_set()
        trained = GaussianNB(var_smoothing=self.frozen().var_smoothing)
        trained.fit(_dense(data.X), data.y, sample_weight=data.weights)
        inputs, normalizer = prepared.inputs, prepared.normalizer
        variances = np.maximum(trained.var_, least_variances(inputs, normalizer))
        ranges = np.abs((inputs.upper - inputs.lower) * normalizer.scale)
        densities = np.log(np.where(ranges > 0, ranges, 1.0)) - np.log(2 * np.pi * variances) / 2
        bias = np.log(trained.class_prior_) + densities.sum(axis=1)
        head = NaiveBayesHead(trained.theta_, variances, bias)
        model = Model(head=head, **prepared.parts)
        report = _report(model, data)
        if self.callback is not None:
            with suppress(TrainingStopped):  # nothing is left to stop
                self.callback(report)
        return Learned(model, (report,), facts={"trainer": type(trained).__name__})


def _report(model: Model, data: TrainingSet) -> EpochReport:
    """Return the report of the only epoch."""
    scores = model.head.scores(_dense(data.X))
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(data)), data.y]
    return EpochReport(
        epoch=1,
        epochs=1,
        objective=float(np.average(losses, weights=data.weights)),
        accuracy=_share_right(model, *data.evaluated),
        test_accuracy=None if data.test is None else _share_right(model, *data.test),
    )


def _share_right(model: Model, X: Any, y: Any) -> float:
    return float(np.mean(model.head.scores(_dense(X)).argmax(axis=1) == y))


def _dense(X: Any) -> NDArray[np.float64]:
    """Return points, dense or sparse, as an array."""
    return np.asarray(X.toarray() if issparse(X) else X, np.float64)
