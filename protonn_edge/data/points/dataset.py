"""The result of every reader: a data set with labels as indices into the class names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import NO_CLASS, Notice, check_names, in_order, match_columns
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.tables.coded import Coded
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, beyond, counted, lacking
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.data.points.division import Division
    from protonn_edge.data.points.preparation import Preparation
    from protonn_edge.data.tables.columns import Column

OF_FILES = "the file's name"
"""The label of a layout, if rows have the classes that their files are named after."""

CLASS_LIMIT = 1_000
TABLE_LIMIT_BYTES = 2**30
LABEL_LIMIT = 20_000  # labels in sets of labels
_BLOCK_VALUES = 2**18  # hashed at once

Float32 = NDArray[np.float32]
Indices = NDArray[np.int64]
_Part = TypeVar("_Part", bound="Table")


def row_hashes(X: Array) -> NDArray[np.uint64]:
    """Return a hash (n,) of the float32 of each row of X (n, D), the same on all machines.

    It is the sum of products with a random number per column, folded and mixed; -0 counts as 0.
    """
    factors = _mixed(np.arange(X.shape[1], dtype=np.uint64)) | np.uint64(1)
    hashes = np.empty(len(X), np.uint64)
    step = max(1, _BLOCK_VALUES // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        block = np.ascontiguousarray(X[start : start + step], np.float32) + np.float32(0)
        products = block.view(np.uint32) * factors
        products ^= products >> np.uint64(32)
        hashes[start : start + step] = products.sum(axis=1, dtype=np.uint64)
    return _mixed(hashes)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64-bit integers with all bits mixed by the finalizer of SplitMix64 (Steele, 2014)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True)
class TableLayout:
    """How a text table was read.

    Columns are written ``column 'species'`` or ``column 5``, as in messages; sessions and times are
    names, or empty. `rules` contains the decisions by the five `protonn_edge.data.roles.roles`.
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


class RowTimes(NamedTuple):
    """The column of times of a table: its name, and the time of each row (n,).

    The values are seconds if the cells are dates, and otherwise in a unit that is not known yet.
    """

    name: str
    values: NDArray[np.float64]
    are_dates: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Provenance:
    """Facts about points besides their values and labels."""

    matrices: ClassVar[tuple[str, ...]] = ()

    feature_names: tuple[str, ...] = ()  # D names, or empty
    # the shape of a point in the file, such as samples and channels; empty if unknown
    point_shape: tuple[int, ...] = ()
    pixels: bool = False  # whether points are gray images, 0 to 255, read from files
    group_names: tuple[str, ...] = ()  # names of the groups 0, 1, ..., if known
    # notices about how the data was read, and about probable mistakes
    notices: tuple[Notice, ...] = ()
    layout: TableLayout | None = None  # how a text table was read
    # the session and the time of each row of a table, if there are such columns
    sessions: Coded | None = None
    times: RowTimes | None = None
    sample_rate: float | None = None  # sampling rate of a recording or of windows
    onset: int | None = None  # the level at which clips of sound begin, if windows were cut there
    # (k, D): windows of noise, to mix into copies of training windows; see `with_noise`
    background_noise: Array | None = None
    instrument: Instrument | None = None  # the sensor of the values, if known
    columns: Sequence[Column] = ()  # the columns of a table
    preparation: Preparation | None = None  # if not all features are columns
    # (n, D): which values of a table, or of a data set's training part, were gaps; None without
    gaps: NDArray[np.bool_] | None = None

    @property
    def in_recorded_order(self) -> bool:
        """Whether rows are in the order of one file, and not in that of the names of several.

        Windows may be of several recordings.
        """
        of_files = self.layout is not None and self.layout.label == OF_FILES
        return not of_files and len(self.point_shape) < 2

    def matched(self, wanted: Sequence[str], source: str, owner: str = "the model") -> Self:
        """Return these points with the columns that `owner` wants, in that order.

        The notices of `match_columns`, which has the same parameters, are added.
        """
        columns, notices = match_columns(self.feature_names, wanted, source, owner)
        points = replace(self, notices=(*self.notices, *notices))
        return points if columns is None else points.of_columns(columns)

    def of_columns(self, columns: Sequence[int]) -> Self:
        """Return these points with only the features with these indices."""
        noise = self.background_noise
        return replace(
            self,
            feature_names=tuple(self.feature_names[i] for i in columns if self.feature_names),
            instrument=self.instrument and self.instrument.of_channels(columns),
            preparation=self.preparation and self.preparation.of_columns(columns),
            gaps=None if self.gaps is None else self.gaps[:, columns],
            background_noise=None if noise is None else noise[:, columns],
            **{name: getattr(self, name)[:, columns] for name in self.matrices},
        )


@dataclass(frozen=True, eq=False)
class Table(Provenance):
    """Labelled points of a file."""

    matrices = ("X",)

    source: str  # the file and its part, for messages
    X: Float32  # (n, D): all finite
    labels: Coded  # different texts, see `protonn_edge.data.naming.label_text`
    # (n,): rows at which a file, a take or a session begins, or that follow left-out rows
    seams: NDArray[np.bool_] | None = None
    # (rows of the file,): which rows are points; None if all are
    kept: NDArray[np.bool_] | None = None
    file_of: NDArray[np.int64] | None = None  # (n,): the number of each row's file
    value_name: str = ""  # of labels that are numbers, if the file states it

    @property
    def gaps_between(self) -> NDArray[np.bool_]:
        """Where rows do not directly follow the previous ones, (n,)."""
        return np.zeros(len(self.X), np.bool_) if self.seams is None else self.seams

    def at(self, rows: NDArray[np.intp], seams: NDArray[np.bool_]) -> Self:
        """Return these rows, in this order, with the seams between them."""
        labels: Any = self.labels
        is_list = isinstance(labels, list)  # of sets
        labels = [labels[row] for row in rows.tolist()] if is_list else labels[rows]
        return replace(
            self,
            X=self.X[rows],
            labels=labels,
            seams=seams,
            sessions=None if self.sessions is None else self.sessions[rows],
            times=self.times and self.times._replace(values=self.times.values[rows]),
            file_of=None if self.file_of is None else self.file_of[rows],
            kept=None,
        )

    def parted(self, rows: NDArray[np.bool_]) -> Self:
        """Return some of the rows (n,); the others divide them."""
        divided = (np.cumsum(self.gaps_between) + np.cumsum(~rows))[rows]
        parted = self.at(np.flatnonzero(rows), np.diff(divided, prepend=divided[:1]) != 0)
        kept = np.ones(len(rows), np.bool_) if self.kept is None else self.kept.copy()
        kept[kept] = rows
        return replace(parted, kept=kept)


@dataclass(frozen=True, eq=False)
class Dataset(Provenance):
    """Training and test points, and the provenance of the training points.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n, D), float32
        Raw features, finite. The test part may have no rows.
    y_train, y_test : ndarray of shape (n,), int64
        Indices into `classes`; if there is one class, test points may have `NO_CLASS`.
    classes : tuple of str
        L >= 2 names, or one if allowed; in numeric order if all are whole numbers, otherwise in
        alphabetical order. A file that names its classes keeps its own order.
    groups : ndarray of shape (n,), int64, or None
        The group of each training point, such as a person; see `with_groups`.
    test_groups : ndarray of shape (n,), int64, or None
        The group of each held-out point, if whole groups were held out.
    division : Division, optional
        How the file was divided into training and held-out points, for the record of a model.
    """

    matrices = ("X_train", "X_test")
    estimator: ClassVar[str] = "Classifier"  # how the names of what learns from them end
    predicts: ClassVar[str] = "class"  # what labels are, as in the policy of the answer

    X_train: Float32
    y_train: Indices
    X_test: Float32
    y_test: Indices
    classes: tuple[str, ...]
    groups: Indices | None = None
    test_groups: Indices | None = None
    division: Division | None = None

    @property
    def n_features(self) -> int:
        """D, the number of features."""
        return int(self.X_train.shape[1])

    @property
    def n_classes(self) -> int:
        """L, the number of classes."""
        return len(self.classes)

    @staticmethod
    def as_targets(y: Array) -> Array:
        """Return labels of points as the estimator takes them."""
        return y

    @property
    def label_facts(self) -> tuple[str, str] | None:
        """What the labels are, and their values, if they are no classes to count."""
        return None


def several_labels(source: object, why: str) -> InputError:
    """Return the error for sets of labels where each point must have one label."""
    return InputError(f"{source} has sets of labels, but {why}; use data with one label per point")


def check_has_points(source: object, n: int) -> None:
    """Refuse data without points."""
    if not n:
        what = "points, which are rows with a label and without gaps"
        raise lacking(source, what, "add some, of each class")


def parts_of(train: _Part, test: _Part | None) -> tuple[_Part, JsonObject]:
    """Return the test part, without rows if there is none, and what both give a data set.

    Raises `InputError` if there is no training point, or if the features differ.
    """
    check_has_points(train.source, len(train.X))
    check_names(train.feature_names, f"the features of {train.source}", distinct=False)
    tested = test or replace(train, X=train.X[:0], labels=train.labels[:0])
    check_feature_count(tested, train.X.shape[1], "the training part has")
    notices = tuple(dict.fromkeys((*train.notices, *tested.notices)))
    shared: JsonObject = {each.name: getattr(train, each.name) for each in fields(Provenance)}
    return tested, shared | {"X_train": train.X, "X_test": tested.X, "notices": notices}


def dataset_from(
    train: Table,
    test: Table | None,
    classes: tuple[str, ...] = (),
    *,
    least_classes: Literal[1, 2] = 2,
) -> Dataset:
    """Combine the parts of a data set of classes and number its labels.

    A missing test part becomes one without rows. Classes keep the file's order if it names them;
    otherwise they are the training labels. If one class is allowed and the training part has one,
    test points may have other labels, `NO_CLASS`.
    """
    tested, parts = parts_of(train, test)
    labels = {*train.labels.used}
    alone = least_classes == 1 == len(labels)
    names = tuple(labels) if alone else classes or in_order(labels)
    check_class_names(names, train.source)
    if len(labels) < least_classes:
        raise InputError(
            f"{train.source} has only one class, {next(iter(labels))!r}, but a classifier needs at "
            "least 2; add points of another class, or train with --classifier protonn --one-class"
        )
    missing = [name for name in names if name not in labels]
    if missing:
        raise lacking(
            train.source,
            f"point of class {missing[0]!r}",
            "add points of this class, or remove it from 'class_names'",
        )
    y_train = class_indices(train, names, "'class_names'")
    y_test = class_indices(tested, names, "the training part", alone=alone)
    return Dataset(y_train=y_train, y_test=y_test, classes=names, **parts)


def class_indices(
    table: Table, classes: Sequence[str], where: str, *, alone: bool = False
) -> Indices:
    """Return the labels of a table as indices into `classes`; errors name their source, `where`.

    Other labels are refused, or become `NO_CLASS` if the class is `alone`.
    """
    index_of = {name: index for index, name in enumerate(classes)}
    indices = table.labels.numbers(index_of)
    if not alone and (others := np.flatnonzero(indices < 0)).size:
        row = int(others[0])
        listed = ", ".join(repr(name) for name in list(classes)[:12])
        more = ", ..." if len(classes) > 12 else ""
        guessed = table.layout is not None and table.layout.label_found.startswith("the last")
        remedy = "correct the label, or leave out the rows with it"
        if guessed and index_of.keys().isdisjoint(table.labels.used):
            remedy = "name the column of labels with --label NAME"
        raise InputError(
            f"{table.source} has the label {table.labels[row][:40]!r} in row {row}, but {where} "
            f"has only the classes {listed}{more}; {remedy}"
        )
    return np.where(indices < 0, NO_CLASS, indices)


def check_feature_count(table: Table, wanted: int, whose: str) -> None:
    """Refuse a table with another number of features; `whose` ends in a verb: "the model wants"."""
    if table.X.shape[1] != wanted:
        raise InputError(
            f"{table.source} has {counted(table.X.shape[1], 'feature')}, but {whose} {wanted:,}; "
            "use data with the same features"
        )


def widened(table: Table, width: int) -> Table:
    """Return `table`, padded with zeros to `width` features."""
    missing = width - table.X.shape[1]
    if missing <= 0:
        return table
    check_table_size(table.source, len(table.X), width)
    return replace(table, X=np.pad(table.X, ((0, 0), (0, missing))))


def check_table_size(source: str, rows: int, width: int) -> None:
    """Refuse a table that would take more than `TABLE_LIMIT_BYTES`."""
    if rows * width * 4 > TABLE_LIMIT_BYTES:
        raise beyond(
            source,
            f"{rows:,} x {width:,} values",
            TABLE_LIMIT_BYTES // 4,
            "use fewer points or features",
        )


def check_class_names(names: Sequence[str], source: str, limit: int = CLASS_LIMIT) -> None:
    """Refuse class names that cannot be shown, are too long, too many or equal."""
    if len(names) > limit:
        raise beyond(
            source,
            f"{len(names):,} different labels",
            limit,
            "use classes as labels, or, if these are measurements, train with --target value",
        )
    check_names(names, f"the labels of {source}", distinct=True)


# --- sets of labels instead of one class for each point (multi-label) -----------------------------
