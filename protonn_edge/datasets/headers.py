"""Whether the first row of a table has the names of its columns."""

from __future__ import annotations

from collections.abc import Sequence

from protonn_edge.datasets.cells import form_of, is_number
from protonn_edge.datasets.naming import column_name
from protonn_edge.datasets.text import Row
from protonn_edge.datasets.usual_names import LABEL_NAMES

_MANY_COLUMNS = 8


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
