"""Rows of a table that follow one another as samples of a recording do.

Held-out rows then lie between training rows that are nearly equal, and any model looks good.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.naming import Notice

_FEWEST_ROWS = 50
_FEWEST_FEATURES = 2  # a table may be sorted by one
_IN_RUNS = 0.5  # of all rows have the label of the row before
_SMOOTH = 0.2  # of what rows in random order differ by (von Neumann, 1941)


def about_neighbours(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning if rows resemble the next one in most features.

    A table may be sorted by its labels, so rows are compared with others of nearly the same label.
    """
    X, y = dataset.X_train, dataset.label_keys
    if len(y) < _FEWEST_ROWS:
        return
    order = np.random.default_rng(0).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    alike = np.ones(len(y) - 1, np.bool_), np.ones(len(y) - 1, np.bool_)
    if dataset.predicts != "value":
        alike = y[1:] == y[:-1], y[order][1:] == y[order][:-1]
    if alike[0].mean() < _IN_RUNS:
        return
    steps, usual = (
        np.square(np.diff(rows, axis=0)[each]).mean(axis=0)
        for rows, each in zip((X, X[order]), alike, strict=True)
    )
    varies = usual > 0
    smooth = steps[varies] < _SMOOTH * usual[varies]
    if smooth.sum() >= _FEWEST_FEATURES and 2 * smooth.sum() > len(smooth):
        text = (
            "most rows are nearly equal to the row before, as samples of a recording are, so "
            "held-out rows resemble training rows, and the accuracy on other recordings is lower; "
            "name the recording of each row with --groups, or use 'protonn-edge windows'"
        )
        yield Notice("neighbours", text, warning=True)
