"""The checks of training data: functions from a data set to warnings about probable mistakes.

Each is for classes, numbers and sets of labels alike, and for tables with and without names. Others
wait for a command that trains: `leaks`, and `drift` for rows that are held out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from protonn_edge.data.checks.class_names import about_counts, about_lists, about_spelling
from protonn_edge.data.checks.far_values import about_far_label, about_far_values
from protonn_edge.data.checks.recurring import recurring
from protonn_edge.data.checks.two_ranges import two_ranges
from protonn_edge.data.naming import Notice, listed, names_at, warning_about
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.roles.learned import about_outside
from protonn_edge.data.roles.text_columns import about_texts

_MOST_COLUMNS = 500  # that are judged one by one


def remarks(dataset: Dataset) -> tuple[Notice, ...]:
    """Return the warnings of all checks about a data set that was read, with its gaps empty."""
    if dataset.gaps is not None:
        empty = np.where(dataset.gaps, np.float32(np.nan), dataset.X_train)
        dataset = replace(dataset, X_train=empty)
    return tuple(notice for check in CHECKS for notice in check(dataset))


def about_shared_names(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning about features that share a name."""
    counts = Counter(dataset.feature_names)
    if twice := tuple(name for name, count in counts.items() if count > 1):
        text = (
            f"several features share a name ({listed(twice)}), so the columns of other files "
            "cannot be matched by name"
        )
        yield Notice("duplicate_names", text, warning=True, columns=twice)


def about_constants(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning about features that never vary."""
    X = dataset.X_train
    if len(X) < 2:
        return
    constant = np.flatnonzero(np.fmin.reduce(X, axis=0) == np.fmax.reduce(X, axis=0)).tolist()
    if columns := names_at(constant, dataset.feature_names):
        count = f"{len(constant):,} of {dataset.n_features:,} features"
        text = f"{count} never vary in the training points: {listed(columns)}"
        yield Notice("constant", text, warning=True, columns=columns)


def about_test_part(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning about features whose values differ in the test part."""
    X = dataset.X_train
    if len(X) > 1:
        ends = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        yield from about_outside(dataset.X_test, *ends, dataset.feature_names)


def about_columns(dataset: Dataset) -> Iterator[Notice]:
    """Yield warnings about the values of single features, unless these are samples or many."""
    if dataset.n_features > _MOST_COLUMNS or len(dataset.point_shape) > 1:
        return
    found: dict[tuple[str, str], dict[int, tuple[Any, ...]]] = {}
    for place, x in enumerate(dataset.X_train.T):
        values = np.sort(x[~np.isnan(x)]).astype(np.float64)
        for kind, check in CHECKS_OF_COLUMNS.items():
            for text, figures in check(values):
                found.setdefault((kind, text), {})[place] = figures
    for (kind, text), places in found.items():
        yield warning_about(kind, text, places, dataset.feature_names)


CHECKS: tuple[Callable[[Dataset], Iterable[Notice]], ...] = (
    about_spelling,
    about_lists,
    about_counts,
    about_texts,
    about_shared_names,
    about_constants,
    about_test_part,
    about_far_label,
    about_far_values,
    about_columns,
)
CHECKS_OF_COLUMNS: dict[str, Callable[[Any], Iterable[tuple[str, tuple[Any, ...]]]]] = {
    "two_ranges": two_ranges,
    "recurring": recurring,
}
"""From the ordered values (n,) of a feature to a sentence, and its figures, by kind of notice."""
