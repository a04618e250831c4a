"""Profiles of a table's columns, and features that give the label away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import with_point
from protonn_edge.datasets.dataset import ColumnRead, Dataset, is_sparse
from protonn_edge.datasets.naming import Notice, title
from protonn_edge.datasets.rules import is_number

_UNIT = re.compile(r".*\S\s*[(\[]([^()\[\]]{1,20})[)\]]\s*")
_MOST_FEATURES = 500  # that are compared with the label
_MOST_ROWS = 20_000
_FEWEST_ROWS = 50  # of fewer, a feature may agree with the label by chance
_MOST_COUNTS = 2_000_000
_GIVEN_AWAY, _ROWS_PER_VALUE = 0.995, 5


HEADINGS = ("column", "as", "type", "missing", "unread", "distinct", "range")
"""The headings of a table of columns."""


@dataclass(frozen=True)
class ColumnProfile:
    """Facts about a column; None if unknown."""

    name: str
    number: int
    role: str
    kind: str  # number, text or time
    unit: str
    missing: int
    unreadable: int
    distinct: int | None
    minimum: float | None
    maximum: float | None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of a table with the `HEADINGS`; the range has its unit."""
        counts = (self.missing, self.unreadable, self.distinct)
        ends = ""
        if self.minimum is not None and self.maximum is not None:
            ends = f"{self.minimum:g} to {self.maximum:g} {self.unit}".strip()
        if self.minimum is not None and self.distinct == 1:
            ends = f"always {self.minimum:g}"
        shown = (f"{count:,}" if count else "" for count in counts)
        return (self.name or str(self.number), self.role, self.kind, *shown, ends)


def profiles(dataset: Dataset) -> tuple[ColumnProfile, ...]:
    """Return the profile of each column in a table's training part; empty for other data."""
    return tuple(_profile(each, dataset) for each in dataset.columns)


def _profile(column: ColumnRead, dataset: Dataset) -> ColumnProfile:
    unit = _UNIT.fullmatch(column.name)
    missing, kind = column.missing, "number"
    values: NDArray[Any] = np.empty(0)
    distinct: int | None = None
    if column.feature is not None:
        values = dataset.X_train[:, column.feature]
        if dataset.gaps is not None:
            values = values[~dataset.gaps[:, column.feature]]
        values = np.unique(values[~np.isnan(values)])
        distinct = len(values)
    elif column.cells:
        texts = {cell.strip() for cell in column.cells} - {""}
        missing = missing or sum(not cell.strip() for cell in column.cells)
        distinct = len(texts)
        if all(map(is_number, texts)):
            values = np.array(sorted(float(with_point(text)) for text in texts))
        else:
            kind = "text"
    return ColumnProfile(
        name=column.name,
        number=column.number,
        role=column.role,
        kind="time" if column.role == "time" else kind,
        unit=unit[1].strip() if unit else "",
        missing=missing,
        unreadable=column.unreadable,
        distinct=distinct,
        minimum=float(values[0]) if len(values) else None,
        maximum=float(values[-1]) if len(values) else None,
    )


def leaks(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings of columns that alone give the label, by one threshold or value by value."""
    X, y = dataset.X_train, dataset.y_train
    if is_sparse(X) or y.ndim != 1 or len(y) < _FEWEST_ROWS or X.shape[1] > _MOST_FEATURES:
        return
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_MOST_ROWS])
    y = y[rows]
    for name, number, values in _compared(dataset):
        share, how = _given_away(values[rows], y, dataset.n_classes)
        if share > _GIVEN_AWAY:
            which = title(name, number)
            text = (
                f"{which} alone determines the label of {100 * share:.2f} % of the rows, {how}; if "
                "it is derived from the label, leave it out"
            )
            yield Notice("leak", text, warning=True, columns=(name or str(number),))


def _compared(dataset: Dataset) -> Iterator[tuple[str, int, NDArray[Any]]]:
    """Yield the name, the number and the values of each feature and each column of text."""
    names = dataset.feature_names or [""] * dataset.n_features
    for index, values in enumerate(dataset.X_train.T):
        yield names[index], index + 1, values
    for each in dataset.columns:
        if each.role == "text" and len(each.cells) == len(dataset.y_train):
            yield each.name, each.number, np.array(each.cells)


def _given_away(values: NDArray[Any], y: NDArray[np.int64], classes: int) -> tuple[float, str]:
    """Return the share of labels that values give away, and how; 0 if that proves nothing."""
    found, places = np.unique(values, return_inverse=True)
    if not 1 < len(found) <= _MOST_COUNTS // classes:
        return 0.0, ""
    flat = np.bincount(places * classes + y, minlength=len(found) * classes)
    counts = flat.reshape(len(found), classes)
    total = counts.sum(axis=0)
    below = counts.cumsum(axis=0)
    split = (below.max(axis=1) + (total - below).max(axis=1)).max()
    shares = [(0.0 if values.dtype.kind == "U" else float(split) / len(y), "by one threshold")]
    if _ROWS_PER_VALUE * len(found) <= len(y):
        shares.append((float(counts.max(axis=1).sum()) / len(y), "value by value"))
    share, how = max(shares)
    constant = float(total.max()) / len(y)
    return (share, how) if 10 * (1 - share) <= 1 - constant else (0.0, "")
