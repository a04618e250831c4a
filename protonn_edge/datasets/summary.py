"""A summary of labelled data: points of each class, ranges, repeated points, probable mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.dataset import Dataset, is_sparse
from protonn_edge.datasets.naming import Notice, listed
from protonn_edge.datasets.row_sketch import row_hashes

_MOST_DECIMALS = 6
_MOST_FEATURES = 4_096  # that are described individually
_JUDGED_POINTS = 20  # of fewer, most may have different classes


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

    Features are not described one by one if they are sparse, or more than 4,096.
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
            minimum=float(X.min() if is_sparse(X) else np.fmin.reduce(X, axis=None)),
            maximum=float(X.max() if is_sparse(X) else np.fmax.reduce(X, axis=None)),
            features=() if is_sparse(X) else _features(X, dataset.feature_names),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object; ranges without values are null."""
        return asdict(self, dict_factory=_without_nan)


def _without_nan(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in fields}  # noqa: PLR0124


def _features(X: NDArray[np.float32], names: Sequence[str]) -> tuple[FeatureSummary, ...]:
    if X.shape[1] > _MOST_FEATURES:
        return ()
    names = names or [""] * X.shape[1]
    ends = (reduce(X, axis=0).tolist() for reduce in (np.fmin.reduce, np.fmax.reduce))
    ranges = zip(names, X.T, *ends, strict=True)
    return tuple(FeatureSummary(name, low, high, _decimals(x)) for name, x, low, high in ranges)


def _counts(y: Any, n_classes: int) -> list[int]:
    """Return the number of points with each label, without points of no class."""
    if is_sparse(y):
        counts = np.asarray(y.sum(axis=0)).ravel()
    else:
        counts = np.bincount(y, minlength=n_classes)[:n_classes]
    return [int(count) for count in counts]


def _decimals(values: NDArray[np.float32]) -> int | None:
    """Return the number of decimals of the values, as far as float32 preserves it."""
    values = values[~np.isnan(values)]  # where a table is only looked at
    doubles = values.astype(np.float64)
    for decimals in range(_MOST_DECIMALS + 1):
        if np.array_equal(np.round(doubles, decimals).astype(np.float32), values):
            return decimals
    return None


def repetitions(dataset: Dataset) -> dict[str, int] | None:
    """Count repeated points; None for sparse features or sets of labels.

    ``in_train`` repeat an earlier training point, ``contradicting`` with another label; ``in_test``
    are test points that are also training points.
    """
    X, tested = dataset.X_train, dataset.X_test
    if is_sparse(X) or is_sparse(tested) or dataset.y_train.ndim != 1:
        return None
    y = dataset.y_train
    rows, first, copy_of = np.unique(row_hashes(X), return_index=True, return_inverse=True)
    return {
        "in_train": len(X) - len(rows),
        "contradicting": int((y[first][copy_of] != y).sum()),
        "in_test": int(np.isin(row_hashes(tested), rows).sum()),
    }


def remarks(dataset: Dataset) -> tuple[Notice, ...]:
    """Return warnings of rare classes, too many classes, and constant features."""
    return (*_about_spelling(dataset), *_about_classes(dataset), *_about_features(dataset))


def _about_spelling(dataset: Dataset) -> list[Notice]:
    spelled: dict[str, list[str]] = {}
    for name in dataset.classes:
        spelled.setdefault("".join(name.casefold().split()), []).append(name)
    alike = [names for names in spelled.values() if len(names) > 1]
    if not alike:
        return []
    text = (
        f"classes that differ only in case or blanks: {'; '.join(map(listed, alike))}; are these "
        "typos?"
    )
    return [Notice("spelling", text, warning=True)]


def _about_classes(dataset: Dataset) -> list[Notice]:
    n, classes = dataset.y_train.shape[0], dataset.n_classes
    if dataset.y_train.ndim != 1 or n <= _JUDGED_POINTS:
        return []  # sets of labels, or few points
    if 2 * classes > n:
        text = f"{classes:,} classes for {n:,} points; are the labels measurements?"
        return [Notice("many_classes", text, warning=True)]
    counts = np.bincount(dataset.y_train, minlength=classes)
    single = [dataset.classes[index] for index in np.flatnonzero(counts == 1)]
    text = f"{len(single)} classes have 1 point each, {listed(single)}; are these typos?"
    if len(single) == 1:
        text = f"class {listed(single)} has 1 point; is it a typo?"
    return [Notice("rare_class", text, warning=True)] if single else []


def _about_features(dataset: Dataset) -> list[Notice]:
    names = dataset.feature_names
    found = []
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        text = (
            f"several features have the same name, {listed(twice)}, so the columns of other files "
            "cannot be matched by name"
        )
        found.append(Notice("duplicate_names", text, warning=True, columns=tuple(twice)))
    X = dataset.X_train
    if is_sparse(X) or X.shape[0] < 2:
        return found
    ends = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    constant = np.flatnonzero(np.equal(*ends)).tolist()
    if constant:
        columns = tuple(names[index] if names else str(index + 1) for index in constant)
        count = f"{len(constant):,} of {dataset.n_features:,} features"
        text = f"{count} never vary in the training points: {listed(columns)}"
        found.append(Notice("constant", text, warning=True, columns=columns))
    return found
