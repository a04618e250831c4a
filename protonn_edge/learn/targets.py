"""The target of a training; by default, to separate two or more classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import holdout
from protonn_edge.learn.labels import ClassLabels
from protonn_edge.learn.objective import Parameters
from protonn_edge.learn.points import Float32, Targets
from protonn_edge.learn.progress import Trained
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError


class Target:
    """What a training learns: by default, to separate points of two or more classes."""

    labels: ClassVar[ClassLabels] = ClassLabels()
    read_as: ClassVar[Literal["class", "value"] | None] = None  # the labels, see `load_dataset`
    least_classes: ClassVar[Literal[1, 2]] = 2
    starts: ClassVar[int] = 1  # runs of k-means
    # the rate of false alarms and the statistics for rejection; None for no rejection
    rejection_rate: ClassVar[float | None] = None
    rejection_by: ClassVar[tuple[str, ...]] = ("score",)

    assumed_label: ClassVar[str] = ""  # of points that come without labels; "" if none may
    # margin at either end of the points' range, as a share of it, within which values are still
    # distinguished
    reach: ClassVar[float] = 0.0
    is_optimized: ClassVar[bool] = True  # or the initial values stay

    # Functions that change the initial values, or None.
    # of points (n, D), their targets, their weights and a generator: the classes (n,) that the
    # first projection separates
    told_apart: Callable[..., Targets] | None = None
    # of projected points (n, d) and prototypes (m, d): the inverse of the RBF's width
    reaching_gamma: Callable[[Float32, Float32], float] | None = None
    # of initial values, points, targets and weights: the values with Z of another kind than shares
    with_label_vectors: Callable[..., Parameters] | None = None
    # of initial values and points: these values as trained
    as_it_starts: Callable[[Parameters, Float32], Trained] | None = None

    def check(self, classes: Sequence[Any] | Array) -> None:
        """Raise `InputError` for a number of classes from which this cannot be learned."""
        if len(classes) < self.least_classes:
            raise InputError("the training data has only one class; add points of another class")

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


def nearest_distances(projected: Array, prototypes: Float32) -> NDArray[np.float64]:
    """Return the distances (n,) of points (n, d) to the nearest of prototypes (m, d)."""
    P, B = projected.astype(np.float64), prototypes.astype(np.float64)
    least = np.full(len(P), np.inf)
    for prototype in B:
        np.minimum(least, np.square(P - prototype).sum(axis=1), out=least)
    return np.asarray(np.sqrt(least))
