"""ProtoNN as a scikit-learn estimator: nearest prototypes in a learned space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.kinds.protonn.train.learner import ProtoNNLearner
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.targets import nearest_distances


@dataclass(kw_only=True, eq=False, repr=False)
class ProtoNNClassifier(ProtoNNLearner, DeviceClassifier):
    """ProtoNN: nearest prototypes in a learned, low-dimensional space (Gupta et al., ICML 2017).

    The projection W, the prototypes B and their label vectors Z are learned together, each under a
    constraint on its number of non-zero entries. The score of class l is
    ``sum_j Z[l, j] exp(-gamma^2 ||B[:, j] - W x||^2)``.

    See `DeviceClassifier` for points, targets and attributes.

    References
    ----------
    .. [1] C. Gupta et al., "ProtoNN: Compressed and Accurate kNN for Resource-scarce Devices",
       ICML 2017.

    Examples
    --------
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = ProtoNNClassifier(n_projections=8, n_prototypes=30, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.96)
    True
    """

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return how well prototypes cover points X (n, D), far below 0 for unknown inputs.

        Returns
        -------
        ndarray of shape (n,)
            ``-gamma min_j ||b_j - W x||``: minus the distance to the nearest prototype, in RBF
            widths. Below -3, each RBF is less than 1/8000 of its maximum. Choose the limit between
            known and unknown inputs from points of both kinds, or as a low quantile over training
            points. Differences in directions that the projection ignores are not detected.
        """
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float32)
        model = self.model_
        head = protonn_head(model, "the nearness to prototypes")
        projected = model.normalized(points) @ head.projection.T.astype(np.float64)
        return -head.gamma * nearest_distances(projected, head.prototypes.T)
