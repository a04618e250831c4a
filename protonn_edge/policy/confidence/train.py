"""The temperature of a new model's softmax, from its training points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.learn.calibration import fitted_sharpness
from protonn_edge.policy.confidence.rule import Sharpness
from protonn_edge.system.rounding import one_thread

if TYPE_CHECKING:
    from protonn_edge.learn.learner import Learner


def fitted(classifier: Learner, points: ArrayLike, targets: NDArray[np.int64]) -> Sharpness:
    """Return the factor on scores before the softmax; see `predict_proba`."""
    with one_thread():  # reproducible
        scores = classifier.model_.scores(points)[:, : len(classifier.classes_)]
        sharpness = fitted_sharpness(scores, targets, certain=False)
    return Sharpness(min(sharpness, 1.0) if classifier.scores_are_logits else sharpness)
