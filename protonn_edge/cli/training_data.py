"""Data for training commands: groups, columns and the shape of windows."""

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
    """Return the data set in DATA, with the groups of ``--groups`` if given."""
    if groups is not None and not Path(groups).exists():
        table = replace(table, groups=groups)
    dataset = load_dataset(data, table, least_classes=least_classes)
    return dataset if groups is None else with_groups(dataset, groups, data)


def with_columns(dataset: Dataset, wanted: Sequence[str], source: str) -> Dataset:
    """Return a data set with the columns of a model, in the model's order, matched by name."""
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
    """Return the shape and the rate of windows; by default those of the data's points."""
    if features is None:
        return shape, rate
    return shape or _window_of(dataset), rate or dataset.sample_rate


def settled_onset(dataset: Dataset, given: int | None) -> int | None:
    """Return the level at which clips of sound begin: that at which those of the data were cut.

    Raises
    ------
    InputError
        If --onset is another one: the board would not begin its clips where those of the data do.
    """
    if given is None or dataset.onset in (None, given):
        return given or dataset.onset
    raise InputError(
        f"--onset is {given}, but the clips of the data begin at a level of {dataset.onset}; leave "
        f"it out, or cut them with 'windows --onset {given}'"
    )


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
