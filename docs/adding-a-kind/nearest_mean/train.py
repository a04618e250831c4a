"""The example's training, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.kinds.nearest_mean.head import NearestMeanHead
from protonn_edge.kinds.nearest_mean.parameters import NearestMeanParameters
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.progress import Learned
from protonn_edge.learn.training_set import TrainingSet


@dataclass(kw_only=True, eq=False, repr=False)
class NearestMeanClassifier(NearestMeanParameters, DeviceClassifier):
    """The class whose mean is nearest, by the sum of absolute differences of features."""

    def learn(self, data: TrainingSet) -> Learned:
        """Return the weighted mean of each class; see `DeviceClassifier.learn`."""
        points = data.points
        weight = np.ones(len(points)) if points.weight is None else points.weight
        shares = data.targets() * weight[:, None]  # (n, L)
        means = shares.T @ points.X / shares.sum(axis=0)[:, None]
        head = NearestMeanHead(means.astype(np.float32))
        return Learned.at_once(head, data.logistic_report(head), self.callback)
