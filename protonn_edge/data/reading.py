"""Detect the format of data, and read the data with the reader for that format.

=========================== ===================================================================
a path ending in            is read as
=========================== ===================================================================
``.npz``                    arrays, see `protonn_edge.data.files.arrays`
``.csv``, ``.tsv``          a table, see `protonn_edge.data.tables.tables`
``.libsvm .svm .svmlight``  libsvm text, see `read_libsvm`
``.txt .t .tr .scale``, "" libsvm text or a table with tabs, depending on its first line
a folder                    ``train.txt`` and, if it is there, ``test.txt`` (reference layout);
                            or images, see `protonn_edge.data.takes.images`; for folders of
                            recordings see `protonn_edge.extensions.sensing.recordings.recorded`
=========================== ===================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from protonn_edge.data.checks.checks import remarks
from protonn_edge.data.files.arrays import has_labels, read_npz_points
from protonn_edge.data.formats import is_archive, is_text_table, read_parts, refuse_options
from protonn_edge.data.naming import NO_CLASS, NO_LABEL, TEST_PART_ONLY, Notice, in_order, listed
from protonn_edge.data.options import SHOWN, TableOptions, with_keywords
from protonn_edge.data.points.dataset import (
    Dataset,
    Float32,
    Indices,
    Table,
    check_feature_count,
    check_has_points,
    class_indices,
    dataset_from,
    several_labels,
)
from protonn_edge.data.points.division import digest_of
from protonn_edge.data.points.expected import Expected, is_same_rate
from protonn_edge.data.points.label_sets import (
    LabelSetTable,
    as_label_sets,
    known_sets,
    label_set_dataset,
    named_sets,
)
from protonn_edge.data.points.model_points import ModelPoints
from protonn_edge.data.points.values import (
    Values,
    has_values,
    not_numbers,
    numbers_of,
    value_dataset,
)
from protonn_edge.data.roles.groups import groups_of_division
from protonn_edge.data.roles.learned import about_new_points, as_in_training, with_label
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, unneeded
from protonn_edge.system.files import as_path

Labels = Literal["needed", "optional", "ignorable"]
"""Whether points need labels; they may also be classes that a model does not know, or missing."""

_UNLABELLED = "(no label)"
_NORMAL = "normal"  # the class of all rows, if one is enough, and no column has labels


def load_dataset(
    path: Path | str,
    options: TableOptions | None = None,
    *,
    test: Path | str | None = None,
    least_classes: Literal[1, 2] = 2,
    target: Literal["class", "value"] | None = None,
    **keywords: object,
) -> Dataset:
    """Read labelled data; without a test part, all of it is training data (see `holdout`).

    Parameters
    ----------
    path : Path or str
    options : TableOptions, optional
        For a table, or a folder of images; refused for other kinds of files.
    test : Path or str, optional
        A second file, which becomes the test part, with the classes, the order of columns, and the
        values for gaps of the training part.
    least_classes : {2, 1}
        Minimum number of classes, see `dataset_from`.
    target : {"class", "value"}, optional
        What labels are: classes, or numbers to predict. By default, they are numbers if many of
        them have decimals.
    **keywords
        Fields of `TableOptions`, such as ``label="kind"``, ``missing="median"``, ``drop=["when"]``,
        or ``size=(28, 28)`` for images; they replace the fields of `options`.

    Returns
    -------
    Dataset
        A `MultiLabelDataset` if points have sets of labels, a `ValueDataset` for numbers. Its
        `notices` report how a table was read, and probable mistakes.

    Raises
    ------
    InputError
        If the data cannot be used; the sentence names the file and, if known, the line or array.
    """
    chosen = with_keywords(options, keywords)
    dataset = _dataset(as_path(path), chosen, least_classes, target)
    return dataset if test is None else _with_test(dataset, as_path(test), chosen)


def _dataset(
    path: Path,
    options: TableOptions | None,
    least_classes: Literal[1, 2],
    target: Literal["class", "value"] | None,
) -> Dataset:
    if target == "value":
        options = replace(options or TableOptions(), target=target)
    elif least_classes == 1 and (options is None or options.missing != SHOWN):
        options = replace(options or TableOptions(), normal=_NORMAL)
    train, test, names = read_parts(path, options)
    if isinstance(train, LabelSetTable) or isinstance(test, LabelSetTable):
        if target == "value":
            raise unneeded("--target", f"is {target}, but {path} has sets of labels")
        tested = None if test is None else as_label_sets(test)
        dataset: Dataset = label_set_dataset(as_label_sets(train), tested, names)
    elif has_values(train, target, names):
        dataset = value_dataset(train, test)
    else:
        dataset = dataset_from(train, test, names, least_classes=least_classes)
    return replace(dataset, notices=(*dataset.notices, *remarks(dataset)))


def _with_test(dataset: Dataset, path: Path, options: TableOptions | None) -> Dataset:
    if len(dataset.y_test):
        raise unneeded("test", f"is {path}, but the data has a test part")
    given = options and replace(options, missing=None, one_hot=())  # as in the training part
    facts = dataset.n_features, dataset.feature_names, dataset.classes, dataset.instrument
    expected = Expected(
        *facts,
        preparation=dataset.preparation,
        sample_rate=dataset.sample_rate,
        predicts=dataset.predicts,
    )
    points = read_points(path, expected, given)
    notices = (*dataset.notices, *points.notices)
    y: Array = points.y if points.values is None else points.values.reshape(len(points.values), -1)
    return replace(dataset, X_test=points.X, y_test=y, notices=notices)


def load_points(
    path: Path, expected: Expected, options: TableOptions | None = None
) -> tuple[Float32, Indices]:
    """Read points for testing a model, as `read_points` does.

    Returns points (n, D) and indices (n,) into the classes.
    """
    points = read_points(path, expected, options)
    return points.X, points.y


def read_points(
    path: Path,
    expected: Expected,
    options: TableOptions | None = None,
    *,
    labels: Labels = "needed",
    one_part: bool = False,
) -> ModelPoints:
    """Read points for testing a model: the test part of `path`, or all points without one.

    If `path` has the data that the model's training divided, its test part is what was held out.

    `path` is anything that `load_dataset` reads; one class only, or some classes missing, is fine.

    - `expected`: what the model requires; features match columns by name if both have names.
    - `labels`: whether they may be missing. If they are ignorable, other labels than the model's
      classes are accepted, too, and none are returned then.
    - `one_part`: whether to refuse a `path` with two parts, neither of which suits calibration.

    Raises the errors of `load_dataset`, and `InputError` if points lack a feature or have another
    number of features, unknown labels, label sets, values in other units, or another sampling rate,
    if `one_part` finds two parts, or if the training file is read with other options than by
    training.
    """
    read = as_in_training(path, options or TableOptions(), expected)
    points = _read_points(path, expected, read, labels, one_part=one_part)
    notices = (*points.notices, *about_new_points(points.X, expected))
    return replace(points, options=read, notices=notices)


def _read_points(
    path: Path, expected: Expected, given: TableOptions, labels: Labels, *, one_part: bool
) -> ModelPoints:
    options, labelled = with_label(path, given, expected)
    division = expected.division
    if len(expected.classes) == 1 and division and digest_of(path) == division.sha256:
        options = replace(options, normal=expected.classes[0])
    if labels == "needed":
        labelled = True
    elif is_archive(path):
        labelled = has_labels(path)
    expected = replace(expected, labelled=labelled)
    if is_archive(path) and not labelled:
        refuse_options(path, options)
        return _points_of(read_npz_points(path), expected, labels)
    if labels != "needed" and is_text_table(path):
        options = replace(options, background=_UNLABELLED)
    train, test, classes = read_parts(path, options, expected)
    if one_part and test is not None and test.X.shape[0]:
        raise InputError(
            f"{path} has a training and a test part, but calibration must use neither part; put "
            "held-out points into a separate file"
        )
    if test is not None:
        if labels == "ignorable":
            test = replace(test, notices=(TEST_PART_ONLY, *test.notices))
        return _points_of(test, expected, labels, classes)
    held_out, groups = _held_out(path, train, classes, expected, options, labels)
    return replace(_points_of(held_out, expected, labels, classes), groups=groups)


def _held_out(
    path: Path,
    table: Table,
    classes: tuple[str, ...],
    expected: Expected,
    options: TableOptions | None,
    labels: Labels,
) -> tuple[Table, Indices | None]:
    """Return the rows that training held out, and their groups, if it divided this file.

    Otherwise, return the whole table; one of training rows alone gets a warning. Rows that are
    tested against their labels are as in training, see `Division.tested`.
    """
    division = expected.division
    if division is None or digest_of(path) != division.sha256:
        return table, None
    if not division.share:
        text = (
            f"the model was trained on all points of {path.name}, so the accuracy on them is "
            "higher than on new data; use other points, or let 'train' hold some out"
        )
        notice = Notice("training_rows", text, warning=True)
        return replace(table, notices=(*table.notices, notice)), None
    divided, labelled = table, np.ones(len(table.labels), np.bool_)
    if not isinstance(table, LabelSetTable) and _UNLABELLED in table.labels.used:
        labelled = table.labels.numbers({_UNLABELLED: 0}, 1) == 1
        divided = table.parted(labelled)
    y = _labels_of(divided, classes, expected)
    groups = groups_of_division(division, divided, path, options)
    chosen = division.chosen_again(y, groups)
    if chosen is None:
        raise InputError(
            f"the model was trained on {path}, but with other options, which give other rows, "
            "labels or groups; use the options of the training, or train the model again"
        )
    text = (
        f"the model's training held out {chosen.sum():,} of these {len(chosen):,} points, and only "
        "the held-out points are used"
    )
    used = ~labelled
    used[labelled] = chosen
    if labels != "ignorable":
        X = table.X.copy()
        names, ordered = table.feature_names, table.in_recorded_order
        X[labelled] = division.tested(divided.X, y, names, ordered=ordered)
        table = replace(table, X=X)
    if not labelled.all():
        text += f", with {(~labelled).sum():,} points without a label"
    held = None
    if groups is not None:
        held = np.full(len(labelled), -1)
        held[labelled] = groups
        held = held[used]
    notices = (*table.notices, Notice("held_out", text))
    return replace(table.parted(used), notices=notices), held


def _labels_of(table: Table, classes: tuple[str, ...], expected: Expected) -> Array:
    """Return labels as in training: sets (n, L), numbers (n, 1), or classes (n,) or `NO_CLASS`."""
    if isinstance(table, LabelSetTable):
        return np.asarray(named_sets(table, classes)[0].labels)
    if expected.predicts == "value":
        return numbers_of(table)[:, None]
    order = classes or in_order({*table.labels.used})
    # One class was the only one to train on; others are in the order of a data set.
    order = tuple(expected.classes) if len(expected.classes) == 1 else order
    return table.labels.numbers({name: index for index, name in enumerate(order)}, NO_CLASS)


def _points_of(
    table: Table, expected: Expected, labels: Labels, names: Sequence[str] = ()
) -> ModelPoints:
    in_sets = isinstance(table, LabelSetTable)
    if in_sets and expected.predicts != "labels":
        raise several_labels(table.source, "the model answers with one class")
    if expected.predicts == "labels" and expected.labelled and not in_sets:
        table = as_label_sets(table)
    table = table.matched(expected.feature_names, table.source)
    check_feature_count(table, expected.n_features, "the model expects")
    check_has_points(table.source, len(table.X))
    y, values, notices = _known(table, names, expected, labels)
    table = _in_trained_unit(table, expected)
    rows = np.arange(len(y)) if table.kept is None else np.flatnonzero(table.kept)
    if not is_same_rate(table.sample_rate, expected.sample_rate):
        raise InputError(
            f"{table.source} was sampled at {table.sample_rate:g} Hz, but the model was trained on "
            f"data sampled at {expected.sample_rate:g} Hz; use recordings at this rate"
        )
    facts = {**vars(table), "notices": (*table.notices, *notices)}
    return ModelPoints(**facts, y=y, rows=rows, values=values)


def _in_trained_unit(table: Table, expected: Expected) -> Table:
    """Return a table with its values in the unit of the model's training data."""
    here, there = table.instrument, expected.instrument
    if here is None or (there is None and expected.converted is None):
        return table
    if there is not None and not here.is_unlike(there):
        return table
    converted = expected.converted and expected.converted(table.X, here)
    if converted is None and there is None:
        raise InputError(
            f"{table.source} has counts of {here}, but the model was trained on decimal numbers in "
            "an unknown unit; give their unit, for example with 'predict --unit g'"
        )
    if converted is None:
        raise InputError(
            f"{table.source} was recorded with {here}, but the model was trained on data from "
            f"{there}; use data from the same sensor, or in the same units"
        )
    X, notices = converted
    return replace(table, X=X, notices=(*table.notices, *notices))


def _known(
    table: Table, names: Sequence[str], expected: Expected, labels: Labels
) -> tuple[Indices, Values | None, tuple[Notice, ...]]:
    """Return classes (n,), `NO_LABEL` for none; other right answers, NaN for none; and notices."""
    y = np.full(len(table.X), NO_LABEL)
    if not expected.labelled:
        return y, None, ()
    if isinstance(table, LabelSetTable):
        return y, known_sets(table, names, expected.classes), ()
    of_values = expected.predicts == "value"
    alone = len(expected.classes) == 1 and not of_values
    absent = () if labels == "needed" else ("", _UNLABELLED)
    known = table.labels.numbers(dict.fromkeys(absent, 0), 1) == 1
    given = replace(table, labels=table.labels[known])
    others = {*given.labels.used}.difference(expected.classes)
    if of_values:
        others = not_numbers(given)
    if labels == "ignorable" and others and not alone:
        what = "numbers" if of_values else "classes of the model"
        text = f"{table.source} has labels that are not {what}, {listed(sorted(others))}, "
        text += "so all of its labels are ignored"
        return y, None, (Notice("labels", text, warning=True),)
    if of_values:
        values = np.full(len(table.X), np.nan)
        values[known] = numbers_of(given)
        return y, values, ()
    y[known] = class_indices(given, expected.classes, "the model", alone=alone)
    return y, None, ()
