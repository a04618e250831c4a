"""Data as a table of text: one point a row, cells parted by commas or tabs.

The label is in the column whose name, in a header row, is ``label``, ``class`` or ``target``;
without such a name it is in the first column, as the reference implementation has it. A first row
none of whose cells after the first is a number is a header row too. Blank lines are skipped.
"""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from protonn_edge.datasets.dataset import FLOAT32_MAX, Table
from protonn_edge.datasets.naming import label_text
from protonn_edge.errors import InputError

_LABEL_NAMES = ("label", "class", "target")


def read_table(path: Path, *, delimiter: str) -> Table:
    """Read a table in UTF-8.

    Raises
    ------
    InputError
        If a row is longer or shorter than the first, or a cell is not a finite number; the sentence
        has the file and the line.
    """
    rows = _rows(path, delimiter)
    first_line, first = next(rows, (0, []))
    if not first:
        raise InputError(f"{path} has no rows; give it at least one of each class")
    if len(first) < 2:
        raise InputError(
            f"{path}:{first_line} has one column; a table needs a label and features, parted by "
            f"{'commas' if delimiter == ',' else 'tabs'}"
        )
    column, names, header = _layout(path, first)
    values, labels = array("f"), []
    if not header:
        labels.append(_append(values, first, column, f"{path}:{first_line}"))
    for line, row in rows:
        if len(row) != len(first):
            raise InputError(
                f"{path}:{line} has {len(row):,} columns, line {first_line} has {len(first):,}; "
                "mend the row"
            )
        labels.append(_append(values, row, column, f"{path}:{line}"))
    X = np.array(values, dtype=np.float32).reshape(len(labels), len(first) - 1)
    return Table(str(path), X, labels, names)


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line and the cells of each row that is not blank."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter)
            for row in reader:
                if row and any(cell and not cell.isspace() for cell in row):
                    yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8 ({str(error)[:80]}); convert it") from error
    except csv.Error as error:
        raise InputError(f"{path} is not a table ({str(error)[:80]}); write it again") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error


def _layout(path: Path, first: list[str]) -> tuple[int, tuple[str, ...], bool]:
    """Return the label's column, the feature names, and whether the first row is a header."""
    names = [cell.strip() for cell in first]
    columns = [index for index, name in enumerate(names) if name.lower() in _LABEL_NAMES]
    if len(columns) > 1:
        raise InputError(
            f"{path} has {len(columns)} columns named label, class or target; keep that name for "
            "one"
        )
    if not columns and any(_is_number(name) for name in names[1:]):
        return 0, (), False
    column = columns[0] if columns else 0
    return column, tuple(names[:column] + names[column + 1 :]), True


def _append(values: array[float], row: list[str], column: int, where: str) -> str:
    """Append a row's features to `values` and return its label."""
    label = label_text(row[column])
    if not label:
        raise InputError(f"{where} has no label in column {column + 1}; mend or drop the row")
    cells = row[:column] + row[column + 1 :]
    try:
        numbers = [float(cell) for cell in cells]
        usable = all(map(math.isfinite, numbers)) and "_" not in "".join(cells)
        usable = usable and max(numbers) <= FLOAT32_MAX and min(numbers) >= -FLOAT32_MAX
    except ValueError:
        usable = False
    if not usable:
        index = next(index for index, cell in enumerate(cells) if not _is_number(cell))
        raise InputError(
            f"{where} has {cells[index][:40]!r} in column {index + 1 + (index >= column)}, which "
            "is not a finite number; mend or drop the row"
        )
    values.extend(numbers)
    return label


def _is_number(cell: str) -> bool:
    try:
        return abs(float(cell)) <= FLOAT32_MAX and "_" not in cell
    except ValueError:
        return False
