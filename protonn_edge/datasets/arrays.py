"""Data sets as .npz: ``X_train, y_train`` and ``X_test, y_test``, or just ``X, y``.

``x_train``, ``x_test`` and ``x`` are accepted as well.

Optional: ``class_names``, to which the labels, whole numbers from 0, then point; ``feature_names``;
``channel_names``, ``sample_rate`` and ``onset`` for windows (n, time, channel); ``sensor`` and
``units`` (one for all, or one for each channel or feature). Other arrays are ignored.
X may have more than two axes: all but the first are flattened, in C order.

Sparse features are compressed rows, ``X_train_indptr``, ``_indices`` and ``_data``, with
``n_features``. Row i has the columns ``indices[indptr[i]:indptr[i + 1]]``, with the values at the
same places of ``data``. Sets of labels are ``Y_train_indptr`` and ``_indices`` with ``n_labels``,
or a ``y_train`` that is a matrix of zeros and ones. An untrusted file may have any numbers there,
so all are checked before they become a matrix of scipy, which does not check them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.dataset import (
    INDEX_LIMIT,
    TABLE_LIMIT_BYTES,
    Features,
    Table,
    check_class_names,
)
from protonn_edge.datasets.label_sets import LABEL_LIMIT, LabelSetTable
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.rows import Sparse, sparse_rows
from protonn_edge.errors import InputError
from protonn_edge.features.window_features.channels import sample_names
from protonn_edge.sensors.kinds import ARRAYS as INSTRUMENT_ARRAYS
from protonn_edge.sensors.kinds import Instrument, from_arrays

FILE_LIMIT_BYTES = 2**30


@dataclass(frozen=True, eq=False)
class Parts:
    """What an .npz holds.

    Attributes
    ----------
    train : Table
    test : Table or None
    classes : tuple of str
        The class names if the file gives them, else empty; the names of all labels if the tables
        are of sets of labels.
    """

    train: Table
    test: Table | None
    classes: tuple[str, ...]


def read_npz(path: Path) -> Parts:
    """Read an .npz data set, of at most `FILE_LIMIT_BYTES` unpacked.

    Raises
    ------
    InputError
        One sentence with the file and the array.
    """
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        train_points, train_labels, test_points, test_labels, points, labels = (
            _spelled(archive, name) for name in ("X_train", "y_train", "X_test", "y_test", "X", "y")
        )
        classes = _names(archive, "class_names")
        check_class_names(classes, str(path), LABEL_LIMIT)
        if has_features(archive, train_points):
            train = _table(archive, train_points, train_labels, classes)
            tested = has_features(archive, test_points) or _has_labels(archive, test_labels)
            test = _table(archive, test_points, test_labels, classes) if tested else None
            return _parts(train, test, classes)
        if has_features(archive, points):
            return _parts(_table(archive, points, labels, classes), None, classes)
    found = ", ".join(repr(name[:40]) for name in archive.names[:8]) or "nothing"
    raise InputError(
        f"{path} has neither 'X_train' and 'y_train' nor 'X' and 'y' (it has {found}); rename the "
        "arrays"
    )


def _parts(train: Table, test: Table | None, classes: tuple[str, ...]) -> Parts:
    """Return the parts, with the names of all labels if they are of sets of labels."""
    tested = train if test is None else test
    if isinstance(train, LabelSetTable) and isinstance(tested, LabelSetTable):
        count = train.labels.shape[1]
        names = classes or tuple(map(str, range(count)))
        for wanted, what in ((len(names), "'class_names' has"), (count, "the training part has")):
            if tested.labels.shape[1] != wanted:
                raise InputError(
                    f"{tested.source} has {tested.labels.shape[1]:,} labels, {what} {wanted:,}; "
                    "give each label a column everywhere, and a name if others have one"
                )
        return Parts(train, test, names)
    if isinstance(train, LabelSetTable) or isinstance(tested, LabelSetTable):
        raise InputError(
            f"{train.source} and {tested.source} differ: one has sets of labels, the other one "
            "label per point; give both the same"
        )
    return Parts(train, test, classes)


def _spelled(archive: ArrayArchive, name: str) -> str:
    """Return the name as the archive spells it: Keras' files have ``x_train`` and ``x_test``."""
    if name in archive.names or name.swapcase()[0] + name[1:] not in archive.names:
        return name
    return name.swapcase()[0] + name[1:]


def has_features(archive: ArrayArchive, name: str) -> bool:
    """Return whether an archive has points of this name, dense or sparse."""
    return name in archive.names or _has_compressed_rows(archive, name)


def _has_labels(archive: ArrayArchive, name: str) -> bool:
    return name in archive.names or _has_compressed_rows(archive, name.replace("y", "Y"))


def _table(archive: ArrayArchive, points: str, labels: str, classes: tuple[str, ...]) -> Table:
    for name, there in (
        (points, has_features(archive, points)),
        (labels, _has_labels(archive, labels)),
    ):
        if not there:
            raise InputError(f"{archive.path} has no array {name!r}; add it")
    X, point_shape = points_of(archive, points)
    sets = _label_sets(archive, labels)
    y = sets if sets is not None else archive.read(labels)
    if (sets is None and y.ndim != 1) or y.shape[0] != X.shape[0]:
        raise InputError(
            f"{archive.path}: array {labels!r} has the shape {y.shape}, {points!r} has "
            f"{X.shape[0]:,} points; give one label per point"
        )
    names = names_of(archive, point_shape)
    if names and len(names) != X.shape[1]:
        raise InputError(
            f"{archive.path}: array 'feature_names' has {len(names):,} names, {points!r} has "
            f"{X.shape[1]:,} features; give one name per feature"
        )
    source = f"{archive.path} ({points})"
    if sets is not None:
        return LabelSetTable(source, X, sets, feature_names=names)
    check_class_names(classes, str(archive.path))
    rate, onset = (_rate(archive), _onset(archive)) if len(point_shape) == 2 else (None, None)
    texts = _labels(archive, labels, y, classes)
    channels = point_shape[1] if len(point_shape) == 2 else X.shape[1]
    instrument = instrument_of(archive)
    if instrument is not None and len(instrument.units) not in (1, channels):
        raise InputError(
            f"{archive.path}: array 'units' has {len(instrument.units):,} units for {channels:,} "
            "channels; give one for all, or one for each"
        )
    return Table(
        source,
        X,
        texts,
        feature_names=names,
        point_shape=point_shape,
        sample_rate=rate,
        onset=onset,
        instrument=instrument,
    )


def instrument_of(archive: ArrayArchive) -> Instrument | None:
    """Return what measured the values of a file, if it states that."""
    arrays = {name: archive.read(name) for name in INSTRUMENT_ARRAYS if name in archive.names}
    try:
        return from_arrays(arrays)
    except InputError as error:
        raise InputError(f"{archive.path}: {error}") from error


def _rate(archive: ArrayArchive) -> float | None:
    """Return the samples per second of windows, if the file has them."""
    if "sample_rate" not in archive.names:
        return None
    rate = archive.read("sample_rate")
    if rate.shape != () or rate.dtype.kind not in "fiu" or not 0 < float(rate) < math.inf:
        raise InputError(
            f"{archive.path}: array 'sample_rate' must be a single number of hertz; fix it or "
            "leave it out"
        )
    return float(rate)


def _onset(archive: ArrayArchive) -> int | None:
    """Return the level at which clips of sound begin, if the file has it."""
    if "onset" not in archive.names:
        return None
    onset = archive.read("onset")
    if onset.shape != () or onset.dtype.kind not in "iu" or not 0 < int(onset) <= 255:
        raise InputError(
            f"{archive.path}: array 'onset' must be a single whole number of 1 to 255; cut the "
            "clips again, or leave it out"
        )
    return int(onset)


def names_of(archive: ArrayArchive, point_shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of features, or of a window's samples, or none; see the module's text."""
    return _names(archive, "feature_names") or _names_of_samples(archive, point_shape)


def _names_of_samples(archive: ArrayArchive, point_shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of a window's samples, if the file names the channels."""
    channels = _names(archive, "channel_names") if len(point_shape) == 2 else ()
    if channels and len(channels) != point_shape[1]:
        raise InputError(
            f"{archive.path}: array 'channel_names' has {len(channels):,} names, a window has "
            f"{point_shape[1]:,} channels; give one name per channel"
        )
    return sample_names(channels, point_shape[0]) if channels else ()


def _label_sets(archive: ArrayArchive, name: str) -> Sparse | None:
    """Return sets of labels, CSR (n, L), or None if each point has one label."""
    compressed = name.replace("y", "Y")
    if _has_compressed_rows(archive, compressed):
        return _sets_of_rows(archive, compressed, _whole_number(archive, "n_labels", LABEL_LIMIT))
    y = archive.read(name)
    if y.ndim != 2:
        return None
    if y.shape[1] > LABEL_LIMIT or y.dtype.kind not in "buif" or not np.isin(y, (0, 1)).all():
        raise InputError(
            f"{archive.path}: array {name!r} is a matrix, {y.shape[0]:,} x {y.shape[1]:,}; sets of "
            f"labels are zeros and ones, of at most {LABEL_LIMIT:,} labels; fix it"
        )
    return sparse_rows(y, dtype=np.float32)


def points_of(archive: ArrayArchive, name: str) -> tuple[Features, tuple[int, ...]]:
    """Return the points, a row each, and the axes that a point has in the file."""
    if _has_compressed_rows(archive, name):
        return _sparse_features(
            archive, name, _whole_number(archive, "n_features", INDEX_LIMIT)
        ), ()
    raw = archive.read(name)
    if raw.ndim < 2 or raw.dtype.kind not in "buif" or 0 in raw.shape[1:]:
        raise InputError(
            f"{archive.path}: array {name!r} has the shape {raw.shape} and the type "
            f"{raw.dtype.name}; it must be a table of numbers, one row per point"
        )
    if raw.size * 4 > TABLE_LIMIT_BYTES:
        raise InputError(
            f"{archive.path}: array {name!r} has {raw.size:,} values, the limit is "
            f"{TABLE_LIMIT_BYTES // 4:,}; use fewer points"
        )
    with np.errstate(over="ignore"):
        X = raw.reshape(len(raw), math.prod(raw.shape[1:])).astype(np.float32)
    if not np.isfinite(X).all():
        row, column = (int(index) for index in np.argwhere(~np.isfinite(X))[0])
        raise InputError(
            f"{archive.path}: array {name!r} has a value that is NaN, infinite or too large in row "
            f"{row}, feature {column}; fix or drop the row"
        )
    return X, raw.shape[1:]


def _labels(
    archive: ArrayArchive, name: str, y: NDArray[Any], classes: tuple[str, ...]
) -> list[str]:
    if classes:
        if y.dtype.kind in "uib" and not np.any((y < 0) | (y >= len(classes))):
            return [classes[int(label)] for label in y]
        if y.dtype.kind != "U":
            raise InputError(
                f"{archive.path}: array {name!r} must point into 'class_names' with whole numbers "
                f"from 0 to {len(classes) - 1}; fix it or leave 'class_names' out"
            )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError(
            f"{archive.path}: array {name!r} has a NaN or infinite label in row "
            f"{int(np.argmin(np.isfinite(y)))}; fix or drop the row"
        )
    try:  # bytes may not be ASCII
        texts = y.astype(np.str_).tolist() if y.dtype.kind != "b" else [str(int(v)) for v in y]
    except ValueError as error:
        raise InputError(f"{archive.path}: array {name!r} has labels that are not text") from error
    return [label_text(text) for text in texts]


def _names(archive: ArrayArchive, name: str) -> tuple[str, ...]:
    """Return an optional array of names, empty if it is not there."""
    if name not in archive.names:
        return ()
    array = archive.read(name)
    if array.ndim != 1 or array.dtype.kind not in "US":
        raise InputError(
            f"{archive.path}: array {name!r} must be a list of text; fix it or leave it out"
        )
    try:
        return tuple(str(text).strip() for text in array.astype(np.str_).tolist())
    except ValueError as error:
        raise InputError(f"{archive.path}: array {name!r} has names that are not text") from error


# --- compressed rows ------------------------------------------------------------------------------


def _has_compressed_rows(archive: ArrayArchive, name: str) -> bool:
    """Return whether the archive has a matrix of this name as compressed rows."""
    return f"{name}_indptr" in archive.names or f"{name}_indices" in archive.names


def _whole_number(archive: ArrayArchive, name: str, limit: int) -> int:
    """Return a single whole number, 1 to `limit`, of the archive."""
    value = _required(archive, name)
    if value.size != 1 or value.dtype.kind not in "iu" or not 1 <= int(value.ravel()[0]) <= limit:
        raise InputError(
            f"{archive.path}: array {name!r} must be one whole number from 1 to {limit:,}; fix it"
        )
    return int(value.ravel()[0])


def _sets_of_rows(archive: ArrayArchive, name: str, n_columns: int) -> Sparse:
    """Return a matrix (n, n_columns), CSR float32, that is 1 at the columns of each row.

    A column that a row has twice counts once.
    """
    indptr, indices = _places(archive, name, n_columns)
    ones = np.ones(len(indices), dtype=np.float32)
    matrix = sparse_rows((ones, indices, indptr), (len(indptr) - 1, n_columns))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def _sparse_features(archive: ArrayArchive, name: str, n_columns: int) -> Sparse:
    """Return features (n, n_columns), CSR float32, sorted in each row and finite.

    Raises
    ------
    InputError
        Also if a row has a column twice.
    """
    indptr, indices = _places(archive, name, n_columns)
    data = _required(archive, f"{name}_data")
    if data.shape != indices.shape or data.dtype.kind not in "buif":
        raise InputError(
            f"{archive.path}: array '{name}_data' has the shape {data.shape} and the type "
            f"{data.dtype.name}, '{name}_indices' has {len(indices):,} places; give one number for "
            "each"
        )
    with np.errstate(over="ignore"):
        values = data.astype(np.float32)
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        row = int(np.searchsorted(indptr, place, side="right")) - 1
        raise InputError(
            f"{archive.path}: array '{name}_data' has a value that is NaN, infinite or too large "
            f"in row {row}, feature {int(indices[place])}; fix or drop the row"
        )
    matrix = sparse_rows((values, indices, indptr), (len(indptr) - 1, n_columns))
    matrix.sum_duplicates()
    if matrix.nnz < len(indices):
        raise InputError(
            f"{archive.path}: array '{name}_indices' has a feature twice in a row; give each once"
        )
    matrix.eliminate_zeros()
    return matrix


def _places(
    archive: ArrayArchive, name: str, n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return checked row starts (n + 1,) and columns, as copies."""
    indptr, indices = (_required(archive, f"{name}_{part}") for part in ("indptr", "indices"))
    for part, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(
                f"{archive.path}: array '{name}_{part}' has the shape {array.shape} and the type "
                f"{array.dtype.name}; it must be a list of whole numbers"
            )
    rising = len(indptr) > 0 and int(indptr[0]) == 0 and bool((indptr[1:] >= indptr[:-1]).all())
    if not rising or int(indptr[-1]) != len(indices):
        raise InputError(
            f"{archive.path}: array '{name}_indptr' must rise from 0 to the {len(indices):,} "
            f"elements of '{name}_indices'; write the file again"
        )
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= n_columns):
        wrong = int(indices.min()) if int(indices.min()) < 0 else int(indices.max())
        raise InputError(
            f"{archive.path}: array '{name}_indices' has {wrong:,}, the columns count from 0 to "
            f"{n_columns - 1:,}; fix it, or the number of columns"
        )
    return indptr.astype(np.int64), indices.astype(np.int64)


def _required(archive: ArrayArchive, name: str) -> NDArray[Any]:
    if name not in archive.names:
        raise InputError(f"{archive.path} has no array {name!r}; add it")
    return archive.read(name)
