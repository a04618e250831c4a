"""Read all columns of text tables.

Several tables with the same columns, such as the takes of a recording, are read as one.
"""

from __future__ import annotations

import shlex
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, compress
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed, quoted
from protonn_edge.data.options import TableOptions
from protonn_edge.data.tables.cells import Notation, plain_values, with_other_marks
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.delimiters import DELIMITERS
from protonn_edge.data.tables.table_file import TableFile
from protonn_edge.system.checks import check_choice
from protonn_edge.system.errors import InputError, counted

_FEW_TEXTS = 1_000  # different cells of a column, all of which are looked at
_OTHER = {".": ",", ",": "."}
_DECIMALS = {None: None, "comma": ",", "point": "."}


@dataclass(eq=False)
class RawTable:
    """The columns of one or more files, as they are read; rows are numbered from 0."""

    files: tuple[TableFile, ...]
    columns: list[Column]
    n: int
    lines: Sequence[int]  # of each row in its file
    begins: list[int]  # the row at which each file begins
    breaks: NDArray[np.bool_]  # (n,): rows after a blank line
    notation: Notation  # of the first file; numbers of others are read as if they had it, too
    marks: frozenset[str] = frozenset()  # the decimal marks of several files

    @classmethod
    def read(cls, files: Sequence[TableFile], options: TableOptions) -> Self:
        """Read files with the columns of the first one; a file may lack some of them.

        If the files together have decimal points and commas, as telephones in two languages write
        them, each file has its own decimal mark.

        Raises `InputError` if a row has another number of cells, or if the decimal mark is unclear.
        """
        first = files[0]
        _check_headers(files)
        names = dict.fromkeys(name for file in files for name in file.names)
        wanted = (
            first.names
            if len(names) <= len(set(first.names))
            else (*first.names, *(name for name in names if name not in first.names))
        )
        read, name_counts = [file.read() for file in files], Counter(wanted)
        places = [_places(file, wanted) for file in files]

        def columns(notation: Notation, marks: Sequence[str] = ()) -> list[Column]:
            made = list[Column]()
            for index, name in enumerate(wanted):
                parts = [
                    each.column(place[index]) for each, place in zip(read, places, strict=True)
                ]
                for n, mark in enumerate(marks):
                    parts[n] = parts[n] if mark == notation.decimal else with_other_marks(parts[n])
                cells = Coded.of(chain.from_iterable(parts))
                # of many texts, those that are no plain numbers may show the decimal mark
                odd: Iterable[str] = cells.texts
                if len(cells.texts) > _FEW_TEXTS:
                    odd = compress(odd, np.isnan(plain_values(cells.texts, notation.decimal)))
                evidence.extend(odd)
                shares_name = name_counts[name] > 1
                column = Column.of(index, name, cells, notation, shares_name=shares_name)
                made.append(column if first.header else _named_by_key(column))
            return made

        evidence = [cell for row in first.first for cell in row]
        notation = _notation(first, evidence, options)
        table = columns(notation)
        known, marks = _notation(first, evidence, options), list[str]()
        if known.is_mixed and len(files) > 1:
            alone = [cls.read([file], options).notation for file in files]
            marks = [each.decimal for each in alone]
            known = replace(
                alone[0],
                thousands=_OTHER[alone[0].decimal] if any(each.thousands for each in alone) else "",
                is_mixed=any(each.is_mixed for each in alone),
            )
        if marks or known != notation:
            table = columns(known, marks)
        lines = array("l", chain.from_iterable(each.lines for each in read))
        begins = [0, *accumulate(len(each.lines) for each in read)]
        n = begins.pop()
        breaks = np.zeros(n + 1, np.bool_)
        for begin, each in zip(begins, read, strict=True):
            breaks[[begin + row for row in each.breaks if row]] = True
        breaks[begins] = False
        return cls(tuple(files), table, n, lines, begins, breaks[:-1], known, frozenset(marks))

    @property
    def file_of(self) -> NDArray[np.int64]:
        """The number of each row's file, (n,)."""
        return np.repeat(np.arange(len(self.begins)), np.diff([*self.begins, self.n]))

    def place(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        file = self.files[bisect_right(self.begins, row) - 1]
        return f"{file.path}:{self.lines[row]}"

    def places(self, rows: Sequence[int], count: int) -> str:
        """Return the number of such cells in one file and the lines of the first ones, in brackets.

        The text is empty for a single one.
        """
        if count < 2:
            return ""
        end = [*self.begins, self.n][bisect_right(self.begins, rows[0])] if rows else 0
        lines = ", ".join(f"{self.lines[row]:,}" for row in rows if row < end)
        more = ", ..." * (len(rows) < count)
        return f" ({count:,} such cells{f', on lines {lines}{more}' * bool(lines)})"

    def notices(self) -> Iterator[Notice]:
        """Yield notices about how the files are written."""
        first, notation = self.files[0], self.notation
        if first.is_unusual:
            yield Notice("delimiter", f"columns are separated by {DELIMITERS[first.delimiter]}")
        if first.header and all(map(str.isdigit, first.names)):
            text = f"the first line has the names of columns, because {first.header}"
            yield Notice("header", text)
        if first.skipped:
            yield Notice("skipped", f"lines above the table were skipped: {listed(first.skipped)}")
        if len(self.marks) > 1:
            yield Notice("decimal_comma", "numbers in some files have decimal commas")
        elif notation.decimal == ",":
            yield Notice("decimal_comma", "numbers have decimal commas")
        if notation.thousands:
            mark = "commas" if notation.thousands == "," else "points"
            yield Notice("thousands", f"{mark} in numbers separate thousands")
        if notation.doubtful:
            mark = "comma" if notation.decimal == "," else "point"
            other = "point" if mark == "comma" else "comma"
            text = (
                f"the {mark} in numbers such as {notation.doubtful} is read as a decimal {mark}; "
                f"if it separates thousands, give --decimal {other}"
            )
            yield Notice("ambiguous_mark", text, warning=True)
        for column in self.columns:
            if column.form is not None and column.kind == "number":
                text = f"numbers in {column.title} are {column.form}"
                yield Notice("attached", text, columns=(column.key,))


def _notation(file: TableFile, cells: Iterable[str], options: TableOptions) -> Notation:
    """Return the decimal mark and the separator of thousands; refuse those that are unclear."""
    if options.decimal is not None:
        check_choice("--decimal", options.decimal, ("comma", "point"))
    notation = Notation.of(cells, file.delimiter, _DECIMALS[options.decimal])
    if notation.doubtful and file.delimiter == ",":
        raise InputError(
            f"{file.path} has numbers such as {quoted(notation.doubtful)}, whose comma may be a "
            "decimal mark or may separate thousands; give --decimal comma or --decimal point"
        )
    return notation


def _check_headers(files: Sequence[TableFile]) -> None:
    """Refuse files of which only some have a first line of names, or that share no column."""
    first, counts = files[0], Counter(each.names for each in files)
    for file in files[1:]:
        alike = bool(file.header) == bool(first.header)
        shared = {*file.names} & {*first.names} if file.header else file.names == first.names
        if alike and shared:
            continue
        odd, other = sorted((file, first), key=lambda each: (counts[each.names], len(each.names)))
        way = "give all files the same columns"
        if not alike:  # joined rows would be shifted
            way = "give all files a first line of names, or none of them"
        elif len(odd.names) == 1 != len(other.names):
            words = ["paste", "-d", other.delimiter, str(other.path), str(odd.path)]
            way = f"if it has the labels of these rows, join both: {shlex.join(words)} > table.csv"
        elif odd.header:
            beside = f"{other.path.stem}_labels.csv with the columns start, end and label"
            way += f"; if it has labels, write those of each file into one beside it, as {beside}"
        raise InputError(
            f"{odd.path} has {_columns(odd)}, but {other.path} has {_columns(other)}; {way}"
        )


def _places(file: TableFile, wanted: tuple[str, ...]) -> list[int | None]:
    """Return where a file has the columns of all files; None for those that it lacks."""
    if file.names == wanted:
        return [*range(len(wanted))]
    return [file.names.index(name) if name in file.names else None for name in wanted]


def _columns(file: TableFile) -> str:
    if file.header:
        return f"the columns {listed(file.names)}"
    return f"{counted(len(file.names), 'column')} without names"


def _named_by_key(column: Column) -> Column:
    """Return a column named after the key that precedes its numbers, as in ``x:0.1``, if any."""
    before = "" if column.form is None else column.form.before
    is_key = before.endswith((":", "="))
    return replace(column, name=before[:-1].strip()) if is_key else column
