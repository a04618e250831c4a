"""The role of each column of a table: label, feature, index, time or session.

A column's kind follows from the first rows; its role is decided when all rows have been read.
Columns that a person would leave out are left out, and each debatable choice is reported as a
notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import is_number, with_point
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.notices import NAME_SHOWN, Notice, listed, quoted, title, titles
from protonn_edge.errors import InputError

Kind = Literal["number", "text", "moment", "empty"]

LABEL_NAMES = ("label", "class", "target")
_OTHER_LABEL_NAMES = ("labels", "classes", "species", "activity", "gesture", "category", "y")
_TIME_NAME = re.compile(
    r"t|ts|s|ms|us|sec(ond)?s?|milli(second)?s?|micro(second)?s?|times?|epoch|"
    r"(time|date|time_?stamp|date_?time|unix_?time)(_?(s|ms|us|ns))?"
)
_SESSION_NAME = re.compile(
    r"(session|subject|person|user|participant|patient|recording|take|group)(_?id)?"
)
_PERSON_NAME = re.compile(r"(subject|person|user|participant|patient)(_?id)?")
_STAMP_NAME = re.compile(
    r"(time_?stamp|date_?time|unix_?time|epoch|milli(second)?s|micro(second)?s)(_?(s|ms|us|ns))?"
)
_INDEX_NAME = re.compile(r"|unnamed(: ?\d+)?|index|idx|id|row|row_?id|no\.?|nr\.?|#|sample_?id")
_MISSING = ("na", "n/a", "nan", "null", "none", "?", "-")
_MOMENT = re.compile(
    r"\s*(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4})?[T ]?"
    r"(\d\d?:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?)? ?(Z|UTC|[+-]\d\d:?\d\d)?\s*"
)
_RISING_SHARE, _STAMPED_SHARE = 0.95, 0.5  # a restarted log starts again at 0
_INDEX_ROWS = 10  # fewer consecutive numbers may be anything
_JUDGED_ROWS = 20  # fewer labels may all differ


@dataclass(frozen=True)
class FoundLabel:
    """The column of labels.

    Attributes
    ----------
    column : Column
    how : str
        How it was found, for display.
    usual : bool
        Whether it is certain: an option names it, or it has a documented name.
    doubtful : bool
        Whether another column could be the label, too.
    """

    column: Column
    how: str
    usual: bool = True
    doubtful: bool = False

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notice about it, if any."""
        if self.usual:
            return ()
        text = f"labels: {self.column.title}, {self.how}"
        name = self.column.name or str(self.column.index + 1)
        return (Notice("label", text, self.doubtful, (name,)),)


@dataclass(frozen=True)
class Expected:
    """What a model requires of a table, or a training part of its test part.

    Attributes
    ----------
    n_features : int
        D.
    feature_names : tuple of str
        D names, or empty.
    classes : sequence of str
        The names of the classes.
    """

    n_features: int
    feature_names: tuple[str, ...] = ()
    classes: Sequence[str] = ()


@dataclass(eq=False)
class Column:
    """A column of a table.

    Attributes
    ----------
    index : int
        From 0.
    name : str
        Empty without a header.
    kind : str
        What most of its first cells are: ``number``, ``moment`` (date or time), ``text``,
        ``empty``.
    cells : list of str
        All its cells, if it may be something other than a feature.
    """

    index: int
    name: str
    kind: Kind
    cells: list[str] = field(default_factory=list, repr=False)

    @property
    def title(self) -> str:
        """Its name for messages."""
        return title(self.name, self.index + 1)

    @property
    def flag_value(self) -> str:
        """Its name for an option such as ``--drop``."""
        plain = 0 < len(self.name) <= NAME_SHOWN and self.name.isprintable()
        plain = plain and "," not in self.name
        text = self.name if plain else str(self.index + 1)
        return f"'{text}'" if " " in text else text

    def is_called(self, names: Iterable[str]) -> bool:
        """Return whether its name is one of these, in any case."""
        return self.name.lower() in names

    @property
    def may_be_time(self) -> bool:
        """Whether it may be the time at which a row was recorded."""
        return self.kind == "moment" or is_called_as_time(self.name)

    @property
    def may_be_person(self) -> bool:
        """Whether it may be the person of a row, who may have several sessions."""
        return _PERSON_NAME.fullmatch(self.name.lower()) is not None

    @property
    def may_be_session(self) -> bool:
        """Whether it may be the recording of a row."""
        return _SESSION_NAME.fullmatch(self.name.lower()) is not None

    def may_be_index(self, header: bool) -> bool:
        """Return whether it has a usual name of an index, or none."""
        return header and _INDEX_NAME.fullmatch(self.name.lower()) is not None


def is_called_as_time(name: str) -> bool:
    """Return whether a name is a usual one of a time."""
    return _TIME_NAME.fullmatch(name.lower()) is not None


def has_header(first: Sequence[str]) -> bool:
    """Return whether the first row of a table names the columns.

    It does so if a cell is ``label``, ``class`` or ``target``, if none is a number, or if its
    numbers only count the columns, as in ``0,1,2,species``.
    """
    cells = [cell.strip() for cell in first]
    if any(cell.lower() in LABEL_NAMES for cell in cells):
        return True
    numbers = [cell for cell in cells if is_number(with_point(cell))]
    counted = [[str(begin + place) for place in range(len(numbers))] for begin in (0, 1)]
    return not numbers or (2 < len(numbers) < len(cells) and numbers in counted)


def kind_of(cells: Iterable[str]) -> Kind:
    """Return the kind of most cells; cells for missing values do not count."""
    there = [cell for cell in cells if cell.strip() and cell.strip().lower() not in _MISSING]
    if not there:
        return "empty"
    numbers = sum(is_number(with_point(cell)) for cell in there)
    if 2 * numbers >= len(there):
        return "number"
    return "moment" if all(map(_MOMENT.fullmatch, there)) else "text"


def find_column(columns: Sequence[Column], text: str, flag: str, path: object) -> Column:
    """Return the column that an option names, by its name or by its number from 1.

    Raises
    ------
    InputError
        If there is none.
    """
    named = [column for column in columns if column.name and column.name == text.strip()]
    if len(named) > 1:
        raise InputError(
            f"{flag} is {text[:40]!r}, and {path} has {len(named)} columns of this name; give the "
            "column's number"
        )
    if named:
        return named[0]
    place = {"first": "1", "last": str(len(columns))}.get(text.lower(), text)
    if re.fullmatch(r"\d{1,7}", place) and 1 <= int(place) <= len(columns):
        return columns[int(place) - 1]
    names = listed(column.name for column in columns if column.name)
    raise InputError(
        f"{flag} is {text[:40]!r}, which is not a column of {path}; give a number from 1 to "
        f"{len(columns):,}" + (f" or one of {names}" if names else "")
    )


def label_candidates(
    path: object,
    columns: Sequence[Column],
    header: bool,
    expected: Expected | None,
    *,
    first: bool,
) -> list[Column]:
    """Return the columns that may be the labels, for `choose_label`.

    Parameters
    ----------
    path : object
        For messages.
    columns : sequence of Column
        Those that are not dropped.
    header : bool
        Whether they have names.
    expected : Expected or None
        The model that the points are for.
    first : bool
        Whether the first column is the label where there is no header.
    """
    named = [column for column in columns if column.is_called(LABEL_NAMES)]
    if len(named) > 1:
        raise InputError(
            f"{path} has {len(named)} columns named label, class or target; keep that name for "
            "one, or give --label"
        )
    if named or (first and not header):
        return named or list(columns[:1])
    if header and expected is not None and expected.feature_names:
        wanted = set(expected.feature_names)
        return [column for column in columns if column.name not in wanted]
    ends = {columns[0].index, columns[-1].index} if columns else set()
    return [
        column
        for column in columns
        if column.kind == "text" or column.index in ends or column.is_called(_OTHER_LABEL_NAMES)
    ]


def choose_label(
    path: object,
    columns: Sequence[Column],
    candidates: Sequence[Column],
    neighbours: dict[int, tuple[float, float]],
    expected: Expected | None,
) -> FoundLabel:
    """Return the column of labels, and how it was found.

    Parameters
    ----------
    path, columns, candidates
        See `label_candidates`; the candidates have all their cells.
    neighbours : dict of int to (float, float)
        For the first and the last column, the range of the adjacent column, if that has whole
        numbers only.
    expected : Expected or None
        The classes of a model decide where they can.

    Raises
    ------
    InputError
        If no column can be the labels, or several of text.
    """
    if expected is not None and expected.classes and len(candidates) > 1:
        known = set(expected.classes)
        fitting = [each for each in candidates if known.issuperset(map(label_text, each.cells))]
        candidates = fitting or candidates
        if len(fitting) == 1:
            return FoundLabel(fitting[0], "the only one with the model's classes")
    if not candidates:
        raise InputError(
            f"{path} has no column of labels besides the features; add one, or name it with --label"
        )
    if len(candidates) == 1 and candidates[0].is_called(LABEL_NAMES):
        return FoundLabel(candidates[0], "by its name")
    if len(candidates) == 1 and expected is not None and expected.feature_names:
        return FoundLabel(candidates[0], "the only one that is not a feature")
    if found := _by_other_name(columns, candidates):
        return FoundLabel(found, "by its name", usual=False)
    texts = [column for column in candidates if column.kind == "text"]
    texts = [column for column in texts if not column.may_be_session] or texts
    if len(texts) > 1:
        texts = [column for column in texts if _repeats(column)] or texts
    if len(texts) == 1:
        only = len([column for column in columns if column.kind == "text"]) == 1
        how = "the only text" if only else "the text that repeats"
        return FoundLabel(texts[0], how, usual=False)
    if texts:
        raise InputError(
            f"{path} has text in {titles([(each.name, each.index + 1) for each in texts])}; name "
            f"the labels with --label, such as --label {texts[-1].flag_value}, and leave the "
            "others out with --drop"
        )
    return _first_or_last(path, candidates, neighbours)


def _by_other_name(columns: Sequence[Column], candidates: Sequence[Column]) -> Column | None:
    """Return the column with a usual name of labels, unless its numbers are measurements."""
    axes = any(column.is_called(("x", "z")) for column in columns)
    for name in _OTHER_LABEL_NAMES:
        for column in candidates:
            usable = column.kind == "text" or _is_whole(column)
            if column.is_called((name,)) and usable and not (name == "y" and axes):
                return column
    return None


def _first_or_last(
    path: object, candidates: Sequence[Column], neighbours: dict[int, tuple[float, float]]
) -> FoundLabel:
    """Return the first or the last column of numbers, whichever looks like classes."""
    ends = [candidates[0], candidates[-1]] if len(candidates) > 1 else [candidates[0]]
    likely = [column for column in ends if _is_whole(column) and _repeats(column)]
    if len(likely) == 2:
        unlike = [each for each in likely if neighbours.get(each.index) != _range(each)]
        chosen = min(unlike or likely, key=_distinct)
        which, rest = ("first", "last") if chosen is ends[0] else ("last", "first")
        how = f"the {which} one, but the {rest} could be, too; --label {rest} takes that"
        return FoundLabel(chosen, how, usual=False, doubtful=True)
    usable = likely or [column for column in ends if _is_whole(column)]
    few = len(ends[0].cells) <= _JUDGED_ROWS
    if not usable or not (likely or few or _distinct(usable[0]) == 1):
        found = " and ".join(
            f"{column.title} has {_distinct(column):,} different numbers such as "
            f"{column.cells[0].strip()[:20]}"
            for column in ends
        )
        raise InputError(
            f"{path}: no column looks like labels; {found}, which are measurements, not classes; "
            "name the column with --label"
        )
    which = "first" if usable[0] is ends[0] else "last"
    return FoundLabel(usable[0], f"the {which} one", usual=False)


def _is_whole(column: Column) -> bool:
    """Return whether all numbers of a column are whole; other cells are ignored."""
    cells = {cell for cell in set(column.cells) if cell.strip()}
    numbers = [with_point(cell) for cell in cells]
    return bool(cells) and all(
        is_number(number) and float(number).is_integer() for number in numbers
    )


def _range(column: Column) -> tuple[float, float]:
    numbers = [float(with_point(cell)) for cell in set(column.cells) if cell.strip()]
    return min(numbers), max(numbers)


def _distinct(column: Column) -> int:
    return len(set(map(label_text, set(column.cells))))


def _repeats(column: Column) -> bool:
    """Return whether its cells look like classes: at least two, of two rows each on average."""
    return 2 <= _distinct(column) <= len(column.cells) / 2


@dataclass(frozen=True)
class LeftOut:
    """A column that is not a feature, and the reason."""

    column: Column
    kind: Literal["index", "time", "session", "empty"]

    @property
    def notice(self) -> Notice:
        """The notice about it."""
        reason = {
            "index": "an index of the rows",
            "time": "when a row was recorded",
            "session": "which recording a row is from",
            "empty": "empty",
        }[self.kind]
        name = self.column.name or str(self.column.index + 1)
        return Notice("left_out", f"left out: {self.column.title}, {reason}", columns=(name,))


def left_out_as(column: Column, header: bool) -> LeftOut | None:
    """Return why a column whose cells are kept is not a feature, or None if it may be one."""
    cells = column.cells
    if not any(cell.strip() for cell in cells):
        return LeftOut(column, "empty") if cells else None
    if column.kind == "moment" or (column.may_be_time and _rises(cells, column.name)):
        return LeftOut(column, "time")
    one = column.kind == "text" and len(set(cells)) == 1
    named = column.kind == "text" or _is_whole(column)
    if column.may_be_session and (one or (named and _repeats(column))):
        return LeftOut(column, "session")
    unnamed = column.name == "" or column.name.lower().startswith("unnamed")
    if column.may_be_index(header) and (unnamed or len(set(cells)) == len(cells)):
        return LeftOut(column, "index")
    return None


def _rises(cells: Sequence[str], name: str) -> bool:
    """Return whether numbers rise from row to row, except for a few restarts.

    There may be more of them in a column that can hardly be called so for another reason.
    """
    share = _STAMPED_SHARE if _STAMP_NAME.fullmatch(name.lower()) else _RISING_SHARE
    try:
        numbers = [float(with_point(cell)) for cell in cells]
    except ValueError:
        return False
    rising = sum(after > before for before, after in pairwise(numbers))
    return len(numbers) > 1 and rising >= share * (len(numbers) - 1)


def counts_rows(numbers: NDArray[Any]) -> bool:
    """Return whether numbers (rows,) count the rows from 0 or 1."""
    if len(numbers) < _INDEX_ROWS or numbers[0] not in (0, 1):
        return False
    return bool(np.all(np.diff(numbers) == 1))


def text_refusal(path: object, column: Column) -> InputError:
    """Return the error for a column of text that is not the label."""
    example = next((cell.strip() for cell in column.cells if not is_number(cell)), "")
    return InputError(
        f"{path} has text in {column.title}, such as {quoted(example)}, and features are numbers; "
        f"leave it out with --drop {column.flag_value}, or give --label {column.flag_value} if it "
        "is the label"
    )
