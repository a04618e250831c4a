"""Search inputs that take a generated program long, to hold its bound of the cycles against."""

from __future__ import annotations

import numpy as np

from protonn_edge.codegen import Plan
from protonn_edge.codegen.plan import prototype_costs
from protonn_edge.quantization import IntegerModel, compared

_POINTS = 64
_ROUNDS = 60


def bad_inputs(model: IntegerModel, plan: Plan, Q: np.ndarray) -> np.ndarray:
    """Return inputs (k, D) uint8, none of them 0, the worst first; the search starts at Q."""
    generator = np.random.default_rng(0)
    steps = np.diff(prototype_costs(plan))

    def cost(points: np.ndarray) -> np.ndarray:
        return compared(model, model.project(points))[:, :, 1:].sum(axis=1) @ steps

    points = np.maximum(Q, 1).astype(np.uint8)
    points = points[np.argsort(-cost(points), kind="stable")[:_POINTS]]
    taken = cost(points)
    for _ in range(_ROUNDS):
        # Towards another point, in some of the features: what is between two bad ones may be worse.
        mates = points[generator.permutation(len(points))]
        share = generator.random((len(points), 1))
        moved = np.rint(points + share * (mates.astype(float) - points))
        change = generator.random(points.shape) < generator.random((len(points), 1))
        noise = generator.integers(-8, 9, points.shape) * (generator.random(points.shape) < 0.05)
        tried = np.where(change, moved, points) + noise
        tried = np.clip(tried, 1, model.inputs.maximum).astype(np.uint8)
        better = cost(tried) > taken
        points[better] = tried[better]
        taken = cost(points)
    return points[np.argsort(-taken, kind="stable")]
