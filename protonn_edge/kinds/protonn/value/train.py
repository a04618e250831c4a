"""ProtoNN as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.kinds.protonn.value.learner import ProtoNNValueLearner
from protonn_edge.policy.value.regressor import DeviceRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNRegressor(DeviceRegressor, ProtoNNValueLearner, ProtoNNClassifier):
    """A number from prototypes in a learned, low-dimensional space.

    The prediction is ``offset + scale * sum_j Z[0, j] exp(-gamma^2 ||B[:, j] - W x||^2)``: a
    network of radial basis functions whose inputs are projected by W. All matrices are learned
    together, as in `ProtoNNClassifier`, with the squared error as loss. Of few points, a fifth is
    held out first, to choose the noise of the training.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from protonn_edge.kinds.protonn.value.train import ProtoNNRegressor
    >>> X, y = make_friedman1(600, random_state=0)
    >>> regressor = ProtoNNRegressor(n_projections=6, n_prototypes=24, random_state=0)
    >>> regressor = regressor.fit(X[:400], y[:400])
    >>> bool(regressor.score(X[400:], y[400:]) > 0.8)
    True
    """
