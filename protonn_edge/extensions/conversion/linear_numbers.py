"""Fitted linear regressors become linear models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn import linear_model
from sklearn.svm import SVR, LinearSVR

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import Float64
from protonn_edge.extensions.conversion.linear import LinearRule
from protonn_edge.extensions.conversion.numbers import NumberRule, scale_of
from protonn_edge.extensions.conversion.search import Candidate, ModelSearch, Readers
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.learn.normalization import normalizer_from
from protonn_edge.model.model import Model


@dataclass(frozen=True, eq=False)
class LinearNumberRule(NumberRule, LinearRule):
    """The number ``coefficients z + intercept``."""

    def answers(self, Z: Float64) -> Float64:
        """Return the number for each point Z (n, k)."""
        return self.decisions(Z)[:, 0]

    def best(self, search: ModelSearch) -> Candidate:
        """Return the function as a linear model."""
        features, normalizer = search.estimator.features, normalizer_from("standard", search.inputs)
        value = scale_of(search)
        W = features.weights(self.coefficients) / normalizer.scale / value.scale
        at_mean = self.decisions(features.apply(normalizer.offset[None]))[0]
        head = LinearHead(W.astype(np.float32), (at_mean - value.offset) / value.scale, alone=True)
        model = Model(head=head, normalizer=normalizer, inputs=search.inputs, **search.names)
        return search.candidate(("exact", model))


def linear_rule(regressor: object, k: int, _n_labels: int) -> LinearNumberRule:
    """Return the function of a linear regressor of k features."""
    if isinstance(regressor, SVR):
        reading.check_text(regressor, "kernel", "linear")
    shape = reading.array_of(regressor, "coef_").shape
    if len(shape) > 1 and shape[0] != 1:
        raise reading.several_outputs(regressor)
    coefficients = reading.numbers_of(regressor, "coef_", (1, k) if len(shape) > 1 else (k,))
    given = reading.array_of(regressor, "intercept_").shape
    intercept = reading.numbers_of(regressor, "intercept_", () if given == () else (1,))
    return LinearNumberRule(coefficients.reshape(1, k), intercept.reshape(1))


_TYPES = (
    *(linear_model.LinearRegression, linear_model.Ridge, linear_model.RidgeCV),
    *(linear_model.Lasso, linear_model.LassoCV, linear_model.ElasticNet, linear_model.ElasticNetCV),
    *(linear_model.HuberRegressor, linear_model.SGDRegressor, LinearSVR, SVR),
)
READERS: Readers = dict.fromkeys(_TYPES, linear_rule)
