"""Names in data: labels, allowed names, matched columns; and notices about data."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from protonn_edge.data.units import split_unit
from protonn_edge.system.errors import InputError
from protonn_edge.system.wording import worded

NAME_LIMIT = 100
NAME_SHOWN = 40

_SHOWN = 6

NO_CLASS = 255
"""The label of a point that belongs to no class of a model, and the correct answer for it."""

NO_CLASS_NAME = "unknown"
"""Its displayed name."""

NO_LABEL = -1
"""The label of a point whose class is unknown."""

_CLOSING = dict(zip("'\"`\u2018“„«", "'\"`\u2019”“»", strict=True))
_WHOLE_NUMBER = re.compile(r"\+?(-?(?:0|[1-9]\d{0,17}))(?:\.0*)?")


def name_text(name: str) -> str:
    """Return a name without surrounding blanks, and in one form if Unicode has several."""
    return unicodedata.normalize("NFC", name.strip())


def column_name(cell: str) -> str:
    """Return the name in a cell of a header, without quotes that programs leave around it."""
    name = name_text(" ".join(cell.splitlines()))
    while len(name) > 2 and _CLOSING.get(name[0]) == name[-1]:
        name = name[1:-1].strip()
    return name


def label_text(label: str) -> str:
    """Return the name of a class: "1" for 1, 1.0 and +1; other text as a name."""
    text = name_text(label)
    whole = _WHOLE_NUMBER.fullmatch(text)
    return str(int(whole.group(1))) if whole else text


def answer_name(classes: Sequence[str], answer: int) -> str:
    """Return the name of an answer, which is one of the classes or `NO_CLASS`."""
    return NO_CLASS_NAME if answer == NO_CLASS else classes[answer]


def answer_names(count: int, classes: Sequence[str]) -> tuple[str, ...]:
    """Return the names of `count` answers: the classes, then `NO_CLASS` if there is one more."""
    return (*classes, NO_CLASS_NAME)[:count]


def in_order(labels: set[str]) -> tuple[str, ...]:
    """Return labels sorted, as numbers if all of them are whole numbers and as text otherwise."""
    if all(_WHOLE_NUMBER.fullmatch(label) for label in labels):
        return tuple(sorted(labels, key=int))
    return tuple(sorted(labels))


def check_names(names: Sequence[object], what: str, *, distinct: bool) -> None:
    """Refuse names other than printable texts of 1 to `NAME_LIMIT` characters, or equal ones."""
    for name in names:
        if (
            not isinstance(name, str)
            or not name
            or not name.isprintable()
            or len(name) > NAME_LIMIT
        ):
            raise InputError(
                f"{what}: the name {str(name)[:40]!r} must have 1 to {NAME_LIMIT} printable "
                "characters"
            )
    if distinct and len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{what}: the name {twice!r} occurs twice; names must differ")


@dataclass(frozen=True)
class Notice:
    """A remark about data."""

    kind: str  # its subject for programs, such as ``label`` or ``constant``
    # a clause for display, on one line, without control characters, in the words of the interface
    text: str
    # whether the data probably has a mistake; otherwise, the notice reports a choice
    warning: bool = False
    # the names of the columns or features concerned; ``"3"`` for an unnamed third one
    columns: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", worded(self.text))

    def __str__(self) -> str:
        return f"warning: {self.text}" if self.warning else self.text


TEST_PART_ONLY = Notice(
    "test_part",
    "only the points of the test part are classified; to classify the training points, put them "
    "into a separate file or folder",
)


def quoted(name: str) -> str:
    """Return a name for a message: in quotes, control characters escaped, shortened."""
    return repr(name if len(name) <= NAME_SHOWN else f"{name[: NAME_SHOWN - 3]}...")


def listed(names: Iterable[str]) -> str:
    """Return the first few names for a message, and the number of others."""
    every = list(names)
    text = ", ".join(quoted(name) for name in every[:_SHOWN])
    return text + (f" and {len(every) - _SHOWN:,} more" if len(every) > _SHOWN else "")


def title(name: str, number: int) -> str:
    """Return a column's name for messages: its name, or its number from 1 if it has none."""
    return f"column {quoted(name)}" if name else f"column {number}"


def names_at(places: Iterable[int], names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of features at some places, from 0; their numbers, from 1, without names."""
    return tuple(names[place] if names else str(place + 1) for place in places)


def warning_about(
    kind: str, text: str, found: Mapping[int, tuple[object, ...]], names: Sequence[str]
) -> Notice:
    """Return a warning about features, with the figures of the first one and the names of all.

    The figures are by the features' places. In the text, the first field is for the feature, the
    last one for the others, and those between them are for the figures.
    """
    columns = names_at(found, names)
    others = f" (likewise {listed(columns[1:])})" if columns[1:] else ""
    first, figures = next(iter(found.items()))
    which = title(names[first] if names else "", first + 1)
    return Notice(kind, text.format(which, *figures, others), warning=True, columns=columns)


def match_columns(
    names: Sequence[str], wanted: Sequence[str], source: str, owner: str = "the model"
) -> tuple[list[int] | None, tuple[Notice, ...]]:
    """Return the column of each feature of a model, None if the order is the same, and notices.

    The D wanted names, and the columns' names, may be empty. If both exist, each feature's name
    must occur exactly once. Messages name the `owner`, the model or file that wants the features.
    """
    if not names or not wanted:
        if not names and not wanted:
            return None, ()
        without = source if wanted else owner
        text = f"features are matched by position, because {without} has no feature names"
        return None, (Notice("position", text),)
    if tuple(names) == tuple(wanted):
        return None, ()
    place, used = {name: index for index, name in enumerate(names)}, set(wanted)
    missing = [name for name in wanted if name not in place]
    if missing:
        count = f"the {len(missing):,} columns" if len(missing) > 1 else "the column"
        remedy = "rename columns, or add the missing ones"
        channels = {name.partition("[")[0] for name in missing}  # see `sample_names`
        of_samples = all("[" in name for name in missing)
        if of_samples and channels <= {split_unit(name)[0] for name in names}:
            remedy = "cut this recording into windows with 'protonn-edge windows'"
        raise InputError(
            f"{source}, with the columns {listed(names)}, lacks {count} {listed(missing)}, which "
            f"the model was trained with; {remedy}"
        )
    order = [index for index, name in enumerate(names) if name in used]
    in_order = [names[index] for index in order] == list(wanted)
    for each, what in () if in_order else ((wanted, owner), (names, source)):
        seen: set[str] = set()
        for name in each:
            if name in seen and name in used:
                raise InputError(
                    f"{what} has several features named {quoted(name)}, so columns cannot be "
                    "matched by name; give each feature a name of its own"
                )
            seen.add(name)
    surplus = tuple(name or "(no name)" for name in names if name not in used)
    text = f"columns that {owner} does not use were ignored: {listed(surplus)}"
    notices = (Notice("surplus", text, columns=surplus),) if surplus else ()
    return order if in_order else [place[name] for name in wanted], notices


def sample_names(channels: Sequence[str], window: int) -> tuple[str, ...]:
    """Return the names of a window's samples, such as ``ax[0]``, sample by sample."""
    return tuple(f"{name}[{sample}]" for sample in range(window) for name in channels)


def channel_names(names: Sequence[str], channels: int) -> tuple[str, ...]:
    """Return the channels' names from the names that `sample_names` gave features, or none."""
    first = names[:channels]
    channel = tuple(name.removesuffix("[0]") for name in first)
    if len(channel) != channels or not all(name.endswith("[0]") for name in first):
        return ()
    made = sample_names(channel, len(names) // channels)
    return channel if made == tuple(names) else ()
