"""Groups of points, such as those of a person: they are never divided.

The file may have them itself: as an array, as a column of sessions, or as windows that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.data.files.archive import ArrayArchive
from protonn_edge.data.naming import Notice, quoted
from protonn_edge.data.options import USUAL_DELIMITERS, TableOptions
from protonn_edge.data.points.dataset import Dataset, Table
from protonn_edge.data.points.division import Division
from protonn_edge.data.roles.behaviour import is_copy
from protonn_edge.data.roles.named import find_column
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import check_file
from protonn_edge.system.meant import did_you_mean
from protonn_edge.system.shell import quoted_word

_GROUPS_LIMIT_BYTES = 64 << 20
_ARCHIVE_LIMIT_BYTES = 8 << 30
OWN_GROUPS = "groups"  # the array of an .npz file
_OF_LABELS = ("y_train", "y")  # arrays
_LEAST_SAMPLES = 8  # of a window; rows of tables with few columns may agree by chance,
_LEAST_COLUMNS = 16
_FEWEST_POINTS = 20  # fewer may be of a person each
_PAIRS = 64  # of windows, which are looked at to find strides
_LEAST_SHARED = 8  # a window shares at least this part of its samples with the next one
_OVERLAPPING = 4  # if windows overlap, at least one in this many is followed by such a one
_AT_ONCE = 1 << 24  # bytes of windows that are compared


def with_groups(dataset: Dataset, name: str, data: Path) -> Dataset:
    """Add groups of training points to a data set that was read from `data`.

    The name is that of an array in `data` if that is an .npz, of a column of sessions or persons in
    a table, or of a file with one line per training point.

    Raises `InputError` if there is no such array, column or file, if it does not give one group per
    training point, or if there is only one group.
    """
    of_session = dataset.layout is not None and dataset.layout.session == name
    names: Any = dataset.sessions
    if names is None or not of_session:
        names = group_names(name, data, columns=_free_columns(dataset, name, data))
    numbers = group_numbers(names, dataset.X_train.shape[0])
    y = dataset.y_train
    of_classes = dataset.predicts == "class" and y.ndim == 1
    if name in _OF_LABELS or (of_classes and numbers.any() and is_copy(numbers, y)):
        raise InputError(
            f"--groups is {quoted(name)}, but these groups are the labels, of which none can be "
            "held out; name what has each point's person or day"
        )
    if not numbers.any():
        raise InputError(
            f"all points have the same group in {name!r}; choose other groups, or leave --groups "
            "out"
        )
    first = np.unique(numbers, return_index=True)[1].tolist()
    if len(first) == len(numbers) >= _FEWEST_POINTS:
        raise InputError(
            f"--groups is {quoted(name)}, which is different for each of the {len(first):,} "
            "points, so none belong together; name what has each point's person or day, or leave "
            "--groups out"
        )
    return replace(dataset, groups=numbers, group_names=tuple(str(names[row]) for row in first))


def _free_columns(dataset: Dataset, name: str, data: Path) -> list[str]:
    """Return the columns that could name groups; refuse the name of one that has another role."""
    roles = {column.name: column.role for column in dataset.columns}
    if name in roles and not Path(name).exists():
        role = roles[name] or "left out"
        remedy = "name a column with each point's person or day"
        if role == "dropped":
            remedy = f"omit --drop {quoted_word(name)}, because groups are never features"
        raise InputError(
            f"--groups is {quoted(name)}, but {data} has this column as {quoted(role)}; {remedy}"
        )
    return [each for each, role in roles.items() if role != "label"]


def group_numbers(names: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the numbers, from 0 in the order of their names, of groups (n,)."""
    named = np.asarray(names)
    if named.shape != (n,):
        raise InputError(
            f"the groups have the shape {named.shape} for {n:,} points; give one group per point"
        )
    _check_none_missing(named)
    if named.dtype.kind == "O":
        named = named.astype(str)
    numbers: NDArray[np.int64] = np.unique(named, return_inverse=True)[1].astype(np.int64)
    return numbers


def _check_none_missing(names: Array) -> None:
    for row, name in enumerate(names.tolist()):
        if name in ("", None) or name != name:  # noqa: PLR0124 - as NaN does
            raise InputError(f"the group of point {row} is missing; give one group per point")


def group_names(
    name: str, data: Path, options: TableOptions | None = None, columns: Sequence[str] = ()
) -> Array:
    """Return the names of groups from an array or a column of `data`, or from a file's lines.

    A column is considered only if `options`, with which the table `data` was read, are given.
    Errors suggest one of the `columns` or arrays.
    """
    if data.suffix == ".npz":
        with ArrayArchive(data, limit_bytes=_ARCHIVE_LIMIT_BYTES) as archive:
            if name in archive.names:
                return archive.read(name)
            columns = archive.names
    if not name:
        raise InputError("--groups is empty; name an array, a column or a file, or leave it out")
    path = Path(name)
    if not path.exists() and options is not None and data.suffix.lower() in USUAL_DELIMITERS:
        return _column(data, options, name)
    if not path.exists():
        what = f"{'an array' if data.suffix == '.npz' else 'a column'} of {data}"
        hint = did_you_mean(name, columns) or "; give a file with one line per training point"
        raise InputError(f"--groups is {name[:40]!r}, which is neither {what} nor a file{hint}")
    check_file(path, limit_bytes=_GROUPS_LIMIT_BYTES)
    text = path.read_text("utf-8-sig", errors="replace")
    return np.array([line.strip() for line in text.rstrip().split("\n")])


def _column(path: Path, options: TableOptions, name: str) -> NDArray[np.str_]:
    """Return the cells of a column of a table, (rows,)."""
    file = opened_table(path, options)
    column = find_column(file.columns, name, "--groups", path)
    return np.array([row[column.index].strip() for _, row in file.rows() if row is not None])


# --- of the file itself ---------------------------------------------------------------------------


def with_own_groups(dataset: Dataset, path: Path) -> tuple[Dataset, str]:
    """Return a data set with the groups of its file, and their name; unchanged if it has none.

    Groups are an array called ``groups``, or a column of sessions or persons. If most windows
    overlap the next one, each run of such windows is a group, without a name.
    """
    layout, named, names = dataset.layout, "", np.empty(0)
    if path.suffix == ".npz" and path.is_file():
        with ArrayArchive(path, limit_bytes=_ARCHIVE_LIMIT_BYTES) as archive:
            if OWN_GROUPS in archive.names:
                named, names = OWN_GROUPS, archive.read(OWN_GROUPS)
    elif layout is not None and dataset.sessions is not None:
        named, names = layout.session, np.array(list(dataset.sessions))
    if named:
        if names.shape != (dataset.X_train.shape[0],):
            raise InputError(
                f"{path} has an array 'groups' of the shape {names.shape} for "
                f"{dataset.X_train.shape[0]:,} training points; give one group per point, or "
                "rename the array"
            )
        if named == OWN_GROUPS:
            _check_none_missing(names)
        every, groups = np.unique(names, return_inverse=True)
        titles = tuple(map(str, every.tolist()))
        if len(every) > 1:
            return replace(dataset, groups=groups.astype(np.int64), group_names=titles), named
        text = (
            f"all points are from one group, {quoted(titles[0])}, so the accuracy is not for new "
            "people; record other people, too"
        )
        notice = Notice("one_group", text, warning=True)
        dataset = replace(dataset, notices=(*dataset.notices, notice))
    runs = overlapping_runs(dataset)
    if runs is not None and runs[-1] > 0:
        return replace(dataset, groups=runs), ""
    return dataset, ""


def of_one_class_each(dataset: Dataset) -> Iterator[Notice]:
    """Yield a warning if named groups have one class each, as takes have, and people seldom."""
    groups, y = dataset.groups, dataset.y_train
    if groups is None or not dataset.group_names or dataset.predicts != "class":
        return
    count = len(np.unique(groups))
    if not dataset.n_classes < count == len(np.unique(np.stack([groups, y]), axis=1).T):
        return
    text = (
        f"each of the {count:,} groups has points of one class only, as a take has; if they are no "
        "people, the accuracy is not for new people"
    )
    yield Notice("groups_of_one_class", text, warning=True)


def groups_of_division(
    division: Division, table: Table, path: Path, options: TableOptions | None
) -> NDArray[np.int64] | None:
    """Return the groups (n,) by which training divided a file that is read again, None without."""
    if not division.groups:
        return overlapping_runs(table)
    own = None if table.layout is None else table.layout.session
    if table.sessions is not None and division.groups == own:
        return group_numbers(list(table.sessions), len(table.labels))
    beside = path.parent / division.groups
    name = str(beside) if beside.is_file() else division.groups
    names = group_names(name, path, options or TableOptions())
    if table.kept is not None and len(names) == len(table.kept):
        names = names[table.kept]
    if names.shape != (table.X.shape[0],):
        return None
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def overlapping_runs(points: Table | Dataset) -> NDArray[np.int64] | None:
    """Return the run of each window (n,), if windows share samples with the next one; else None.

    In a run, each window begins with samples at the end of the one before.
    """
    X = points.X if isinstance(points, Table) else points.X_train
    if points.pixels or len(X) < 3:
        return None
    samples, channels = (*points.point_shape, 1)[:2] if points.point_shape else (X.shape[1], 1)
    least = _LEAST_SAMPLES if points.point_shape else _LEAST_COLUMNS
    if samples < least or samples * channels != X.shape[1]:
        return None
    windows = X.reshape(len(X), samples, channels)
    follows = np.zeros(len(X) - 1, np.bool_)
    at_once = max(1, _AT_ONCE // X[:1].nbytes)
    for stride in _strides(windows):
        for begin in range(0, len(follows), at_once):
            rows = slice(begin, min(begin + at_once, len(follows)))
            after = slice(begin + 1, rows.stop + 1)
            equal = windows[rows, stride:] == windows[after, : samples - stride]
            follows[rows] |= equal.all(axis=(1, 2))
    if _OVERLAPPING * follows.sum() < len(follows):
        return None
    return np.concatenate([[0], np.cumsum(~follows)]).astype(np.int64)


def _strides(windows: NDArray[np.float32]) -> list[int]:
    """Return how many samples later the next window begins, in some pairs that share samples."""
    n, samples, _ = windows.shape
    strides = set()
    for row in np.unique(np.linspace(0, n - 2, _PAIRS).astype(int)).tolist():
        one, other = windows[row], windows[row + 1]
        begins = 1 + np.flatnonzero((one[1:] == other[0]).all(axis=1))
        begins = begins[begins <= samples - max(3, samples // _LEAST_SHARED)]
        begins = begins[(other[samples - 1 - begins] == one[-1]).all(axis=1)]
        for begin in begins.tolist():
            shared = one[begin:]
            if (shared != shared[0]).any() and np.array_equal(shared, other[: samples - begin]):
                strides.add(begin)
                break
    return sorted(strides)
