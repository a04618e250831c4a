"""Networks as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.kinds.dense.learner import DenseLearner
from protonn_edge.learn.base import DeviceClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class DenseClassifier(DenseLearner, DeviceClassifier):
    """A network of one or two hidden layers with rectified units, pruned by magnitude.

    All weights are trained with Adam on the cross-entropy. If they exceed `size_budget`, the least
    important ones are set to 0 in several rounds, and training continues with the others (Han et
    al. 2016 [1]_). The importance of a weight is its magnitude times the deviation of its input.

    References
    ----------
    .. [1] S. Han, H. Mao and W. J. Dally, "Deep Compression", ICLR 2016.

    Examples
    --------
    >>> from protonn_edge import load_digits_dataset
    >>> from protonn_edge.kinds.dense.train import DenseClassifier
    >>> digits = load_digits_dataset()
    >>> classifier = DenseClassifier(hidden="16", size_budget=800, epochs=40, random_state=0)
    >>> classifier = classifier.fit(digits.X_train, digits.y_train)
    >>> bool(classifier.score(digits.X_test, digits.y_test) > 0.9)
    True
    """
