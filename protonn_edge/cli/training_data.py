"""Read the data of `train` and `tune`, and hold out a part of it for testing."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from protonn_edge.cli.tables import with_group_column
from protonn_edge.cli.train_given import TrainOptions
from protonn_edge.data.files.arrays import source_of
from protonn_edge.data.naming import Notice
from protonn_edge.data.options import TableOptions, texts_of
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division, digest_of
from protonn_edge.data.points.splits import hold_groups_out, named_groups
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import of_one_class_each, with_groups, with_own_groups
from protonn_edge.learn.targets import Target
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError

if TYPE_CHECKING:
    from protonn_edge.cli.tune_given import TuneOptions

DEFAULT_SHARE = 0.2  # of the points, or of the groups, that are held out


def load_for(given: TrainOptions | TuneOptions, target: Target) -> tuple[Target, Dataset]:
    """Return the target as added options change it, and the data set, which they have checked."""
    for added in given.added:
        target = added.completed(target)
    dataset = _load_divided(given, target)
    for added in given.added:
        added.check(dataset)
    return target, dataset


def _load_divided(given: TrainOptions | TuneOptions, target: Target) -> Dataset:
    """Return the data set in DATA, with a part held out for testing unless it has a test part.

    Groups are those of ``--groups`` or, without it, the file's own. A part of the points of
    `target` is held out, or groups that are named. If a default share cannot be held out, a notice
    says why.
    """
    data, groups, share = given.data, given.groups, given.test_share
    table = with_group_column(given.table, groups)
    dataset = load_dataset(data, table, least_classes=target.least_classes, target=target.read_as)
    window = given.classifier.parameters().get("window_shape")
    if window and not dataset.point_shape and math.prod(window) == dataset.n_features:
        dataset = replace(dataset, point_shape=window)
    if groups is None:
        dataset, groups = with_own_groups(dataset, data)
    else:
        dataset = with_groups(dataset, groups, data)
    dataset = replace(dataset, notices=(*dataset.notices, *of_one_class_each(dataset)))
    division = division_of(data, dataset, given.table, groups)
    if isinstance(share, tuple):
        return _with_groups_held_out(dataset, share, division, target)
    of_row, before = dataset.groups, dataset
    dataset = replace(target.selected(dataset), division=division)
    y = target.relabelled(before.y_train, before, dataset)
    if share == 0 or (share is None and target.is_tested(dataset)):
        return dataset
    by_rows, share_held = given.holdout_rows, share or DEFAULT_SHARE
    try:
        dataset = target.held_out(dataset, share_held, given.seed, by_rows=by_rows)
    except InputError as error:
        if share is not None:
            raise
        text = f"too few points to hold some out: {error}"
        notice = Notice("too_few", text, warning=True)
        return replace(dataset, notices=(*dataset.notices, notice))
    assert dataset.division is not None
    return replace(dataset, division=dataset.division.checked(y, of_row))


def _with_groups_held_out(
    dataset: Dataset, names: tuple[str, ...], division: Division, target: Target
) -> Dataset:
    """Return the points of `target`, with the groups of these names held out for testing."""
    numbers = named_groups(dataset, names)
    selected = target.selected(hold_groups_out(dataset, numbers))
    y = target.relabelled(dataset.y_train, dataset, selected)
    division = division.holding_groups_out(numbers, y, dataset.groups)
    return replace(selected, division=division)


def division_of(data: Path, dataset: Dataset, table: TableOptions, groups: str = "") -> Division:
    """Return the division of DATA, read as a data set with these groups; nothing is held out."""
    labels = [each.name for each in dataset.columns if each.role == "label"]
    name = "" if dataset.groups is None else Path(groups).name
    return Division(
        digest_of(data),
        groups=name,
        label="".join(labels[:1]),
        read=texts_of(table),
        source=source_of(data).get("sha256", ""),
    )


def of_data(model: Model, dataset: Dataset) -> Model:
    """Return a model that records its training data: names, sensor, preparation and division.

    The record has the values that fill gaps of a table, and the texts that became features.
    """
    names = model.feature_names or dataset.feature_names
    preparation, division = dataset.preparation, dataset.division
    prepared = {} if preparation is None else preparation.to_record()
    prepared |= {} if division is None else division.to_record()
    record = {**prepared, **model.record}  # a pipeline's imputers go first
    return replace(model, feature_names=names, instrument=dataset.instrument, record=record)
