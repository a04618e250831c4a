"""Names from data: the name of a label, and which names are accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from protonn_edge.errors import InputError

NAME_LIMIT = 100

NO_CLASS = 255
"""The label of a point of none of a model's classes, and the correct answer for it."""

_WHOLE_NUMBER = re.compile(r"\+?(-?(?:0|[1-9]\d{0,17}))(?:\.0*)?")


def label_text(label: str) -> str:
    """Return the name of a class: "1" for 1, 1.0 and +1, other text without blanks around it."""
    text = label.strip()
    whole = _WHOLE_NUMBER.fullmatch(text)
    return str(int(whole.group(1))) if whole else text


def in_order(labels: set[str]) -> tuple[str, ...]:
    """Return labels sorted, as numbers if all of them are whole numbers and as text otherwise."""
    if all(_WHOLE_NUMBER.fullmatch(label) for label in labels):
        return tuple(sorted(labels, key=int))
    return tuple(sorted(labels))


def check_names(names: Sequence[object], what: str, *, distinct: bool) -> None:
    """Refuse names that are not printable text of 1 to `NAME_LIMIT` characters.

    `what`, the file, the array or the part with the names, is the subject of the message; names may
    be required to be `distinct`.
    """
    for name in names:
        if (
            not isinstance(name, str)
            or not name
            or not name.isprintable()
            or len(name) > NAME_LIMIT
        ):
            raise InputError(
                f"{what} has the name {str(name)[:40]!r}; a name is printable text of 1 to "
                f"{NAME_LIMIT} characters"
            )
    if distinct and len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{what} has the name {twice!r} twice; names must differ")
