"""Facts about labelled data: classes, ranges, repeated points, and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.points.dataset import Dataset, row_hashes
from protonn_edge.data.tables.cells import decimals_of
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.units import split_unit
from protonn_edge.system.arrays import Array
from protonn_edge.system.schema import JsonObject

_MOST_FEATURES = 500  # maximum described one by one


@dataclass(frozen=True)
class ClassSummary:
    """The numbers of training and test points with a label."""

    name: str
    train: int
    test: int


@dataclass(frozen=True)
class FeatureSummary:
    """The values of a feature in the training points; `decimals` is None for more than 6."""

    name: str
    minimum: float
    maximum: float
    decimals: int | None


@dataclass(frozen=True)
class DataSummary:
    """A summary of a data set, with the range of all features.

    Features are not described one by one if they are more than 500.
    """

    n_train: int
    n_test: int
    n_features: int
    classes: tuple[ClassSummary, ...]
    minimum: float
    maximum: float
    features: tuple[FeatureSummary, ...]

    @classmethod
    def of(cls, dataset: Dataset) -> DataSummary:
        """Return the summary of a data set with at least one training point."""
        X = dataset.X_train
        counts = (_counts(y, dataset.n_classes) for y in (dataset.y_train, dataset.y_test))
        return cls(
            n_train=int(X.shape[0]),
            n_test=int(dataset.X_test.shape[0]),
            n_features=dataset.n_features,
            classes=tuple(map(ClassSummary, dataset.classes, *counts)),
            minimum=float(np.fmin.reduce(X, axis=None)),
            maximum=float(np.fmax.reduce(X, axis=None)),
            features=_features(X, dataset.feature_names),
        )

    def to_json(self) -> JsonObject:
        """Return the fields as a JSON object; ranges without values are null."""
        return asdict(self, dict_factory=_without_nan)


def _without_nan(fields: list[tuple[str, object]]) -> JsonObject:
    return {name: None if value != value else value for name, value in fields}  # noqa: PLR0124


def _features(X: NDArray[np.float32], names: Sequence[str]) -> tuple[FeatureSummary, ...]:
    if X.shape[1] > _MOST_FEATURES:
        return ()
    names = names or [""] * X.shape[1]
    ends = (reduce(X, axis=0).tolist() for reduce in (np.fmin.reduce, np.fmax.reduce))
    ranges = zip(names, X.T, *ends, strict=True)
    return tuple(FeatureSummary(name, low, high, decimals_of(x)) for name, x, low, high in ranges)


def _counts(y: Array, n_classes: int) -> list[int]:
    """Return the number of points with each label, without points of no class."""
    if y.dtype == np.float64:
        return [len(y)]
    counts = y.sum(axis=0) if y.ndim == 2 else np.bincount(y, minlength=n_classes)[:n_classes]
    return [int(count) for count in counts]


def repetitions(dataset: Dataset) -> dict[str, int]:
    """Count repeated points.

    ``in_train`` counts points that repeat an earlier training point, ``contradicting`` points with
    another label than most equal ones, and ``in_test`` test points that are also training points.
    Readings repeat, so if labels are numbers, only points with equal numbers are equal.
    """
    X, tested, y = dataset.X_train, dataset.X_test, dataset.y_train
    if dataset.predicts == "value":
        X, tested = np.hstack([X, dataset.y_train]), np.hstack([tested, dataset.y_test])
    rows, copy_of = np.unique(row_hashes(X), return_inverse=True)
    label_of = np.unique(y, axis=0, return_inverse=True)[1].ravel()
    pairs, counts = np.unique(np.stack([copy_of, label_of]), axis=1, return_counts=True)
    most = np.zeros(len(rows), np.int64)
    np.maximum.at(most, pairs[0], counts)
    return {
        "in_train": len(X) - len(rows),
        "contradicting": len(X) - int(most.sum()),
        "in_test": int(np.isin(row_hashes(tested), rows).sum()),
    }


# --- columns --------------------------------------------------------------------------------------


HEADINGS = ("column", "as", "type", "missing", "unreadable", "distinct", "range")
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
    decimals: int | None  # of a feature; None for more than 6
    evidence: str  # why it has this role

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a table's row under the `HEADINGS`; the range has a unit."""
        counts = (self.missing, self.unreadable, self.distinct)
        ends = ""
        if self.minimum is not None and self.maximum is not None:
            ends = f"{self.minimum:g} to {self.maximum:g} {self.unit}".strip()
        if self.minimum is not None and self.distinct == 1:
            ends = f"always {self.minimum:g}"
        shown = (f"{count:,}" if count else "" for count in counts)
        return (self.name or str(self.number), self.role, self.kind, *shown, ends)


def profile(column: Column, dataset: Dataset) -> ColumnProfile:
    """Return the profile of a column in the training part."""
    values: Array = np.empty(0) if column.values is None else column.values
    if column.feature is not None:
        values = dataset.X_train[:, column.feature]
        if dataset.gaps is not None:
            values = values[~dataset.gaps[:, column.feature]]
    values, texts = values[~np.isnan(values)], column.texts
    if column.kind == "text" and texts is not None:
        distinct = len({text.strip() for text in texts.texts} - {""})
    else:
        distinct = _distinct(values)
    return ColumnProfile(
        name=column.name,
        number=column.index + 1,
        role=column.role,
        kind={"date": "time", "empty": "number"}.get(column.kind, column.kind),
        unit=split_unit(column.name)[1],
        missing=column.gaps if column.kind != "empty" else len(dataset.y_train),
        unreadable=column.unreadable,
        distinct=distinct,
        minimum=_shortest(values.min()) + column.offset if len(values) else None,
        maximum=_shortest(values.max()) + column.offset if len(values) else None,
        decimals=None if column.feature is None else decimals_of(values),
        evidence=column.evidence,
    )


def _shortest(value: np.floating[Any]) -> float:
    """Return the number with the fewest digits that rounds to this one, such as 0.1."""
    return float(str(value))


def _distinct(values: Array) -> int:
    """Return how many numbers are different; sorting is the fastest way."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(values))
