"""Data as libsvm text: ``label index:value ...``, indices rising from 1, zeros left out.

Sets of labels (multi-label) are separated by commas, as in ``1,5,7 3:0.5``.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from protonn_edge.datasets.cells import text_of
from protonn_edge.datasets.dataset import (
    FLOAT32_MAX,
    INDEX_LIMIT,
    TABLE_LIMIT_BYTES,
    LabelSetTable,
    Table,
    check_table_size,
)
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.rows import is_sparse, sparse_rows
from protonn_edge.errors import InputError

_PAIRS_LIMIT = TABLE_LIMIT_BYTES // 20  # a place, a value, and both once more as a matrix
_LOOKS = re.compile(r"\s*(\S+\s+)?\d+:\S")


def looks_like_libsvm(path: Path) -> bool:
    """Return whether the first line that is not blank has an ``index:value`` pair after a label."""
    for _, line in _lines(path):
        return _LOOKS.match(line) is not None
    return False


def read_libsvm(path: Path) -> Table:
    """Read libsvm text; the number of features is the largest index in it.

    If any line has several labels, all are sets of labels, and a line without a label has none.
    Their features stay sparse; those of other data do so if the dense table would be too large.

    Raises
    ------
    InputError
        If a line is malformed, or an index is 0, out of order or above a million; the sentence has
        the file and the line. Also if there are too many pairs.
    """
    lines: list[tuple[int, str]] = []
    starts, columns, values = array("q", [0]), array("q"), array("f")
    for number, line in _lines(path):
        content = line.split("#", 1)[0]
        label, *pairs = content.split() or [""]
        if not label:
            continue
        if ":" in label:  # a point without a label, which is only valid in a file with label sets
            label, pairs = "", [label, *pairs]
        before = 0
        for pair in pairs:
            index, value = _parsed(pair, before, f"{path}:{number}")
            columns.append(index - 1)
            values.append(value)
            before = index
        starts.append(len(columns))
        lines.append((number, label))
        if len(columns) > _PAIRS_LIMIT:
            raise InputError(
                f"{path} has more than {_PAIRS_LIMIT:,} pairs index:value, which is the limit; use "
                "fewer points"
            )
    if not columns:
        raise InputError(f"{path} has no features; give it lines such as '1 1:0.5 2:-3'")
    shape = (len(lines), max(columns) + 1)
    places = np.frombuffer(columns, dtype=np.int64), np.frombuffer(starts, dtype=np.int64)
    X = sparse_rows((np.frombuffer(values, dtype=np.float32), *places), shape)
    X.eliminate_zeros()
    if any("," in label for _, label in lines):
        return LabelSetTable(str(path), X, [_set_of(path, *line) for line in lines])
    fits = shape[0] * shape[1] * 4 <= TABLE_LIMIT_BYTES
    labels = [_label(path, *line) for line in lines]
    return Table(str(path), X.toarray() if fits else X, labels)


def _label(path: Path, number: int, label: str) -> str:
    if not label:
        raise InputError(f"{path}:{number} begins with a feature, not with a label; fix the line")
    return label_text(label)


def _set_of(path: Path, number: int, labels: str) -> tuple[str, ...]:
    """Return the labels of a line, separated by commas; equal ones count once."""
    names = [label_text(name) for name in labels.split(",")] if labels else []
    if not all(names):
        raise InputError(
            f"{path}:{number} begins with {labels[:40]!r}, which has an empty label; fix the line"
        )
    return tuple(dict.fromkeys(names))


def widened(table: Table, width: int) -> Table:
    """Return `table` with zeros for the features after its last, if it has fewer than `width`."""
    missing = width - table.X.shape[1]
    if missing <= 0:
        return table
    if is_sparse(table.X):
        X = sparse_rows(table.X, copy=True)
        X.resize((X.shape[0], width))
        return replace(table, X=X)
    check_table_size(table.source, len(table.X), width)
    return replace(table, X=np.pad(table.X, ((0, 0), (0, missing))))


def _parsed(pair: str, before: int, where: str) -> tuple[int, float]:
    """Return the index and the value of a pair, checked."""
    left, _, right = pair.partition(":")
    try:
        index, value = int(left), float(right)
    except ValueError:
        index, value = -1, 0.0
    if index < 0 or not abs(value) <= FLOAT32_MAX or "_" in pair:
        raise InputError(f"{where} has {pair[:40]!r}, which is not index:number; fix the line")
    if index == 0:
        raise InputError(
            f"{where} has the index 0, libsvm text counts from 1; add 1 to all indices"
        )
    if index <= before:
        raise InputError(
            f"{where} has the index {index} after {before}; sort the pairs of the line"
        )
    if index > INDEX_LIMIT:
        raise InputError(
            f"{where} has the index {index:,}, the limit is {INDEX_LIMIT:,}; use fewer features"
        )
    return index, value


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line that is not blank."""
    with text_of(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.isspace():
                yield number, line
