"""Read libsvm text: points with few values that are not zero, and sets of labels."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from protonn_edge.data.naming import label_text
from protonn_edge.data.points.dataset import Table, check_table_size
from protonn_edge.data.points.label_sets import LabelSetTable
from protonn_edge.data.tables.cells import FLOAT32_MAX, TOO_LARGE, is_too_large
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.tables.text import INDEX_LIMIT, text_of
from protonn_edge.system.errors import InputError, InvalidValue, beyond, lacking

LIBSVM_SUFFIXES = (".libsvm", ".svm", ".svmlight")
_PAIRS_LIMIT = 50_000_000  # of 12 bytes each
_LOOKED_AT = 20
_LINE = re.compile(r"\s*[^\s:]+(\s+\d+:[-+]?[\d.]+([eE][-+]?\d+)?)*\s*")
_INDEX = re.compile(r"\s(\d+):")
_LOOKS = re.compile(r"\s*(\S+\s+)?\d+:[^\s:]+(?!\S)")  # not 08:00:00, which is a time


def looks_like_libsvm(path: Path) -> bool:
    """Return whether the first non-blank line has an ``index:value`` pair after a label."""
    for _, line in _lines(path):
        return _LOOKS.match(line) is not None
    return False


def contains_libsvm(path: Path) -> bool:
    """Return whether all of the first lines are libsvm text, whatever the name of the file."""
    lines = [line.split("#", 1)[0] for _, line in islice(_lines(path), _LOOKED_AT)]
    if not lines or not all(map(_LINE.fullmatch, lines)):
        return False
    indices = [[int(index) for index in _INDEX.findall(line)] for line in lines]
    return all(each == sorted(set(each)) for each in indices) and max(map(len, indices)) > 1


def read_libsvm(path: Path) -> Table:
    """Read libsvm text: ``label index:value ...``, with indices rising from 1 and zeros left out.

    The number of features is the largest index. Sets of labels are separated by commas, as in
    ``1,5,7 3:0.5``.

    If any line has several labels, all points have sets of labels, and a line without a label has
    an empty set.
    """
    lines: list[tuple[int, str]] = []
    starts, columns, values = array("q", [0]), array("q"), array("f")
    for number, line in _lines(path):
        content = line.split("#", 1)[0]
        label, *pairs = content.split() or [""]
        if not label:
            continue
        if ":" in label:  # no label, which is only valid in a file with sets of labels
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
            raise beyond(
                path,
                f"{len(columns):,} or more index:value pairs",
                _PAIRS_LIMIT,
                "use fewer points",
            )
    if not columns:
        raise lacking(path, "features", "give it lines such as '1 1:0.5 2:-3'")
    shape = (len(lines), max(columns) + 1)
    check_table_size(str(path), *shape)
    X = np.zeros(shape, np.float32)
    counts = np.diff(np.frombuffer(starts, np.int64)).astype(np.int64)
    rows = np.repeat(np.arange(len(lines)), counts)
    X[rows, np.frombuffer(columns, np.int64)] = np.frombuffer(values, np.float32)
    if any("," in label for _, label in lines):
        return LabelSetTable(str(path), X, [_set_of(path, *line) for line in lines])
    for number, label in lines:
        if not label:
            raise InputError(
                f"{path}:{number} begins with a feature, not with a label; correct the line"
            )
    return Table(str(path), X, Coded.of(label_text(label) for _, label in lines))


def _set_of(path: Path, number: int, labels: str) -> tuple[str, ...]:
    """Return the labels of a line, which are separated by commas, each once."""
    names = [label_text(name) for name in labels.split(",")] if labels else []
    if not all(names):
        raise InputError(
            f"{path}:{number} begins with {labels[:40]!r}, which has an empty label; correct the "
            "line"
        )
    return tuple(dict.fromkeys(names))


def _parsed(pair: str, before: int, where: str) -> tuple[int, float]:
    """Return the index and the value of a pair, checked."""
    left, _, right = pair.partition(":")
    try:
        index, value = int(left), float(right)
    except ValueError:
        index, value = -1, 0.0
    if index >= 0 and is_too_large(right):
        raise InputError(f"{where} has {pair[:40]!r}, but {TOO_LARGE}; correct the line")
    if index < 0 or not abs(value) <= FLOAT32_MAX or "_" in pair:
        raise InputError(f"{where} has {pair[:40]!r}, which is not index:number; correct the line")
    if not before < index <= INDEX_LIMIT:
        after = f" after {before:,}" if before else ""
        raise InvalidValue(
            where,
            f"the index {index:,}{after}, expected {before + 1:,} to {INDEX_LIMIT:,}",
            "count from 1, and give each index once, in ascending order",
        )
    return index, value


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line that is not blank."""
    with text_of(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.isspace():
                yield number, line
