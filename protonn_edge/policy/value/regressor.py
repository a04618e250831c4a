"""The base of all estimators that predict a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import RegressorTags
from sklearn.utils.validation import check_is_fitted, validate_data

from protonn_edge.policy.value.train import PredictsNumbers
from protonn_edge.system.errors import unneeded
from protonn_edge.system.scikit import RegressorMixin


class DeviceRegressor(PredictsNumbers, RegressorMixin):
    """The methods of an estimator that predicts a number; a base before the classifier's."""

    model_: Any

    def predict(self, X: ArrayLike, *, unknown: object = None) -> NDArray[np.float64]:
        """Return the number (n,) that is predicted for each of the points X (n, D).

        Raises `InputError` if `unknown` is given: a number is never unknown.
        """
        check_is_fitted(self)
        if unknown is not None:
            raise unneeded("unknown", f"is {unknown!r}, but a regressor always predicts a number")
        points = validate_data(self, X, reset=False, dtype=np.float32)
        return np.asarray(self.model_.predict(points))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.classifier_tags = None
        return tags
