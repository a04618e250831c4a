"""Read a text table: one point per row, columns by the rules of `protonn_edge.datasets.rules`.

Blank lines are skipped. Rows are read a block at a time, so that a large file takes little more
memory than its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import (
    Decimals,
    RecordingHead,
    first_line,
    recording_head,
    rows_of,
)
from protonn_edge.datasets.dataset import Float32, Table, TableLayout, measurements_in
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.notices import Notice, match_columns
from protonn_edge.datasets.rules import (
    DELIMITERS,
    Column,
    Expected,
    Reason,
    TableOptions,
    delimiter_called,
    delimiter_in,
    find_column,
    header_found,
    is_confirmed,
    is_number,
    label_refusal,
    last_label,
    left_out_as,
    left_out_notice,
    named_label,
    text_refusal,
)
from protonn_edge.errors import InputError, counted
from protonn_edge.sensors import Instrument

_FIRST_ROWS = 200
_FIRST_CELLS = 200_000
_BLOCK_CELLS = 100_000
_INDEX_ROWS = 10  # fewer consecutive numbers may be anything


def read_table(
    path: Path,
    *,
    delimiter: str,
    options: TableOptions | None = None,
    expected: Expected | None = None,
    label_first: bool = False,
) -> Table:
    """Read a table in UTF-8.

    Parameters
    ----------
    path : Path
    delimiter : str
        The usual delimiter of such a file.
    options : TableOptions, optional
        What is known about it.
    expected : Expected, optional
        The model that the points are for. Its features are found by name, if both have names.
    label_first : bool
        Whether the labels are in the first column where there is no header.

    Raises
    ------
    InputError
        If a row is longer or shorter than the first, a cell is not a finite number, or the label
        is not found; the sentence has the file and the line or the column.
    """
    options = options or TableOptions()
    file = _File.opened(path, delimiter, options)
    roles = _roles(file, options, expected, label_first=label_first)
    content = _Content.of(file, roles.texts, roles.features)
    label = roles.label
    labels = [str(options.labelled)] * content.rows if label is None else _labels(file, label)
    features, left_out, X = _features(file, content, roles)
    if not features:
        beside = "" if label is None else f" besides {label.title}, the label"
        raise InputError(f"{path} has no column of features{beside}; add one, or give --label")
    notices = list(roles.notices)
    if roles.last_label and content.rows:
        notices.append(_label_notice(file, roles, labels, X, judged=expected is None))
    sessions = [column for column, reason in left_out.items() if reason == "session"]
    times = [column for column, reason in left_out.items() if reason == "time"]
    names = tuple(column.name for column in features) if file.header else ()
    head = recording_head(path)
    used = {label, *features}
    layout = TableLayout(
        delimiter=file.delimiter,
        header=bool(file.header),
        decimal_comma=content.decimals.comma,
        label="the file's name" if label is None else label.title,
        label_found=roles.label_found,
        left_out=tuple(column.title for column in file.columns if column not in used),
        session=session.name if (session := _whose(sessions, roles.session)) else "",
        time=times[0].name if times else "",
        rules=_decisions(file, content, roles, features, left_out),
    )
    return Table(
        str(path),
        X,
        labels,
        feature_names=names,
        notices=(
            *file.notices(content.decimals),
            *notices,
            *(left_out_notice(*each) for each in left_out.items()),
        ),
        layout=layout,
        sessions=session.cells if session else None,
        times=times[0].cells if times else None,
        seams=_seams(sessions, content.rows),
        sample_rate=None if head is None else head.rate,
        instrument=None if head is None else recorded_by(path, head, names),
    )


def read_features(
    path: Path, *, delimiter: str, options: TableOptions | None, expected: Expected
) -> tuple[Float32, tuple[Notice, ...]] | None:
    """Read the features of a table with or without labels; None if the labels must be found.

    Parameters are those of `read_table`.

    Returns
    -------
    X : ndarray of shape (n, D), float32
        The columns with the model's names, or all columns if their number is right.
    notices : tuple of Notice
    """
    options = options or TableOptions()
    file = _File.opened(path, delimiter, options)
    given = [*options.drop, *([] if options.label is None else [options.label])]
    dropped = {find_column(file.columns, text, "--drop", path) for text in given}
    kept = [column for column in file.columns if column not in dropped]
    names = [column.name for column in kept] if file.header else []
    notices: tuple[Notice, ...] = ()
    if expected.feature_names and names:
        match = match_columns(names, expected.feature_names, str(path))
        kept = kept if match.columns is None else [kept[index] for index in match.columns]
    elif len(kept) == expected.n_features:
        notices = match_columns([], expected.feature_names, str(path)).notices
    else:
        return None
    content = _Content.of(file, [], kept)
    return content.numbers, (*file.notices(content.decimals), *notices)


def recorded_by(path: Path, head: RecordingHead, names: Sequence[str]) -> Instrument | None:
    """Return the instrument of the channels of a recording, if its first line states it."""
    if not head.units:
        return None
    try:
        return Instrument.named(head.sensor, head.units, names)
    except InputError as error:
        raise InputError(f"{path}, in its first line: {error}") from error


@dataclass(frozen=True)
class _File:
    """A table whose first rows were examined.

    Attributes
    ----------
    path : Path
    delimiter, delimiter_found : str
        The delimiter, and why it is that one.
    is_usual : bool
        Whether the delimiter needs no notice.
    header : str
        Why the first row is a header; empty without one.
    columns : list of Column
    first_line : int
    """

    path: Path
    delimiter: str
    delimiter_found: str
    is_usual: bool
    header: str
    columns: list[Column]
    first_line: int

    @classmethod
    def opened(cls, path: Path, usual: str, options: TableOptions) -> Self:
        """Return a table by its name, the usual delimiter of such a file, and its options."""
        given = options.delimiter
        if given is None:
            delimiter, why = delimiter_in(first_line(path), usual), "in the first line"
        else:
            delimiter, why = delimiter_called(given), "as --delimiter says"
        rows = rows_of(path, delimiter)
        line, first = next(rows, (0, []))
        if not first:
            raise InputError(f"{path} has no rows; give it at least one of each class")
        if len(first) < 2 and options.labelled is None:
            raise InputError(
                f"{path}:{line} has one column; a table needs a label and features, separated by "
                f"{DELIMITERS[delimiter]}, or by the --delimiter"
            )
        header = header_found(first)
        count = max(1, min(_FIRST_ROWS, _FIRST_CELLS // len(first)))
        sample = [row for _, row in islice(rows, count)]
        if header and sample and not first[-1].strip() and len(sample[0]) == len(first) - 1:
            first = first[:-1]  # a delimiter after the last name
        sample = ([] if header else [first]) + [row for row in sample if len(row) == len(first)]
        cells = zip(*sample, strict=True) if sample else [()] * len(first)
        columns = [
            Column(index, name.strip() if header else "", each)
            for index, (name, each) in enumerate(zip(first, cells, strict=True))
        ]
        return cls(
            path, delimiter, why, delimiter == usual or given is not None, header, columns, line
        )

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of the line and the cells of each point."""
        rows = rows_of(self.path, self.delimiter)
        if self.header:
            next(rows, None)
        width = len(self.columns)
        for line, row in rows:
            if len(row) != width:
                raise InputError(
                    f"{self.path}:{line} has {len(row):,} columns, line {self.first_line} has "
                    f"{width:,}; fix the row"
                )
            yield line, row

    def where(self, row: int) -> str:
        """Return the file and line of a point, from 0; only for errors, since it reads again."""
        line = next(islice(self.rows(), row, None), (0, []))[0]
        return f"{self.path}:{line}"

    def notices(self, decimals: Decimals) -> Iterator[Notice]:
        """Yield the notices about how cells are written."""
        if not self.is_usual:
            text = f"columns are separated by {DELIMITERS[self.delimiter]}"
            yield Notice("delimiter", text)
        if decimals.comma:
            yield Notice("decimal_comma", "numbers have decimal commas")


@dataclass(frozen=True)
class _Roles:
    """The roles of columns by the options, the header and the first rows.

    Attributes
    ----------
    label : Column or None
        None if the file's name is the label.
    label_found : str
        How it was found, for display.
    features : list of Column
    left_out : dict of Column to str
        The columns that are not features, and the reasons, some of which all cells must confirm.
    session, time : Column or None
        The columns that options name.
    any_feature : bool
        Whether a column that is left out for no good reason is a feature.
    notices : tuple of Notice
    """

    label: Column | None
    label_found: str
    features: list[Column]
    left_out: dict[Column, Reason]
    session: Column | None = None
    time: Column | None = None
    any_feature: bool = False
    notices: tuple[Notice, ...] = ()

    @property
    def last_label(self) -> bool:
        """Whether the label is the last column, for want of a name."""
        return self.label_found.startswith("the last")

    @property
    def texts(self) -> list[Column]:
        """The columns whose cells are kept as text."""
        others = [column for column, reason in self.left_out.items() if reason != "index"]
        return others if self.label is None else [self.label, *others]


def _roles(
    file: _File, options: TableOptions, expected: Expected | None, *, label_first: bool
) -> _Roles:
    """Return the roles of columns by the third and the fourth rule."""
    path, columns, header = file.path, file.columns, bool(file.header)
    dropped = {find_column(columns, text, "--drop", path) for text in options.drop}
    channels = [find_column(columns, text, "--channels", path) for text in options.channels]
    kept = [column for column in columns if column not in dropped]
    if not kept:
        raise InputError(f"--drop names all columns of {path}; keep the label and the features")
    session = next((each for each in kept if each.name and each.name == options.groups), None)
    if options.session is not None:
        session = find_column(columns, options.session, "--session", path)
    time = None if options.time is None else find_column(columns, options.time, "--time", path)
    reasons = {each: reason for each in kept if (reason := left_out_as(each, header=header))}
    if session is not None:
        reasons[session] = "session"
    if time is not None:
        reasons[time] = "time"
    wanted = expected.feature_names if expected is not None and header else ()
    if options.label is None:
        free = [column for column in kept if column not in set(channels)]
        label, how = _label(
            file, free, frozenset(wanted), reasons, label_first=label_first, named=options.labelled
        )
    else:
        label, how = _given_label(file, options.label, dropped, channels), "as --label says"
    others = [column for column in kept if column is not label]
    left_out = {column: reasons[column] for column in others if column in reasons}
    roles = _Roles(label, how, channels, left_out, session, time)
    if expected is not None and wanted:
        match = match_columns([column.name for column in others], wanted, str(path))
        order = range(len(others)) if match.columns is None else match.columns
        return _Roles(label, how, [others[index] for index in order], {}, notices=match.notices)
    if expected is not None and len(others) == expected.n_features:
        return _Roles(label, how, others, {})
    if channels:
        return roles
    features = [column for column in others if column not in left_out]
    return replace(roles, features=features, any_feature=True)


def _label(
    file: _File,
    columns: Sequence[Column],
    wanted: Collection[str],
    left_out: Collection[Column],
    *,
    label_first: bool,
    named: str | None,
) -> tuple[Column | None, str]:
    """Return the column of labels that no option names, and how it was found.

    Parameters
    ----------
    file : _File
    columns : sequence of Column
        Those that may be the label.
    wanted : collection of str
        The features of a model, which are no labels.
    left_out : collection of Column
        Those that have another role.
    label_first : bool
        See `read_table`.
    named : str or None
        The label of all rows, where no column is called so.
    """
    if column := named_label(columns, file.path):
        return column, "by its name"
    if named is not None:
        return None, "as nothing else says it"
    if label_first and not file.header:
        return columns[0], "the first one"
    free = [each for each in columns if each not in left_out and each.name not in wanted]
    if wanted and len(free) == 1:
        return free[0], "the only one that is not a feature"
    how = "the last one that is not a feature" if wanted else "the last one"
    return last_label(free, file.path), how


def _given_label(
    file: _File, label: str, dropped: Collection[Column], channels: Collection[Column]
) -> Column:
    """Return the column that --label names."""
    column = find_column(file.columns, label, "--label", file.path)
    for flag, others in (("--drop", dropped), ("--channels", channels)):
        if column in others:
            raise InputError(
                f"--label and {flag} both name {column.title} of {file.path}; leave one out"
            )
    return column


@dataclass(frozen=True)
class _Content:
    """All points: some columns as numbers (n, columns), the cells of others in their columns."""

    rows: int
    numbers: Float32
    decimals: Decimals

    @classmethod
    def of(cls, file: _File, texts: Sequence[Column], numeric: Sequence[Column]) -> Self:
        """Read all points, a block of rows at a time."""
        blocks = []
        decimals = Decimals(file.delimiter)
        shared: dict[str, str] = {}  # equal cells share one object
        pick = _picker(numeric)
        at_once = max(1, _BLOCK_CELLS // len(file.columns))
        rows = file.rows()
        count = 0
        while block := list(islice(rows, at_once)):
            if numeric:
                values = decimals.numbers(list(chain.from_iterable(pick(row) for _, row in block)))
                if values is None:
                    raise _not_a_number(file, block, numeric, decimals)
                blocks.append(values.reshape(len(block), len(numeric)))
            for column in texts:
                index = column.index
                column.cells += [shared.setdefault(row[index], row[index]) for _, row in block]
            if len(shared) > _BLOCK_CELLS:
                shared.clear()
            count += len(block)
        empty = np.empty((count, len(numeric)), dtype=np.float32)
        return cls(count, np.concatenate(blocks) if blocks else empty, decimals)

    def converted(self, file: _File, column: Column) -> NDArray[np.float32]:
        """Return the cells of a column that turned out to be a feature as numbers."""
        values = self.decimals.numbers(column.cells)
        if values is None:
            row, problem = self.decimals.refusal(column.cells)
            raise _refusal(file.where(row), column, column.cells[row], problem)
        return values


def _picker(columns: Sequence[Column]) -> Callable[[list[str]], Iterable[str]]:
    """Return a function that selects the cells of some columns from a row."""
    indices = [column.index for column in columns]
    if len(indices) < 2 or indices == list(range(indices[0], indices[-1] + 1)):
        return itemgetter(slice(*(indices[0], indices[-1] + 1) if indices else (0, 0)))
    return itemgetter(*indices)


def _not_a_number(
    file: _File,
    block: Sequence[tuple[int, Sequence[str]]],
    columns: Sequence[Column],
    decimals: Decimals,
) -> InputError:
    """Return the error for the first cell of a block that is not a number."""
    places = [(line, column, row[column.index]) for line, row in block for column in columns]
    place, problem = decimals.refusal([cell for *_, cell in places])
    line, column, cell = places[place]
    if column.is_text:
        return text_refusal(file.path, column)
    return _refusal(f"{file.path}:{line}", column, cell, problem)


def _refusal(where: str, column: Column, cell: str, problem: str) -> InputError:
    return InputError(f"{where} has {cell[:40]!r} in column {column.index + 1}, {problem}")


def _labels(file: _File, label: Column) -> list[str]:
    names = {cell: label_text(cell) for cell in set(label.cells)}
    labels = [names[cell] for cell in label.cells]
    if "" in names.values():
        where = file.where(labels.index(""))
        raise InputError(f"{where} has no label in column {label.index + 1}; fix or drop the row")
    return labels


def _features(
    file: _File, content: _Content, roles: _Roles
) -> tuple[list[Column], dict[Column, Reason], Float32]:
    """Return the features, the columns left out and why, and the values (n, D)."""
    features, X = roles.features, content.numbers
    left_out = {
        column: reason
        for column, reason in roles.left_out.items()
        if column is roles.time or is_confirmed(column, reason)
    }
    if not roles.any_feature:
        return features, left_out, X
    more = [column for column in roles.left_out if column not in left_out]
    if more:
        values = dict(zip(features, X.T, strict=True))
        values |= {column: content.converted(file, column) for column in more}
        features = sorted(values, key=lambda column: column.index)
        X = np.stack([values[column] for column in features], axis=1)
    if len(features) > 1 and features[0].index == 0 and _counts_rows(X[:, 0]):
        left_out = {features[0]: "index", **left_out}
        features, X = features[1:], X[:, 1:].copy()
    return features, left_out, X


def _counts_rows(numbers: NDArray[np.float32]) -> bool:
    """Return whether numbers (rows,) count the rows from 0 or 1."""
    if len(numbers) < _INDEX_ROWS or numbers[0] not in (0, 1):
        return False
    return bool(np.all(np.diff(numbers) == 1))


def _label_notice(
    file: _File, roles: _Roles, labels: Sequence[str], X: Float32, *, judged: bool
) -> Notice:
    """Return the notice about a label without a name; refuse numbers that are no classes."""
    label, distinct = roles.label, set(labels)
    assert label is not None
    numeric = all(map(is_number, distinct))
    if judged and numeric and (len(distinct) == 1 or measurements_in(distinct, len(labels))):
        raise label_refusal(file.path, label, file.columns)
    text, first = f"labels: {label.title}, {roles.label_found}", roles.features[:1]
    doubtful = numeric and any(each.index == 0 for each in first) and _may_be_labels(X[:, 0])
    if doubtful:
        text += ", but the first could be, too; --label first takes that"
    return Notice("label", text, doubtful, (label.name or str(label.index + 1),))


def _may_be_labels(numbers: NDArray[np.float32]) -> bool:
    """Return whether numbers (rows,) are whole and repeat."""
    whole = bool(np.all(numbers == np.rint(numbers)))
    return whole and 2 <= len(np.unique(numbers)) <= len(numbers) / 2


def _whose(sessions: Sequence[Column], named: Column | None) -> Column | None:
    """Return the column that groups rows: the named one, that of persons, or the first."""
    if named is not None:
        return named
    persons = [column for column in sessions if column.may_be_person]
    return next(iter([*persons, *sessions]), None)


def _seams(sessions: Sequence[Column], rows: int) -> NDArray[np.bool_] | None:
    """Return the rows at which another session begins, (rows,); None without such columns."""
    if not sessions:
        return None
    seams = np.zeros(rows, np.bool_)
    for column in sessions:
        changes = (after != before for before, after in pairwise(column.cells))
        seams[1:] |= np.fromiter(changes, np.bool_, max(0, rows - 1))  # none have no type in a list
    return seams


def _decisions(
    file: _File,
    content: _Content,
    roles: _Roles,
    features: Sequence[Column],
    left_out: Mapping[Column, Reason],
) -> dict[str, str]:
    """Return what each rule decided, for display."""
    others = [f"{column.title} ({reason})" for column, reason in left_out.items()]
    empty = [column.title for column, reason in left_out.items() if reason == "empty"]
    label = "the file's name" if roles.label is None else roles.label.title
    return {
        "delimiter": f"{DELIMITERS[file.delimiter]}, {file.delimiter_found}",
        "header": f"the first row: {file.header}" if file.header else "none",
        "label": f"{label}, {roles.label_found}",
        "features": counted(len(features), "column")
        + (f"; left out: {', '.join(others)}" if others else ""),
        "missing": (f"all of {', '.join(empty)}" if empty else "nothing")
        + ("; decimal commas" if content.decimals.comma else ""),
    }
