"""Linear regression as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.policy.value.regressor import DeviceRegressor

_PASSES = 10  # of coordinate descent, for one of the solvers of classification


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegressor(DeviceRegressor, LinearClassifier):
    """L1-regularized linear regression (lasso), trained by scikit-learn.

    The prediction is ``offset + scale * (W x + b)``. Training minimizes half the mean squared error
    of normalized numbers plus `regularization` times the sum of the weights' magnitudes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from protonn_edge.kinds.linear.value.train import LinearRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(LinearRegressor().fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.4)
    True
    """

    def learn(self, data: TrainingSet) -> Learned:
        """Learn a weight per feature with scikit-learn's coordinate descent."""
        points = data.points
        X = points.X.astype(np.float64)
        lasso = Lasso(
            alpha=self.regularization,
            max_iter=_PASSES * self.max_iterations,
            tol=self.tolerance / _PASSES,
            random_state=data.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a remark reports it
            lasso.fit(X, points.y[:, 0].astype(np.float64), sample_weight=points.weight)
        weights, bias = lasso.coef_[None].astype(np.float32), np.array([lasso.intercept_])
        head = LinearHead(weights, bias, alone=True)
        errors = np.square(head.scores(X) - points.y)[:, 0]
        penalty = self.regularization * float(np.abs(lasso.coef_).sum())
        loss = float(np.average(errors, weights=points.weight)) / 2 + penalty
        report = data.report(head, loss)
        not_converged = (
            f"training did not converge within the limit of {lasso.n_iter_:,} passes over the "
            "points; allow more passes, or choose a larger tolerance or regularization"
        )
        remarks = () if lasso.n_iter_ < lasso.max_iter else (not_converged,)
        facts = {"trainer": "lasso", "passes": int(lasso.n_iter_)}
        return Learned.at_once(head, report, self.callback, remarks=remarks, facts=facts)
