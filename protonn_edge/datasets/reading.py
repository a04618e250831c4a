"""Find out what kind of data a path holds, and have the right reader read it.

=========================== ===================================================================
a path ending in            is read as
=========================== ===================================================================
``.npz``                    arrays, see `protonn_edge.datasets.arrays`
``.csv``, ``.tsv``          a table, see `protonn_edge.datasets.tables`
``.libsvm .svm .svmlight``  libsvm text, see `protonn_edge.datasets.libsvm`
``.txt .t .tr .scale``, "" libsvm text or a table with tabs, whichever its first line looks like
a folder                    ``train.txt`` and, if it is there, ``test.txt`` (reference layout)
=========================== ===================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
from protonn_edge.datasets.tables import read_table
from protonn_edge.errors import InputError
from protonn_edge.files import check_file

TEXT_LIMIT_BYTES = 512 * 2**20

_LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")
_OPEN_SUFFIXES = (".txt", ".t", ".tr", ".scale", "")


def load_dataset(path: Path) -> Dataset:
    """Read labelled data; without a test part of its own all of it is training data, see `holdout`.

    Returns
    -------
    Dataset
        A `MultiLabelDataset` if points have sets of labels.

    Raises
    ------
    InputError
        One sentence with the file and, where there is one, the line or the array.
    """
    if path.suffix.lower() == ".npz" and not path.is_dir():
        parts = read_npz(path)
        return _dataset_of(parts.train, parts.test, parts.classes)
    return _dataset_of(*_tables(path))


def _dataset_of(train: Table, test: Table | None, names: tuple[str, ...] = ()) -> Dataset:
    if isinstance(train, LabelSetTable) or isinstance(test, LabelSetTable):
        tested = None if test is None else as_label_sets(test)
        return label_set_dataset(as_label_sets(train), tested, names)
    return dataset_from(train, test, names)


def load_points(path: Path, *, classes: Sequence[str], n_features: int) -> tuple[Float32, Indices]:
    """Read points to test a model with: the test part of `path`, or all of it if it has none.

    Parameters
    ----------
    path : Path
        Anything that `load_dataset` reads; one class only, or some classes missing, is fine here.
    classes : sequence of str
        The model's class names.
    n_features : int
        The model's number of features, D.

    Returns
    -------
    X : ndarray of shape (n, D), float32
    y : ndarray of shape (n,), int64
        Indices into `classes`.

    Raises
    ------
    InputError
        As `load_dataset`, and if the points have another number of features, a label that is not
        one of the classes, or sets of labels.
    """
    train, test = _parts(path, n_features)
    return _points_of(test or train, classes, n_features)


def load_held_out_points(
    path: Path, *, classes: Sequence[str], n_features: int
) -> tuple[Float32, Indices]:
    """Read points to calibrate a model with: all of `path`, which must not have two parts.

    Parameters and result are those of `load_points`.

    Raises
    ------
    InputError
        As `load_points`, and if `path` has a test part.
    """
    train, test = _parts(path, n_features)
    if test is not None and test.X.shape[0]:
        raise InputError(
            f"{path} has a training and a test part, and a model is calibrated on neither; hold "
            "points out into a file of their own"
        )
    return _points_of(train, classes, n_features)


def _parts(path: Path, n_features: int) -> tuple[Table, Table | None]:
    if path.suffix.lower() == ".npz" and not path.is_dir():
        parts = read_npz(path)
        return parts.train, parts.test
    return _tables(path, n_features)


def _points_of(table: Table, classes: Sequence[str], n_features: int) -> tuple[Float32, Indices]:
    if isinstance(table, LabelSetTable):
        raise InputError(
            f"{table.source} has sets of labels, the model answers with one class; use data with "
            "one label a point"
        )
    check_feature_count(table, n_features, "the model wants")
    if not table.X.shape[0]:
        raise InputError(f"{table.source} has no points; give it at least one")
    return dense_features(table.X, table.source), class_indices(table, classes, "the model")


def _tables(path: Path, n_features: int | None = None) -> tuple[Table, Table | None]:
    """Read the training part and the test part, if there is one, of a text file or a folder."""
    if not path.is_dir():
        return _text_table(path, n_features), None
    if not (path / "train.txt").is_file():
        raise InputError(
            f"{path} is a folder without train.txt; name a file, or put train.txt there"
        )
    train = _text_table(path / "train.txt", n_features)
    if not (path / "test.txt").exists():
        return train, None
    test = _text_table(path / "test.txt", n_features)
    if looks_like_libsvm(path / "train.txt"):  # a file's last features may all be zero
        width = max(train.X.shape[1], test.X.shape[1])
        train, test = widened(train, width), widened(test, width)
    return train, test


def _text_table(path: Path, n_features: int | None) -> Table:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", *_LIBSVM_SUFFIXES, *_OPEN_SUFFIXES) and path.exists():
        raise InputError(
            f"{path} ends in {suffix!r}, which is none of .npz, .csv, .tsv, .libsvm, .svm, "
            ".svmlight, .txt; convert it to one of these"
        )
    check_file(path, limit_bytes=TEXT_LIMIT_BYTES)
    if suffix in _LIBSVM_SUFFIXES or (suffix in _OPEN_SUFFIXES and looks_like_libsvm(path)):
        table = read_libsvm(path)
        return widened(table, n_features) if n_features is not None else table
    return read_table(path, delimiter="," if suffix == ".csv" else "\t")
