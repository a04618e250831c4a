"""Inputs that are projected near prototypes, generated from the integer model.

A random input is far from all prototypes and would get scores of 0. The search uses integers, and
floats only one at a time, so that the same model gives the same inputs on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.kinds.protonn.projection.integers import REQUANTIZE_SHIFT, IntegerProjection

Int64 = NDArray[np.int64]

_STEPS = 30


def inputs_near_prototypes(
    projection: IntegerProjection,
    prototypes: NDArray[np.int8],
    start: NDArray[np.uint8],
    count: int,
) -> Int64:
    """Return inputs (count, D) of a projection.

    Parameters
    ----------
    projection : IntegerProjection
        From D inputs to d coordinates.
    prototypes : ndarray of shape (d, m), int8
        B; inputs approach each in turn.
    start : ndarray of shape (D,), uint8
        Inputs to begin with.
    count : int
        How many.
    """
    targets = _targets(prototypes, count)
    return np.array([_inputs_near(projection, start, target) for target in targets], np.int64)


def _targets(prototypes: NDArray[np.int8], count: int) -> list[Int64]:
    """Return projected points (d,): from prototypes, a quarter of the way to another one."""
    B = prototypes.T.astype(np.int64)
    ways = [(n * len(B) // count, n) for n in range(count)]
    return [(3 * B[j] + B[(j + 1 + n) % len(B)]) >> 2 for j, n in ways]


def _inputs_near(projection: IntegerProjection, start: NDArray[np.uint8], target: Int64) -> Int64:
    """Descend the gradient of the squared distance to a target; return inputs (D,)."""
    W = projection.weights.astype(np.int64)
    maximum = projection.input_maximum
    inputs = start.astype(np.float64)
    for _ in range(_STEPS):
        rounded = np.rint(inputs).astype(np.uint8)
        missing = target - projection.run(rounded[None, :])[0]
        gradient = W.T @ missing  # integers: no order of summation changes them
        inside = np.where(gradient > 0, inputs < maximum, inputs > 0)
        gradient = np.where(inside, gradient, 0)
        effect = (W @ gradient).tolist()
        curvature = sum(each * each for each in effect)
        if curvature == 0:
            break
        slope = sum(a * b for a, b in zip(missing.tolist(), effect, strict=True))
        # Coordinates are accumulators times multiplier over 2**(16, or 24 of wide ones).
        unit = projection.multiplier / (1 << (REQUANTIZE_SHIFT + projection.accumulator_bits - 16))
        inputs = np.clip(inputs + slope / curvature / unit * gradient, 0, maximum)
    near: Int64 = np.rint(inputs).astype(np.int64)
    return near
