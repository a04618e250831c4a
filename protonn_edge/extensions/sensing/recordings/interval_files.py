"""Files with intervals of time and their labels, beside a recording.

Programs that label recordings write such files: a row for each interval, with its start, its end or
its duration, and its label, in any order. Audacity writes them without a header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.options import TableOptions
from protonn_edge.data.tables.cells import is_label, is_number
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.data.tables.tables import RawTable
from protonn_edge.data.tables.usual_names import LABEL_NAMES
from protonn_edge.data.takes.takes import SAMPLES, order, shown
from protonn_edge.system.errors import InputError

_SUFFIXES = (".csv", ".tsv", ".txt")
_LIMIT_BYTES = 4 << 20
_FEWEST_COLUMNS, _MOST_COLUMNS = 3, 8
_APART = 0.8  # share of intervals that begin behind the end of the one before; rows seldom do

Floats = NDArray[np.float64]


def labels_files(paths: Sequence[Path]) -> dict[Path, Path]:
    """Return the files with intervals of labels in a folder, by the files that they label.

    Such a file has the name of the other one, perhaps with more behind or before it. Of only two
    files, one may have them under any name.
    """
    files = [path for path in shown(paths) if path.suffix.lower() in (*SAMPLES, ".txt")]
    by_name: dict[str, list[Path]] = {}
    for path in files:
        by_name.setdefault(path.stem.lower(), []).append(path)
    found: dict[Path, Path] = {}
    for path in files:
        of_names = (by_name.get(name, []) for name in _inner_names(path.stem.lower()))
        labelled = next((each for some in of_names for each in some if each != path), None)
        if labelled is not None and intervals_in(path):
            found.setdefault(labelled, path)
        elif labelled is None and len(files) == 2 and intervals_in(path, durations=False):
            found.setdefault(files[path == files[0]], path)
    return found


def labels_file_of(path: Path) -> Path | None:
    """Return the file with intervals of labels beside a recording; None without one."""
    with suppress(OSError):  # of a folder whose files cannot be listed
        return labels_files(sorted(path.parent.iterdir(), key=order)).get(path)
    return None


def _inner_names(name: str) -> Iterator[str]:
    """Yield a name, and its beginnings and ends that are divided from the rest, longest first."""
    yield name
    divided = [place for place, letter in enumerate(name) if not letter.isalnum()]
    yield from (name[:place] for place in reversed(divided))
    yield from (name[place + 1 :] for place in divided)


class LabelColumns(NamedTuple):
    """Starts and ends of m intervals, the name of the starts' column, and the column of labels."""

    starts: Floats  # (m,)
    ends: Floats  # (m,)
    name: str
    label: Column
    are_dates: bool


def intervals_in(path: Path, *, durations: bool = True) -> LabelColumns | None:
    """Return the intervals of labels in a file; None if it has other content.

    - `durations`: whether a column may have the durations instead of the ends
    """
    columns = _columns_of(path)
    found = next(_ends_in(columns, durations=durations), None)
    return found and LabelColumns(*found, any(column.kind == "date" for column in columns))


def _columns_of(path: Path) -> list[Column]:
    """Return the columns of a small table that may have intervals; none of another file."""
    if path.suffix.lower() not in _SUFFIXES or not path.is_file():
        return []
    if not 0 < path.stat().st_size <= _LIMIT_BYTES:
        return []
    options = TableOptions(labelled="any")
    try:
        file = opened_table(path, options)
        width = len(file.names)
        of_numbers = all(is_number(cell) for row in file.first for cell in row)
        if not _FEWEST_COLUMNS <= width <= (_FEWEST_COLUMNS if of_numbers else _MOST_COLUMNS):
            return []
        return RawTable.read([file], options).columns
    except InputError:
        return []


def _ends_in(
    columns: Sequence[Column], *, durations: bool
) -> Iterator[tuple[Floats, Floats, str, Column]]:
    """Yield starts and ends (m,), the name of the starts' column, and the column of labels.

    Of several columns of times, those of the longest intervals come first.
    """
    numbers = [each for each in columns if each.values is not None and not each.gaps]
    numbers = [each for each in numbers if not each.unreadable]
    times = [each for each in numbers if each.values is None or (np.diff(each.values) != 1).any()]
    numbers = numbers if len(times) < 2 else times  # without the numbers of rows
    labels = [each for each in columns if each.kind == "text" and each.texts is not None]
    if not labels and all(each.values is not None for each in columns):
        labels = [each for each in reversed(columns) if each.is_whole and each.texts is not None]
    labels = [each for each in labels if each.texts and all(map(is_label, each.texts.texts))]
    labels.sort(key=lambda each: each.name.lower() not in LABEL_NAMES)
    for label in labels:
        pairs = list(permutations([each for each in numbers if each is not label], 2))
        found = [
            (begins, stops, one.name, label)
            for one, begins, stops in _of_pairs(pairs, are_durations=False)
            if _share_apart(begins, stops) >= _APART
        ]
        if not found and durations and len(numbers) == 2 and label.values is None:
            found = [
                (begins, stops, one.name, label)
                for one, begins, stops in _of_pairs(pairs, are_durations=True)
                if _share_apart(begins, stops) == 1
            ]
        yield from sorted(found, key=lambda each: -float((each[1] - each[0]).sum()))


def _of_pairs(
    pairs: Sequence[tuple[Column, Column]], *, are_durations: bool
) -> Iterator[tuple[Column, Floats, Floats]]:
    """Yield the column of starts, and the starts and ends (m,), which are all different."""
    for one, other in pairs:
        begins, ends = one.values, other.values
        if begins is None or ends is None or not len(begins):
            continue
        stops = begins + ends if are_durations else ends
        if (
            len(np.unique(begins)) == len(begins)
            and (stops >= begins).all()
            and (stops > begins).any()
        ):
            yield one, begins, stops


def _share_apart(begins: Floats, stops: Floats) -> float:
    """Return the share of intervals (m,) that begin behind the end of the one before."""
    order = np.argsort(begins)
    apart = begins[order][1:] >= stops[order][:-1] - 1e-9 * np.abs(stops).max()
    return float(apart.mean()) if len(apart) else 1.0
