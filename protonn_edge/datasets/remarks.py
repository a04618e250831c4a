"""Probable mistakes in labelled data of any format."""

from __future__ import annotations

from collections import Counter

import numpy as np

from protonn_edge.datasets.dataset import Dataset
from protonn_edge.datasets.notices import Notice, listed
from protonn_edge.datasets.rows import is_sparse

_SHOWN_CLASSES = 6
_JUDGED_POINTS = 20  # of fewer, most may have different classes


def remarks(dataset: Dataset) -> tuple[Notice, ...]:
    """Return warnings of rare classes, too many classes, and constant features."""
    return (*_about_classes(dataset), *_about_features(dataset))


def _about_classes(dataset: Dataset) -> list[Notice]:
    if dataset.y_train.ndim != 1:
        return []  # sets of labels
    counts = np.bincount(dataset.y_train, minlength=dataset.n_classes)
    n = len(dataset.y_train)
    if n > _JUDGED_POINTS and 2 * dataset.n_classes > n:
        text = f"{dataset.n_classes:,} classes for {n:,} points; are the labels measurements?"
        return [Notice("many_classes", text, warning=True)]
    if n <= _JUDGED_POINTS:
        return []
    single = [dataset.classes[index] for index in np.flatnonzero(counts == 1)]
    if len(single) == 1:
        text = f"class {listed(single)} has 1 point; a typo?"
    else:
        text = f"{len(single)} classes have 1 point each, {listed(single)}; typos?"
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
    constant = np.flatnonzero(X.min(axis=0) == X.max(axis=0)).tolist()
    if constant:
        columns = tuple(names[index] if names else str(index + 1) for index in constant)
        count = f"{len(constant):,} of {dataset.n_features:,} features"
        text = f"{count} never vary in the training points: {listed(columns)}"
        found.append(Notice("constant", text, warning=True, columns=columns))
    return found
