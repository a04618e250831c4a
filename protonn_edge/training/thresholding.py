"""Hard thresholding, which keeps a matrix within its share of non-zero entries."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def kept_entries(size: int, fraction: float) -> int:
    """Return how many of `size` entries a share of `fraction` keeps, at least 1.

    The paper's constraint is ``||A||_0 <= lambda * size(A)``. A small constant is added for
    products such as 0.3 * 10, which are rounded to just below an integer.
    """
    return min(size, max(1, math.floor(fraction * size + 1e-9)))


def support(matrix: NDArray[np.float32], fraction: float) -> NDArray[np.bool_]:
    """Return where the largest entries of `matrix` are (ProtoNN paper, section 4, ``HT_s``).

    - `fraction`: share of the entries to keep, in (0, 1].

    Returns true at exactly ``kept_entries(matrix.size, fraction)`` places, those of the largest
    magnitudes; among equal magnitudes the first in C order.
    """
    keep = kept_entries(matrix.size, fraction)
    magnitudes = np.abs(matrix).ravel()
    chosen = np.zeros(matrix.size, dtype=np.bool_)
    if keep == matrix.size:
        chosen[:] = True
    else:
        limit = np.partition(magnitudes, matrix.size - keep)[matrix.size - keep]
        chosen[magnitudes > limit] = True
        ties = np.flatnonzero(magnitudes == limit)
        chosen[ties[: keep - int(chosen.sum())]] = True
    return chosen.reshape(matrix.shape)


def hard_threshold(matrix: NDArray[np.float32], fraction: float) -> NDArray[np.float32]:
    """Return `matrix` with all but its largest entries set to zero; see `support`."""
    return np.where(support(matrix, fraction), matrix, np.float32(0.0))


def in_shares_of_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a matrix with rows normalized to length 1; zero rows are unchanged."""
    lengths: NDArray[np.float32] = np.linalg.norm(matrix, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return matrix / lengths
