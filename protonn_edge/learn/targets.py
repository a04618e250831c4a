"""The target of a training; by default, to separate two or more classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import holdout
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.objective import Parameters
from protonn_edge.learn.points import Float32, Targets
from protonn_edge.learn.progress import Trained
from protonn_edge.model.statistics import InputStatistics
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError


class Target:
    """Points of two or more classes, which a classifier separates."""

    labels: ClassVar[ClassLabels] = ClassLabels()
    read_as: ClassVar[Literal["class", "value"] | None] = None  # the labels, see `load_dataset`
    least_classes: ClassVar[Literal[1, 2]] = 2
    starts: ClassVar[int] = 1  # runs of k-means
    # the rate of false alarms and the statistics for rejection; None for no rejection
    rejection_rate: ClassVar[float | None] = None
    rejection_by: ClassVar[tuple[str, ...]] = ("score",)

    def assumed_labels(self, X: ArrayLike) -> NDArray[np.str_] | None:  # noqa: ARG002
        """Return the labels (n,) of points X (n, D) that come without any; None if unknown."""
        return None

    def check(self, classes: Sequence[Any] | Array) -> None:
        """Raise `InputError` for a number of classes from which this cannot be learned."""
        if len(classes) < self.least_classes:
            raise InputError("the training data has only one class; add points of another class")

    # --- data sets ---

    def selected(self, dataset: Dataset) -> Dataset:
        """Return the data set with the points to train on, and all others for testing."""
        return dataset

    def relabelled(self, y: ArrayLike, before: Dataset, selected: Dataset) -> Any:  # noqa: ARG002
        """Return the indices (n,) of classes before the selection as those after it."""
        return y

    def is_tested(self, dataset: Dataset) -> bool:
        """Return whether a selected data set has test points of its classes."""
        return bool(dataset.y_test.shape[0] > 0)

    def held_out(self, dataset: Dataset, share: float, seed: int, *, by_rows: bool) -> Dataset:
        """Return a selected data set with a share of its training points held out for testing."""
        return holdout(dataset, share, seed, by_rows=by_rows)

    # --- preparation ---

    def with_reach(
        self, points: Float32, weights: Float32 | None
    ) -> tuple[Float32, Float32 | None]:
        """Return points (n, D) that cover the values to distinguish, with their weights."""
        return points, weights

    def reaching(self, inputs: InputStatistics) -> InputStatistics:
        """Return statistics whose ranges cover the values to distinguish."""
        return inputs

    # --- initial values ---

    def told_apart(
        self,
        X: Float32,  # noqa: ARG002
        y: Targets,
        weights: Float32 | None,  # noqa: ARG002
        generator: np.random.Generator,  # noqa: ARG002
    ) -> Targets:
        """Return the classes (n,) of points X (n, D) that the first projection separates."""
        return y

    def reaching_gamma(self, projected: Float32, prototypes: Float32) -> float | None:  # noqa: ARG002
        """Return the inverse of the RBF's width that distances ask for; None if none do."""
        return None

    def with_label_vectors(
        self,
        start: Parameters,
        X: Float32,  # noqa: ARG002
        y: Targets,  # noqa: ARG002
        weights: Float32 | None,  # noqa: ARG002
    ) -> Parameters:
        """Return initial values for points X (n, D), with Z of another kind than shares."""
        return start

    def as_it_starts(self, start: Parameters, X: Float32) -> Trained | None:  # noqa: ARG002
        """Return the initial values as trained; None if they are to be optimized."""
        return None

    @property
    def is_optimized(self) -> bool:
        """Whether the initial values are optimized."""
        return True


def nearest_distances(projected: Array, prototypes: Float32) -> NDArray[np.float64]:
    """Return the distances (n,) of points (n, d) to the nearest of prototypes (m, d)."""
    P, B = projected.astype(np.float64), prototypes.astype(np.float64)
    least = np.full(len(P), np.inf)
    for prototype in B:
        np.minimum(least, np.square(P - prototype).sum(axis=1), out=least)
    return np.asarray(np.sqrt(least))
