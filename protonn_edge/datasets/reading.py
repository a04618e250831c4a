"""Detect the format of data, and read it with the reader for it.

=========================== ===================================================================
a path ending in            is read as
=========================== ===================================================================
``.npz``                    arrays, see `protonn_edge.datasets.arrays`
``.csv``, ``.tsv``          a table, see `protonn_edge.datasets.tables`
``.libsvm .svm .svmlight``  libsvm text, see `protonn_edge.datasets.libsvm`
``.txt .t .tr .scale``, "" libsvm text or a table with tabs, depending on its first line
a folder                    ``train.txt`` and, if it is there, ``test.txt`` (reference layout);
                            for folders of recordings see `protonn_edge.datasets.recorded`
=========================== ===================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from protonn_edge.datasets.arrays import read_npz
from protonn_edge.datasets.dataset import (
    Dataset,
    Float32,
    Indices,
    Table,
    check_feature_count,
    class_indices,
    dataset_from,
    dense_features,
)
from protonn_edge.datasets.label_sets import LabelSetTable, as_label_sets, label_set_dataset
from protonn_edge.datasets.libsvm import looks_like_libsvm, read_libsvm, widened
from protonn_edge.datasets.matching import match_columns
from protonn_edge.datasets.notices import Notice, OnNotice
from protonn_edge.datasets.remarks import remarks
from protonn_edge.datasets.rules import Expected, TableOptions
from protonn_edge.datasets.signatures import check_is_text
from protonn_edge.datasets.tables import read_table
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

TEXT_LIMIT_BYTES = 512 * 2**20

_LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")
_OPEN_SUFFIXES = (".txt", ".t", ".tr", ".scale", "")


def load_dataset(
    path: Path | str, options: TableOptions | None = None, *, least_classes: Literal[1, 2] = 2
) -> Dataset:
    """Read labelled data; without a test part, all of it is training data, see `holdout`.

    Parameters
    ----------
    path : Path or str
    options : TableOptions, optional
        What is known of a table; refused for other kinds of files.
    least_classes : {2, 1}
        Minimum number of classes, see `dataset_from`.

    Returns
    -------
    Dataset
        A `MultiLabelDataset` if points have sets of labels. Its `notices` report how a table was
        read, and probable mistakes.

    Raises
    ------
    InputError
        One sentence with the file and, where there is one, the line or the array.
    """
    dataset = _dataset_of(*_parts(Path(path), options), least_classes)
    return replace(dataset, notices=(*dataset.notices, *remarks(dataset)))


def load_table(path: Path, options: TableOptions | None = None) -> tuple[Table, tuple[str, ...]]:
    """Read the training part of labelled data, and the classes if the file names them.

    Raises
    ------
    InputError
        As `load_dataset`.
    """
    train, _, classes = _parts(path, options)
    return train, classes


def _dataset_of(
    train: Table, test: Table | None, names: tuple[str, ...], least_classes: Literal[1, 2]
) -> Dataset:
    if isinstance(train, LabelSetTable) or isinstance(test, LabelSetTable):
        tested = None if test is None else as_label_sets(test)
        return label_set_dataset(as_label_sets(train), tested, names)
    return dataset_from(train, test, names, least_classes=least_classes)


def load_points(
    path: Path,
    *,
    classes: Sequence[str],
    n_features: int,
    feature_names: Sequence[str] = (),
    options: TableOptions | None = None,
    on_notice: OnNotice | None = None,
) -> tuple[Float32, Indices]:
    """Read points to test a model with: the test part of `path`, or all of it if it has none.

    Parameters
    ----------
    path : Path
        Anything that `load_dataset` reads; one class only, or some classes missing, is fine here.
    classes : sequence of str
        The model's class names.
    n_features : int
        The model's number of features, D.
    feature_names : sequence of D str
        The model's names of features, or empty. Columns are matched by them if both have names.
    options : TableOptions, optional
        What is known of a table; refused for other kinds of files.
    on_notice : callable, optional
        Called with notices, after the points were accepted.

    Returns
    -------
    X : ndarray of shape (n, D), float32
    y : ndarray of shape (n,), int64
        Indices into `classes`; if there is only one, other labels are `NO_CLASS`.

    Raises
    ------
    InputError
        As `load_dataset`, and if the points lack a feature or have another number of them, a label
        that is not one of the classes, or sets of labels.
    """
    expected = Expected(n_features, tuple(feature_names), classes)
    train, test, _ = _parts(path, options, expected)
    return _points_of(test or train, expected, on_notice)


def load_held_out_points(
    path: Path,
    *,
    classes: Sequence[str],
    n_features: int,
    feature_names: Sequence[str] = (),
    options: TableOptions | None = None,
    on_notice: OnNotice | None = None,
) -> tuple[Float32, Indices]:
    """Read points to calibrate a model with: all of `path`, which must not have two parts.

    Parameters and result are those of `load_points`.

    Raises
    ------
    InputError
        As `load_points`, and if `path` has a test part.
    """
    expected = Expected(n_features, tuple(feature_names), classes)
    train, test, _ = _parts(path, options, expected)
    if test is not None and test.X.shape[0]:
        raise InputError(
            f"{path} has a training and a test part, but a model is calibrated on neither; put "
            "held-out points into a separate file"
        )
    return _points_of(train, expected, on_notice)


def _parts(
    path: Path, options: TableOptions | None, expected: Expected | None = None
) -> tuple[Table, Table | None, tuple[str, ...]]:
    """Return the training part, the test part if there is one, and the classes if named."""
    if path.suffix.lower() == ".npz" and not path.is_dir():
        refuse_options(path, options)
        parts = read_npz(path)
        return parts.train, parts.test, parts.classes
    return *_tables(path, options, expected), ()


def _points_of(
    table: Table, expected: Expected, on_notice: OnNotice | None
) -> tuple[Float32, Indices]:
    if isinstance(table, LabelSetTable):
        raise InputError(
            f"{table.source} has sets of labels, the model answers with one class; use data with "
            "one label per point"
        )
    table, notices = with_columns(table, expected.feature_names)
    check_feature_count(table, expected.n_features, "the model wants")
    if not table.X.shape[0]:
        raise InputError(f"{table.source} has no points; give it at least one")
    points = dense_features(table.X, table.source)
    alone = len(expected.classes) == 1
    labels = class_indices(table, expected.classes, "the model", alone=alone)
    for notice in (*table.notices, *notices):
        if on_notice is not None:
            on_notice(notice)
    return points, labels


def with_columns(
    table: Table, wanted: Sequence[str], owner: str = "the model"
) -> tuple[Table, tuple[Notice, ...]]:
    """Return a table with the columns that its owner requires, in its order, and notices.

    Raises
    ------
    InputError
        As `match_columns`.
    """
    match = match_columns(table.feature_names, wanted, table.source, owner)
    if match.columns is None:
        return table, match.notices
    columns = list(match.columns)
    changed = replace(
        table,
        X=table.X[:, columns],
        feature_names=tuple(wanted),
        instrument=table.instrument and table.instrument.of_channels(columns),
    )
    return changed, match.notices


def refuse_options(path: Path, options: TableOptions | None) -> None:
    """Refuse options that only apply to text tables."""
    given = TableOptions() if options is None else replace(options, groups=None, labelled=None)
    flags = [f"--{name}" for name, value in vars(given).items() if value]
    if flags:
        raise InputError(
            f"{flags[0]} is for tables of text, such as .csv, and {path} has no columns to choose "
            "from; leave it out"
        )


def _tables(
    path: Path, options: TableOptions | None, expected: Expected | None
) -> tuple[Table, Table | None]:
    """Read the training part and the test part, if any, of a text file or a folder."""
    if not path.is_dir():
        return _text_table(path, options, expected), None
    if not (path / "train.txt").is_file():
        raise InputError(
            f"{path} is a folder without train.txt; name a file, put train.txt there, or let "
            "'windows' cut a folder of recordings"
        )
    train = _text_table(path / "train.txt", options, expected, label_first=True)
    if not (path / "test.txt").exists():
        return train, None
    if looks_like_libsvm(path / "train.txt"):  # a file's last features may all be zero
        test = _text_table(path / "test.txt", options, expected)
        width = max(train.X.shape[1], test.X.shape[1])
        return widened(train, width), widened(test, width)
    like = expected or Expected(train.X.shape[1], train.feature_names, sorted(set(train.labels)))
    test = _text_table(path / "test.txt", options, like, label_first=True)
    return train, with_columns(test, like.feature_names)[0]


def _text_table(
    path: Path,
    options: TableOptions | None,
    expected: Expected | None,
    *,
    label_first: bool = False,
) -> Table:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", *_LIBSVM_SUFFIXES, *_OPEN_SUFFIXES) and path.exists():
        raise InputError(
            f"{path} ends in {suffix!r}, which is not one of .npz, .csv, .tsv, .libsvm, .svm, "
            ".svmlight, .txt; convert it to one of these"
        )
    check_file(path, limit_bytes=TEXT_LIMIT_BYTES)
    check_is_text(path)
    if suffix in _LIBSVM_SUFFIXES or (suffix in _OPEN_SUFFIXES and looks_like_libsvm(path)):
        refuse_options(path, options)
        table = read_libsvm(path)
        return table if expected is None else widened(table, expected.n_features)
    return read_table(
        path,
        delimiter="," if suffix == ".csv" else "\t",
        options=options,
        expected=expected,
        label_first=label_first,
    )
