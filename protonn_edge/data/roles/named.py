"""The columns that options name: left out, kept, renamed, encoded, or given a role."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Literal, Self

from protonn_edge.data.naming import listed, quoted
from protonn_edge.data.options import TableOptions
from protonn_edge.data.roles.set_columns import set_column
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.units import split_unit
from protonn_edge.system.errors import InputError, counted, unneeded
from protonn_edge.system.meant import did_you_mean

if TYPE_CHECKING:
    from protonn_edge.data.points.expected import Expected

_FEWEST_ROWS = 20  # fewer may be of a session each

_Options = list[tuple[str, Mapping[Column, object]]]


@dataclass(frozen=True)
class NamedColumns:
    """The columns that options name."""

    kept: list[Column]  # all but those that ``--drop`` names
    channels: Mapping[Column, str]  # their new names, or none
    one_hot: Mapping[Column, None]  # columns of text that become features
    used: Mapping[Column, object]  # features in spite of what they look like
    label: Column | None
    in_sets: Mapping[Column, None]  # the columns of sets of labels, which the label has together
    by_option: Mapping[Column, Literal["session", "time"]]

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        path: object,
        options: TableOptions,
        expected: Expected | None,
        *,
        header: bool,
    ) -> Self:
        """Find the columns; those of text of a table for a model are the ones it knows.

        Raises `InputError` if an option names no column, or two name the same.
        """

        def found(texts: Iterable[str], flag: str) -> dict[Column, None]:
            of_lists = {text: [c for c in columns if c.list_name == text.strip()] for text in texts}
            every = (
                of_lists[text] or [find_column(columns, text, flag, path)] for text in of_lists
            )
            return dict.fromkeys(chain.from_iterable(every))

        dropped = found(options.drop, "--drop")
        in_sets = found(options.labels, "--labels")
        if in_sets and options.label is not None:
            raise unneeded("--label", "is for one label per row, and --labels for sets of them")
        kept = [column for column in columns if column not in {**dropped, **in_sets}]
        if not kept:
            raise InputError(f"--drop names all columns of {path}; keep the label and the features")
        channels = _channels(options, columns, path)
        if expected is not None:
            known = expected.preparation.one_hot if expected.preparation else {}
            one_hot = {column: None for column in columns if column.name in known}
        else:
            one_hot = found(options.one_hot, "--one-hot")
            _check_encoded(one_hot, columns, path, header=header)
        keep = found(options.keep, "--keep")

        label, session, time = (
            found(filter(None, [getattr(options, name)]), f"--{name}")
            for name in ("label", "session", "time")
        )
        features: _Options = [("--channels", channels), ("--one-hot", one_hot), ("--keep", keep)]
        others: _Options = [
            ("--drop", dropped),
            ("--label", label),
            ("--labels", in_sets),
            ("--session", session),
            ("--time", time),
        ]
        _refuse_both(features, others)
        by_option = dict[Column, Literal["session", "time"]](dict.fromkeys(session, "session"))
        by_option |= dict.fromkeys(time, "time")
        for column in kept:
            if column in session:
                _check_recurs(column, path)
        if options.session is None and options.groups:
            of_groups = [each for each in kept if each.key == options.groups]
            by_option |= dict.fromkeys(of_groups[:1], "session")
        used = {**channels, **one_hot, **keep}
        only = set_column([*in_sets], path) if in_sets else next(iter(label), None)
        return cls(kept, channels, one_hot, used, only, in_sets, by_option)


def _channels(options: TableOptions, columns: Sequence[Column], path: object) -> dict[Column, str]:
    """Return the columns of channels with their new names, or ""; refuse several names of one."""
    channels = dict[Column, str]()
    for old, new in map(renamed, options.channels):
        column = find_column(columns, old, "--channels", path)
        if channels.setdefault(column, new) != new:
            what = f"--channels gives {column.title} several names"
            raise InputError(f"{what}; give one name for each column")
    return channels


def _refuse_both(features: _Options, others: _Options) -> None:
    """Refuse a column that two options name."""
    for (flag, some), (other, rest) in combinations([*features, *others], 2):
        both = [each for each in some if each in rest and other not in dict(features)]
        if both:
            raise InputError(
                f"{flag} and {other} both name {both[0].title}; change one of these options"
            )


def _check_recurs(column: Column, path: object) -> None:
    """Refuse a column of sessions that has another value in most rows."""
    names = column.names()
    count, n = len({*names.texts}), len(names)
    if n >= _FEWEST_ROWS and 2 * count > n:
        raise InputError(
            f"--session is {column.key!r}, but this column of {path} has {count:,} different "
            f"values in {n:,} rows, so hardly any rows belong together; name a column with each "
            "row's session or person, or omit --session"
        )


def _check_encoded(
    encoded: Iterable[Column], columns: Sequence[Column], path: object, *, header: bool
) -> None:
    if encoded and not header:
        raise InputError(
            f"--one-hot needs column names, but {path} has none; add a first row of names"
        )
    names = [column.name for column in columns]
    for column in encoded:
        if names.count(column.name) > 1 or not column.name:
            raise InputError(
                f"--one-hot needs a column with a unique name, but {path} has "
                f"{counted(names.count(column.name), 'column')} named {quoted(column.name)}; "
                "rename the columns"
            )


def find_column(columns: Sequence[Column], text: str, flag: str, path: object) -> Column:
    """Return the column that an option names, by its name or by its number from 1."""
    wanted = text.strip()
    named = [column for column in columns if wanted and column.name == wanted]
    named = named or [each for each in columns if split_unit(each.name)[0] == wanted != ""]
    if len(named) > 1:
        what = f"{flag} is {text[:40]!r}, but {path} has {len(named)} columns of this name"
        raise InputError(f"{what}; give the column's number")
    if named:
        return named[0]
    place = {"first": "1", "last": str(len(columns))}.get(text.lower(), text)
    if re.fullmatch(r"\d{1,7}", place) and 1 <= int(place) <= len(columns):
        return columns[int(place) - 1]
    names = [column.name for column in columns if column.name]
    hint = f"; give a number from 1 to {len(columns):,}"
    hint += f" or one of {listed(names)}" if names else ""
    raise InputError(
        f"{flag} is {text[:40]!r}, which is not a column of {path}"
        f"{did_you_mean(text, names) or hint}"
    )


def renamed(text: str) -> tuple[str, str]:
    """Return the column of a channel and its new name, from ``NEW=OLD``; or no new name."""
    new, equals, old = text.partition("=")
    return (old, new.strip()) if equals and new.strip() and old.strip() else (text, "")
