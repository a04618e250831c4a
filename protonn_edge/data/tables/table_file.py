"""A file with a text table: its delimiter, its header, and its rows."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from protonn_edge.data.naming import column_name, title
from protonn_edge.data.options import USUAL_DELIMITERS, TableOptions
from protonn_edge.data.tables.cells import is_number, stamped
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.delimiters import DELIMITERS, delimiter_called, delimiter_in
from protonn_edge.data.tables.headers import header_found, rows_above
from protonn_edge.data.tables.lists import list_size, numbers_of
from protonn_edge.data.tables.text import (
    TEXT_LIMIT_BYTES,
    Row,
    check_is_text,
    lines_of,
    no_text,
    rows_in,
)
from protonn_edge.data.tables.usual_names import LABEL_NAMES
from protonn_edge.system.errors import InputError, counted, lacking
from protonn_edge.system.files import check_file

_LINE_LIMIT = 1 << 20
_FIRST_ROWS = 200
_FIRST_CELLS = 200_000
_MOST_SKIPPED = 50  # lines above a table
_ROWS_AT_ONCE = 10_000
_BETWEEN = "\0"  # cells, in which it is refused

_Line = tuple[int, Row]


class FileCells(NamedTuple):
    """All cells of a file."""

    lines: array[int]  # the line of each row
    breaks: Sequence[int]  # rows, by their numbers from 0, before which takes are divided
    columns: Sequence[str]  # the cells of each, joined, since this takes the least memory

    def column(self, place: int | None) -> list[str]:
        """Return the cells of a column; empty ones if the file lacks it."""
        n = len(self.lines)
        return [""] * n if place is None or not n else self.columns[place].split(_BETWEEN)


@dataclass(frozen=True)
class TableFile:
    """A text table with its first rows examined, and the reasons for its delimiter and header."""

    path: Path
    delimiter: str
    delimiter_found: str
    header: str  # why the first row has names; empty if it does not
    names: tuple[str, ...]  # of all columns; empty texts without a header
    first: tuple[Row, ...]  # the first rows of points, complete ones only
    skipped: tuple[str, ...]  # lines above the table
    lines_above: int  # the rows of points
    names_line: int  # the line of the first row
    trailing: bool  # whether each row ends in a delimiter
    is_unusual: bool
    blanks: int = 0  # blank lines that follow every row
    stamps: int | None = None  # the column of cells such as ``10:00:00.020 -> 0.1``
    lists: Mapping[int, int] = field(default_factory=dict)  # columns of lists: numbers in each
    written: tuple[str, ...] = ()  # the names of columns, before those with several were divided

    @classmethod
    def opened(cls, path: Path, options: TableOptions) -> Self:
        """Open a table in UTF-8."""
        check_file(path, limit_bytes=TEXT_LIMIT_BYTES)
        check_is_text(path)
        usual = USUAL_DELIMITERS.get(path.suffix.lower(), "\t")
        if options.delimiter is None:
            with lines_of(path) as opened:
                head = [line[:_LINE_LIMIT] for line in islice(opened, _MOST_SKIPPED + 1)]
            delimiter, why = delimiter_in(head, usual), "found in the first lines"
        else:
            delimiter = usual = delimiter_called(options.delimiter)
            why = "given by --delimiter"
        begin = list(islice(_rows_of(path, delimiter), _MOST_SKIPPED + 1))
        lines = [each for each in begin if each[1]]
        if not lines:
            raise lacking(path, "rows", "add at least one row of each class")
        above = rows_above([row for _, row in lines])
        skipped = [" ".join(filter(None, row)) for _, row in lines[:above]]
        line, first = lines[above]
        if len(first) < 2 and options.labelled is None and options.normal is None:
            raise InputError(
                f"{path}:{line} has one column, but a table needs a label and features; separate "
                f"these by {DELIMITERS[delimiter]}, or name another delimiter with "
                "--delimiter NAME"
            )
        count = max(2, min(_FIRST_ROWS, _FIRST_CELLS // len(first)))
        rows = (each for each in _rows_of(path, delimiter) if each[1] and each[0] >= line)
        sample = [row for _, row in islice(rows, count)]
        below = sample[1] if len(sample) > 1 else []
        header = header_found(first, sample[1:])
        width = Counter(map(len, sample[1:])).most_common(1)[0][0] if below else len(first)
        names = [column_name(name) for name in first] if header else [""] * len(first)
        behind = [row[-1].strip() for row in sample[1:] if len(row) == width]
        trailing = header != "" and width == len(first) + 1 and not any(behind)
        if header and width == len(first) + 1 and all(behind) and any(map(is_number, below)):
            names = ["", *names]  # of rows, as R writes them
        elif header and width == len(first) - 1 and (above or not names[-1]):
            names = names[:-1]  # of a delimiter, or LabVIEW's comments, after the last name
        ends = [0, *(end for end, _ in begin)]
        lines_above = line if header else ends[ends.index(line) - 1]
        found = cls(
            path, delimiter, why, header, tuple(names), (), tuple(skipped), lines_above, line,
            trailing, delimiter != usual, _blanks_after(path, delimiter, line, count),
        )  # fmt: skip
        return found._sampled(sample, options)

    def _sampled(self, sample: list[Row], options: TableOptions) -> Self:
        """Return this table with its first rows; times and lists are divided into columns."""
        rows = [row[: len(self.names)] for row in (sample[1:] if self.header else sample)]
        rows = [row for row in rows if len(row) == len(self.names)]
        first = None if not rows else rows[0]
        stamps = next((i for i, cell in enumerate(first or ()) if stamped(cell)), None)
        names, lists = list(self.names), dict[int, int]()
        if stamps is not None and all(stamped(row[stamps]) for row in rows):
            names.insert(stamps, "time" if self.header else "")
            rows = [_split(row, stamps) for row in rows]
        else:
            stamps = None
            labels = {*LABEL_NAMES, options.label and options.label.lower()}
            of_names = enumerate(zip(names, *rows, strict=True)) if rows else ()
            sizes = {
                i: list_size(cells) for i, (name, *cells) in of_names if name.lower() not in labels
            }
            lists = {i: size for i, size in sizes.items() if size}
        divided = replace(self, written=self.names, stamps=stamps, lists=lists)
        names = [
            f"{name}[{n}]" if i in lists and name else name
            for i, name in enumerate(names)
            for n in range(lists.get(i, 1))
        ]
        rows = rows if not lists else [divided._divided(row, 0) for row in rows]
        return replace(divided, names=tuple(names), first=tuple(rows))

    def _divided(self, row: Row, line: int) -> Row:
        """Return a row with the number of a time, and the numbers of a list, in cells of their own.

        Raises `InputError` for a list of another length.
        """
        if self.stamps is not None:
            return _split(row, self.stamps)
        cells = list[str]()
        for i, cell in enumerate(row):
            size = self.lists.get(i)
            parts = [cell] if size is None else numbers_of(cell) or [""] * size
            if size not in (None, len(parts)):
                raise InputError(
                    f"{self.path}:{line} has {counted(len(parts), 'number')} in "
                    f"{title(self.written[i], i + 1)}, but the first rows have {size:,}; correct "
                    "or delete the row"
                )
            cells += parts
        return cells

    @property
    def columns(self) -> list[Column]:
        """Its columns, without cells."""
        return [Column(index, name) for index, name in enumerate(self.names)]

    def rows(self) -> Iterator[tuple[int, Row | None]]:
        """Yield line number and cells of each point, and None for a break between two takes.

        A break is a blank line or a row without any cell, unless each row is followed by as many,
        or the header once more.
        """
        width, blanks = len(self.written) + self.trailing, 0
        names = {*self.written} if self.header else set[str]()
        with lines_of(self.path) as lines:
            above = sum(1 for _ in islice(lines, self.lines_above))
            for count, row in rows_in(lines, self.path, self.delimiter):
                line = above + count
                if not row or (column_name(row[0]) in names and self._is_header(line, row)):
                    blanks += not row
                    if row or blanks > self.blanks:
                        yield line, None
                    continue
                blanks = 0
                if len(row) != width:
                    raise self._unlike(line, row, width)
                if self.trailing and row.pop().strip():
                    raise self._unlike(line, [*row, ""], width - 1)
                whole = self.stamps is None and not self.lists
                yield line, row if whole else self._divided(row, line)

    def read(self) -> FileCells:
        """Read all cells; those of a column become one text."""
        lines, breaks, points = array("l"), list[int](), self.rows()
        parts: list[list[str]] = [[] for _ in self.names]
        while some := list(islice(points, _ROWS_AT_ONCE)):
            rows = list[Row]()
            for line, row in some:
                if row is None:
                    breaks.append(len(lines))
                else:
                    lines.append(line)
                    rows.append(row)
            for part, cells in zip(parts, zip(*rows, strict=True), strict=False):
                part.append(_BETWEEN.join(cells))
        columns = [_BETWEEN.join(part) for part in parts]
        if lines and any(text.count(_BETWEEN) != len(lines) - 1 for text in columns):
            raise no_text(self.path)
        return FileCells(lines, breaks, columns)

    def _is_header(self, line: int, row: Row) -> bool:
        """Whether a row has the names again; refuse them in another order."""
        names = [*self.written]
        cells = [column_name(cell) for cell in row][: len(names)]
        if cells != names and sorted(cells) == sorted(names):
            raise InputError(
                f"{self.path}:{line} has the names of line {self.names_line} in another order; "
                "give the rows below a file of their own"
            )
        return cells == names

    def _unlike(self, line: int, row: Row, width: int) -> InputError:
        hint = ""
        if self.header and line <= self.names_line + 1 and len(row) > width:
            hint = "; if the first line is a title, remove it"
        return InputError(
            f"{self.path}:{line} has {counted(len(row), 'column')}, but line {self.names_line} has "
            f"{width:,}; correct the row{hint}"
        )


def opened_table(path: Path, options: TableOptions | None) -> TableFile:
    """Open a text table, of which only the first rows are examined."""
    return TableFile.opened(path, options or TableOptions())


def _split(row: Row, index: int) -> Row:
    parts = stamped(row[index]) or ("", row[index])
    return [*row[:index], *parts, *row[index + 1 :]]


def _blanks_after(path: Path, delimiter: str, first: int, count: int) -> int:
    """Return how many blank lines follow each of some rows, from the line of the first one."""
    lines = (row for line, row in _rows_of(path, delimiter) if line >= first)
    steps = np.diff(np.flatnonzero([bool(row) for row in islice(lines, 2 * count)]))
    return int(np.quantile(steps, 0.1, method="lower")) - 1 if len(steps) > 2 else 0


def _rows_of(path: Path, delimiter: str) -> Iterator[_Line]:
    """Yield line number and cells of each row; no cells if all are blank."""
    with lines_of(path) as lines:
        yield from rows_in(lines, path, delimiter)
