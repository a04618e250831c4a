"""Hard thresholding, which keeps a matrix within its share of non-zero entries during training.

A share below 1 is reached gradually over the first half of the steps, and the supports are fixed in
the last quarter, so that the remaining entries converge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array

_THINNING_ENDS = 0.5
_SUPPORT_FREEZES = 0.75


def kept_entries(size: int, fraction: float) -> int:
    """Return how many of `size` entries a share of `fraction` keeps, at least 1.

    The paper's constraint is ``||A||_0 <= lambda * size(A)``. A small constant is added for
    products such as 0.3 * 10, which are rounded to just below an integer.
    """
    return min(size, max(1, math.floor(fraction * size + 1e-9)))


def support(matrix: NDArray[np.float32], fraction: float) -> NDArray[np.bool_]:
    """Return where the largest entries of `matrix` are (ProtoNN paper, section 4, ``HT_s``).

    There are exactly ``kept_entries(matrix.size, fraction)`` of them, for a fraction in (0, 1];
    among equal magnitudes the first in C order.
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


class Sparsifier:
    """Keeps matrices within their shares of non-zero entries during training.

    Entries are compared by magnitude; in the matrices with indices `by_row`, relative to the length
    of their row, since that length has no meaning.
    """

    def __init__(self, shares: tuple[float, ...], by_row: tuple[int, ...] = ()) -> None:
        self._shares, self._by_row = shares, by_row
        self._frozen: dict[int, NDArray[np.bool_]] = {}

    def tightens(self, progress: float) -> bool:
        """Whether matrices may have to lose entries at this point."""
        return progress < _SUPPORT_FREEZES and min(self._shares, default=1.0) < 1.0

    def apply(self, parameters: Iterable[Array], progress: float) -> None:
        """Threshold in place; `progress` is the share of steps done, 0 to 1."""
        for index, (matrix, share) in enumerate(zip(parameters, self._shares, strict=False)):
            if share >= 1.0:
                continue
            mask = self._frozen.get(index)
            if mask is None:
                compared = in_shares_of_rows(matrix) if index in self._by_row else matrix
                mask = support(compared, _share_at(share, progress))
                if progress >= _SUPPORT_FREEZES:
                    self._frozen[index] = mask
            matrix[...] *= mask


def _share_at(share: float, progress: float) -> float:
    """Return the current limit: it decreases from 1 to `share`, fast at first (cubic)."""
    left = max(0.0, 1.0 - progress / _THINNING_ENDS)
    return share + (1.0 - share) * left**3
