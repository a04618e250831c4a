"""Data for a one-class model: training points of the normal class, and test points of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from protonn_edge.datasets.dataset import Dataset, dense_features, holdout
from protonn_edge.datasets.label_sets import MultiLabelDataset
from protonn_edge.datasets.naming import NO_CLASS
from protonn_edge.datasets.notices import listed
from protonn_edge.errors import InputError


def of_normal_points(dataset: Dataset, normal: str | None = None) -> Dataset:
    """Return a data set with only the normal training points.

    Test points of other classes get the label `NO_CLASS`. Without a test part, the training points
    of the other classes become the test part.

    Parameters
    ----------
    dataset : Dataset
    normal : str, optional
        The normal class; not needed if there is only one class of training points.

    Raises
    ------
    InputError
        If none of several classes is given as the normal one, or there is none of this name.
    """
    if isinstance(dataset, MultiLabelDataset):
        raise InputError("points have sets of labels; normal points are of one class")
    if normal is None and dataset.n_classes > 1:
        raise InputError(
            f"the data has {dataset.n_classes:,} classes, {listed(dataset.classes)}; name the "
            "normal one with --normal"
        )
    name = dataset.classes[0] if normal is None else normal
    if name not in dataset.classes:
        raise InputError(
            f"--normal is {name[:40]!r}, which is not one of the classes {listed(dataset.classes)}"
        )
    index = dataset.classes.index(name)
    X = dense_features(dataset.X_train, "the training part")
    X_test, y_test = dense_features(dataset.X_test, "the test part"), dataset.y_test
    chosen = dataset.y_train == index
    if not len(y_test):
        X_test, y_test = X[~chosen], dataset.y_train[~chosen]
    groups = dataset.groups
    return replace(
        dataset,
        X_train=X[chosen],
        y_train=np.zeros(int(chosen.sum()), dtype=np.int64),
        X_test=X_test,
        y_test=np.where(y_test == index, 0, NO_CLASS),
        classes=(name,),
        groups=None if groups is None else groups[chosen],
        sessions=None,
        times=None,
    )


def hold_out_normal(dataset: Dataset, fraction: float, seed: int) -> Dataset:
    """Return the data set with a share of the normal training points moved to the test part.

    Points of no class remain in the test part.

    Raises
    ------
    InputError
        See `holdout`.
    """
    held_out = holdout(dataset, fraction, seed)
    others = dataset.y_test == NO_CLASS
    X_test = dense_features(dataset.X_test, "the test part")[others]
    return replace(
        held_out,
        X_test=np.concatenate([dense_features(held_out.X_test, "the test part"), X_test]),
        y_test=np.concatenate([held_out.y_test, dataset.y_test[others]]),
    )
