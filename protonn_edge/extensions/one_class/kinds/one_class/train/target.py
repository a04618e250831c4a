"""Training on normal points alone: how far from them a point is no longer normal.

One-class models are trained on normal points only. There are no other points from which to separate
these, so nothing is optimized. The normal points are clustered, and the projection separates the
clusters as if they were classes, relative to the variation within clusters. Prototypes are the
centres of finer clusters in that space; a point far from all of them is not normal. The threshold
of the distance is chosen afterwards, on held-out points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from protonn_edge.data.naming import NO_CLASS, listed
from protonn_edge.data.points.dataset import Dataset, several_labels
from protonn_edge.data.points.splits import holdout, kept_rows, relearned
from protonn_edge.learn.clusters import cluster_centres
from protonn_edge.learn.objective import Parameters
from protonn_edge.learn.points import Float32, Indices, Targets
from protonn_edge.learn.progress import EpochReport, Trained
from protonn_edge.learn.targets import Target, nearest_distances
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError

# The RBF of a distance d is exp(-(gamma d)^2), a byte on the device. It resolves distances best for
# gamma d from 0.7 to 1.2, where the threshold should be.
_REACHED_SHARE = 0.99

# Margin at either end of the normal points' range, as a share of the range, within which values are
# still distinguished. The device clamps values beyond, which then count as normal if the limit
# does.
_REACH = 0.5

# Clusters that the projection separates. With 8 clusters, it detected at least as many outliers as
# principal components in occupancy, ecg5000, and activities with one class left out.
_PARTS = 8


_NAME = "one_class"  # of the parameter


@dataclass(frozen=True)
class OneClass(Target):
    """Normal points alone."""

    least_classes: ClassVar[Literal[1, 2]] = 1
    read_as: ClassVar[Literal["class", "value"] | None] = "class"
    # With 5 runs of k-means, clusters are stable when some points are held out: the rate of false
    # alarms was within 1.2 times its binomial error, but only within twice the error with one run.
    starts: ClassVar[int] = 5
    rejection_rate: ClassVar[float | None] = 0.01
    rejection_by: ClassVar[tuple[str, ...]] = ("distance",)
    is_optimized: ClassVar[bool] = False
    assumed_label: ClassVar[str] = "normal"
    reach: ClassVar[float] = _REACH

    normal: str | None = None  # the class of normal points, if the data has several

    def check(self, classes: Sequence[Any] | Array) -> None:
        """Refuse several classes."""
        if len(classes) != 1:
            raise InputError(
                f"the training data has {len(classes):,} classes, but one_class is set; give only "
                "the normal points"
            )

    def selected(self, dataset: Dataset) -> Dataset:
        """Return a data set with only normal training points."""
        return of_normal_points(dataset, self.normal)

    def relabelled(self, y: ArrayLike, before: Dataset, selected: Dataset) -> Any:
        """Return 0 for normal points, and `NO_CLASS` for others."""
        return np.where(y == before.classes.index(selected.classes[0]), 0, NO_CLASS)

    def is_tested(self, dataset: Dataset) -> bool:
        """Return whether normal points are held out."""
        return bool((dataset.y_test == 0).any())

    def held_out(self, dataset: Dataset, share: float, seed: int, *, by_rows: bool) -> Dataset:
        """Return the data set with a share of the normal training points held out."""
        return hold_out_normal(dataset, share, seed, by_rows=by_rows)

    def told_apart(
        self,
        X: Float32,
        _y: Targets,
        weights: Float32 | None,
        generator: np.random.Generator,
    ) -> Indices:
        """Return clusters (n,) of points X (n, D)."""
        seed = int(generator.integers(2**31))
        member = cluster_centres(X, _PARTS, seed, generator, weights, self.starts)[1]
        clusters: Indices = np.unique(member, return_inverse=True)[1]  # some may be empty
        return clusters

    def reaching_gamma(self, projected: Float32, prototypes: Float32) -> float:
        """Return gamma by which nearly all points (n, d) are within 1 of a prototype, (m, d)."""
        distance = float(np.quantile(nearest_distances(projected, prototypes), _REACHED_SHARE))
        return 1.0 / distance if distance > 1e-12 else 1.0

    def as_it_starts(self, start: Parameters, X: Float32) -> Trained:
        """Return the initial parameters, with the mean distance of X (n, D) reported."""
        nearest = nearest_distances(X @ start.projection.T, start.prototypes.T)
        report = EpochReport(1, 1, float(nearest.mean()), 1.0)
        return Trained(start, 0.0, (report,))


def of_normal_points(dataset: Dataset, normal: str | None = None) -> Dataset:
    """Return a data set with only normal training points: of this class if there are several.

    Test points of other classes get the label `NO_CLASS`. Without a test part, the training points
    of the other classes become the test part.
    """
    if dataset.predicts == "labels":
        raise several_labels("the data", "one class is learned")
    if normal is None and dataset.n_classes > 1:
        guessed = dataset.layout is not None and dataset.layout.label_found.startswith("the last")
        label = next((each for each in dataset.columns if guessed and each.role == "label"), None)
        where = "" if label is None else f" in {label.title}"
        other = "" if label is None else f", or use it as a feature: --keep {label.flag_value}"
        raise InputError(
            f"the data has {dataset.n_classes:,} classes{where}, {listed(dataset.classes)}; name "
            f"the normal class with --normal{other}"
        )
    name = dataset.classes[0] if normal is None else normal
    if name not in dataset.classes:
        raise InputError(
            f"--normal is {name[:40]!r}, which is not one of the classes {listed(dataset.classes)}"
        )
    index = dataset.classes.index(name)
    dataset = relearned(dataset, dataset.y_train == index)
    X, X_test, y_test = dataset.X_train, dataset.X_test, dataset.y_test
    chosen = dataset.y_train == index
    if not len(y_test):
        X_test, y_test = X[~chosen], dataset.y_train[~chosen]
    kept = kept_rows(replace(dataset, X_train=X), chosen)
    return replace(
        kept,
        y_train=np.zeros_like(kept.y_train),
        X_test=X_test,
        y_test=np.where(y_test == index, 0, NO_CLASS),
        classes=(name,),
    )


def hold_out_normal(
    dataset: Dataset, fraction: float, seed: int, *, by_rows: bool = False
) -> Dataset:
    """Return the data set with a share of the normal training points moved to the test part."""
    held_out = holdout(dataset, fraction, seed, by_rows=by_rows)
    others = dataset.y_test == NO_CLASS
    X_test = dataset.X_test[others]
    return replace(
        held_out,
        X_test=np.concatenate([held_out.X_test, X_test]),
        y_test=np.concatenate([held_out.y_test, dataset.y_test[others]]),
    )
