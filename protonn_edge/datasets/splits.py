"""Parts of data: held-out points, groups, and points of one class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.datasets import rules
from protonn_edge.datasets.archive import ArrayArchive
from protonn_edge.datasets.dataset import Dataset, MultiLabelDataset, dense_features
from protonn_edge.datasets.naming import NO_CLASS, Notice, did_you_mean, listed
from protonn_edge.datasets.options import USUAL_DELIMITERS, TableOptions
from protonn_edge.datasets.tables import TableFile
from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

_DIGITS_TEST_FRACTION = 0.25
_MOST_DRAWS = 200
_GROUPS_LIMIT_BYTES = 64 << 20
_ARCHIVE_LIMIT_BYTES = 8 << 30


def load_digits_dataset(seed: int = 0) -> Dataset:
    """Return scikit-learn's handwritten digits: 8x8 images, 10 classes, 1,797 points.

    The seed draws a quarter of each class, about 449 points in all, as the test part.
    """
    # Imported here, since it takes half a second, and reading a model does not need it.
    from sklearn.datasets import load_digits  # noqa: PLC0415

    digits = load_digits()
    whole = Dataset(
        X_train=digits.data.astype(np.float32),
        y_train=digits.target.astype(np.int64),
        X_test=np.empty((0, 64), dtype=np.float32),
        y_test=np.empty(0, dtype=np.int64),
        classes=tuple(str(name) for name in digits.target_names),
        feature_names=tuple(digits.feature_names),
    )
    return holdout(whole, _DIGITS_TEST_FRACTION, seed)


def holdout(dataset: Dataset, fraction: float, seed: int) -> Dataset:
    """Split the training part of `dataset` in two, by groups if it has some, else by classes.

    An existing test part is ignored. The fraction, between 0 and 1, is the share of groups, or of
    each class, that becomes the test part; at least one point of each class remains for training.

    Raises `InputError` if the fraction is out of range or too small to hold out a point, or if the
    remaining groups lack a class.
    """
    if not 0.0 < fraction < 1.0:
        raise InputError(
            f"the share of points to hold out is {fraction:g}; it must lie between 0 and 1"
        )
    y, groups = dataset.y_train, dataset.groups
    classes = range(dataset.n_classes) if y.ndim == 1 else []  # sets of labels have none
    chosen = held_out_rows(y, fraction, seed, groups)
    if not chosen.any():
        what = "points" if groups is None else "groups"
        count = y.shape[0] if groups is None else len(np.unique(groups))
        why = "use a larger share"
        if groups is not None and y.ndim == 1:
            why = "each class needs points in at least two groups"
        raise InputError(f"a share of {fraction:g} holds out none of the {count:,} {what}; {why}")
    if groups is not None and dataset.group_names:
        notice = _held_out_groups(dataset.group_names[group] for group in np.unique(groups[chosen]))
        dataset = replace(dataset, notices=(*dataset.notices, notice))
    dataset = _relearned(dataset, ~chosen)
    absent = np.setdiff1d(classes, y[chosen]).tolist() if len(classes) else []
    if missing := tuple(dataset.classes[label] for label in absent):
        text = (
            "classes whose recall is unknown because no held-out point belongs to them: "
            f"{listed(missing)}; add {'points' if groups is None else 'groups with such points'}, "
            "or hold out a larger share"
        )
        notice = Notice("held_out", text, warning=True, columns=missing)
        dataset = replace(dataset, notices=(*dataset.notices, notice))
    return replace(_kept(dataset, ~chosen), X_test=dataset.X_train[chosen], y_test=y[chosen])


def held_out_rows(
    y: Any, share: float, seed: int, groups: NDArray[np.int64] | None = None
) -> NDArray[np.bool_]:
    """Return which rows to hold out, (n,): about a share, never all rows of a class, maybe none.

    The labels y (n,), or label sets (n, L), and `groups` (n,) decide, with the seed. Without
    groups, the share of each class is held out; with groups, whole ones. Both parts have points of
    every class if possible; otherwise, classes are missing in the held-out rows.
    """
    units = np.arange(y.shape[0]) if groups is None else np.unique(groups, return_inverse=True)[1]
    labels = y if y.ndim == 1 else np.zeros(y.shape[0], np.int64)
    generator = np.random.default_rng(seed)
    if groups is None:
        parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        return _drawn(parts, share, generator, least=0)
    has = np.zeros((int(units.max()) + 1, int(labels.max()) + 1), np.int64)  # rows of each class
    np.add.at(has, (units, labels), 1)
    # Groups that have one class each, such as takes, are drawn for each class.
    usual = has.argmax(axis=1)
    of_classes = [np.flatnonzero(usual == label) for label in np.unique(usual)]
    in_one_group = int(((has > 0).sum(axis=0) == 1).sum())
    best, least = np.zeros(len(has), np.bool_), [1, 0, 0]
    for parts in ([np.arange(len(has))], of_classes):
        for _ in range(_MOST_DRAWS):
            chosen = _drawn(parts, share, generator, least=1)
            of_parts = has[~chosen].sum(axis=0), has[chosen].sum(axis=0)
            missing = [int((part == 0).sum()) for part in of_parts]
            too_many = int(of_parts[1].sum()) > 2 * max(share, 1 / len(has)) * len(labels)
            if (found := [*missing, int(too_many)]) < least and chosen.any():
                best, least = chosen, found
            if least <= [0, in_one_group, 0]:
                return best[units]
    return best[units]


def _drawn(
    parts: Iterable[NDArray[np.int64]], share: float, generator: np.random.Generator, *, least: int
) -> NDArray[np.bool_]:
    """Return which of all members of some parts are drawn: the share of each part, but not all."""
    parts = list(parts)
    chosen = np.zeros(sum(map(len, parts)), np.bool_)
    for members in parts:
        count = min(max(round(share * len(members)), least), len(members) - 1)
        chosen[generator.permutation(members)[: max(count, 0)]] = True
    return chosen


def _held_out_groups(names: Iterable[str]) -> Notice:
    return Notice("held_out", f"groups held out for testing: {listed(names)}")


def _relearned(dataset: Dataset, chosen: NDArray[np.bool_]) -> Dataset:
    """Return a data set with gaps filled by values learned from the chosen training points (n,)."""
    if dataset.gaps is None or dataset.preparation is None:
        return dataset
    preparation, X = dataset.preparation.refilled(
        dataset.X_train, dataset.gaps, chosen, dataset.feature_names
    )
    return replace(dataset, X_train=X, preparation=preparation)


def _kept(dataset: Dataset, rows: NDArray[np.bool_]) -> Dataset:
    """Return a data set with some of its training points, which no longer form a recording."""
    groups = None if dataset.groups is None else dataset.groups[rows]
    X, y = dataset.X_train[rows], dataset.y_train[rows]
    gaps = None if dataset.gaps is None else dataset.gaps[rows]
    kept = replace(dataset, X_train=X, y_train=y, groups=groups, gaps=gaps)
    return replace(kept, sessions=None, times=None)


# --- groups ---------------------------------------------------------------------------------------


def with_groups(dataset: Dataset, name: str, data: Path) -> Dataset:
    """Add groups of training points to a data set that was read from `data`.

    The name is that of an array in `data` if that is an .npz, of a column of sessions or persons in
    a table, or of a file with one line per training point.

    Raises `InputError` if there is no such array, column or file, if it does not give one group per
    training point, or if there is only one group.
    """
    of_session = dataset.layout is not None and dataset.layout.session == name
    names: Any = (
        [session.strip() for session in dataset.sessions]
        if of_session and dataset.sessions is not None
        else group_names(name, data, columns=[column.name for column in dataset.columns])
    )
    numbers = group_numbers(names, dataset.X_train.shape[0])
    if not numbers.any():
        raise InputError(
            f"all points have the same group in {name!r}; choose other groups, or leave --groups "
            "out"
        )
    first = np.unique(numbers, return_index=True)[1].tolist()
    return replace(dataset, groups=numbers, group_names=tuple(str(names[row]) for row in first))


def group_numbers(names: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the numbers, from 0 in the order of their names, of groups (n,)."""
    named = np.asarray(names)
    if named.shape != (n,):
        raise InputError(
            f"the groups have the shape {named.shape} for {n:,} points; give one group per point"
        )
    for row, name in enumerate(named.tolist()):
        if name in ("", None) or name != name:  # noqa: PLR0124 - as NaN does
            raise InputError(f"the group of point {row} is missing; give one group per point")
    if named.dtype.kind == "O":
        named = named.astype(str)
    numbers: NDArray[np.int64] = np.unique(named, return_inverse=True)[1].astype(np.int64)
    return numbers


def group_names(
    name: str, data: Path, options: TableOptions | None = None, columns: Sequence[str] = ()
) -> NDArray[Any]:
    """Return the names of groups from an array or a column of `data`, or from a file's lines.

    A column is considered only if `options`, with which the table `data` was read, are given.
    Errors suggest one of the `columns` or arrays.
    """
    if data.suffix == ".npz":
        with ArrayArchive(data, limit_bytes=_ARCHIVE_LIMIT_BYTES) as archive:
            if name in archive.names:
                return archive.read(name)
            columns = archive.names
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
    file = TableFile.opened(path, USUAL_DELIMITERS[path.suffix.lower()], options)
    column = rules.find_column(file.columns, name, "--groups", path)
    return np.array([row[column.index].strip() for _, row in file.rows()])


# --- one class ------------------------------------------------------------------------------------


def of_normal_points(dataset: Dataset, normal: str | None = None) -> Dataset:
    """Return a data set with only normal training points: of this class if there are several.

    Test points of other classes get the label `NO_CLASS`. Without a test part, the training points
    of the other classes become the test part.
    """
    if isinstance(dataset, MultiLabelDataset):
        raise InputError("points have sets of labels; use data with one label per point")
    if normal is None and dataset.n_classes > 1:
        raise InputError(
            f"the data has {dataset.n_classes:,} classes, {listed(dataset.classes)}; name the "
            "normal class with --normal"
        )
    name = dataset.classes[0] if normal is None else normal
    if name not in dataset.classes:
        raise InputError(
            f"--normal is {name[:40]!r}, which is not one of the classes {listed(dataset.classes)}"
        )
    index = dataset.classes.index(name)
    dataset = _relearned(dataset, dataset.y_train == index)
    X = dense_features(dataset.X_train, "the training part")
    X_test, y_test = dense_features(dataset.X_test, "the test part"), dataset.y_test
    chosen = dataset.y_train == index
    if not len(y_test):
        X_test, y_test = X[~chosen], dataset.y_train[~chosen]
    kept = _kept(replace(dataset, X_train=X), chosen)
    return replace(
        kept,
        y_train=np.zeros_like(kept.y_train),
        X_test=X_test,
        y_test=np.where(y_test == index, 0, NO_CLASS),
        classes=(name,),
    )


def hold_out_normal(dataset: Dataset, fraction: float, seed: int) -> Dataset:
    """Return the data set with a share of the normal training points moved to the test part."""
    held_out = holdout(dataset, fraction, seed)
    others = dataset.y_test == NO_CLASS
    X_test = dense_features(dataset.X_test, "the test part")[others]
    return replace(
        held_out,
        X_test=np.concatenate([dense_features(held_out.X_test, "the test part"), X_test]),
        y_test=np.concatenate([held_out.y_test, dataset.y_test[others]]),
    )
