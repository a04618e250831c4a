"""The options for reading a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

RECORDING_MARK = "# protonn-edge recording"
"""The beginning of a recording's first line, which is a comment."""

USUAL_DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""The usual delimiter of tables, by the ending of their names."""

SHOWN = "shown"
"""The treatment of gaps, and of cells that are not numbers, in a table that is only shown: NaN."""


@dataclass(frozen=True)
class TableOptions:
    """Options for reading a table."""

    # the column of labels: its name, its number from 1, ``first`` or ``last``
    label: str | None = None
    drop: tuple[str, ...] = ()  # columns to leave out, as names or numbers from 1
    # columns to use although they look like times, counters or copies of the label
    keep: tuple[str, ...] = ()
    delimiter: str | None = None  # the delimiter of columns; see `delimiter_called`
    decimal: str | None = None  # the decimal mark, ``comma`` or ``point``
    session: str | None = None  # the column that separates recordings
    time: str | None = None  # the column of times
    # the columns that are features, in this order, ``NEW=OLD`` to rename one; empty for all others
    channels: tuple[str, ...] = ()
    groups: str | None = None  # the column of groups; ignored if there is no column of this name
    # the label of all rows, unless a column is called ``label`` or the like
    labelled: str | None = None
    background: str | None = None  # the class of rows without a label, which are otherwise refused
    name: str | None = None  # the pattern of file names in a folder; see `NamePattern`
    # the files in the folder of each take, joined by their times if they are several
    files: tuple[str, ...] = ()
    sample_rate: float | None = None  # at which faster WAV files are sampled
    # height and width in pixels to which the images of a folder are scaled
    size: tuple[int, int] | None = None
    # the treatment of gaps, one of `MISSING` or `SHOWN`; None fills gaps as a model does, or
    # refuses them
    missing: str | None = None
    # columns of text to turn into features, as names or numbers from 1
    one_hot: tuple[str, ...] = ()


def with_keywords(options: TableOptions | None, keywords: dict[str, Any]) -> TableOptions | None:
    """Return options with some fields replaced; a single name may replace a tuple of names."""
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
