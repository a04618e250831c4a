"""The five rules by which the columns of a text table are read; ``protonn-edge data`` prints them.

1. Delimiter: the first of tab, semicolon, pipe and comma that the first line contains outside
   quotes. ``--delimiter`` names another one.
2. Header: the first row names the columns if no cell is a number, if its numbers only
   count the columns (``0,1,2,species``), or if a cell is ``label``, ``class`` or ``target``.
3. Label: the column that ``--label`` names; else the column ``label``, ``class`` or ``target``,
   in any case; else the last one that is not left out. A model's features are never labels.
4. Features: all other columns. Left out are those that ``--drop`` names, an index (a column without
   a name or called ``index`` or ``id``, or a first one that counts rows, without a name or called
   ``row`` or the like), times (called ``time``, ``timestamp``, ``ms`` or the like, with numbers
   that rise; or dates), sessions (called ``session``, ``subject``, ``person``, ``user``,
   ``machine_id`` or the like), and text, unless ``--one-hot`` names its column; but ``True`` is 1,
   and ``False`` is 0. A unit in brackets is not part of a name: ``Time (s)``.
5. Missing: a column without any value is left out. Any other gap, an empty cell or one such as
   ``NA``, is an error without ``--missing``. A cell of a feature that is neither a gap nor a finite
   number is an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from protonn_edge.datasets import naming
from protonn_edge.datasets.cells import TRUTHS, counts, is_gap, is_number, is_whole, rises
from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.preparation import ONE_HOT_LIMIT
from protonn_edge.errors import InputError, counted
from protonn_edge.sensors.played import ID, LABEL_NAMES, PERSON, SESSION, TIME

if TYPE_CHECKING:
    from protonn_edge.datasets.division import Division
    from protonn_edge.datasets.preparation import Preparation
    from protonn_edge.sensors import Instrument

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "pipes", ",": "commas", " ": "blanks"}
"""Delimiters, the first four in the order of the search, with their plurals for messages."""

_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", r"\t": "\t", "pipe": "|", "space": " "}
_QUOTED = re.compile('"[^"]*"?')
_DATE = re.compile(r"\s*(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{2,4}|\d\d?:\d\d)(?!\d).*")
_DEVICES = ("machine", "maschine", "device", "gerät")  # the last column may be the label, though
_DEVICE = re.compile(rf"({'|'.join(_DEVICES)})({ID})?|(maschinen|geräte|sensor|unit|asset){ID}")
_INDEX = re.compile(r"|unnamed(: ?\d+)?|index|idx|id|(row|sample)_?id")
_COUNT = re.compile(r"|.*(#|id|nr|no|num|number|nummer|count)\.?|(n|row|sample|point|instance)s?")
_NAMED = 5  # maximum columns of text in a sentence, besides the first

Reason = Literal["index", "time", "session", "empty", "text"]
_REASONS: dict[Reason, str] = {
    "index": "which numbers the rows",
    "time": "which contains the time of each row",
    "session": "which contains the person, device or recording of each row",
    "empty": "which is empty",
    "text": "which contains text; use --one-hot to turn it into features",
}


@dataclass(frozen=True)
class Expected:
    """The requirements of a model for a table, or of a training part for its test part.

    Its D features and classes, whether points need labels (ignored otherwise), the preparation of
    its columns, the division of its training file, and the instrument and the rate of windows, if
    known.
    """

    n_features: int
    feature_names: tuple[str, ...] = ()
    classes: Sequence[str] = ()
    instrument: Instrument | None = None
    labelled: bool = True
    preparation: Preparation | None = None
    division: Division | None = None
    sample_rate: float | None = None

    @property
    def label(self) -> str:
        """The column of labels of the training file; empty if unknown."""
        return "" if self.division is None else self.division.label


@dataclass(eq=False)
class Column:
    """A column of a table: its index, and its name, which is empty without a header.

    Its `first` cells decide its role; `cells` are all cells unless they are read as numbers.
    """

    index: int
    name: str
    first: tuple[str, ...] = ()
    cells: list[str] = field(default_factory=list, repr=False)
    role: str = "dropped"  # by an option
    missing: int = 0  # gaps, and other cells that are not numbers
    unreadable: int = 0
    feature: int | None = None  # its index among the features

    @property
    def title(self) -> str:
        """Its name for messages."""
        return naming.title(self.name, self.index + 1)

    @property
    def flag_value(self) -> str:
        """Its name as the value of an option such as ``--drop``."""
        plain = 0 < len(self.name) <= naming.NAME_SHOWN and self.name.isprintable()
        text = self.name if plain and "," not in self.name else str(self.index + 1)
        return f"'{text}'" if " " in text else text

    @property
    def may_be_person(self) -> bool:
        """Whether it may identify the person of a row, who may have several sessions."""
        return PERSON.fullmatch(self.name.lower()) is not None

    @property
    def is_text(self) -> bool:
        """Whether most of its first cells, apart from gaps, are not numbers."""
        there = [cell for cell in self.first if not is_gap(cell)]
        return 2 * sum(map(is_number, there)) < len(there)

    @property
    def has_truths(self) -> bool:
        """Whether its first cells, apart from gaps, are ``True`` and ``False``."""
        there = [cell for cell in self.first if not is_gap(cell)]
        return bool(there) and all(cell.strip().lower() in TRUTHS for cell in there)

    @property
    def has_whole_numbers(self) -> bool:
        """Whether its first cells, apart from gaps, are whole numbers."""
        there = [cell for cell in self.first if not is_gap(cell)]
        return all(is_number(cell) and is_whole(cell) for cell in there)

    @property
    def may_be_label(self) -> bool:
        """Whether its first cells may be classes: all numbers are whole, and some are equal."""
        cells = {naming.label_text(cell) for cell in self.first}
        whole = all(map(is_whole, filter(is_number, cells)))
        return whole and "" not in cells and 2 * len(cells) <= len(self.first)


# --- 1: the delimiter -----------------------------------------------------------------------------


def delimiter_called(text: str) -> str:
    """Return the delimiter that an option names: the character, or a word such as ``tab``."""
    delimiter = _WORDS.get(text.lower(), text)
    if delimiter not in DELIMITERS:
        raise InputError(
            f"the delimiter is {text[:40]!r}; give comma, semicolon, tab, pipe or space"
        )
    return delimiter


def delimiter_in(line: str, usual: str) -> str:
    """Return the delimiter in the first line of a table; `usual` if there is none."""
    bare = _QUOTED.sub("", line)
    return next((each for each in DELIMITERS if each != " " and each in bare), usual)


# --- 2: the header --------------------------------------------------------------------------------


def header_found(first: Sequence[str]) -> str:
    """Return why the first row of a table is a header; empty if it is not."""
    cells = [cell.strip() for cell in first]
    if named := next((cell for cell in cells if cell.lower() in LABEL_NAMES), ""):
        return f"a cell is {named!r}"
    numbers = [cell for cell in cells if is_number(cell)]
    if not numbers:
        return "no cell is a number"
    counted = [[str(begin + place) for place in range(len(numbers))] for begin in (0, 1)]
    return "its numbers rise by 1" if 2 < len(numbers) < len(cells) and numbers in counted else ""


# --- 3: the label ---------------------------------------------------------------------------------


def find_column(columns: Sequence[Column], text: str, flag: str, path: object) -> Column:
    """Return the column that an option names, by its name or by its number from 1."""
    wanted = text.strip()
    named = [column for column in columns if wanted and column.name == wanted]
    named = named or [each for each in columns if naming.split_unit(each.name)[0] == wanted != ""]
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
    hint += f" or one of {naming.listed(names)}" if names else ""
    raise InputError(
        f"{flag} is {text[:40]!r}, which is not a column of {path}"
        f"{naming.did_you_mean(text, names) or hint}"
    )


def _label(
    columns: Sequence[Column],
    path: object,
    options: TableOptions,
    wanted: Collection[str],
    left_out: Collection[Column],
    *,
    first: bool,
) -> tuple[Column | None, str]:
    """Return the label's column, None if all rows have one label, and how it was found."""
    named = [column for column in columns if column.name.lower() in LABEL_NAMES]
    if len(named) > 1:
        raise InputError(
            f"{path} has {len(named)} columns named label, class or target; rename all but one, or "
            "give --label"
        )
    if named:
        return named[0], "by its name"
    if options.labelled is not None:
        return None, "by default"
    if first:
        return columns[0], "the first one"
    doubtful = [each for each in columns[-1:] if each.name.lower() in _DEVICES]
    free = [
        each
        for each in columns
        if each.name not in wanted and (each not in left_out or each in doubtful)
    ]
    if not free:
        raise InputError(
            f"{path} has no column of labels besides the features; add a column of labels, or name "
            "the column with --label"
        )
    if wanted:
        return free[-1], f"the {'last' if free[1:] else 'only'} one that is not a feature"
    return free[-1], "the last one"


def label_refusal(path: object, label: Column, columns: Iterable[Column]) -> InputError:
    """Return the error for a last column without classes, naming columns that may have some."""
    fraction = next((cell.strip() for cell in label.cells if not is_whole(cell)), None)
    has = f"only the value {label.cells[0].strip()}"
    if fraction is not None:
        has = f"measurements such as {fraction} instead of classes"
    likely = [each.flag_value for each in columns if each.may_be_label]
    hint = f", such as --label {likely[0]}" if likely else ""
    others = f" (or {', '.join(likely[1:6])})" if likely[1:] else ""
    return InputError(
        f"{path} has no column called label, class or target, and its last one, {label.title}, "
        f"contains {has[:80]}; name the column of labels with --label{hint}{others}"
    )


# --- 4: the features ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Roles:
    """The label (None if all rows have the same) and how it was found, the features, the others.

    If several columns are sessions or times, the first one counts.
    """

    label: Column | None
    label_found: str
    features: list[Column]
    left_out: dict[Column, Reason]
    notices: tuple[naming.Notice, ...] = ()
    one_hot: Collection[Column] = ()  # columns of text that become features


def roles_of(
    columns: Sequence[Column],
    path: object,
    options: TableOptions,
    expected: Expected | None,
    *,
    header: bool,
    label_first: bool = False,
) -> Roles:
    """Return the roles of columns by the third and the fourth rule.

    Without a header, columns have no names, and the label may be in the first column. If points are
    for a model, it expects certain features.
    """
    dropped = _found(columns, options.drop, "--drop", path)
    channels = _found(columns, options.channels, "--channels", path)
    one_hot = _one_hot(columns, path, options, expected, header=header)
    kept = [column for column in columns if column not in dropped]
    if not kept:
        raise InputError(f"--drop names all columns of {path}; keep the label and the features")
    wanted = expected.feature_names if expected is not None and header else ()
    given = None
    if options.label is not None:
        given = find_column(columns, options.label, "--label", path)
    if expected is not None and not expected.labelled:
        rest = [column for column in kept if column is not given]
        if wanted or len(rest) == expected.n_features:
            return Roles(None, "not needed", _in_order(rest, wanted, path)[0], {})
    named = _named(columns, kept, path, options)
    reasons = {each: reason for each in kept if (reason := _reason(each, header=header))} | named
    if given is None:
        free = [column for column in kept if column not in {**channels, **one_hot}]
        first = label_first and not header
        label, how = _label(free, path, options, frozenset(wanted), reasons, first=first)
    else:
        roles = {"--drop": dropped, "--channels": channels, "--one-hot": one_hot}
        _refuse_two_roles(given, roles)
        label, how = given, "given by --label"
    rest = [column for column in kept if column is not label]
    if wanted:
        features, notices = _in_order(rest, wanted, path)
        return Roles(label, how, features, {}, notices)
    if expected is not None and len(rest) == expected.n_features:
        return Roles(label, how, rest, {})
    reasons = {each: reason for each, reason in reasons.items() if each not in one_hot}
    texts = [each for each in rest if each.is_text and each not in {**reasons, **one_hot}]
    texts = [each for each in texts if not each.has_truths]
    guessed = how == "the last one" and label is not None and not label.is_text
    reasons |= dict.fromkeys(texts, "text")
    others = [column for column in rest if column in reasons]
    others.sort(key=lambda each: (each not in named, not each.may_be_person))
    left_out = {column: reasons[column] for column in others}
    features = [*channels] or [column for column in rest if column not in left_out]
    count = len(features) > 1 and not channels and features[0].index == 0
    count = count and counts(features[0].first)
    called_so = count and _COUNT.fullmatch(features[0].name.lower())
    if called_so:
        left_out = {features.pop(0): "index", **left_out}
    notices = _counting(features[0]) if count and not called_so else ()
    if texts and (guessed or not features):
        raise text_refusal(path, texts, guessed=guessed)
    return Roles(label, how, features, left_out, notices, one_hot)


def _found(
    columns: Sequence[Column], texts: Iterable[str], flag: str, path: object
) -> dict[Column, None]:
    return dict.fromkeys(find_column(columns, text, flag, path) for text in texts)


def _one_hot(
    columns: Sequence[Column],
    path: object,
    options: TableOptions,
    expected: Expected | None,
    *,
    header: bool,
) -> dict[Column, None]:
    """Return the columns of text that become features, by the options or the model."""
    encoded = _found(columns, options.one_hot, "--one-hot", path) if expected is None else {}
    if encoded and not header:
        raise InputError(
            f"--one-hot needs column names, but {path} has none; add a first row of names"
        )
    names = [column.name for column in columns]
    for column in encoded:
        if names.count(column.name) > 1 or not column.name:
            raise InputError(
                f"--one-hot needs a column with a unique name, but {path} has "
                f"{counted(names.count(column.name), 'column')} named "
                f"{naming.quoted(column.name)}; rename the columns"
            )
    return encoded


def _refuse_two_roles(label: Column, others: Mapping[str, Collection[Column]]) -> None:
    for flag, columns in others.items():
        if label in columns:
            text = f"--label and {flag} both name {label.title}; change one of these options"
            raise InputError(text)


def _in_order(
    columns: list[Column], wanted: Sequence[str], path: object
) -> tuple[list[Column], tuple[naming.Notice, ...]]:
    """Return the columns of a model's features in its order, or all without names; and notices."""
    names = [column.name for column in columns] if wanted else []
    order, notices = naming.match_columns(names, wanted, str(path))
    return columns if order is None else [columns[index] for index in order], notices


def _named(
    columns: Sequence[Column], kept: Sequence[Column], path: object, options: TableOptions
) -> dict[Column, Reason]:
    """Return the columns to which options give a role."""
    named: dict[Column, Reason] = {}
    if options.session is not None:
        named[find_column(columns, options.session, "--session", path)] = "session"
    elif options.groups:
        of_groups = [each for each in kept if each.name == options.groups]
        named |= dict.fromkeys(of_groups[:1], "session")
    if options.time is not None:
        named[find_column(columns, options.time, "--time", path)] = "time"
    return named


def _reason(column: Column, *, header: bool) -> Reason | None:
    """Return why a column's name or first cells exclude it as a feature; None if they do not."""
    name, cells = naming.split_unit(column.name.lower())[0], column.first
    if cells and all(map(is_gap, cells)):
        return "empty"
    if (is_called_as_time(column.name) and rises(cells)) or (cells and _DATE.fullmatch(cells[0])):
        return "time"
    if SESSION.fullmatch(name) or (_DEVICE.fullmatch(name) and column.has_whole_numbers):
        return "session"
    return "index" if header and _INDEX.fullmatch(name) else None


def _counting(column: Column) -> tuple[naming.Notice]:
    text = f"{column.title} counts the rows, but has the name of a feature and is used as one; "
    text += f"leave it out with --drop {column.flag_value}"
    return (naming.Notice("index", text, warning=True, columns=(column.name,)),)


def is_called_as_time(name: str) -> bool:
    """Return whether a name is usual for a time."""
    bare, unit = naming.split_unit(name.lower())
    # ``t (s)`` is a time, ``t (C)`` a temperature
    return TIME.fullmatch(unit if unit and len(bare) == 1 else bare) is not None


def left_out_notice(column: Column, reason: Reason) -> naming.Notice:
    """Return the notice about a column that is not a feature."""
    why = _REASONS[reason]
    if reason == "text" and (count := len(set(column.cells))) > ONE_HOT_LIMIT:
        why = f"which contains {count:,} different texts, too many for --one-hot"
    text = f"left out: {column.title}, {why}"
    return naming.Notice("left_out", text, columns=(column.name or str(column.index + 1),))


def text_refusal(path: object, columns: Sequence[Column], *, guessed: bool) -> InputError:
    """Return the error for columns of text, given whether the label was `guessed`."""
    columns = columns[: _NAMED + 1]
    titles = " and ".join(f"{each.title} (such as {_a_text(each)})" for each in columns)
    names = ",".join(each.flag_value for each in columns)
    labels = [each.flag_value for each in columns if each.may_be_label] or [columns[0].flag_value]
    wanted = " or ".join(f"--label {name}" for name in labels)
    unnamed = "no column called label, class or target, but has " if guessed else ""
    return InputError(
        f"{path} has {unnamed}text in {titles}; name the column of classes with {wanted}, or leave "
        f"columns of text out with --drop {names}"
    )


def _a_text(column: Column) -> str:
    return naming.quoted(next((cell.strip() for cell in column.first if not is_number(cell)), ""))
