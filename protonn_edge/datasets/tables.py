"""Data as a text table: one point per row, cells separated by commas, semicolons, tabs or pipes.

Labels are in the column that is called ``label``, ``class`` or ``target`` in a header row, or that
an option names; otherwise they are detected, see `protonn_edge.datasets.columns`. Blank lines are
skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import (
    DELIMITERS,
    RecordingHead,
    delimiter_called,
    recording_head,
    rows_of,
    sniffed_delimiter,
)
from protonn_edge.datasets.columns import (
    LABEL_NAMES,
    Column,
    Expected,
    FoundLabel,
    LeftOut,
    choose_label,
    counts_rows,
    find_column,
    has_header,
    kind_of,
    label_candidates,
    left_out_as,
    text_refusal,
)
from protonn_edge.datasets.dataset import Float32, Table, TableLayout
from protonn_edge.datasets.decimals import Decimals, bad_cell, first_bad, numbers_of
from protonn_edge.datasets.matching import match_columns
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.notices import Notice
from protonn_edge.datasets.table_options import TableOptions
from protonn_edge.errors import InputError
from protonn_edge.sensors import Instrument

_JUDGED_ROWS = 200
_JUDGED_CELLS = 200_000
_BLOCK_CELLS = 100_000


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
    file = _opened(path, delimiter, options)
    roles = _roles(file, options, expected, label_first=label_first)
    texts = [column for column in roles.kept if roles.needs_cells(column, file.header)]
    as_text = set(texts)
    content = _read(file, texts, [column for column in roles.kept if column not in as_text])
    found = _label(file, content, roles, options, expected, label_first=label_first)
    label = None if found is None else found.column
    others = [column for column in roles.kept if column is not label]
    features, left_out = _features(file, content, others, roles, expected)
    if not features:
        beside = "" if label is None else f" besides {label.title}, the label"
        raise InputError(f"{path} has no column of features{beside}; add one, or give --label")
    labels = [str(options.labelled)] * content.rows if label is None else _labels(file, label)
    used = {label, *features}
    X = _matrix(file, content, features)
    if content.decimals.comma:
        file.notices.append(Notice("decimal_comma", "numbers have decimal commas"))
    sessions = [each.column for each in left_out if each.kind == "session"]
    session = _whose(sessions, roles.session)
    time = next((each.column for each in left_out if each.kind == "time"), None)
    names = tuple(column.name for column in features) if file.header else ()
    head = recording_head(path)
    return Table(
        str(path),
        X,
        labels,
        names,
        notices=(
            *file.notices,
            *(() if found is None else found.notices),
            *(each.notice for each in left_out),
        ),
        layout=TableLayout(
            delimiter=file.delimiter,
            header=file.header,
            decimal_comma=content.decimals.comma,
            label="the file's name" if label is None else label.title,
            label_found="as nothing else says it" if found is None else found.how,
            left_out=tuple(column.title for column in file.columns if column not in used),
            session="" if session is None else session.name,
            time="" if time is None else time.name,
        ),
        sessions=None if session is None else session.cells,
        times=None if time is None else time.cells,
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
    file = _opened(path, delimiter, options)
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
    content = _read(file, [], kept)
    return content.numbers, (*file.notices, *notices)


@dataclass(frozen=True)
class _Roles:
    """The possible roles of columns before all rows are read.

    Attributes
    ----------
    kept : list of Column
        Columns that are not dropped.
    labels : list of Column
        Columns that may be the labels.
    session, time : Column or None
        Columns named by options.
    channels : list of Column
        The only columns that are features; empty if no option names them.
    """

    kept: list[Column]
    labels: list[Column]
    session: Column | None
    time: Column | None
    channels: list[Column]

    def needs_cells(self, column: Column, header: bool) -> bool:
        """Return whether a column may be something other than a feature."""
        if column in self.labels or column in (self.session, self.time):
            return True
        return (
            bool(self.channels and column not in self.channels)
            or column.kind != "number"
            or column.may_be_time
            or column.may_be_session
            or column.may_be_index(header)
        )

    def left_out_as(self, column: Column, header: bool) -> LeftOut | None:
        """Return why a column is not a feature, or None if it may be one."""
        if column is self.session:
            return LeftOut(column, "session")
        if column is self.time:
            return LeftOut(column, "time")
        return left_out_as(column, header)


def _roles(
    file: _File, options: TableOptions, expected: Expected | None, *, label_first: bool
) -> _Roles:
    """Return the roles of columns by the options, the header and the first rows."""
    path, columns = file.path, file.columns
    dropped = {find_column(columns, text, "--drop", path) for text in options.drop}
    channels = [find_column(columns, text, "--channels", path) for text in options.channels]
    kept = [column for column in columns if column not in dropped]
    if options.label is not None:
        candidates = [find_column(columns, options.label, "--label", path)]
        for flag, others in (("--drop", dropped), ("--channels", channels)):
            if candidates[0] in others:
                raise InputError(
                    f"--label and {flag} both name {candidates[0].title} of {path}; leave one out"
                )
    elif options.labelled is not None:
        candidates = [column for column in kept if column.is_called(LABEL_NAMES)][:1]
    else:
        unclaimed = [column for column in kept if column not in channels]
        candidates = label_candidates(path, unclaimed, file.header, expected, first=label_first)
    if not kept:
        raise InputError(f"--drop names all columns of {path}; keep the label and the features")
    session = next((each for each in kept if each.name and each.name == options.groups), None)
    if options.session is not None:
        session = find_column(columns, options.session, "--session", path)
    time = None if options.time is None else find_column(columns, options.time, "--time", path)
    return _Roles(kept, candidates, session, time, channels)


def _label(
    file: _File,
    content: _Content,
    roles: _Roles,
    options: TableOptions,
    expected: Expected | None,
    *,
    label_first: bool,
) -> FoundLabel | None:
    """Return the column of labels; None if the file's name is the label."""
    if options.label is not None:
        return FoundLabel(roles.labels[0], "as --label says")
    if options.labelled is not None:
        return FoundLabel(roles.labels[0], "by its name") if roles.labels else None
    if (label_first and not file.header) or not content.rows:
        return FoundLabel((roles.labels or roles.kept)[0], "the first one")
    near = _neighbour_ranges(file, content)
    return choose_label(file.path, roles.kept, roles.labels, near, expected)


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


@dataclass
class _File:
    """A table whose first rows were examined."""

    path: Path
    delimiter: str
    header: bool
    columns: list[Column]
    first_line: int
    notices: list[Notice] = field(default_factory=list)

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


def _opened(path: Path, usual: str, options: TableOptions) -> _File:
    if options.delimiter is None:
        delimiter = sniffed_delimiter(path, usual)
    else:
        delimiter = delimiter_called(options.delimiter)
    rows = rows_of(path, delimiter)
    first_line, first = next(rows, (0, []))
    if not first:
        raise InputError(f"{path} has no rows; give it at least one of each class")
    if len(first) < 2 and options.labelled is None:
        raise InputError(
            f"{path}:{first_line} has one column; a table needs a label and features, separated by "
            f"{DELIMITERS[delimiter]}, or by the --delimiter"
        )
    header = has_header(first)
    judged = [
        row for _, row in islice(rows, max(1, min(_JUDGED_ROWS, _JUDGED_CELLS // len(first))))
    ]
    if header and judged and not first[-1].strip() and len(judged[0]) == len(first) - 1:
        first = first[:-1]  # a delimiter after the last name
    judged = [row for row in judged if len(row) == len(first)]
    if not header:
        judged.insert(0, first)
    columns = [
        Column(index, name.strip() if header else "", kind_of(row[index] for row in judged))
        for index, name in enumerate(first)
    ]
    file = _File(path, delimiter, header, columns, first_line)
    if delimiter != usual and options.delimiter is None:
        text = f"columns are separated by {DELIMITERS[delimiter]}"
        file.notices.append(Notice("delimiter", text))
    return file


@dataclass
class _Content:
    """All points: some columns as numbers, the cells of the others in their columns."""

    rows: int
    numbers: Float32
    columns: list[Column]
    decimals: Decimals


def _read(file: _File, texts: Sequence[Column], numeric: Sequence[Column]) -> _Content:
    """Read all points, a block of rows at a time."""
    blocks: list[Float32] = []
    decimals = Decimals()
    shared: dict[str, str] = {}  # equal cells share one object
    pick = _picker(numeric)
    at_once = max(1, _BLOCK_CELLS // len(file.columns))
    rows = file.rows()
    count = 0
    while block := list(islice(rows, at_once)):
        if numeric:
            cells = list(chain.from_iterable(pick(row) for _, row in block))
            values = numbers_of(cells, file.delimiter, decimals)
            if values is None:
                raise _not_a_number(file, block, numeric, decimals)
            blocks.append(values.reshape(len(block), len(numeric)))
        for column in texts:
            index = column.index
            column.cells.extend([shared.setdefault(row[index], row[index]) for _, row in block])
        if len(shared) > _BLOCK_CELLS:
            shared.clear()
        count += len(block)
    empty = np.empty((count, len(numeric)), dtype=np.float32)
    numbers = np.concatenate(blocks) if blocks else empty
    return _Content(count, numbers, list(numeric), decimals)


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
    line, column, cell = places[first_bad([cell for *_, cell in places], file.delimiter)]
    return bad_cell(f"{file.path}:{line}", cell, column, decimals)


def _neighbour_ranges(file: _File, content: _Content) -> dict[int, tuple[float, float]]:
    """Return the ranges of the columns next to the first and the last one."""
    ranges = {}
    place = {column.index: index for index, column in enumerate(content.columns)}
    last = len(file.columns) - 1
    for end, beside in ((0, 1), (last, last - 1)):
        if beside in place:
            values = content.numbers[:, place[beside]]
            if np.all(values == np.rint(values)):
                ranges[end] = float(values.min()), float(values.max())
    return ranges


def _features(
    file: _File,
    content: _Content,
    columns: list[Column],
    roles: _Roles,
    expected: Expected | None,
) -> tuple[list[Column], list[LeftOut]]:
    """Return the columns that are features, in the model's order, and those left out, and why."""
    if expected is not None:
        wanted = expected.feature_names
        if file.header and wanted:
            match = match_columns([column.name for column in columns], wanted, str(file.path))
            file.notices.extend(match.notices)
            order = range(len(columns)) if match.columns is None else match.columns
            return [columns[index] for index in order], []
        if len(columns) == expected.n_features:
            return columns, []
    left_out: list[LeftOut] = []
    if roles.channels:
        others = [column for column in columns if column not in roles.channels]
        known = [roles.left_out_as(column, file.header) for column in others]
        return roles.channels, [each for each in known if each is not None]
    for column in columns:
        found = roles.left_out_as(column, file.header) or _index(column, content)
        if found is not None:
            left_out.append(found)
    gone = {each.column for each in left_out}
    features = [column for column in columns if column not in gone]
    for column in features:
        if column.kind in ("text", "moment"):
            raise text_refusal(file.path, column)
    if features or not columns:
        return features, left_out
    counted = [each for each in left_out if each.kind == "index"]
    kept = [each.column for each in counted if not each.column.may_be_index(file.header)]
    return kept, [each for each in left_out if each.column not in kept]


def _index(column: Column, content: _Content) -> LeftOut | None:
    """Return the first column if it counts the rows, or None; others may be measurements."""
    if column.index > 0:
        return None
    if column in content.columns[:1]:
        numbers = content.numbers[:, 0]
    elif column.cells and column.cells[0].strip() in ("0", "1"):
        try:
            numbers = np.array(column.cells, dtype=np.float32)
        except ValueError:
            return None
    else:
        return None
    return LeftOut(column, "index") if counts_rows(numbers) else None


def recorded_by(path: Path, head: RecordingHead, names: Sequence[str]) -> Instrument | None:
    """Return the instrument of the channels of a recording, if its first line states it."""
    if not head.units:
        return None
    try:
        return Instrument.named(head.sensor, head.units, names)
    except InputError as error:
        raise InputError(f"{path}, in its first line: {error}") from error


def _labels(file: _File, label: Column) -> list[str]:
    names = {cell: label_text(cell) for cell in set(label.cells)}
    labels = [names[cell] for cell in label.cells]
    if "" in names.values():
        where = file.where(labels.index(""))
        raise InputError(f"{where} has no label in column {label.index + 1}; fix or drop the row")
    return labels


def _matrix(file: _File, content: _Content, features: Sequence[Column]) -> Float32:
    """Return the features, (n, D)."""
    place = {column.index: index for index, column in enumerate(content.columns)}
    if all(column.index in place for column in features):
        wanted = [place[column.index] for column in features]
        if wanted == list(range(content.numbers.shape[1])):
            return content.numbers
        taken: Float32 = content.numbers[:, wanted]
        return taken
    X = np.empty((content.rows, len(features)), dtype=np.float32)
    for index, column in enumerate(features):
        if column.index in place:
            X[:, index] = content.numbers[:, place[column.index]]
        else:
            X[:, index] = _converted(file, column, content.decimals)
    return X


def _converted(file: _File, column: Column, decimals: Decimals) -> NDArray[np.float32]:
    """Return the cells of a column that turned out to be a feature as numbers."""
    values = numbers_of(column.cells, file.delimiter, decimals)
    if values is not None:
        return values
    row = first_bad(column.cells, file.delimiter)
    raise bad_cell(file.where(row), column.cells[row], column, decimals)
