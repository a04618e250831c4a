"""A summary of labelled data: points of each class, range of each feature, repeated points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.dataset import Dataset
from protonn_edge.datasets.rows import is_sparse

_MOST_DECIMALS = 6
_MOST_FEATURES = 4_096  # that are described individually


@dataclass(frozen=True)
class ClassSummary:
    """The numbers of training and test points with a label."""

    name: str
    train: int
    test: int


@dataclass(frozen=True)
class FeatureSummary:
    """The values of a feature in the training points.

    Attributes
    ----------
    name : str
        Its name, or empty.
    minimum, maximum : float
    decimals : int or None
        The maximum number of decimals of a value; None for more than 6.
    """

    name: str
    minimum: float
    maximum: float
    decimals: int | None


@dataclass(frozen=True)
class DataSummary:
    """A summary of a data set.

    Attributes
    ----------
    n_train, n_test, n_features : int
    classes : tuple of ClassSummary
    minimum, maximum : float
        Of all features.
    features : tuple of FeatureSummary
        Empty if features are sparse, or more than 4,096.
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
        return cls(
            n_train=int(X.shape[0]),
            n_test=int(dataset.X_test.shape[0]),
            n_features=dataset.n_features,
            classes=tuple(
                ClassSummary(name, train, test)
                for name, train, test in zip(
                    dataset.classes,
                    _counts(dataset.y_train, dataset.n_classes),
                    _counts(dataset.y_test, dataset.n_classes),
                    strict=True,
                )
            ),
            minimum=float(X.min()),
            maximum=float(X.max()),
            features=_features(X, dataset.feature_names) if _are_described(X) else (),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)


def _are_described(X: Any) -> bool:
    return not is_sparse(X) and X.shape[1] <= _MOST_FEATURES


def _features(X: NDArray[np.float32], names: Sequence[str]) -> tuple[FeatureSummary, ...]:
    least, most = X.min(axis=0).tolist(), X.max(axis=0).tolist()
    return tuple(
        FeatureSummary(
            names[index] if names else "", least[index], most[index], _decimals(X[:, index])
        )
        for index in range(X.shape[1])
    )


def _counts(y: Any, n_classes: int) -> list[int]:
    """Return the number of points with each label; those of no class are not counted."""
    if is_sparse(y):
        counts = np.asarray(y.sum(axis=0)).ravel()
    else:
        counts = np.bincount(y, minlength=n_classes)[:n_classes]
    return [int(count) for count in counts]


def _decimals(values: NDArray[np.float32]) -> int | None:
    """Return the number of decimals of the values, as far as float32 preserves it."""
    doubles = values.astype(np.float64)
    for decimals in range(_MOST_DECIMALS + 1):
        if np.array_equal(np.round(doubles, decimals).astype(np.float32), values):
            return decimals
    return None


@dataclass(frozen=True)
class Repetitions:
    """Repeated points.

    Attributes
    ----------
    in_train : int
        Training points that repeat an earlier one.
    contradicting : int
        Of these, those with another label.
    in_test : int
        Test points that are also training points.
    """

    in_train: int
    contradicting: int
    in_test: int

    @classmethod
    def of(cls, dataset: Dataset) -> Repetitions | None:
        """Count them; None for sparse features or sets of labels."""
        X, tested = dataset.X_train, dataset.X_test
        if is_sparse(X) or is_sparse(tested) or dataset.y_train.ndim != 1:
            return None
        first: dict[bytes, int] = {}
        repeated = contradicting = 0
        for row, label in zip(X, dataset.y_train.tolist(), strict=True):
            known = first.setdefault((row + 0.0).tobytes(), label)  # + 0: -0 is 0
            repeated += 1
            contradicting += known != label
        in_test = sum((row + 0.0).tobytes() in first for row in tested)
        return cls(repeated - len(first), contradicting, in_test)
