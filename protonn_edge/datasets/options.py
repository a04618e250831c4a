"""The options for reading a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

RECORDING_MARK = "# protonn-edge recording"
"""The beginning of a recording's first line, which is a comment."""

SHOWN = "shown"
"""What becomes of gaps, and of cells that are no numbers, where a table is only looked at: NaN."""


@dataclass(frozen=True)
class TableOptions:
    """Options for reading a table."""

    # the column of labels: its name, its number from 1, ``first`` or ``last``
    label: str | None = None
    drop: tuple[str, ...] = ()  # columns to leave out, names or numbers from 1
    delimiter: str | None = None  # the delimiter of columns, see `delimiter_called`
    session: str | None = None  # the column of sessions, which separates recordings
    time: str | None = None  # the column of times
    # the columns that are features, in this order; empty for all others
    channels: tuple[str, ...] = ()
    # the column of groups, if there is one of this name; otherwise, it is not a column
    groups: str | None = None
    # the label of all rows, in the absence of a column called ``label`` or the like
    labelled: str | None = None
    background: str | None = None  # the class of rows without a label; without it, refused
    name: str | None = None  # the pattern of the names of a folder's files, see `NamePattern`
    # height and width in pixels to which the images of a folder are scaled
    size: tuple[int, int] | None = None
    # the treatment of gaps, one of `MISSING` or `SHOWN`; None fills them as a model, or refuses
    missing: str | None = None
    one_hot: tuple[str, ...] = ()  # columns of text that become features, names or numbers from 1


def with_keywords(options: TableOptions | None, keywords: dict[str, Any]) -> TableOptions | None:
    """Return options with some of their fields replaced; a name stands for a tuple of names."""
    unknown = keywords.keys() - vars(TableOptions())
    if unknown:
        raise TypeError(f"load_dataset() got an unexpected keyword argument {min(unknown)!r}")
    if not keywords:
        return options
    fields: dict[str, Any] = {}
    for name, value in keywords.items():
        is_list = isinstance(getattr(TableOptions(), name), tuple)
        texts = [value] if isinstance(value, str | int) else value
        single = value if value is None or name == "size" else str(value)
        fields[name] = tuple(map(str, texts)) if is_list else single
    return replace(options or TableOptions(), **fields)
