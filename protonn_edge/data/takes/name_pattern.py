"""Patterns of the names of takes, such as ``{class}_{person}_{take}``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Self

from protonn_edge.data.naming import label_text
from protonn_edge.data.roles.part_names import PartName
from protonn_edge.system.errors import InputError, shortened

_FIELD = re.compile(r"\{(\w+)\}")
BETWEEN = re.compile(r"[_\-. ]")  # between the parts of a name,
_LEAST_PARTS = 2  # of which there are several


@dataclass(frozen=True)
class NamePattern:
    """A pattern of names of takes: text with fields in braces, such as ``class``.

    A field ends at the first occurrence of the text after it. Takes form a group if their fields
    ``person`` are equal or, without this field, all fields other than ``class`` and ``take``. A
    slash separates folders.
    """

    text: str

    @classmethod
    def below_parts(cls, text: str) -> Self:
        """Return a pattern without the name of a part before it, which each part has its own of."""
        first, slash, rest = text.partition("/")
        return cls(rest if slash and PartName.of(first) is not None else text)

    def __post_init__(self) -> None:
        pieces = _FIELD.split(self.text)
        names = pieces[1::2]
        if not names or len(set(names)) < len(names) or not all(pieces[2:-1:2]):
            raise self.refusal("")

    def refusal(self, reason: str) -> InputError:
        """Return the error for a pattern that cannot be used."""
        return InputError(
            f"the pattern of names is {shortened(repr(self.text))}{reason}; give a pattern of "
            "{class} and other fields, each once and with text between the fields, such as "
            "{class}_{person}_{take}"
        )

    def read(self, path: Path) -> tuple[str, str]:
        """Return the class of a take by its path without a suffix, if given, and its group.

        Either may be empty. Raises `InputError` if the name does not match the pattern.
        """
        before, *pieces = _FIELD.split(self.text)
        fields: dict[str, str] = {}
        stem = "/".join(path.parts[-1 - self.text.count("/") :])
        matches, rest = stem.startswith(before), stem[len(before) :]
        for name, behind in zip(pieces[::2], pieces[1::2], strict=True):
            value, there, rest = rest.partition(behind) if behind else (rest, "", "")
            matches = matches and value != "" and there == behind
            fields[name] = value
        if not matches or rest:
            raise InputError(
                f"{path} does not match the pattern {shortened(repr(self.text))}; rename it, or "
                "move it out of the folder"
            )
        label = fields.pop("class", "")
        fields.pop("take", None)
        return label_text(label), fields.get("person") or "_".join(fields.values())

    @classmethod
    def guessed(cls, names: Sequence[str]) -> Self | None:
        """Guess the pattern of takes' names that contain the class; None if there is none.

        The class is the first part of all names that recurs, of words or else of numbers.
        """
        parts = [BETWEEN.split(name) for name in names]
        between = {tuple(BETWEEN.findall(name)) for name in names}
        if len(between) > 1:  # parts behind the second one may differ
            parts = [BETWEEN.split(name, maxsplit=2) for name in names]
            between = {each[:2] for each in between}
        columns = [{*each} for each in zip(*parts, strict=False)]
        if len(between) > 1 or len(columns) < _LEAST_PARTS or not all(map(all, parts)):
            return None
        few = [n for n, each in enumerate(columns) if 1 < len(each) <= len(names) / 2]
        words = [n for n in few if not all(map(str.isdecimal, columns[n]))]
        if not few and len(columns[0]) > 1:
            return None
        place = (words or few or [0])[0]
        after, last = len(columns) - place - 1, len(columns) - 1
        beside = {0: 1, 1: 0}.get(place) if after + place > 1 else None
        fields = [f"{{{chr(ord('a') + n)}}}" for n in range(len(columns))]
        fields[last if after else 0] = "{take}"
        fields[place] = "{class}"
        if beside is not None:
            fields[beside] = "{person}"
        return cls("".join(chain(*zip(fields, (*between.pop(), ""), strict=True))))
