"""Gaussian naive Bayes as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.naive_bayes import GaussianNB

from protonn_edge.chain.model import Model
from protonn_edge.datasets.dataset import dense_rows
from protonn_edge.kinds.naive_bayes.head import NaiveBayesHead
from protonn_edge.kinds.naive_bayes.parameters import NaiveBayesParameters
from protonn_edge.kinds.naive_bayes.quantize import least_variances
from protonn_edge.training.base import DeviceClassifier
from protonn_edge.training.preparation import PreparedPoints
from protonn_edge.training.progress import Learned, logistic_report
from protonn_edge.training.refusals import Refusal, one_class_in_memory
from protonn_edge.training.searched import FEATURES_SEARCHED, Between, SearchSpec, SearchTask


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayesClassifier(NaiveBayesParameters, DeviceClassifier):
    """Gaussian naive Bayes, trained by scikit-learn.

    In each class, features are assumed to be independent and normally distributed. A score is the
    logarithm of the class's prior times its density, relative to a uniform density over the range
    of the training points. Variances are at least the square of a step of the bytes that the device
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

    scores_are_logits = True
    refusals: ClassVar[tuple[Refusal, ...]] = one_class_in_memory("naive Bayes")

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:  # noqa: ARG003
        """Return the search space: smoothing and features."""
        features = {name: getattr(cls, name) for name in FEATURES_SEARCHED}
        return SearchSpec(
            {"var_smoothing": Between(1e-9, 1.0), **FEATURES_SEARCHED},
            tuple({"var_smoothing": each, **features} for each in (1e-9, 1e-1, 1e-2, 1e-3)),
            columns={"smoothing": ("var_smoothing",)},
        )

    def _train(self, prepared: PreparedPoints) -> Learned:
        data = prepared.training_set()
        trained = GaussianNB(var_smoothing=self.frozen().var_smoothing)
        X = dense_rows(data.X, slice(None)).astype(np.float64)
        trained.fit(X, data.y, sample_weight=data.weights)
        inputs, normalizer = prepared.inputs, prepared.normalizer
        variances = np.maximum(trained.var_, least_variances(inputs, normalizer))
        ranges = np.abs((inputs.upper - inputs.lower) * normalizer.scale)
        densities = np.log(np.where(ranges > 0, ranges, 1.0)) - np.log(2 * np.pi * variances) / 2
        bias = np.log(trained.class_prior_) + densities.sum(axis=1)
        head = NaiveBayesHead(trained.theta_, variances, bias)
        model = Model(head=head, **prepared.parts)
        report = logistic_report(model, data, data.weights)
        facts = {"trainer": type(trained).__name__}
        return Learned.at_once(model, report, self.callback, facts=facts)
