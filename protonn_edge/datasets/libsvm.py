"""Data as libsvm text: ``label index:value ...``, indices rising from 1, zeros left out."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from protonn_edge.datasets.dataset import FLOAT32_MAX, TABLE_LIMIT_BYTES, Table
from protonn_edge.datasets.naming import label_text
from protonn_edge.errors import InputError

_INDEX_LIMIT = 10**6
_LOOKS = re.compile(r"\s*\S+\s+\d+:\S")


def looks_like_libsvm(path: Path) -> bool:
    """Return whether the first line that is not blank has an ``index:value`` pair after a label."""
    for _, line in _lines(path):
        return _LOOKS.match(line) is not None
    return False


def read_libsvm(path: Path) -> Table:
    """Read libsvm text; the number of features is the largest index in it.

    Raises
    ------
    InputError
        If a line is malformed, has several labels, or an index is 0, out of order or above a
        million; the sentence has the file and the line. Also if the dense table would be too large.
    """
    labels: list[str] = []
    rows, columns, values = array("q"), array("q"), array("f")
    for number, line in _lines(path):
        label, *pairs = line.split("#", 1)[0].split() or [""]
        if not label:
            continue
        if ":" in label or "," in label:
            raise InputError(
                f"{path}:{number} begins with {label[:40]!r}, not with one label (multi-label data "
                "is not supported); mend the line"
            )
        before = 0
        for pair in pairs:
            index, value = _parsed(pair, before, f"{path}:{number}")
            rows.append(len(labels))
            columns.append(index - 1)
            values.append(value)
            before = index
        labels.append(label_text(label))
    if not columns:
        raise InputError(f"{path} has no features; give it lines such as '1 1:0.5 2:-3'")
    width = max(columns) + 1
    _check_size(path, len(labels), width)
    X = np.zeros((len(labels), width), dtype=np.float32)
    X[np.array(rows), np.array(columns)] = np.array(values, dtype=np.float32)
    return Table(str(path), X, labels)


def widened(table: Table, width: int) -> Table:
    """Return `table` with zeros for the features after its last, if it has fewer than `width`."""
    missing = width - table.X.shape[1]
    if missing <= 0:
        return table
    _check_size(Path(table.source), len(table.X), width)
    return Table(table.source, np.pad(table.X, ((0, 0), (0, missing))), table.labels)


def _parsed(pair: str, before: int, where: str) -> tuple[int, float]:
    """Return the index and the value of a pair, checked."""
    left, _, right = pair.partition(":")
    try:
        index, value = int(left), float(right)
    except ValueError:
        index, value = -1, 0.0
    if index < 0 or not abs(value) <= FLOAT32_MAX or "_" in pair:
        raise InputError(f"{where} has {pair[:40]!r}, which is not index:number; mend the line")
    if index == 0:
        raise InputError(
            f"{where} has the index 0, libsvm text counts from 1; add 1 to all indices"
        )
    if index <= before:
        raise InputError(
            f"{where} has the index {index} after {before}; sort the pairs of the line"
        )
    if index > _INDEX_LIMIT:
        raise InputError(
            f"{where} has the index {index:,}, the limit is {_INDEX_LIMIT:,}; use fewer features"
        )
    return index, value


def _check_size(path: Path, rows: int, width: int) -> None:
    if rows * width * 4 > TABLE_LIMIT_BYTES:
        raise InputError(
            f"{path} would be a table of {rows:,} x {width:,} values, the limit is "
            f"{TABLE_LIMIT_BYTES // 4:,}; use fewer points or features"
        )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line that is not blank."""
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if not line.isspace():
                    yield number, line
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8; convert it") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error
