"""The example's training, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from protonn_edge.kinds.nearest_mean.head import NearestMeanHead
from protonn_edge.kinds.nearest_mean.parameters import NearestMeanParameters
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.points import Points
from protonn_edge.learn.progress import Learned, logistic_report


class NearestMeanLearner(Learner):
    """Computes the means."""

    def fit(self, points: Points) -> Learned:
        """Return the weighted mean of each class; see `Learner.fit`."""
        weight = np.ones(len(points)) if points.weight is None else points.weight
        shares = points.Y * weight[:, None]  # (n, L)
        means = shares.T @ points.X / shares.sum(axis=0)[:, None]
        head = NearestMeanHead(means.astype(np.float32))
        report = logistic_report(head, points, weight)
        return Learned.at_once(head, report, self.settings.callback)


@dataclass(kw_only=True, eq=False, repr=False)
class NearestMeanClassifier(NearestMeanParameters, DeviceClassifier):
    """The class whose mean is nearest, by the sum of absolute differences of features."""

    learner: ClassVar[type[Learner]] = NearestMeanLearner
