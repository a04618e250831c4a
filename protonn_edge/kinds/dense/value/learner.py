"""What learns a network that predicts a number."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.kinds.dense.learner import DenseLearner
from protonn_edge.policy.value.train import PredictsNumbers


@dataclass(kw_only=True, eq=False, repr=False)
class DenseValueLearner(PredictsNumbers, DenseLearner):
    """Learns a network of a number; `DenseRegressor` describes it."""

    scores_are_logits = False
