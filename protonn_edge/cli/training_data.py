"""Data for training commands: groups, columns and the shape of windows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from protonn_edge.cli.train_options import was_given
from protonn_edge.datasets import Dataset, Notice, TableOptions, load_dataset, with_groups
from protonn_edge.datasets.naming import quoted
from protonn_edge.errors import InputError
from protonn_edge.features.audio.train import AudioRequest, with_onset
from protonn_edge.training.features import FeatureParameters, FeatureRequest

_WINDOW_AXES = 2  # samples and channels


def load_grouped(
    data: Path, table: TableOptions, groups: str | None, *, least_classes: Literal[1, 2] = 2
) -> Dataset:
    """Return the data set in DATA, with the groups of ``--groups`` if given."""
    if groups is not None and not Path(groups).exists():
        table = replace(table, groups=groups)
    dataset = load_dataset(data, table, least_classes=least_classes)
    return dataset if groups is None else with_groups(dataset, groups, data)


def settled_samples(dataset: Dataset, settings: FeatureParameters) -> dict[str, Any]:
    """Return what the points say of the parameters for features of samples, where these ask for it.

    Raises `InputError` if clips of sound are to begin at another level than those of the data: the
    board would not begin its clips where they do.
    """
    asked = settings.asked
    if asked is None or not asked.of_samples:
        return {}
    found: dict[str, Any] = {}
    if not was_given("window_shape"):
        found["window_shape"] = _window_of(dataset)
    if not was_given("sample_rate") and dataset.sample_rate is not None:
        found["sample_rate"] = dataset.sample_rate
    if isinstance(asked, AudioRequest) and dataset.onset is not None:
        if asked.onset not in (None, dataset.onset):
            raise InputError(
                f"--features has onset:{asked.onset}, but the clips of the data begin at a level "
                f"of {dataset.onset}; leave it out, or cut them with 'windows --onset "
                f"{asked.onset}'"
            )
        if asked.onset is None:
            found["features"] = with_onset(str(settings.features), dataset.onset)
    return found


def with_sample_notices(dataset: Dataset, asked: FeatureRequest | None) -> Dataset:
    """Return the data set with notices about windows of which something had to be assumed.

    Without features, each sample of a window is a feature, which is seldom what is meant. Rows of
    a table may be windows of one channel, or something else. Clips that were not cut at an onset,
    such as windows at regular intervals, are unlike the ones that the board takes.
    """
    notices = []
    if asked is None or not asked.of_samples:
        if dataset.sample_rate is not None and len(dataset.point_shape) == _WINDOW_AXES:
            text = "each sample of a window is a feature; --features computes features of windows"
            notices.append(Notice("samples", text))
        return replace(dataset, notices=(*dataset.notices, *notices))
    if not dataset.point_shape and not was_given("window_shape"):
        text = (
            f"each point is taken for a window of {dataset.n_features:,} samples of one channel; "
            "--window gives another shape, 'windows' cuts recordings"
        )
        notices.append(Notice("window", text))
    if isinstance(asked, AudioRequest) and (asked.onset, dataset.onset) == (None, None):
        text = (
            "the data does not say where its clips begin; the board begins them at a level of "
            f"{asked.level}, as 'windows --onset {asked.level}' does"
        )
        notices.append(Notice("onset", text))
    return replace(dataset, notices=(*dataset.notices, *notices))


def _window_of(dataset: Dataset) -> tuple[int, int]:
    if dataset.layout is not None and dataset.layout.time:
        raise InputError(
            "--features is given, but the data is a recording with one sample per row, whose times "
            f"are in column {quoted(dataset.layout.time)}; cut it with 'protonn-edge windows' "
            "first, or give --window if each row is a window"
        )
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
