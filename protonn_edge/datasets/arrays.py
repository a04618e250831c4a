"""Data sets as .npz: ``X_train, y_train`` and ``X_test, y_test``, or just ``X, y``.

Optional: ``class_names``, to which the labels, whole numbers from 0, then point; ``feature_names``.
Other arrays are left unread. X may have more than two axes (n, time, channel): all but the first
are flattened, in C order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.dataset import TABLE_LIMIT_BYTES, Float32, Table, check_class_names
from protonn_edge.datasets.naming import label_text
from protonn_edge.errors import InputError

FILE_LIMIT_BYTES = 2**30


@dataclass(frozen=True, eq=False)
class Parts:
    """What an .npz holds.

    Attributes
    ----------
    train : Table
    test : Table or None
    classes : tuple of str
        The class names if the file gives them, else empty.
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
        if any(name.startswith("Y_") or name == "n_labels" for name in archive.names):
            raise InputError(
                f"{path} is multi-label data (it has 'Y_train_indptr' or the like); only data with "
                "one label a point is supported"
            )
        classes = _names(archive, "class_names")
        check_class_names(classes, str(path))
        if "X_train" in archive.names:
            train = _table(archive, "X_train", "y_train", classes)
            tested = "X_test" in archive.names or "y_test" in archive.names
            test = _table(archive, "X_test", "y_test", classes) if tested else None
            return Parts(train, test, classes)
        if "X" in archive.names:
            return Parts(_table(archive, "X", "y", classes), None, classes)
    found = ", ".join(repr(name[:40]) for name in archive.names[:8]) or "nothing"
    raise InputError(
        f"{path} has neither 'X_train' and 'y_train' nor 'X' and 'y' (it has {found}); name the "
        "arrays so"
    )


def _table(archive: ArrayArchive, points: str, labels: str, classes: tuple[str, ...]) -> Table:
    for name in (points, labels):
        if name not in archive.names:
            raise InputError(f"{archive.path} has no array {name!r}; add it")
    X = _features(archive, points)
    y = archive.read(labels)
    if y.ndim == 2:
        raise InputError(
            f"{archive.path}: array {labels!r} is a matrix, as multi-label data has; only one "
            "label a point is supported"
        )
    if y.ndim != 1 or len(y) != len(X):
        raise InputError(
            f"{archive.path}: array {labels!r} has the shape {y.shape}, {points!r} has {len(X):,} "
            "points; give one label a point"
        )
    names = _names(archive, "feature_names")
    if names and len(names) != X.shape[1]:
        raise InputError(
            f"{archive.path}: array 'feature_names' has {len(names):,} names, {points!r} has "
            f"{X.shape[1]:,} features; give one name a feature"
        )
    return Table(f"{archive.path} ({points})", X, _labels(archive, labels, y, classes), names)


def _features(archive: ArrayArchive, name: str) -> Float32:
    raw = archive.read(name)
    if raw.ndim < 2 or raw.dtype.kind not in "buif" or 0 in raw.shape[1:]:
        raise InputError(
            f"{archive.path}: array {name!r} has the shape {raw.shape} and the type "
            f"{raw.dtype.name}; it must be a table of numbers, one row a point"
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
            f"{row}, feature {column}; mend or drop the row"
        )
    return X


def _labels(
    archive: ArrayArchive, name: str, y: NDArray[Any], classes: tuple[str, ...]
) -> list[str]:
    if classes:
        if y.dtype.kind in "uib" and not np.any((y < 0) | (y >= len(classes))):
            return [classes[int(label)] for label in y]
        if y.dtype.kind != "U":
            raise InputError(
                f"{archive.path}: array {name!r} must point into 'class_names' with whole numbers "
                f"from 0 to {len(classes) - 1}; mend it or leave 'class_names' out"
            )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError(
            f"{archive.path}: array {name!r} has a NaN or infinite label in row "
            f"{int(np.argmin(np.isfinite(y)))}; mend or drop the row"
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
            f"{archive.path}: array {name!r} must be a list of text; mend it or leave it out"
        )
    try:
        return tuple(str(text).strip() for text in array.astype(np.str_).tolist())
    except ValueError as error:
        raise InputError(f"{archive.path}: array {name!r} has names that are not text") from error
