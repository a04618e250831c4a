"""Warnings about takes whose names would say more with a pattern of names, or say another class."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from protonn_edge.data.naming import Notice, label_text, listed
from protonn_edge.data.roles.part_names import are_parts
from protonn_edge.data.takes.name_pattern import BETWEEN, NamePattern
from protonn_edge.data.takes.takes import Take, called_after_folders
from protonn_edge.system.errors import InputError, counted

_FEW_TAKES = 4
_ALONE = "has its own class"
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d[T_ -]?(?:\d\d[-.:]?\d\d(?:[-.:]?\d\d)?[_ -]?)?(?=\D)")
_COPY = re.compile(r"(?: ?\(\d+\)| - Copy| copy(?: \d+)?)+$")  # as computers number files


def unsaid_names(takes: Sequence[Take], *, labelled: bool) -> Iterator[Notice]:
    """Yield warnings if a pattern of names would probably give other classes or groups.

    Raises `InputError` if the parts of a data set have no class in common without it.

    - `labelled`: whether files state the classes of their samples
    """
    classes = {take.label for take in takes}
    yield from _about_other_classes(takes, classes)
    if not labelled and all(take.is_of_person for take in takes):
        persons = dict.fromkeys(take.stem.parent.name for take in takes)
        text = (
            f"the folders {listed(persons)} count as persons, and their files are named after "
            "classes; if the folders are the classes, give --name '{class}/{take}'"
        )
        yield Notice("names", text, warning=True)
        return
    takes = takes if labelled else called_after_folders(takes)
    stems = [BETWEEN.split(take.stem.name, maxsplit=1) for take in takes]
    firsts, folders = {stem[0] for stem in stems}, [take.stem.parent.name for take in takes]
    of_firsts = {(stem[0], take.label) for stem, take in zip(stems, takes, strict=True)}
    guess = NamePattern.guessed([take.stem.name for take in takes])
    between = takes[0].stem.name[len(stems[0][0]) :][:1] or "_"
    are = "counts as a group"
    each_alone = _each_alone(takes, classes)
    if labelled:
        if any(take.group is not None for take in takes):
            return
        if folders[0] != folders[-1] and not are_parts(folders):
            between = "/"
        elif any(len(stem) < 2 for stem in stems):
            return  # such names have no part for a person
        case, name = "several are from the same person", f"{{person}}{between}{{take}}"
    elif each_alone and len(classes) >= _FEW_TAKES and guess is not None:
        are, name = _ALONE, guess.text
        own = takes[0].stem if takes[0].is_folder else takes[0].path
        case = f"{own.name} belongs to class {guess.read(takes[0].stem)[0]}"
    elif each_alone and (alike := _copies(classes)):
        text = (
            f"each of the {counted(len(takes), 'file')} has its own class, but some are probably "
            f"takes of the same one ({listed(alike)}); put the files of each class into a folder"
        )
        yield Notice("names", text, warning=True)
        return
    elif (
        all(len(stem) == 2 for stem in stems)
        and 1 < len(firsts) <= len(takes) / 4
        and not firsts <= classes
        and 2 * len(firsts) <= len(of_firsts) <= len(takes) / 2
    ):
        case, name = f"{listed(sorted(firsts))} are persons", f"{{person}}{between}{{take}}"
    else:
        return
    text = f"each of the {counted(len(takes), 'file')} {are}; if {case}, give --name '{name}'"
    if are == _ALONE:
        _refuse_apart(takes, text)
    yield Notice("names", text, warning=True)


def _refuse_apart(takes: Sequence[Take], text: str) -> None:
    """Refuse parts of a data set that have no class in common, for a reason in a text."""
    trained, tested = ({take.label for take in takes if take.tested == part} for part in (0, 1))
    if tested and tested.isdisjoint(trained):
        raise InputError(f"no class is in both parts, because {text}")


def _each_alone(takes: Sequence[Take], classes: Collection[str]) -> bool:
    """Whether each file, or each file of a part of a data set, has a class of its own."""
    pairs = {(take.label, take.stem.parent) for take in takes}
    are_of_parts = are_parts({take.stem.parent.name for take in takes})
    return len(takes) == (len(pairs) if are_of_parts else len(classes))


def _about_other_classes(takes: Sequence[Take], classes: Collection[str]) -> Iterator[Notice]:
    """Yield a warning about takes in the folder of a class that begin with another class's name."""
    words = {label for label in classes if not label.isdigit()}  # takes may be numbered
    odd = [
        take
        for take in takes
        if BETWEEN.split(take.stem.name, maxsplit=1)[0] in words - {take.label}
        and take.label == label_text(take.stem.parent.name)
    ]
    if odd:
        text = (
            f"takes are called after another class than that of their folder: "
            f"{listed(take.name for take in odd)}; move them, or rename them"
        )
        yield Notice("names", text, warning=True)


def _copies(classes: Iterable[str]) -> list[str]:
    """Return some names that differ only in a leading date, or in the number of a copy."""
    alike: dict[str, list[str]] = {}
    for name in sorted(classes):
        date = _DATE.match(name)
        bare = _COPY.sub("", name[date.end() :] if date is not None else name)
        alike.setdefault(bare, []).append(name)
    return next((names for names in alike.values() if len(names) > 1), [])
