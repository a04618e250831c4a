"""Where a table begins, and whether its first row has the names of its columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from protonn_edge.data.naming import column_name
from protonn_edge.data.tables.cells import form_of, is_gap, is_number
from protonn_edge.data.tables.text import Row
from protonn_edge.data.tables.usual_names import LABEL_NAMES

_MANY_COLUMNS = 8


def rows_above(rows: Sequence[Row]) -> int:
    """Return how many of a file's first rows, all with cells, are above its table.

    These are titles, and a block of facts such as the instrument and the date: rows unlike those
    of the table, which begins with a name for each column.
    """
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    above = 0
    while above < len(rows) - 1 and max(map(len, rows)) > 1:
        filled = [cell for cell in rows[above] if cell.strip()]
        is_narrow = len(filled) < 2 or 2 * len(rows[above]) <= usual
        if not is_narrow and not filled[0].startswith("#"):
            break
        above += 1
    first, last, begin = rows[above], rows[-1], len(rows) - 1
    if _may_be_names(first, last) or _are_alike(first, last):
        return above
    while _are_alike(rows[begin - 1], last):
        begin -= 1
    is_table = begin < len(rows) - 1 and _may_be_names(rows[begin - 1], last)
    return begin - 1 if is_table else above


def _are_alike(row: Row, other: Row) -> bool:
    """Whether rows are equally long, with numbers in the same columns, apart from gaps."""
    pairs = ((a, b) for a, b in zip(row, other, strict=False) if not is_gap(a) and not is_gap(b))
    return len(row) == len(other) and all(is_number(a) == is_number(b) for a, b in pairs)


def _may_be_names(row: Row, other: Row) -> bool:
    """Whether a row has a different name for each cell of another, and perhaps for comments."""
    is_wide = len({*row}) == len(row) and 0 <= len(row) - len(other) <= 1
    return is_wide and not any(is_gap(cell) or is_number(cell) for cell in row)


def header_found(first: Row, rows: Sequence[Row]) -> str:
    """Return why the first row of a table is a header; empty if it is not.

    A row whose cells are written as those below, such as numbers with a unit, is not.
    """
    below = rows[0] if rows else []
    cells = [column_name(cell) for cell in first]
    if named := next((cell for cell in cells if cell.lower() in LABEL_NAMES), ""):
        return f"a cell is {named!r}"
    numbers = [cell for cell in cells if is_number(cell)]
    forms = ((form_of(cell), form_of(other)) for cell, other in zip(cells, below, strict=False))
    if any(form is not None and form == other for form, other in forms if not numbers):
        return ""
    if not numbers:
        return "no cell is a number"
    counted_up = [[str(begin + place) for place in range(len(numbers))] for begin in (0, 1)]
    if len(numbers) < 3 or numbers not in counted_up:
        return ""
    is_alone = len(numbers) < len(cells) or _has_other_cells(rows, len(cells))
    return "its numbers rise by 1" if is_alone else ""


def _has_other_cells(rows: Sequence[Row], width: int) -> bool:
    """Whether rows are unlike one of whole numbers that rise by 1, which pandas takes for names.

    Among few columns of whole numbers, such a row may be a point.
    """
    if len(rows) < 2 or width >= _MANY_COLUMNS:
        return len(rows) > 1
    for column in zip(*(row for row in rows if len(row) == width), strict=True):
        cells = [cell.strip() for cell in column]
        if 2 * sum(cell != "" and not cell.isdigit() for cell in cells) > len(rows):
            return True
    return False
