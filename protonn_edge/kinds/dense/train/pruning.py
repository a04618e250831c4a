"""Which weights of a network remain where it must not take more than some bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protonn_edge.errors import InputError
from protonn_edge.kinds.dense.integers import listed
from protonn_edge.training.points import Float32
from protonn_edge.training.thresholding import support

Mask = NDArray[np.bool_]


def stored_bytes(mask: Mask) -> int:
    """Return what the weights of a matrix (d, D) take: all of them, or those that remain."""
    return min(mask.size, listed(mask).nbytes)


def masks_of_share(matter: Sequence[Float32], share: float) -> list[Mask]:
    """Return where the weights are that matter most: the same share of each matrix."""
    return [support(each, share) & (each > 0) for each in matter]


def masks_within(matter: Sequence[Float32], budget: int) -> list[Mask] | None:
    """Return masks that take at most `budget` bytes; None if all weights do.

    Parameters
    ----------
    matter : sequence of ndarray, float32
        How much each weight of a matrix matters.
    budget : int
        Of all matrices together.
    """
    if sum(each.size for each in matter) <= budget:
        return None
    low, high = 0.0, 1.0
    while (high - low) * sum(each.size for each in matter) > 1:
        middle = (low + high) / 2
        fits = sum(map(stored_bytes, masks_of_share(matter, middle))) <= budget
        low, high = (middle, high) if fits else (low, middle)
    return masks_of_share(matter, low) if low else [np.zeros(each.shape, bool) for each in matter]


def check_budget(weights: Sequence[Float32], budget: int | None) -> None:
    """Refuse a budget that does not leave a weight for each hidden unit.

    Raises
    ------
    InputError
        If so; the sentence has the bytes that it takes.
    """
    units = sum(map(len, weights[:-1]))
    least = weights[-1].size + 2 * units
    if budget is not None and budget < least:
        raise InputError(
            f"a budget of {budget:,} B leaves less than a weight for each of {units:,} hidden "
            f"units; allow at least {least:,} B, or train fewer units"
        )
