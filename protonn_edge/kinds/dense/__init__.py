"""Networks with hidden layers: matrix products with rectified sums that become bytes."""

from __future__ import annotations

from protonn_edge.model.entries import Kind

KINDS = (Kind("dense", "Dense", 2, has_learner=True),)
STAGES = {"dense": ""}
