"""Read a text table: one point per row, with columns by the rules of `protonn_edge.datasets.rules`.

Blank lines are skipped. Rows are read block by block, so that a large file takes little more memory
than its numbers.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, compress, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets import rules
from protonn_edge.datasets.cells import TRUTHS, is_gap, is_label, is_number, is_whole
from protonn_edge.datasets.dataset import INDEX_LIMIT, Table, TableLayout
from protonn_edge.datasets.gaps import Numbers, checked_missing, counts, prepared
from protonn_edge.datasets.naming import Notice, label_text
from protonn_edge.datasets.options import RECORDING_MARK, SHOWN, TableOptions
from protonn_edge.datasets.preparation import DROP
from protonn_edge.datasets.rules import DELIMITERS, Column, Expected, Roles
from protonn_edge.errors import InputError, counted
from protonn_edge.sensors import Instrument

_HEAD = re.compile(
    re.escape(RECORDING_MARK) + r".*?; sensor: ([^;]*); rate: ([0-9.e+-]+) Hz(?:; units: (.*))?"
)
_TITLE = "; if the first line is a title, remove it"
_HEAD_LIMIT = 1_000
_SEPARATOR = re.compile(r'"?sep=.?"?\s*', re.IGNORECASE)  # which Excel reads
_LINE_LIMIT = 1 << 20
_FIRST_ROWS = 200
_FIRST_CELLS = 200_000
_BLOCK_CELLS = 100_000

_Line = tuple[int, list[str]]


def read_table(
    path: Path,
    *,
    delimiter: str,
    options: TableOptions | None = None,
    expected: Expected | None = None,
    label_first: bool = False,
) -> Table:
    """Read a table in UTF-8; `delimiter` is the usual one of such files.

    If the points are for a model, its features are found by name if both have names. Without a
    header, the label may be in the first column.
    """
    options = options or TableOptions()
    file = TableFile.opened(path, delimiter, options)
    header = bool(file.header)
    if expected is not None and expected.preparation is not None:
        wanted = expected.preparation.columns_of(expected.feature_names)
        count = len(wanted) or expected.n_features
        expected = replace(expected, n_features=count, feature_names=wanted)
    roles = rules.roles_of(
        file.columns, path, options, expected, header=header, label_first=label_first
    )
    label, features = roles.label, roles.features
    if not features:
        beside = "" if label is None else f" besides {label.title}, the label"
        raise InputError(
            f"{path} has no column of features{beside}; add one, or change --label or --drop"
        )
    missing = checked_missing(options.missing, path, expected)
    numbers = file.read(roles, expected, options, is_strict=missing not in (DROP, SHOWN))
    filled = prepared(numbers, roles, path, missing, expected)
    if filled.kept is not None:
        for column in (*roles.left_out, label):
            if column is not None:
                column.cells = list(compress(column.cells, filled.kept))
    labels = _labels(label, len(filled.X), options)
    notices = [*file.notices(numbers), *roles.notices]
    if roles.label_found.startswith("the last") and labels:
        notices.append(_label_notice(file, roles, labels, judged=expected is None))
    left_out = roles.left_out.items()
    notices += [rules.left_out_notice(*each) for each in left_out]
    notices += filled.notices
    names = filled.names if header else ()
    time = next((column for column, reason in left_out if reason == "time"), None)
    sessions = [column for column, reason in left_out if reason == "session"]
    session = sessions[0] if sessions else None
    return Table(
        str(path),
        filled.X,
        labels,
        feature_names=names,
        notices=tuple(notices),
        columns=_as_read(file, roles, numbers, filled.names),
        preparation=filled.preparation,
        gaps=filled.gaps,
        layout=_layout(file, roles, numbers, session, time),
        sessions=None if session is None else session.cells,
        times=None if time is None else time.cells,
        seams=_seams(sessions, len(filled.X)),
        kept=filled.kept,
        **_recorded(path, names),
    )


def _labels(label: Column | None, rows: int, options: TableOptions) -> list[str]:
    """Return the labels of rows; those of gaps are the background's, or empty."""
    if label is None:
        return [str(options.labelled)] * rows
    gap = options.background or ""
    names = {cell: label_text(cell) if is_label(cell) else gap for cell in set(label.cells)}
    return [names[cell] for cell in label.cells]


def _recorded(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return the rate and the instrument that a recording's first line gives."""
    head = recording_head(path)
    if head is None:
        return {}
    try:
        instrument = Instrument.named(head.sensor, head.units, names) if head.units else None
    except InputError as error:
        raise InputError(f"{path}, in its first line: {error}") from error
    return {"sample_rate": head.rate, "instrument": instrument}


@dataclass(frozen=True)
class TableFile:
    """A table with its first rows examined, and the reasons for its delimiter and header."""

    path: Path
    delimiter: str
    delimiter_found: str
    header: str
    columns: list[Column]
    first_line: int
    is_unusual: bool

    @classmethod
    def opened(cls, path: Path, usual: str, options: TableOptions) -> Self:
        """Open a table; `usual` is the usual delimiter of such files."""
        if options.delimiter is None:
            delimiter, why = rules.delimiter_in(first_line(path), usual), "found in the first line"
        else:
            delimiter = usual = rules.delimiter_called(options.delimiter)
            why = "given by --delimiter"
        rows = rows_of(path, delimiter)
        line, first = next(rows, (0, []))
        if not first:
            raise InputError(f"{path} has no rows; add at least one row of each class")
        if len(first) < 2 and options.labelled is None:
            below = next(rows, (0, [""]))[1]
            is_title = len(below) > 1 or rules.delimiter_in(below[0], "")
            raise InputError(
                f"{path}:{line} has one column, but a table needs a label and features; separate "
                f"these by {DELIMITERS[delimiter]}, or name another delimiter with --delimiter"
                f"{_TITLE if is_title else ''}"
            )
        header = rules.header_found(first)
        count = max(1, min(_FIRST_ROWS, _FIRST_CELLS // len(first)))
        sample = [row for _, row in islice(rows, count)]
        if header and sample and not first[-1].strip() and len(sample[0]) == len(first) - 1:
            first = first[:-1]  # drops a delimiter after the last name
        sample = ([] if header else [first]) + [row for row in sample if len(row) == len(first)]
        cells = zip(*sample, strict=True) if sample else [()] * len(first)
        columns = [
            Column(index, name.strip() if header else "", each)
            for index, (name, each) in enumerate(zip(first, cells, strict=True))
        ]
        return cls(path, delimiter, why, header, columns, line, delimiter != usual)

    def notices(self, numbers: Numbers) -> Iterator[Notice]:
        """Yield the notices about how cells are written."""
        decimals = numbers.decimals
        if self.is_unusual:
            text = f"columns are separated by {DELIMITERS[self.delimiter]}"
            yield Notice("delimiter", text)
        if decimals.comma:
            yield Notice("decimal_comma", "numbers have decimal commas")
        if decimals.thousands:
            mark = "commas" if decimals.thousands == "," else "points"
            yield Notice("thousands", f"{mark} in numbers separate thousands")
        cells = (cell for column in numbers.columns for cell in column.first)
        if cell := decimals.ambiguous(cells):
            mark = "comma" if decimals.comma else "point"
            text = f"the {mark} in numbers such as {cell} is read as a decimal {mark}; if it "
            text += "separates thousands, remove it from the file"
            yield Notice("ambiguous_mark", text, warning=True)

    def read(
        self, roles: Roles, expected: Expected | None, options: TableOptions, *, is_strict: bool
    ) -> Numbers:
        """Read all points, a block of rows at a time.

        The cells of the label, of text and of left-out columns other than an index stay in their
        columns. If `is_strict`, columns of text and rows without a label are refused.
        """
        values = expected and expected.preparation and expected.preparation.one_hot
        encoded = [
            column
            for column in roles.features
            if column in roles.one_hot or column.name in (values or ())
        ]
        columns = [column for column in roles.features if column not in encoded]
        numbers = Numbers(columns, encoded, self.delimiter)
        shared: dict[str, str] = {}  # equal cells share one object
        texts = [column for column, reason in roles.left_out.items() if reason != "index"]
        texts += [*encoded, *([] if roles.label is None else [roles.label])]
        pick = _picker(columns)
        at_once = max(1, _BLOCK_CELLS // len(self.columns))
        rows = self.rows()
        truths = [column.index for column in columns if column.has_truths]
        while block := list(islice(rows, at_once)):
            for index in truths:
                for _, row in block:
                    row[index] = TRUTHS.get(row[index].strip().lower(), row[index])
            numbers.add(block, (pick(row) for _, row in block))
            if is_strict:
                self._check_texts(block, roles, is_labelled=not options.background)
            for column in texts:
                index = column.index
                column.cells += [shared.setdefault(row[index], row[index]) for _, row in block]
            if len(shared) > _BLOCK_CELLS:
                shared.clear()
        return numbers

    def rows(self, read: list[str] | None = None) -> Iterator[_Line]:
        """Return an iterator of line number and cells of each point; see `rows_of`."""
        rows = rows_of(self.path, self.delimiter, read)
        if self.header:
            next(rows, None)
        return self._checked(rows)

    def _checked(self, rows: Iterator[_Line]) -> Iterator[_Line]:
        width = len(self.columns)
        for number, (line, row) in enumerate(rows):
            if len(row) != width:
                hint = _TITLE if self.header and not number and len(row) > width else ""
                raise InputError(
                    f"{self.path}:{line} has {len(row):,} columns, but line {self.first_line} has "
                    f"{width:,}; correct the row{hint}"
                )
            yield line, row

    def _check_texts(self, block: Sequence[_Line], roles: Roles, *, is_labelled: bool) -> None:
        """Refuse rows without a label, and values in a column with empty first rows."""
        empty = [column for column, reason in roles.left_out.items() if reason == "empty"]
        for line, row in block:
            if is_labelled and roles.label is not None and not is_label(row[roles.label.index]):
                cell = row[roles.label.index].strip()
                text = f"has {cell!r}, which is not a label," if cell else "has no label"
                raise InputError(
                    f"{self.path}:{line} {text} in column {roles.label.index + 1}; correct or drop "
                    "the row, use --missing drop or, with 'windows', use --background to name a "
                    "class for rows without a label"
                )
            for column in empty:
                if not is_gap(cell := row[column.index]):
                    raise InputError(
                        f"{self.path}:{line} has {cell[:40]!r} in column {column.index + 1}, but "
                        "the first rows of this column are empty; fill them in, or leave the "
                        "column out with --drop"
                    )


def _picker(columns: Sequence[Column]) -> Callable[[list[str]], Iterable[str]]:
    """Return a function that selects the cells of some columns from a row."""
    indices = [column.index for column in columns]
    if len(indices) < 2 or indices == list(range(indices[0], indices[-1] + 1)):
        return itemgetter(slice(*(indices[0], indices[-1] + 1) if indices else (0, 0)))
    return itemgetter(*indices)


def _label_notice(file: TableFile, roles: Roles, labels: Sequence[str], *, judged: bool) -> Notice:
    """Return the notice about an unnamed label; refuse numbers that are not classes."""
    label, distinct, first = roles.label, set(labels), roles.features[0]
    assert label is not None
    numeric = all(map(is_number, distinct))
    if judged and numeric and (len(distinct) == 1 or not all(map(is_whole, distinct))):
        raise rules.label_refusal(file.path, label, roles.features)
    doubtful = numeric and first.index == 0 and first.may_be_label
    hint = "; if the first column is the label, use --label first" if doubtful else ""
    text = f"the labels are in {label.title}, {roles.label_found}{hint}"
    return Notice("label", text, doubtful, (label.name or str(label.index + 1),))


def _seams(sessions: Sequence[Column], rows: int) -> NDArray[np.bool_] | None:
    """Return at which rows (rows,) a session begins; None without columns of sessions."""
    if not sessions:
        return None
    seams = np.zeros(rows, np.bool_)
    for column in sessions:
        changes = (after != before for before, after in pairwise(column.cells))
        # an empty list would have no type
        seams[1:] |= np.fromiter(changes, np.bool_, max(0, rows - 1))
    return seams


def _as_read(
    file: TableFile, roles: Roles, numbers: Numbers, names: Sequence[str]
) -> Sequence[Column]:
    """Return the columns, updated with how they were read."""
    role_of = dict.fromkeys(roles.features, "feature") | dict(roles.left_out)
    role_of |= {} if roles.label is None else {roles.label: "label"}
    for column, role in role_of.items():
        column.role = role
    for column, place in numbers.gaps.items():
        column.missing = place.count
    for column, place in numbers.others.items():
        column.unreadable = place.count
    texts = tuple(f"{column.name}=" for column in numbers.texts)
    places = [index for index, name in enumerate(names) if not (texts and name.startswith(texts))]
    of_numbers = (each for each in roles.features if each not in numbers.texts)
    for column, index in zip(of_numbers, places, strict=False):
        column.feature = index
    return file.columns


def _layout(
    file: TableFile, roles: Roles, numbers: Numbers, session: Column | None, time: Column | None
) -> TableLayout:
    """Return how a table was read, with the decision of each rule."""
    label = "the file's name" if roles.label is None else roles.label.title
    used = {roles.label, *roles.features}
    others = [f"{column.title} ({reason})" for column, reason in roles.left_out.items()]
    empty = [column.title for column, reason in roles.left_out.items() if reason == "empty"]
    comma = numbers.decimals.comma
    missing = [f"all of {', '.join(empty)}"] if empty else []
    missing += [f"gaps: {counts(numbers.gaps)}"] if numbers.gaps else []
    decided = {
        "delimiter": f"{DELIMITERS[file.delimiter]}, {file.delimiter_found}",
        "header": f"the first row, because {file.header}" if file.header else "none",
        "label": f"{label}, {roles.label_found}",
        "features": counted(len(roles.features), "column")
        + (f"; left out: {', '.join(others)}" if others else ""),
        "missing": ("; ".join(missing) or "nothing") + ("; decimal commas" if comma else ""),
    }
    return TableLayout(
        delimiter=file.delimiter,
        header=bool(file.header),
        decimal_comma=comma,
        label=label,
        label_found=roles.label_found,
        left_out=tuple(column.title for column in file.columns if column not in used),
        session="" if session is None else session.name,
        time="" if time is None else time.name,
        rules=decided,
    )


# --- lines and cells of text ----------------------------------------------------------------------


@contextmanager
def text_of(path: Path, newline: str | None = None) -> Iterator[TextIO]:
    """Open a text file; refuse it if it is not in UTF-8 or cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} is invalid); save "
            "it in Excel as 'CSV UTF-8', or convert it, for example with iconv -f cp1252 -t utf-8"
        ) from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def rows_of(path: Path, delimiter: str, read: list[str] | None = None) -> Iterator[_Line]:
    """Yield line number and cells of non-blank rows; append the lines to `read` if given."""
    with text_of(path, newline="") as stream:
        lines = _uncommented(stream if read is None else _noted(stream, read))
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ")
        try:
            for row in reader:
                if "".join(row).strip():
                    if len(row) > INDEX_LIMIT:
                        raise InputError(
                            f"{path}:{reader.line_num} has {len(row):,} columns, but the limit is "
                            f"{INDEX_LIMIT:,}; use fewer features"
                        )
                    yield reader.line_num, row
        except csv.Error as error:
            text = f"{path} is not a table ({str(error)[:80]}); save the file again"
            raise InputError(text) from error


def _noted(lines: Iterable[str], read: list[str]) -> Iterator[str]:
    for line in lines:
        read.append(line)
        yield line


def first_line(path: Path) -> str:
    """Return the beginning of the first non-blank line of a table, or nothing."""
    with text_of(path, newline="") as stream:
        lines = _uncommented(stream)
        return next((line[:_LINE_LIMIT] for line in lines if line.strip()), "")


def _uncommented(lines: Iterator[str]) -> Iterator[str]:
    """Return the lines; a recording's comment or ``sep=;`` in the first becomes a blank line."""
    first = next(lines, "")
    skipped = first.startswith(RECORDING_MARK) or _SEPARATOR.fullmatch(first)
    return chain(["\n" if skipped else first], lines)


class RecordingHead(NamedTuple):
    """The first line of a recording: names of sensors, sampling rate, text of units."""

    sensor: str
    rate: float
    units: str


def recording_head(path: Path) -> RecordingHead | None:
    """Return the facts in the first line of a recording; None for other tables."""
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        match = _HEAD.match(stream.readline(_HEAD_LIMIT).rstrip("\n"))
    try:
        rate = 0.0 if match is None else float(match[2])
    except ValueError:
        return None
    if match is None or not 0 < rate < math.inf:
        return None
    return RecordingHead(match[1], rate, match[3] or "")
