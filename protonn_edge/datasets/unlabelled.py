"""Points without labels, for a trained model to classify."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.arrays import (
    FILE_LIMIT_BYTES,
    has_features,
    instrument_of,
    names_of,
    points_of,
)
from protonn_edge.datasets.cells import recording_head
from protonn_edge.datasets.dataset import Features, Float32, dense_features
from protonn_edge.datasets.matching import match_columns
from protonn_edge.datasets.notices import Notice, OnNotice
from protonn_edge.datasets.reading import load_points, refuse_options
from protonn_edge.datasets.rules import Expected, TableOptions
from protonn_edge.datasets.tables import read_features, recorded_by
from protonn_edge.errors import InputError
from protonn_edge.sensors import Instrument
from protonn_edge.system.files import check_file

_ARRAYS = ("X_test", "x_test", "X", "x", "X_train", "x_train")
_LIMIT_BYTES = 512 * 2**20


def load_features(
    path: Path,
    *,
    classes: Sequence[str],
    n_features: int,
    feature_names: Sequence[str] = (),
    options: TableOptions | None = None,
    on_notice: OnNotice | None = None,
) -> Float32:
    """Read points to classify; labels are optional and ignored.

    Parameters are those of `load_points`.

    Returns
    -------
    ndarray of shape (n, D), float32

    Raises
    ------
    InputError
        One sentence with the file and, where there is one, the line, the column or the array.
    """
    suffix = path.suffix.lower()
    if suffix == ".npz" and not path.is_dir():
        refuse_options(path, options)
        X, names = _of_archive(path)
        match = match_columns(names, feature_names, str(path))
        _tell(match.notices, on_notice)
        return _checked(X if match.columns is None else X[:, list(match.columns)], n_features, path)
    expected = Expected(n_features, tuple(feature_names), classes)
    if suffix in (".csv", ".tsv"):
        check_file(path, limit_bytes=_LIMIT_BYTES)
        delimiter = "," if suffix == ".csv" else "\t"
        table = read_features(path, delimiter=delimiter, options=options, expected=expected)
        if table is not None:
            X, notices = table
            _tell(notices, on_notice)
            return _checked(X, n_features, path)
    X, _ = load_points(
        path,
        classes=classes,
        n_features=n_features,
        feature_names=feature_names,
        options=options,
        on_notice=on_notice,
    )
    return X


def instrument_in(path: Path, feature_names: Sequence[str]) -> Instrument | None:
    """Return what measured the points of a file, if it states that.

    Parameters
    ----------
    path : Path
        A file that could be read.
    feature_names : sequence of str
        The columns of a recording.

    Raises
    ------
    InputError
        If what it states is no unit.
    """
    if path.is_dir():
        return None
    if path.suffix.lower() == ".npz":
        with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
            return instrument_of(archive)
    head = recording_head(path)
    return None if head is None else recorded_by(path, head, feature_names)


def _tell(notices: Sequence[Notice], on_notice: OnNotice | None) -> None:
    if on_notice is not None:
        for notice in notices:
            on_notice(notice)


def _of_archive(path: Path) -> tuple[Features, tuple[str, ...]]:
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        for name in _ARRAYS:
            if has_features(archive, name):
                X, shape = points_of(archive, name)
                return X, names_of(archive, shape)
    raise InputError(f"{path} has no array 'X' of points; rename the array")


def _checked(X: Features, n_features: int, path: Path) -> Float32:
    if X.shape[1] != n_features:
        raise InputError(
            f"{path} has {X.shape[1]:,} features, the model wants {n_features:,}; use the columns "
            "that it was trained on"
        )
    if not X.shape[0]:
        raise InputError(f"{path} has no points; give it at least one")
    return dense_features(X, str(path))
