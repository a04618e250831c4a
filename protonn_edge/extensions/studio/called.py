"""What the names of dropped files say: the class and the person of each, from folders or parts.

A part of names between ``_``, ``-``, points and spaces counts if it recurs: it has from two values
to one for every second file. Parts that divide the files alike are one. Numbers count after words,
and only as whole folders, or where names begin, as in ``7_anna_2`` and ``p01_wave``: others are
those of takes and dates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from protonn_edge.data.roles.part_names import are_parts
from protonn_edge.data.takes.name_pattern import BETWEEN

_GENERIC = re.compile(
    r"(recording|record|rec|aufnahme|audio|sound|untitled|new|neu|data|raw|img|image|bild|"
    r"photo|dsc|pxl|file|test|train|sample|export)?",
    re.IGNORECASE,
)
_NUMBER_OR_DATE = re.compile(r"\(?\d+\)?|\d{4}-?\d\d-?\d\d.*")
_NUMBER = re.compile(r"\D{0,20}\d{1,3}")
_NUMBERED = re.compile(r".*[_\-. ]\d+")
_WITH_DIGITS = re.compile(r"(\D+)\d+")  # but no number in another base
_DEEPEST = 8


@dataclass(frozen=True)
class NamePart:
    """A part of the names of files that divides them."""

    source: str  # ``folder`` or ``name``
    values: tuple[str, ...]  # of each file

    @property
    def names(self) -> list[str]:
        """Its different values, in their order."""
        return list(dict.fromkeys(self.values))

    @property
    def division(self) -> tuple[int, ...]:
        """The number of each file's value, by which parts that say the same are equal."""
        number = {name: at for at, name in enumerate(self.names)}
        return tuple(number[value] for value in self.values)

    def recurs_in(self, other: NamePart) -> bool:
        """Whether one of its values occurs with two values of another part, as a person does."""
        pairs = {*zip(self.values, other.values, strict=True)}
        return len(pairs) > len(self.names)


@dataclass(frozen=True)
class Naming:
    """What the names of files say together."""

    parts: tuple[NamePart, ...]  # the class is the first one
    split: NamePart | None = None  # into training and testing
    single: str = ""  # the class of all, if no part divides them

    @classmethod
    def of(cls, names: Sequence[str]) -> Naming:
        """Return what the names of files with their folders say."""
        paths = [PurePosixPath(name).parts for name in names]
        above, rest = _common(paths)
        folders, stems = _in_folders(rest), [_pieces(path[-1]) for path in rest]
        every = [*folders, *(NamePart("name", each) for each in _columns(stems))]
        split = next((each for each in every if are_parts(each.names)), None)
        useful = dict[tuple[int, ...], NamePart]()
        words = [each for each in every if not _is_of_numbers(each)]
        numbers = _in_numbers(rest, stems)
        for each in [*words, *numbers]:
            if each is not split and _divides(each, len(names)):
                useful.setdefault(each.division, each)
        if not useful and (own := _each_its_own(rest)):
            useful = {own.division: own}
        first = stems[0][0] if len({stem[0] for stem in stems}) == 1 else ""
        single = above if above and len(names) > 1 else _bare(first)
        is_word = not _GENERIC.fullmatch(single) and not _NUMBER_OR_DATE.fullmatch(single)
        return cls(tuple(useful.values()), split, single if is_word and not useful else "")


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, list[tuple[str, ...]]]:
    """Return the last folder that all paths begin with, and the paths below it."""
    skip = 0
    while skip < _DEEPEST and all(
        len(path) > skip + 1 and path[skip] == paths[0][skip] for path in paths
    ):
        skip += 1
    return paths[0][skip - 1] if skip else "", [path[skip:] for path in paths]


def _in_folders(rest: Sequence[tuple[str, ...]]) -> list[NamePart]:
    """Return the folders of each level."""
    found = list[NamePart]()
    for level in range(min(map(len, rest)) - 1):
        values = tuple(path[level] for path in rest)
        if 2 * len({*values}) > len(rest) or all(map(_NUMBERED.fullmatch, values)):
            pieces = _columns([BETWEEN.split(value) for value in values])
            found += [NamePart("folder", each) for each in pieces]  # of folders of single takes
        found.append(NamePart("folder", values))
    return found


def _in_numbers(rest: Sequence[tuple[str, ...]], stems: Sequence[Sequence[str]]) -> list[NamePart]:
    """Return the folders, and then the beginnings of names, that are numbers in all files."""
    levels = zip(*(path[:-1] for path in rest), strict=False)
    begins = tuple(stem[0] if stem[1:] else "" for stem in stems)
    found = [*(NamePart("folder", each) for each in levels), NamePart("name", begins)]
    return [each for each in found if all(map(_NUMBER.fullmatch, each.names))]


def _pieces(name: str) -> list[str]:
    """Return the parts of a name without its ending."""
    return BETWEEN.split(name.rpartition(".")[0] or name)


def _columns(pieces: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    return [tuple(map(_bare, column)) for column in zip(*pieces, strict=False)]


def _bare(text: str) -> str:
    found = _WITH_DIGITS.fullmatch(text)
    return found[1] if found else text


def _divides(part: NamePart, files: int) -> bool:
    few = 1 < len(part.names) <= max(2, files // 2)
    return few and all(part.names)


def _is_of_numbers(part: NamePart) -> bool:
    return all(map(_NUMBER_OR_DATE.fullmatch, part.names))


def _each_its_own(rest: Sequence[tuple[str, ...]]) -> NamePart | None:
    """Return whole names as classes, as in ``rest.csv`` and ``wave.csv``; None if they are none."""
    stems = tuple(path[-1].partition(".")[0] for path in rest)
    are_words = all(len(stem) > 1 and stem.isalpha() for stem in stems)
    if len({*stems}) < max(2, len(rest)) or not are_words or any(map(_GENERIC.fullmatch, stems)):
        return None
    return NamePart("name", stems)
