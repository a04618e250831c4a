"""A column of a text table: its name, and the meaning of its cells."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data import naming
from protonn_edge.data.naming import quoted
from protonn_edge.data.tables.cells import (
    TOO_LARGE,
    Float64,
    Form,
    Notation,
    is_gap,
    is_label,
    is_too_large,
    meaning_of,
)
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.tables.moments import Moments
from protonn_edge.data.units import split_unit
from protonn_edge.system.errors import counted
from protonn_edge.system.shell import quoted_word

_FIRST_ROWS = 1_000
_LISTED_ROWS = 6  # in messages
_MOST_TEXTS = 1_000  # different cells of a column of numbers that are kept as they are written
_OF_LISTS = ',"'  # what separates and encloses names in an option
_SHORTENED = re.compile(r"\d[.,]\d{1,5}E\+(?:09|1\d)")
SPELLINGS = (
    "times are read if they are numbers, or written such as 2026-03-05 08:00:00.250, "
    "20260305T080000, 05.03.2026 8:00, Mar 5 2026 8:00:00 PM, 08:00:00.250 or 1h 2m 3.5s"
)
LOST_DIGITS = (
    "have lost their last digits, as Excel shortens long numbers, so neither the rate nor gaps are "
    "known; format such cells as whole numbers, and save the table again"
)
_LABEL_ROWS = 2  # rows of a class, on average, below which numbers are not classes


@dataclass(frozen=True, eq=False)
class Column:
    """A column of n rows, numbered from 0, and its name, which is empty without a header.

    Its kind and its values come from its cells. Its role, its feature and its offset are set once,
    when points are made of it.
    """

    index: int
    name: str
    kind: str = "empty"  # number, date, text or empty
    values: Float64 | None = None  # (n,): NaN in gaps and unreadable cells; None for text
    texts: Coded | None = None  # (n,): its cells, if only few are different
    gaps: int = 0  # their number
    first_gap: tuple[int, str] = (0, "")  # its row and its cell
    unreadable: int = 0
    first_unreadable: tuple[int, str] = (0, "")
    unreadable_rows: tuple[int, ...] = ()  # the first ones
    form: Form | None = None  # what is attached to its numbers, which its values lack
    problem: str = ""  # a clause on its unreadable cells
    moments: Moments | None = None  # for dates
    shares_name: bool = False  # with another column
    renamed: str = ""  # its name in the file, if an option gives it another one
    role: str = "dropped"  # by an option
    evidence: str = ""  # a clause on why it has this role
    feature: int | None = None  # its index among the features
    offset: float = 0.0  # subtracted from a feature, because float32 would lose differences

    @classmethod
    def of(
        cls, index: int, name: str, cells: Coded, notation: Notation, *, shares_name: bool
    ) -> Self:
        """Return the column of these cells."""
        meaning = meaning_of(cells.texts, cells.counts, notation)
        if meaning.kind == "text":
            blank = np.array([not text.strip() for text in cells.texts], np.bool_)
            gaps, first_gap = _first(blank[cells.codes], cells)
            values, unreadable = None, np.zeros(0, np.bool_)
        else:
            values, unreadable = meaning.values[cells.codes], meaning.unreadable[cells.codes]
            gaps, first_gap = _first(np.isnan(values) & ~unreadable, cells)
        count, first = _first(unreadable, cells)
        has_many = meaning.kind == "number" and len(cells.texts) > _MOST_TEXTS
        return cls(
            index,
            name,
            meaning.kind,
            values,
            texts=None if has_many else cells,
            gaps=gaps,
            first_gap=first_gap,
            unreadable=count,
            first_unreadable=first,
            unreadable_rows=tuple(np.flatnonzero(unreadable)[:_LISTED_ROWS].tolist()),
            form=meaning.form if str(meaning.form) else None,
            problem=TOO_LARGE if is_too_large(first[1]) else meaning.problem,
            moments=meaning.moments,
            shares_name=shares_name,
        )

    @property
    def title(self) -> str:
        """Its name for messages."""
        return naming.title(self.name, self.index + 1)

    @property
    def key(self) -> str:
        """Its name, or its number from 1 without one."""
        return self.name or str(self.index + 1)

    @property
    def of_dates(self) -> str:
        """A clause on its dates: what is read first, and what is no date."""
        assert self.moments is not None
        text = "it has dates or times of day"
        if self.moments.first:
            text += f" such as {quoted(self.example)}, whose {self.moments.first} is read first; "
            text += "write those that begin with another number such as 2026-03-05"
        if self.unreadable:
            text += f", and {counted(self.unreadable, 'other cell')} "
            text += f"such as {quoted(self.first_unreadable[1])}"
        return text

    @property
    def has_lost_digits(self) -> bool:
        """Whether its numbers are long ones that a spreadsheet shortened."""
        texts = () if self.texts is None or self.values is None else self.texts.texts
        there = [text.strip() for text in texts if not is_gap(text)]
        return bool(there) and all(map(_SHORTENED.fullmatch, there))

    @property
    def list_name(self) -> str:
        """The name of the column of lists whose numbers it has, or empty."""
        match = re.fullmatch(r"(.+)\[\d+\]", self.name)
        return match[1] if match else ""

    @property
    def feature_name(self) -> str:
        """Its name as a feature of a table with a header."""
        return self.name or f"column {self.index + 1}"

    @property
    def first_name(self) -> str:
        """Its name as a feature before an option gave it another one."""
        return self.renamed or self.feature_name

    @property
    def flag_value(self) -> str:
        """Its name as the value of an option such as ``--drop``, quoted for a shell."""
        plain = 0 < len(self.name) <= naming.NAME_SHOWN and self.name.isprintable()
        is_clear = plain and not self.shares_name and not {*self.name} & {*_OF_LISTS}
        return quoted_word(self.name if is_clear else str(self.index + 1))

    @property
    def example(self) -> str:
        """A cell that is not a gap."""
        if self.texts is None:
            return "" if self.values is None else f"{np.nanmin(self.values):g}"
        return next((text.strip() for text in self.texts.texts if not is_gap(text)), "")

    def names(self) -> Coded:
        """Return its cells as names of classes, groups or sessions, (n,); gaps as they are."""
        coded = self.texts
        if coded is None:
            assert self.values is not None
            distinct, codes = np.unique(self.values, return_inverse=True)
            coded = Coded(codes, [f"{each:.15g}" for each in distinct.tolist()])
        return Coded(coded.codes, [naming.label_text(text) for text in coded.texts])

    @property
    def may_be_label(self) -> bool:
        """Whether it may contain classes: texts or whole numbers, of which some are equal."""
        if self.kind == "date" or self.texts is None or not len(self.texts):
            return False
        labels = self.texts.texts
        few = _LABEL_ROWS * len(labels) <= len(self.texts)
        return (self.values is None or self.is_whole) and few and all(map(is_label, labels))

    @property
    def is_whole(self) -> bool:
        """Whether it contains whole numbers only, apart from gaps."""
        if self.values is None:
            return False
        parts = (self.values[:_FIRST_ROWS], self.values)  # the first ones decide most columns
        return all(bool((np.nan_to_num(part) % 1 == 0).all()) for part in parts)

    def called(self, name: str) -> Self:
        """Return it with a name, unless that is empty, and with the unit of the old one."""
        unit = split_unit(self.name)[1]
        with_unit = f"{name} ({unit})" if unit and not split_unit(name)[1] else name
        return replace(self, renamed=self.name, name=with_unit) if name else self

    def of_rows(self, rows: NDArray[np.bool_]) -> Self:
        """Return it with only some rows."""
        values, texts = self.values, self.texts
        return replace(
            self,
            values=None if values is None else values[rows],
            texts=None if texts is None else texts[rows],
        )


def _first(rows: NDArray[np.bool_], cells: Coded) -> tuple[int, tuple[int, str]]:
    """Return the number of such rows, and the first one with its cell."""
    row = int(rows.argmax()) if rows.any() else 0
    return int(rows.sum()), (row, cells[row].strip() if rows.any() else "")
