"""Sets of labels in columns: of 0 and 1, or of texts such as ``drama|crime``.

The columns become one, whose texts are sets, so that whatever looks at labels need not know them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from protonn_edge.data.naming import in_order, label_text
from protonn_edge.data.points.label_sets import SET_MARK
from protonn_edge.data.tables.cells import is_label
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.tables.columns import Column
from protonn_edge.system.errors import InputError

_MARKS = (SET_MARK, ";", ",")  # between the labels in a cell; the first one that is there
_TRUE = {"1": True, "0": False, "true": True, "false": False, "": False}


def set_column(columns: Sequence[Column], path: object) -> Column:
    """Return a column with the set of each row, at the place of the first one of some columns.

    A column of 0 and 1, or of 1 and empty cells, is a label of its own. Raises `InputError` for one
    of all three, and for a column of other numbers, unless it is the only one, whose whole numbers
    may be the labels.
    """
    sets = [_sets_of(each, path, alone=len(columns) == 1) for each in columns]
    codes = np.stack([texts.codes for texts, _ in sets], axis=1)
    rows, places = np.unique(codes, axis=0, return_inverse=True)
    found = ((of[code] for (_, of), code in zip(sets, row, strict=True)) for row in rows.tolist())
    texts = [SET_MARK.join(in_order({*chain.from_iterable(each)})) for each in found]
    coded = Coded(places.reshape(-1), [text or SET_MARK for text in texts])
    return Column(columns[0].index, columns[0].name, "text", texts=coded)


def _sets_of(column: Column, path: object, *, alone: bool) -> tuple[Coded, list[tuple[str, ...]]]:
    """Return the cells of a column, and the labels in each of its different texts."""
    cells = column.texts
    texts = [label_text(text) if is_label(text) else "" for text in cells.texts] if cells else []
    are_flags = all(text.lower() in _TRUE for text in texts)
    are_numbers = column.kind == "number" and not (are_flags or (alone and column.is_whole))
    if cells is None or are_numbers:
        other = next((text for text in texts if text.lower() not in _TRUE), column.example)
        raise InputError(
            f"--labels names {column.title} of {path}, which has numbers such as {other}; "
            "name columns of 0 and 1, or one of texts such as drama|crime"
        )
    if are_flags:
        if {*texts} > {""} and not all(map(_TRUE.get, filter(None, map(str.lower, texts)))):
            raise InputError(f"{path} has empty cells of {column.title} beside 0; write 0 or 1")
        name = column.feature_name.replace(SET_MARK, "/")
        return cells, [(name,) * _TRUE[text.lower()] for text in texts]
    mark = next((mark for mark in _MARKS if any(mark in text for text in texts)), SET_MARK)
    parts = [text.strip("[]{}() ").split(mark) for text in texts]  # as lists are written, too
    named = ([one.strip(" '\"") for one in own] for own in parts)
    return cells, [tuple(label_text(one) for one in own if one) for own in named]
