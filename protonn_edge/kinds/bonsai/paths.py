"""Paths through complete binary trees, whose nodes are numbered level by level.

Node j has the children 2 j + 1, on the left, and 2 j + 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]


def depth_of(inner: int) -> int | None:
    """Return the depth of a tree by its number of inner nodes, None if it is not complete."""
    depth = (inner + 1).bit_length() - 1
    return depth if inner + 1 == 1 << depth else None


def paths(sums: NDArray[Any]) -> Nodes:
    """Return the nodes (n, depth + 1) on the paths of points from the root to a leaf.

    A point goes right from inner node j if its sum j is not negative.

    Parameters
    ----------
    sums : ndarray of shape (n, inner)
        The sums of the inner nodes.
    """
    n, inner = sums.shape
    depth = depth_of(inner)
    assert depth is not None
    ways = np.zeros((n, depth + 1), np.int64)
    rows = np.arange(n)
    for level in range(depth):
        here = ways[:, level]
        ways[:, level + 1] = 2 * here + 1 + (sums[rows, here] >= 0)
    return ways


def along(ways: Nodes, values: NDArray[Any]) -> NDArray[Any]:
    """Return the sums (n, R) of values (n, nodes, R) over the nodes on paths (n, depth + 1)."""
    met: NDArray[Any] = np.take_along_axis(values, ways[:, :, None], axis=1)
    return np.asarray(met.sum(axis=1))
