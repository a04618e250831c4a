"""What the points of a training teach; by default, to separate two or more classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.policy import FloatPolicy
from protonn_edge.chain.statistics import InputStatistics
from protonn_edge.datasets.dataset import Dataset
from protonn_edge.datasets.splits import holdout
from protonn_edge.errors import InputError
from protonn_edge.training.given_points import (
    are_label_sets,
    given_label_sets,
    given_points,
    points_to_report_on,
)
from protonn_edge.training.mapped_rows import Rows
from protonn_edge.training.objective import (
    LABEL_LOSSES,
    LOSSES,
    OUTLIER_EXPOSURE_LOSSES,
    Loss,
    Parameters,
)
from protonn_edge.training.points import Float32, Points, Targets
from protonn_edge.training.progress import Trained


class Target:
    """Points of two or more classes, which a classifier separates."""

    measure: ClassVar[str] = "accuracy"  # what `quality` returns
    for_devices: ClassVar[bool] = True  # whether integers can compute the answers
    has_classes: ClassVar[bool] = True  # whether each point has one class
    digested: ClassVar[str] = "<i8"  # the type of targets in the digest of the points
    labels: ClassVar[Literal["class", "value"] | None] = None  # what they are, see `load_dataset`
    least_classes: ClassVar[Literal[1, 2]] = 2
    starts: ClassVar[int] = 1  # runs of k-means
    # the rate of false alarms and the statistics for rejection; None for no rejection
    rejection_rate: ClassVar[float | None] = None
    rejection_by: ClassVar[tuple[str, ...]] = ("score",)

    def labels_of(self, X: Any) -> NDArray[np.str_] | None:  # noqa: ARG002
        """Return the labels (n,) of points X (n, D) that come without any; None if unknown."""
        return None

    def check(self, classes: Sequence[Any] | NDArray[Any]) -> None:
        """Raise `InputError` for a number of classes from which this cannot be learned."""
        if len(classes) < self.least_classes:
            raise InputError("the training data has only one class; add points of another class")

    def of(self, y: Any) -> Target:
        """Return the target of points with labels y: sets of labels have one of their own."""
        return LabelSets() if are_label_sets(y) else self

    def given(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Points, NDArray[Any]]:
        """Return the arguments of `fit`, checked, and the labels (L,) in the order of scores."""
        return given_points(estimator, X, y, sample_weight)

    def reported(
        self, estimator: Any, X: Any, y: Any, given: Points, classes: NDArray[Any]
    ) -> Points:
        """Return points to report on, with targets like those of the given points."""
        return points_to_report_on(estimator, X, y, classes, sets=given.y.ndim == 2)

    def losses(self, *, outliers: bool = False) -> Mapping[str, Loss]:
        """Return the losses, by name; with `outliers`, some points are of no class."""
        return OUTLIER_EXPOSURE_LOSSES if outliers else LOSSES

    def quality(self, scores: NDArray[Any], y: Targets) -> float:
        """Return the share of scores (n, L) by which points of targets y are classified right."""
        return float(np.mean(scores.argmax(axis=1) == y))

    @property
    def policy(self) -> FloatPolicy:
        """The policy of the answer that the targets determine."""
        return FloatPolicy()

    # --- data sets ---

    def selected(self, dataset: Dataset) -> Dataset:
        """Return the data set with the points that teach it, and all others for testing."""
        return dataset

    def relabelled(self, y: Any, before: Dataset, selected: Dataset) -> Any:  # noqa: ARG002
        """Return the indices (n,) of classes before the selection as those after it."""
        return y

    def is_tested(self, dataset: Dataset) -> bool:
        """Return whether a selected data set has test points of its classes."""
        return bool(dataset.y_test.shape[0] > 0)

    def held_out(self, dataset: Dataset, share: float, seed: int) -> Dataset:
        """Return a selected data set with a share of its training points held out for testing."""
        return holdout(dataset, share, seed)

    # --- preparation ---

    def with_reach(self, points: Rows, weights: Float32 | None) -> tuple[Rows, Float32 | None]:
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

    def as_it_starts(self, start: Parameters, X: Rows) -> Trained | None:  # noqa: ARG002
        """Return the initial values as trained; None if they are to be optimized."""
        return None

    @property
    def is_optimized(self) -> bool:
        """Whether the initial values are optimized."""
        return True


class LabelSets(Target):
    """Points with sets of labels, which a model ranks."""

    for_devices: ClassVar[bool] = False
    has_classes: ClassVar[bool] = False

    def given(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Points, NDArray[Any]]:
        """Return points and sets of labels, checked, and their labels (L,)."""
        return given_label_sets(estimator, X, y, sample_weight)

    def losses(self, *, outliers: bool = False) -> Mapping[str, Loss]:  # noqa: ARG002
        """Return losses in which each label is a decision of its own."""
        return LABEL_LOSSES

    def quality(self, scores: NDArray[Any], y: Targets) -> float:
        """Return the share of points that have the label with the highest score."""
        return float(y[np.arange(len(y)), scores.argmax(axis=1)].mean())


def nearest_distances(projected: NDArray[Any], prototypes: Float32) -> NDArray[np.float64]:
    """Return the distances (n,) of points (n, d) to the nearest of prototypes (m, d)."""
    P, B = projected.astype(np.float64), prototypes.astype(np.float64)
    least = np.full(len(P), np.inf)
    for prototype in B:
        np.minimum(least, np.square(P - prototype).sum(axis=1), out=least)
    return np.asarray(np.sqrt(least))
