"""Networks as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.kinds.dense.train import DenseClassifier
from protonn_edge.kinds.dense.value.learner import DenseValueLearner
from protonn_edge.policy.value.regressor import DeviceRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class DenseRegressor(DeviceRegressor, DenseValueLearner, DenseClassifier):
    """A number from a network of one or two hidden layers with rectified units.

    The prediction is ``offset + scale * (w v + b)``, with v the values of the last hidden layer.
    All weights are trained with Adam on the squared error, and pruned as in `DenseClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from protonn_edge.kinds.dense.value.train import DenseRegressor
    >>> X, y = make_friedman1(600, random_state=0)
    >>> regressor = DenseRegressor(hidden="20", random_state=0).fit(X[:400], y[:400])
    >>> bool(regressor.score(X[400:], y[400:]) > 0.8)
    True
    """
