"""The takes of a recording that become its test part."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.points.values import Values


def last_takes(
    take_of: NDArray[np.int64], labels: NDArray[np.int64], share: float
) -> NDArray[np.bool_]:
    """Return the rows (rows,) of each class's last takes that come closest to a share, not all."""
    tested = np.zeros(len(take_of), np.bool_)
    for label in np.unique(labels):
        takes, lengths = np.unique(take_of[labels == label], return_counts=True)
        held = np.cumsum(lengths[::-1])[: max(1, len(takes) - 1)]
        count = 1 + int(np.abs(held - share * lengths.sum()).argmin()) if len(takes) > 1 else 0
        tested |= np.isin(take_of, takes[len(takes) - count :])
    return tested


def takes_among_all(take_of: NDArray[np.int64], values: Values, share: float) -> NDArray[np.bool_]:
    """Return the rows (rows,) of a share of the takes, evenly spaced by their mean numbers."""
    takes = np.unique(take_of)
    order = np.argsort([values[take_of == take].mean() for take in takes], kind="stable")
    count = min(max(1, round(share * len(takes))), len(takes) - 1)
    places = ((np.arange(count) + 0.5) * len(takes) / max(count, 1)).astype(np.int64)
    return np.isin(take_of, takes[order[places]])
