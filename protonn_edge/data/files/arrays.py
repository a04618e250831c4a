"""Data sets as .npz: ``X_train, y_train`` and ``X_test, y_test``, or just ``X, y``.

``x_train``, ``x_test`` and ``x`` are accepted as well.

Optional arrays are ``class_names``, which the labels, whole numbers from 0, then index;
``value_name``, one name, for labels that are numbers; ``feature_names``; ``channel_names``,
``sample_rate`` and ``onset`` for windows (n, time, channel); ``sensor`` and ``units`` (one for all,
or one for each channel or feature); and ``background_noise``, windows to be mixed into copies of
the training windows; and ``source``, see `source_of`. Other arrays are ignored. If X has more than
two axes, all but the first are flattened in C order.

Sets of labels are a ``y_train`` that is a matrix of zeros and ones. All become tables of float32,
after checks, because an untrusted file may contain any numbers there.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.data.naming import TEST_PART_ONLY, label_text, sample_names
from protonn_edge.data.points.dataset import (
    LABEL_LIMIT,
    TABLE_LIMIT_BYTES,
    Float32,
    Table,
    check_class_names,
)
from protonn_edge.data.points.instruments import ARRAYS as INSTRUMENT_ARRAYS
from protonn_edge.data.points.instruments import Instrument, from_arrays
from protonn_edge.data.points.label_sets import LabelSetTable
from protonn_edge.data.tables.cells import loses_differences
from protonn_edge.data.tables.coded import Coded
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, lacking
from protonn_edge.system.schema import JsonObject

FILE_LIMIT_BYTES = 2**30

SOURCE = "source"
"""The array of a file of windows with their recording and how it was cut, as JSON."""

_NOISE = "background_noise"
_POINTS = ("X_test", "X", "X_train")
# Numbers that a file of windows may have: type, maximum, and description.
_OF_WINDOWS: tuple[tuple[Any, ...], ...] = (
    (
        "sample_rate",
        float,
        sys.float_info.max,
        "a number above 0, in hertz; correct or omit the array",
    ),
    ("onset", int, 255, "one whole number from 1 to 255; cut the clips again, or omit the array"),
)


def read_npz(path: Path) -> tuple[Table, Table | None, tuple[str, ...]]:
    """Read an .npz data set, of at most `FILE_LIMIT_BYTES` unpacked.

    Returns the training part, the test part, and the class names if the file gives them, or the
    names of all labels if points have sets of labels.
    """
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        classes = _names(archive, "class_names")
        check_class_names(classes, str(path), LABEL_LIMIT)
        if _has(archive, "X_train"):
            tested = _has(archive, "X_test") or _has(archive, "y_test")
            one_hot = all(_is_one_hot(archive, f"y_{n}") for n in ("train", "test")[: 1 + tested])
            train = _table(archive, "_train", classes, one_hot=one_hot)
            test = _table(archive, "_test", classes, one_hot=one_hot) if tested else None
            return train, test, _checked_classes(train, test, classes)
        if _has(archive, "X"):
            table = _table(archive, "", classes, one_hot=_is_one_hot(archive, "y"))
            return table, None, _checked_classes(table, None, classes)
    listed = ", ".join(repr(name[:40]) for name in archive.names[:8]) or "none"
    raise InputError(
        f"{path} has no array 'X_train' or 'X' (its arrays: {listed}); name the arrays 'X_train' "
        "and 'y_train', or 'X' and 'y'"
    )


def read_npz_points(path: Path) -> Table:
    """Read the points of an .npz file without labels: the test points if there are any."""
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        for name in _POINTS:
            if _has(archive, name):
                X, shape = _points(archive, _spelled(archive, name))
                has_two_parts = name == "X_test" and _has(archive, "X_train")
                return Table(
                    str(path),
                    X,
                    Coded.of(()),
                    notices=(TEST_PART_ONLY,) if has_two_parts else (),
                    feature_names=_feature_names(archive, shape),
                    instrument=_instrument(archive),
                    **_of_windows(archive, shape),
                )
    raise lacking(path, "array of points", "name this array 'X'")


def has_labels(path: Path) -> bool:
    """Return whether the points that `read_npz_points` reads have labels in the file."""
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        points = next((name for name in _POINTS if _has(archive, name)), "")
        return bool(points) and _has(archive, points.replace("X", "y"))


def _instrument(archive: ArrayArchive) -> Instrument | None:
    arrays = {name: archive.read(name) for name in INSTRUMENT_ARRAYS if name in archive.names}
    try:
        return from_arrays(arrays)
    except InputError as error:
        raise InputError(f"{archive.path}: {error}") from error


def _checked_classes(train: Table, test: Table | None, classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes, or the names of all labels if points have sets of labels."""
    tested = train if test is None else test
    if isinstance(train, LabelSetTable) and isinstance(tested, LabelSetTable):
        count = train.labels.shape[1]
        names = classes or tuple(map(str, range(count)))
        named = "the number of names in 'class_names' is"
        for wanted, what in ((count, "the training part has"), (len(names), named)):
            if tested.labels.shape[1] != wanted:
                raise InputError(
                    f"{tested.source} has {tested.labels.shape[1]:,} columns of labels, but {what} "
                    f"{wanted:,}; give each label a column in both parts, and a name if there is "
                    "an array 'class_names'"
                )
        return names
    if isinstance(train, LabelSetTable) or isinstance(tested, LabelSetTable):
        raise InputError(
            f"{train.source} and {tested.source} differ: one has sets of labels, and the other has "
            "one label per point; use the same kind of labels in both"
        )
    return classes


def _is_one_hot(archive: ArrayArchive, name: str) -> bool:
    """Return whether an array of labels has exactly one 1, and zeros, in each row."""
    name = _spelled(archive, name)
    y = archive.read(name) if name in archive.names else np.empty(0)
    if y.ndim != 2 or y.shape[1] < 2 or y.dtype.kind not in "buif":
        return False
    return bool(np.isin(y, (0, 1)).all() and (y.sum(axis=1) == 1).all())


def _table(archive: ArrayArchive, part: str, classes: tuple[str, ...], *, one_hot: bool) -> Table:
    points, labels = _spelled(archive, f"X{part}"), _spelled(archive, f"y{part}")
    for name in (points, labels):
        if not _has(archive, name):
            raise lacking(archive.path, f"array {name!r}")
    X, shape = _points(archive, points)
    y = archive.read(labels).argmax(axis=1) if one_hot else _label_sets(archive, labels)
    is_set = y.ndim == 2
    if y.ndim not in (1, 2) or y.shape[0] != X.shape[0]:
        raise archive.refusal(
            labels,
            f"has the shape {y.shape}, but {points!r} has {X.shape[0]:,} points; give one label "
            "per point",
        )
    names, source = _feature_names(archive, shape), f"{archive.path} ({points})"
    if names and len(names) != X.shape[1]:
        raise archive.refusal(
            "feature_names",
            f"has {len(names):,} names, but {points!r} has {X.shape[1]:,} features; give one name "
            "per feature",
        )
    if not is_set:
        check_class_names(classes, str(archive.path))
    windows = len(shape) == 2
    channels, instrument = shape[1] if windows else X.shape[1], _instrument(archive)
    if instrument is not None and len(instrument.units) not in (1, channels):
        raise archive.refusal(
            "units",
            f"has {len(instrument.units):,} units for {channels:,} channels; give one unit for "
            "all channels, or one for each channel",
        )
    noise, axes = _points(archive, _NOISE) if windows and _NOISE in archive.names else (None, shape)
    if axes != shape:
        reason = f"has windows of the shape {axes}, but the windows in {points!r} have the shape "
        reason += f"{shape}; write both arrays with 'protonn-edge windows --noise'"
        raise archive.refusal(_NOISE, reason)
    if "classes" in archive.names and y.dtype.kind == "f" and (y % 1 != 0).any():
        raise archive.refusal(
            labels,
            "has numbers with decimals, beside an array 'classes'; omit 'classes' to predict these "
            "numbers, or give indices of an array 'class_names'",
        )
    return (LabelSetTable if is_set else Table)(
        source,
        X,
        y if is_set else _labels(archive, labels, y, classes),
        feature_names=names,
        point_shape=shape,
        instrument=instrument,
        background_noise=noise,
        value_name="".join(_names(archive, "value_name")[:1]),
        **_of_windows(archive, shape),
    )


def _of_windows(archive: ArrayArchive, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the numbers of a file of windows that it has; none if points have another shape."""
    there = [each for each in _OF_WINDOWS if len(shape) == 2 and each[0] in archive.names]
    return {name: _number(archive, name, *wanted) for name, *wanted in there}


def _spelled(archive: ArrayArchive, name: str) -> str:
    """Return the name as the archive spells it: Keras' files have ``x_train`` and ``x_test``."""
    other = name[0].swapcase() + name[1:]
    return other if name not in archive.names and other in archive.names else name


def _has(archive: ArrayArchive, name: str) -> bool:
    """Return whether there are these points, such as X_train, or labels, such as y_train."""
    return _spelled(archive, name) in archive.names


def source_of(path: Path) -> JsonObject:
    """Return what a file of windows states about their recording; empty for other files.

    It has the recording's ``name`` and ``sha256``, and more that `windows` writes.
    """
    if path.suffix.lower() != ".npz":
        return {}
    with ArrayArchive(path, limit_bytes=FILE_LIMIT_BYTES) as archive:
        text = archive.read(SOURCE) if SOURCE in archive.names else None
    try:
        source = {} if text is None else json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    digest = source.get("sha256") if isinstance(source, dict) else None
    return source if isinstance(digest, str) and isinstance(source.get("name"), str) else {}


# --- numbers and names ----------------------------------------------------------------------------


def _number(archive: ArrayArchive, name: str, kind: type, most: float, wanted: str) -> Any:
    """Return a single number above 0 of at most `most`, as an int or a float."""
    value = archive.read(name)
    kinds = "iu" if kind is int else "fiu"
    if value.shape != () or value.dtype.kind not in kinds or not 0 < float(value) <= most:
        raise archive.refusal(name, f"must be {wanted}")
    return kind(value)


def _names(archive: ArrayArchive, name: str) -> tuple[str, ...]:
    if name not in archive.names:
        return ()
    array = archive.read(name)
    if array.ndim != 1 or array.dtype.kind not in "US":
        raise archive.refusal(name, "must be a vector of strings; correct or omit it")
    return tuple(map(str.strip, _texts(archive, name, array)))


def _texts(archive: ArrayArchive, name: str, array: Array) -> list[str]:
    """Return the elements of an array as texts; bytes must be ASCII."""
    try:
        texts: list[str] = array.astype(np.str_).tolist()
    except ValueError as error:
        problem = "has byte strings that are not ASCII; save them as Unicode strings"
        raise archive.refusal(name, problem) from error
    return texts


def _feature_names(archive: ArrayArchive, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the names of features, or of the samples of windows with named channels, or none."""
    if names := _names(archive, "feature_names"):
        return names
    channels = _names(archive, "channel_names") if len(shape) == 2 else ()
    if channels and len(channels) != shape[1]:
        raise archive.refusal(
            "channel_names",
            f"has {len(channels):,} names, but a window has {shape[1]:,} channels; give one name "
            "per channel",
        )
    return sample_names(channels, shape[0]) if channels else ()


def _labels(archive: ArrayArchive, name: str, y: Array, classes: tuple[str, ...]) -> Coded:
    if classes:
        if y.dtype.kind in "uib" and not np.any((y < 0) | (y >= len(classes))):
            return Coded(y.astype(np.int64), classes)
        if y.dtype.kind != "U":
            raise archive.refusal(
                name,
                "must contain indices of 'class_names', whole numbers from 0 to "
                f"{len(classes) - 1}; correct the labels, or omit 'class_names'",
            )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise archive.refusal(
            name, f"has a NaN or infinite label in row {row}; fix or drop the row"
        )
    numbers = y.astype(np.int64) if y.dtype.kind == "b" else y  # of booleans
    return Coded.of(label_text(text) for text in _texts(archive, name, numbers))


# --- points and sets of labels --------------------------------------------------------------------


def _points(archive: ArrayArchive, name: str) -> tuple[Float32, tuple[int, ...]]:
    """Return the points, one per row, and the shape that a point has in the file."""
    raw = archive.read(name)
    if raw.ndim < 2 or raw.dtype.kind not in "buif" or 0 in raw.shape[1:]:
        raise archive.refusal(
            name,
            f"has the shape {raw.shape} and the type {raw.dtype.name}; give a table of numbers "
            "with one row per point",
        )
    if raw.size * 4 > TABLE_LIMIT_BYTES:
        raise archive.refusal(
            name,
            f"has {raw.size:,} values, but the limit is {TABLE_LIMIT_BYTES // 4:,}; use fewer "
            "points",
        )
    flat = raw.reshape(len(raw), math.prod(raw.shape[1:]))
    with np.errstate(over="ignore"):
        X = flat.astype(np.float32)
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        problem = f"has a value that is NaN, infinite or too large in row {row}, feature {column}"
        raise archive.refusal(name, f"{problem}; fix or drop the row")
    if len(X) and raw.dtype.kind != "b" and raw.dtype.itemsize > 2:
        low, high = flat.min(axis=0).astype(np.float64), flat.max(axis=0).astype(np.float64)
        for column in np.flatnonzero(loses_differences(low, high))[:1].tolist():
            raise archive.refusal(
                name,
                f"has values from {low[column]:.15g} to {high[column]:.15g} in feature {column}, "
                "whose differences are lost in 32-bit floats; subtract an offset from them",
            )
    return X, raw.shape[1:]


def _label_sets(archive: ArrayArchive, name: str) -> Any:
    """Return sets of labels, (n, L), or labels unchanged if they are no matrix."""
    y = archive.read(name)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    if y.ndim != 2:
        return y
    if y.shape[1] > LABEL_LIMIT or y.dtype.kind not in "buif" or not np.isin(y, (0, 1)).all():
        raise archive.refusal(
            name,
            f"is a {y.shape[0]:,} x {y.shape[1]:,} matrix, but a matrix of label sets may contain "
            f"only zeros and ones and have at most {LABEL_LIMIT:,} columns; correct the array",
        )
    return y.astype(np.float32)
