"""Rows of a table that follow one another as samples of a recording do.

Held-out rows then lie between training rows that are nearly equal, and any model looks good.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from protonn_edge.datasets.dataset import Dataset
from protonn_edge.datasets.naming import Notice

_FEWEST_ROWS = 50
_FEWEST_FEATURES = 2  # a table may be sorted by one
_IN_RUNS = 0.5  # of all rows have the label of the row before
_SMOOTH = 0.2  # of what rows in random order differ by (von Neumann, 1941)


def about_neighbours(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning if rows resemble the next one of their class in most features."""
    X, y = dataset.X_train, dataset.y_train
    if dataset.predicts != "class" or y.ndim != 1 or len(y) < _FEWEST_ROWS:
        return
    follows = y[1:] == y[:-1]
    if follows.mean() < _IN_RUNS:
        return
    means = np.stack([X[y == label].mean(axis=0) for label in range(dataset.n_classes)])
    usual = 2 * np.var(X - means[y], axis=0)
    steps = np.square(np.diff(X, axis=0)[follows]).mean(axis=0)
    varies = usual > 0
    smooth = steps[varies] < _SMOOTH * usual[varies]
    if smooth.sum() >= _FEWEST_FEATURES and 2 * smooth.sum() > len(smooth):
        text = (
            "most rows are nearly equal to the row before, as samples of a recording are, so "
            "held-out rows resemble training rows, and the accuracy on other recordings is lower; "
            "name the recording of each row with --groups, or use 'protonn-edge windows'"
        )
        yield Notice("neighbours", text, warning=True)
