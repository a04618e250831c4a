"""The options for reading a table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from protonn_edge.system.errors import InputError, lacking, shortened
from protonn_edge.system.wording import KEYWORDS, READERS

RECORDING_MARK = "# protonn-edge recording"
"""The beginning of a recording's first line, which is a comment."""

RECORDING_VERSION = 1
"""The version that follows the mark."""

USUAL_DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""The usual delimiter of tables, by the ending of their names."""

SHOWN = "shown"
"""The treatment of gaps, and of cells that are not numbers, in a table that is only shown: NaN."""


@dataclass(frozen=True)
class TableOptions:
    """Options for reading a table."""

    # the column of labels: its name, its number from 1, ``first`` or ``last``
    label: str | None = None
    labels: tuple[str, ...] = ()  # the columns of sets of labels
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
    normal: str | None = None  # the label of all rows, if no column may have labels
    target: str | None = None  # what labels are, "class" or "value", if that is given
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
    rows: int | None = None  # how many rows to use of a table, evenly spread
    # columns of text to turn into features, as names or numbers from 1
    one_hot: tuple[str, ...] = ()


_DEFAULTS = {
    each.name.replace("_", "-"): each.default
    for each in fields(TableOptions)
    if each.name not in ("groups", "labelled", "normal", "target", "background", "sample_rate")
}
MISSING = ("error", "drop", "median", "most-frequent")
"""The treatments of gaps."""

READ_NAMES = tuple(_DEFAULTS)
"""The names of commands' options for reading, such as "label"; others follow from the command."""

LISTS = tuple(name for name, default in _DEFAULTS.items() if default == ())
"""The names of those that are lists of columns or files."""


def options_of(given: Mapping[str, Sequence[str]]) -> TableOptions:
    """Return the options with these texts, by their names, as commands give them.

    Columns and files are lists, separated by commas and quoted as in a table's header if need be,
    of which several may be given. Raises `InputError` for other texts.
    """
    read: dict[str, Any] = {}
    for name, texts in given.items():
        flag, key = f"--{name}", name.replace("-", "_")
        if not all(texts):
            raise lacking(flag, "value", f"use {flag} VALUE")
        if name in LISTS:
            read[key] = tuple(each for text in texts for each in names_in(text, f"{flag} "))
        elif texts:
            read[key] = READERS.get(key, str)(texts[-1])
    return TableOptions(**read)


def options_of_texts(texts: Iterable[str]) -> TableOptions:
    """Return the options in texts such as ``label=nut``, as a model file has them.

    A name may be given several times. Raises `InputError` for other texts.
    """
    given: dict[str, list[str]] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in READ_NAMES:
            raise InputError(
                f"{shortened(repr(text))} does not begin with one of {', '.join(READ_NAMES)}; "
                "correct it"
            )
        given.setdefault(name, []).append(value)
    return options_of(given)


def texts_of(options: TableOptions) -> list[str]:
    """Return the texts that `options_of_texts` reads as these options."""
    texts = []
    for name in READ_NAMES:
        value = getattr(options, name.replace("-", "_"))
        if name in LISTS:
            line = io.StringIO()
            csv.writer(line, lineterminator="").writerow(value)
            value = line.getvalue()
        elif name == "size" and value is not None:
            value = "x".join(map(str, value))
        texts += [f"{name}={value}"] if value else []
    return texts


def names_in(text: str, flag: str) -> tuple[str, ...]:
    """Return the names in a list, separated by commas, that is given after a flag."""
    try:
        return tuple(each for row in csv.reader([text], skipinitialspace=True) for each in row)
    except csv.Error as error:
        raise InputError(
            f"{flag}{text} is not a list of names; separate names by commas, and put names "
            "with a comma or a line feed in double quotes"
        ) from error


def _sides(text: str) -> tuple[int, int]:
    if (match := re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", text)) is None:
        raise InputError(
            f"--size is {shortened(repr(text))}, which is not a height and a width in pixels, "
            "such as 28x28"
        )
    return int(match[1]), int(match[2])


def _rows(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,8}", text):
        raise InputError(f"--rows is {shortened(repr(text))}, not a number of rows; give one")
    return int(text)


def _listed(text: str) -> list[str]:
    return [*names_in(text, "")]


KEYWORDS |= {name: name.replace("-", "_") for name in ("target", "groups", *READ_NAMES)}
READERS |= dict.fromkeys((KEYWORDS[name] for name in LISTS), _listed) | {
    "size": _sides,
    "rows": _rows,
}


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
        single = value if value is None or name in ("size", "rows") else str(value)
        fields[name] = tuple(map(str, texts)) if is_list else single
    return replace(options or TableOptions(), **fields)
