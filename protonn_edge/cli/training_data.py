"""The data of the commands that train: its groups, its columns, the shape of its windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from protonn_edge.datasets import Dataset, TableOptions, load_dataset, with_groups
from protonn_edge.datasets.matching import match_columns
from protonn_edge.errors import InputError


def load_grouped(
    data: Path, table: TableOptions, groups: str | None, *, least_classes: Literal[1, 2] = 2
) -> Dataset:
    """Return what DATA holds, with the groups that ``--groups`` names, if it does."""
    if groups is not None and not Path(groups).exists():
        table = replace(table, groups=groups)
    dataset = load_dataset(data, table, least_classes=least_classes)
    return dataset if groups is None else with_groups(dataset, groups, data)


def with_columns(dataset: Dataset, wanted: Sequence[str], source: str) -> Dataset:
    """Return a data set with the columns that a model wants, in its order, matched by name."""
    match = match_columns(dataset.feature_names, wanted, source)
    notices = (*dataset.notices, *match.notices)
    if match.columns is None:
        return replace(dataset, notices=notices)
    columns = list(match.columns)
    return replace(
        dataset,
        X_train=dataset.X_train[:, columns],
        X_test=dataset.X_test[:, columns],
        feature_names=tuple(wanted),
        notices=notices,
    )


def settled_windows(
    dataset: Dataset, features: str | None, shape: tuple[int, int] | None, rate: float | None
) -> tuple[tuple[int, int] | None, float | None]:
    """Return the shape and the rate of windows, those of the data's points where not given."""
    if features is None:
        return shape, rate
    return shape or _window_of(dataset), rate or dataset.sample_rate


def _window_of(dataset: Dataset) -> tuple[int, int]:
    if len(dataset.point_shape) > 2:
        raise InputError(
            f"--features is given, but a point of the data has the axes "
            f"{'x'.join(map(str, dataset.point_shape))}; say --window SAMPLESxCHANNELS"
        )
    samples, channels = (
        (*dataset.point_shape, 1)[:2]
        if dataset.point_shape
        else (
            dataset.n_features,
            1,
        )
    )
    return samples, channels
