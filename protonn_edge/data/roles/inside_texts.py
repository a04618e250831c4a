"""Cells that are full of digits, although they are read neither as numbers nor as times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import quoted
from protonn_edge.data.roles.behaviour import behaviour_of
from protonn_edge.data.tables.cells import is_gap
from protonn_edge.data.tables.columns import SPELLINGS, Column

_MOST_TEXTS = 4_000  # that are searched for numbers
_FEW = 20  # texts, which may be names
_MOST = 0.9  # share of cells with such digits
_NUMBER = re.compile(r"[+-]?(\d+(?:[.,]\d+)?)")
_NAME = re.compile(r"[^\W\d_]+[-_ ]?\d+")  # such as of a product


def unread_numbers(column: Column, begins: NDArray[np.bool_], *, recorded: bool) -> str:
    """Return a clause on cells of text that may be times or several numbers; empty without.

    Such cells have digits and no letters. Or many of them are different, but alike apart from their
    numbers, one of which has decimals or is the only one, or nearly all are different. Names that
    end in a counter, such as ``frame_0001``, are none, unless rows are consecutive samples
    (`recorded`), and the numbers times.
    """
    assert column.texts is not None
    texts, codes = column.texts.texts[:_MOST_TEXTS], column.texts.codes
    counts = np.bincount(codes, minlength=len(texts))[: len(texts)]
    numbers = [_NUMBER.findall(text) for text in texts]
    skeletons = [_NUMBER.sub("0", text) for text in texts]

    def rows(cells: Iterable[object]) -> int:
        return int(counts[np.array([*map(bool, cells)], np.bool_)].sum())

    least = _MOST * rows(not is_gap(text) for text in texts)
    if not recorded and is_identifier(column) and rows(map(_NAME.fullmatch, texts)) >= least:
        return ""
    digits = rows(numbers)
    bare = rows(
        of and not any(map(str.isalpha, text)) for of, text in zip(numbers, texts, strict=True)
    )
    decimals = rows(any(not each.isdecimal() for each in of) for of in numbers)
    single = [each if len(of) == 1 else "" for each, of in zip(skeletons, numbers, strict=True)]
    usual = Counter(filter(None, single)).most_common(1)
    alike = rows(each == usual[0][0] for each in single) if usual else 0
    if len(texts) <= _FEW:
        if bare < least or behaviour_of(codes.astype(np.float64), begins).kind == "runs":
            return ""
    elif max(bare, decimals, alike) < least:
        if digits < least or not is_identifier(column) or 2 * len({*skeletons}) > len(texts):
            return ""
    elif alike >= least > decimals:
        pairs = zip(single, numbers, strict=True)
        values = np.array([of[0] if each == usual[0][0] else "nan" for each, of in pairs] + ["nan"])
        values = values.astype(np.float64)[np.minimum(codes, len(texts))]
        steps = np.diff(values[np.isfinite(values)])
        if behaviour_of(values, begins).kind and not (recorded and np.median(steps) > 1):
            return ""
    return (
        f"has {digits:,} cells such as {quoted(column.example)}, which may be times or several "
        f"numbers, but are not read; {SPELLINGS}; write several numbers into a column each, and "
        "fractions as decimals"
    )


def is_identifier(column: Column) -> bool:
    """Return whether a column of text has another one in most rows."""
    assert column.texts is not None
    return len(column.texts.texts) > max(_FEW, len(column.texts) / 2)
