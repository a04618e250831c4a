"""Read the cells of a text table as numbers: decimal commas, separators of thousands, and gaps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.naming import label_text

FLOAT32_MAX = float(np.finfo(np.float32).max)
Float32 = NDArray[np.float32]

_EXCEL = ("#n/a", "#nv", "#n/d")  # in English, German and Romance languages
_MARKS = ("", "na", "n/a", "k.a.", "k. a.", "nan", "<na>", "null", "none", "?", "-", "--", *_EXCEL)
_MAY_BE_CLASSES = ("null", "none", "-", "--")
TRUTHS = {"true": "1", "false": "0"}  # cells of features in any case, and their numbers
_INDEX_ROWS = 10  # fewer consecutive numbers prove nothing
_LEAST_RISING, _MOST_FALLING = 0.4, 0.1  # coarse clocks repeat times, new logs restart
_GAPS = frozenset(form for mark in _MARKS for form in (mark, mark.upper(), mark.title(), " "))
_GROUPED = {
    ",": re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*"),
    ".": re.compile(r"\s*[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?\s*"),
}
"""Numbers with a comma or a point between thousands, which is not their decimal mark."""
_NUMBER = re.compile(
    r"\s*[+-]?((\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|\d{1,3}(,\d{3})+(\.\d*)?|"
    r"\d{1,3}(\.\d{3})+(,\d*)?)\s*"
)


def is_gap(cell: str) -> bool:
    """Return whether a cell of a column of numbers is a gap, such as NA."""
    return cell in _GAPS or cell.strip().lower() in _MARKS


def is_label(cell: str) -> bool:
    """Return whether a cell of a column of labels is one, not a gap; ``none`` and ``-`` are."""
    return not is_gap(cell) or cell.strip().lower() in _MAY_BE_CLASSES


def with_point(cell: str) -> str:
    """Convert a number with a decimal comma or separated thousands to Python's notation."""
    last = max(cell.rfind(","), cell.rfind("."))
    if cell.count(",") + cell.count(".") < 2:
        return cell.replace(",", ".")
    if cell.count(cell[last]) > 1:
        return cell.replace(cell[last], "")
    return cell[:last].replace(",", "").replace(".", "") + "." + cell[last + 1 :]


def is_number(cell: str) -> bool:
    """Return whether a cell is written as a number, with a decimal point or comma."""
    return _NUMBER.fullmatch(cell) is not None


def rises(cells: Sequence[str]) -> bool:
    """Return whether cells are not numbers, or mostly rise, apart from a few restarts."""
    try:
        numbers = [float(with_point(cell)) for cell in cells]
    except ValueError:
        return True
    steps = [after - before for before, after in pairwise(numbers)]
    rising, falling = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    return bool(rising >= _LEAST_RISING * len(steps) > 0 and falling <= _MOST_FALLING * len(steps))


def counts(cells: Sequence[str]) -> bool:
    """Return whether cells are whole numbers as of an index, with some rows perhaps left out."""
    texts = [label_text(cell) for cell in cells]
    whole = len(texts) >= _INDEX_ROWS and all(map(str.isdecimal, texts))
    return whole and min(after - before for before, after in pairwise(map(float, texts))) == 1


def is_whole(cell: str) -> bool:
    """Return whether a number is whole."""
    return float(with_point(cell)).is_integer()


class Decimals:
    """Read the cells of a file as numbers, with decimal points or decimal commas but not both.

    Numbers have no decimal commas if the columns' delimiter is a comma. `comma` becomes true with
    the first decimal comma; `thousands` is the separator of thousands once a number has one.
    """

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._point = self.comma = False
        self.thousands = ""

    def read(self, cells: Sequence[str]) -> tuple[Float32, list[int]]:
        """Return cells as numbers, or NaN; and the places of those that are not even gaps."""
        values = self.numbers(cells)
        if values is None:
            gaps = [place for place, cell in enumerate(cells) if cell in _GAPS]
            values = self.numbers(["0" if cell in _GAPS else cell for cell in cells])
            if values is not None:
                values[gaps] = np.nan
        return (values, []) if values is not None else self._one_by_one(cells)

    def numbers(self, cells: Sequence[str]) -> Float32 | None:
        """Return cells as numbers, or None if one of them is not a finite number."""
        joined = "".join(cells)
        point, comma = self._point, self.comma
        if self._delimiter != ",":
            point |= "." in joined
            comma |= "," in joined
        if "_" in joined or (point and comma):
            return None
        try:
            pointed = [cell.replace(",", ".") for cell in cells] if comma else cells
            values = np.fromiter(map(float, pointed), np.float64, len(cells))
        except ValueError:
            return None
        if values.size and not np.abs(values).max() <= FLOAT32_MAX:  # false for NaN, too
            return None
        self._point, self.comma = point, comma
        return values.astype(np.float32)

    def problem(self, cell: str) -> str:
        """Return the rest of a sentence about a cell that is not a number of this file."""
        if Decimals(self._delimiter).numbers([cell]) is None:
            return "but this cell must be a finite number; correct it or delete its row"
        return "but the table has both decimal points and decimal commas; use only one of the two"

    def ambiguous(self, cells: Iterable[str]) -> str:
        """Return a cell with a mark that may separate thousands if all marks may; else ''."""
        mark = "," if self.comma else "."
        if self.thousands or self._delimiter == ",":
            return ""
        marked = [cell for cell in cells if _ONE_MARK[mark].fullmatch(cell)]
        return marked[0].strip() if marked and all(map(_GROUPED[mark].fullmatch, marked)) else ""

    def _one_by_one(self, cells: Sequence[str]) -> tuple[Float32, list[int]]:
        self._settle(cell for cell in cells if ("," in cell or "." in cell))
        values, others = np.full(len(cells), np.nan), []
        for place, cell in enumerate(cells):
            if is_gap(cell):
                continue
            try:
                value = float(self._plain(cell))
            except ValueError:
                value = np.nan
            if abs(value) <= FLOAT32_MAX:
                values[place] = value
            else:
                others.append(place)
        return values.astype(np.float32), others

    def _settle(self, cells: Iterable[str]) -> None:
        """Determine the decimal mark and the separator of thousands, as far as cells show them."""
        if self._delimiter == ",":
            self._point = True
            if any(map(_GROUPED[","].fullmatch, cells)):
                self.thousands = ","
            return
        seen = list(cells)
        for mark, separator in ((".", ","), (",", ".")):
            if any(mark in cell and _GROUPED[separator].fullmatch(cell) for cell in seen):
                is_decimal = self.comma if mark == "." else self._point
                if not is_decimal:
                    self.thousands = self.thousands or separator
                    self._point, self.comma = mark == ".", mark == ","
        shown = {mark for mark, is_known in ((".", self._point), (",", self.comma)) if is_known}
        if not shown:
            marked = [
                (mark, cell) for mark in ".," for cell in seen if _ONE_MARK[mark].fullmatch(cell)
            ]
            shown = {mark for mark, cell in marked if not _GROUPED[mark].fullmatch(cell)}
            shown = shown or {mark for mark, _ in marked}
        self._point, self.comma = "." in shown, shown == {","}
        separator = "," if self._point else "."
        if len(shown) == 1 and any(map(_GROUPED[separator].fullmatch, seen)):
            self.thousands = separator

    def _plain(self, cell: str) -> str:
        """Return a cell in Python's notation of numbers, or a text that is no number."""
        mark, other = (",", ".") if self.comma else (".", ",")
        if "_" in cell:
            return ""
        if other in cell:
            if other != self.thousands or not _GROUPED[other].fullmatch(cell):
                return ""
            cell = cell.replace(other, "")
        return cell.replace(mark, ".")


_ONE_MARK = {
    mark: re.compile(rf"\s*[+-]?(\d+{re.escape(mark)}\d*|{re.escape(mark)}\d+)([eE][+-]?\d+)?\s*")
    for mark in ".,"
}
"""Numbers with one decimal mark."""
