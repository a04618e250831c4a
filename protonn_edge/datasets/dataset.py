"""The result of every reader: a data set whose labels are indices into a list of class names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.naming import NO_CLASS, check_names, in_order
from protonn_edge.datasets.notices import Notice
from protonn_edge.datasets.rows import Sparse, is_sparse
from protonn_edge.errors import InputError
from protonn_edge.sensors import Instrument

CLASS_LIMIT = 1_000
_FRACTIONAL_CLASSES = 10
TABLE_LIMIT_BYTES = 2**30
INDEX_LIMIT = 10**6  # features of sparse points
FLOAT32_MAX = float(np.finfo(np.float32).max)

Float32 = NDArray[np.float32]
Features = Float32 | Sparse
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class TableLayout:
    """How a text table was read.

    Attributes
    ----------
    delimiter : str
        The delimiter of columns.
    header : bool
        Whether the first row names them.
    decimal_comma : bool
        Whether numbers are written like ``5,1``.
    label : str
        The column of labels, such as ``column 'species'`` or ``column 5``.
    label_found : str
        How it was found, for display.
    left_out : tuple of str
        The columns that are neither label nor feature, in the same way.
    session : str
        The name of the column of sessions, or empty.
    time : str
        The name of the column of times, or empty.
    rules : dict of str to str
        What each of the five rules decided, for display, see `protonn_edge.datasets.rules`.
    """

    delimiter: str
    header: bool
    decimal_comma: bool
    label: str
    label_found: str
    left_out: tuple[str, ...]
    session: str
    time: str
    rules: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Table:
    """Labelled points of a file.

    Attributes
    ----------
    source : str
        The file, and the part of it, for messages.
    X : ndarray or CSR matrix of shape (n, D), float32
        All finite.
    labels : sequence of n str
        See `protonn_edge.datasets.naming.label_text`.
    feature_names : tuple of str
        D names, or empty.
    point_shape : tuple of int
        The shape of a point in the file; empty if it is not known.
    notices : tuple of Notice
        What the reader noticed.
    layout : TableLayout or None
        How a text table was read.
    sessions, times : sequence of n str, or None
        The recording of each row of a table and its time, if there are such columns.
    seams : ndarray of shape (n,), bool, or None
        The rows at which another session begins, by all columns of sessions.
    sample_rate : float or None
        Samples per second, of a recording or of windows.
    onset : int or None
        The level at which clips of sound begin, if that is how windows were cut.
    instrument : Instrument or None
        What measured the values, if that is known.
    """

    source: str
    X: Features
    labels: Sequence[str]
    feature_names: tuple[str, ...] = ()
    point_shape: tuple[int, ...] = ()
    notices: tuple[Notice, ...] = ()
    layout: TableLayout | None = None
    sessions: Sequence[str] | None = None
    times: Sequence[str] | None = None
    seams: NDArray[np.bool_] | None = None
    sample_rate: float | None = None
    onset: int | None = None
    instrument: Instrument | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """Training and test points.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, D), float32
        Raw features, finite; a CSR matrix where a table of them would be too large. The test part
        may have no rows.
    y_train, y_test : ndarray of shape (n,), int64
        Indices into `classes`; those of test points may be `NO_CLASS` where there is one class.
    classes : tuple of str
        L >= 2 names, or one alone where that was allowed; numbers in their order if all are whole
        numbers, else in the order of text. A file that names its classes keeps its own order.
    feature_names : tuple of str
        D names, or empty.
    point_shape : tuple of int
        The axes that a point has in the file, such as samples and channels; empty if not known.
    groups : ndarray of shape (n,), int64, or None
        Which group each training point is of, such as a person; see `with_groups`.
    notices : tuple of Notice
        What is worth knowing of the data: how it was read, and what looks like a mistake.
    layout, sessions, times, sample_rate, onset, instrument
        Of the training part as it was read, see `Table`.
    """

    X_train: Features
    y_train: Indices
    X_test: Features
    y_test: Indices
    classes: tuple[str, ...]
    feature_names: tuple[str, ...] = ()
    point_shape: tuple[int, ...] = ()
    groups: Indices | None = None
    notices: tuple[Notice, ...] = ()
    layout: TableLayout | None = None
    sessions: Sequence[str] | None = None
    times: Sequence[str] | None = None
    sample_rate: float | None = None
    onset: int | None = None
    instrument: Instrument | None = None

    @property
    def n_features(self) -> int:
        """D, the number of features."""
        return int(self.X_train.shape[1])

    @property
    def n_classes(self) -> int:
        """L, the number of classes."""
        return len(self.classes)


def dataset_from(
    train: Table,
    test: Table | None,
    classes: tuple[str, ...] = (),
    *,
    least_classes: Literal[1, 2] = 2,
) -> Dataset:
    """Combine the parts of a data set and number its labels.

    Parameters
    ----------
    train, test : Table
        A missing test part becomes one without rows.
    classes : tuple of str
        The names in their order, where the file gives them; else they are found in the training
        labels.
    least_classes : {2, 1}
        How many classes there must be. Beside a training part of one, test points may have other
        labels: they are `NO_CLASS`.

    Raises
    ------
    InputError
        If there are no training points, too few or more than `CLASS_LIMIT` classes, unusable
        names, another number of features in the test part, or a label that the training part lacks.
    """
    if not train.X.shape[0]:
        raise InputError(f"{train.source} has no points; give it at least one of each class")
    found = set(train.labels)
    alone = least_classes == 1 == len(found)
    names = tuple(found) if alone else classes or in_order(found)
    check_class_names(names, train.source)
    if not classes and (measured := measurements_in(found, train.X.shape[0])):
        raise InputError(
            f"{train.source} has {len(found):,} different labels, and some such as "
            f"{min(measured):g} are measurements, not classes; in a table, name the column of "
            "labels with --label"
        )
    if len(found) < least_classes:
        raise InputError(
            f"{train.source} has only one class, {next(iter(found))!r}; a classifier needs at "
            "least 2"
        )
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(
            f"{train.source} has no point of class {missing[0]!r}; add some, or leave the class out"
        )
    features = train.feature_names
    check_names(features, f"{train.source}, among its features,", distinct=False)
    empty = Table(train.source, train.X[:0], (), features)
    tested = test or empty
    check_feature_count(tested, train.X.shape[1], "the training part has")
    return Dataset(
        X_train=train.X,
        y_train=class_indices(train, names, "class_names"),
        X_test=tested.X,
        y_test=class_indices(tested, names, "the training part", alone=alone),
        classes=names,
        feature_names=features,
        point_shape=train.point_shape,
        notices=(*train.notices, *(n for n in tested.notices if n not in train.notices)),
        layout=train.layout,
        sessions=train.sessions,
        times=train.times,
        sample_rate=train.sample_rate,
        onset=train.onset,
        instrument=train.instrument,
    )


def measurements_in(labels: Collection[str], n: int) -> list[float]:
    """Return the labels with fractions, if there are many labels or they hardly repeat in n points.

    It is what scikit-learn's ``type_of_target`` calls continuous, but classes such as 0.5 and 1.5
    may be meant.
    """
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return []
    few = len(labels) <= min(_FRACTIONAL_CLASSES, n / 2)
    return [] if few else [each for each in numbers if np.isfinite(each) and each % 1 != 0]


def class_indices(
    table: Table, classes: Sequence[str], where: str, *, alone: bool = False
) -> Indices:
    """Return the labels of a table as indices into `classes`, which `where` lists.

    Other labels are `NO_CLASS` if the class stands `alone`.

    Raises
    ------
    InputError
        If a label is not among the classes.
    """
    index_of = {name: index for index, name in enumerate(classes)}
    if alone:
        index_of = dict.fromkeys(table.labels, NO_CLASS) | index_of
    for row, label in enumerate(table.labels):
        if label not in index_of:
            known = ", ".join(repr(name) for name in list(classes)[:12])
            more = ", ..." if len(classes) > 12 else ""
            guessed = table.layout is not None and table.layout.label_found.startswith("the last")
            hint = "; name the column of labels with --label" if guessed else ""
            raise InputError(
                f"{table.source}: unknown label {label[:40]!r} in row {row}; {where} knows "
                f"{known}{more}{hint}"
            )
    indices = (index_of[label] for label in table.labels)
    return np.fromiter(indices, np.int64, count=len(table.labels))


def check_feature_count(table: Table, wanted: int, whose: str) -> None:
    """Refuse a table without `wanted` features; `whose` ends in a verb: "the model wants"."""
    if table.X.shape[1] != wanted:
        raise InputError(
            f"{table.source} has {table.X.shape[1]:,} features, {whose} {wanted:,}; use data of "
            "the same kind"
        )


def dense_features(X: Features, source: str) -> Float32:
    """Return features dense.

    Raises
    ------
    InputError
        If they are sparse and would take more than `TABLE_LIMIT_BYTES`.
    """
    matrix: Any = X
    if not is_sparse(matrix):
        return X
    check_table_size(source, *matrix.shape)
    dense: Float32 = matrix.toarray()
    return dense


def check_table_size(source: str, rows: int, width: int) -> None:
    """Refuse a dense table that would take more than `TABLE_LIMIT_BYTES`."""
    if rows * width * 4 > TABLE_LIMIT_BYTES:
        raise InputError(
            f"{source} would be a table of {rows:,} x {width:,} values, the limit is "
            f"{TABLE_LIMIT_BYTES // 4:,}; use fewer points or features"
        )


def check_class_names(names: Sequence[str], source: str, limit: int = CLASS_LIMIT) -> None:
    """Refuse class names that cannot be shown, are too long, too many or equal."""
    if len(names) > limit:
        raise InputError(
            f"{source} has {len(names):,} different labels, the limit is {limit:,}; labels "
            "must be classes, not measurements"
        )
    check_names(names, f"{source}, among its labels,", distinct=True)


def holdout(dataset: Dataset, fraction: float, seed: int) -> Dataset:
    """Return the training part of `dataset`, split in two, by groups or classes if it has some.

    Parameters
    ----------
    dataset : Dataset
        Its own test part is ignored.
    fraction : float
        Share of each class that becomes the test part, between 0 and 1; at least one point of each
        class remains for training. For a data set with groups, the share of groups.
    seed : int
        The same seed gives the same split.

    Raises
    ------
    InputError
        If the fraction is not between 0 and 1, or so small that no point would be held out, or if
        the remaining groups lack a class.
    """
    if not 0.0 < fraction < 1.0:
        raise InputError(
            f"the share of points held out is {fraction:g}; it must lie between 0 and 1"
        )
    y, groups = dataset.y_train, dataset.groups
    choose = _of_each_class if groups is None else _whole_groups
    chosen = choose(dataset, fraction, np.random.default_rng(seed))
    return replace(
        dataset,
        X_train=dataset.X_train[~chosen],
        y_train=y[~chosen],
        X_test=dataset.X_train[chosen],
        y_test=y[chosen],
        groups=None if groups is None else groups[~chosen],
        sessions=None,
        times=None,
    )


def _of_each_class(
    dataset: Dataset, fraction: float, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which points to hold out: a share of each class, but not all of one."""
    y = dataset.y_train
    chosen = np.zeros(y.shape[0], dtype=np.bool_)
    one_class = y.ndim == 1  # sets of labels have no classes to take shares of
    for label in range(dataset.n_classes if one_class else 1):
        members = np.flatnonzero(y == label) if one_class else np.arange(len(chosen))
        _choose(members, fraction, chosen, generator)
    _check_some(chosen, fraction, "points")
    return chosen


def _whole_groups(
    dataset: Dataset, fraction: float, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which points to hold out: those of a share of the groups, but not of all."""
    groups, y = dataset.groups, dataset.y_train
    assert groups is not None
    names, group_of = np.unique(groups, return_inverse=True)
    held_out = np.zeros(len(names), dtype=np.bool_)
    _choose(np.arange(len(names)), fraction, held_out, generator)
    _check_some(held_out, fraction, "groups")
    chosen: NDArray[np.bool_] = held_out[group_of]
    if y.ndim == 1 and len(np.unique(y[~chosen])) < dataset.n_classes:
        raise InputError(
            f"a share of {fraction:g} of {len(names):,} groups leaves no point of some class to "
            "train on; use a smaller share, or another seed"
        )
    return chosen


def _choose(
    members: Indices, fraction: float, chosen: NDArray[np.bool_], generator: np.random.Generator
) -> None:
    count = min(round(fraction * len(members)), len(members) - 1)
    chosen[generator.permutation(members)[: max(count, 0)]] = True


def _check_some(chosen: NDArray[np.bool_], fraction: float, of_what: str) -> None:
    if not chosen.any():
        raise InputError(
            f"a share of {fraction:g} of {len(chosen):,} {of_what} holds out none of them; use a "
            "larger share"
        )
