"""A sheet as the page shows it, with the files to keep; and files in classes by their names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protonn_edge.extensions.studio.called import NamePart, Naming
from protonn_edge.extensions.studio.dropped import DroppedFile
from protonn_edge.system.errors import counted
from protonn_edge.system.schema import JsonObject

_MOST_CLASSES, _MOST_SHOWN = 6, 5  # that are drawn, and files of each
_LONGEST = 60  # letters of a name
_NAMED = 3  # values of a part of names, in a choice
_ODD = re.compile(r"[^\w .,()+-]|\.\.+")


@dataclass(frozen=True)
class Kept:
    """A file to keep: its name, which begins with its folder, and what it has."""

    name: str
    content: Path | bytes
    number: bool = False  # whether a number follows its name


@dataclass(frozen=True)
class Question:
    """A question, with its options (value, words), and the answer that it has already."""

    name: str
    words: str
    options: Sequence[tuple[str, str]]
    value: str
    then: Question | None = None  # beside it


@dataclass
class Sheet:
    """What is shown of a drop. Without a primary action, nothing of it can be kept."""

    kind: str
    title: str
    lead: str
    primary: str = ""
    classes: list[JsonObject] = field(default_factory=list)
    channels: list[str] = field(default_factory=list)
    preview: JsonObject | None = None  # the first rows of a table
    questions: list[Question] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)  # other ways: (value, words)
    needs: str = ""  # what has to be said first
    chosen: JsonObject = field(default_factory=dict)  # for the page, once it is kept
    facts: JsonObject = field(default_factory=dict)  # rate, channels and units of samples
    kept: list[Kept] = field(default_factory=list)
    unit: str = ""  # what one file is called

    def to_json(self) -> JsonObject:
        """Return what the page shows."""
        hidden = ("kept", "facts")
        shown = {name: value for name, value in vars(self).items() if name not in hidden}
        return {**shown, "questions": [_question(each) for each in self.questions]}


def _question(question: Question) -> JsonObject:
    then = None if question.then is None else _question(question.then)
    return {**vars(question), "then": then}


def grouped(
    kind: str,
    unit: str,
    files: Sequence[DroppedFile],
    picked: Mapping[str, str],
    lead: str,
    drawn: Callable[[DroppedFile], JsonObject],
) -> Sheet:
    """Return the sheet of files that are examples of classes, which their names say."""
    naming = Naming.of([each.name for each in files])
    by, person = _class_and_person(naming, picked)
    single = picked.get("label", naming.single).strip()
    labels = by.values if by else (single,) * len(files)
    persons = person.values if person else ("",) * len(files)
    tested = naming.split.values if naming.split else ("",) * len(files)
    of_class = defaultdict[str, list[int]](list)
    for at, label in enumerate(labels):
        of_class[label].append(at)
    shown = [
        {
            "name": label,
            "n": len(places),
            "shown": [
                {**drawn(files[at]), "who": persons[at]} for at in places[:_MOST_SHOWN]
            ] if number < _MOST_CLASSES else [],
        }
        for number, (label, places) in enumerate(of_class.items())
    ]  # fmt: skip
    people = f", {counted(len(person.names), 'person', 'people')}" if person else ""
    noun = "recording" if kind == "takes" else unit
    classes = "one class" if len(of_class) == 1 else counted(len(of_class), "class", "classes")
    return Sheet(
        kind,
        f"{counted(len(files), noun)}: {classes}{people}",
        lead,
        f"Add {counted(len(files), unit)}",
        shown,
        questions=_about_names(naming, by, person, single),
        notes=[] if naming.split is None else [_about_test(naming.split)],
        needs="" if by or single else "Name the class first: what are these files examples of?",
        unit=unit,
        kept=[
            Kept(_below(kind, *each), each[0].path, number=bool(each[-1]))
            for each in zip(files, tested, labels, persons, strict=True)
        ],
    )


def _about_test(split: NamePart) -> str:
    """Return what the folders of parts are for, with the number of files in each."""
    n = {name: split.values.count(name) for name in split.names}
    listed = ", ".join(f"{name} ({count:,})" for name, count in n.items())
    return f"The folders {listed} stay apart: training never sees what it is tested on."


def _class_and_person(
    naming: Naming, picked: Mapping[str, str]
) -> tuple[NamePart | None, NamePart | None]:
    parts = dict(enumerate(naming.parts))
    by = parts.get(_whole(picked.get("class")), parts.get(0))
    others = [each for each in naming.parts if by and each is not by and each.recurs_in(by)]
    if "person" in picked:
        person = parts.get(_whole(picked["person"]))
        return by, None if person is by else person
    return by, next(iter(others), None)


def _whole(text: str | None) -> int:
    return int(text) if text is not None and re.fullmatch(r"\d{1,3}", text) else -1


def _about_names(
    naming: Naming, by: NamePart | None, person: NamePart | None, single: str
) -> list[Question]:
    """Return the two questions about names, which have answers already."""
    if by is None:
        return [Question("label", "All of these are", [], single)]
    if len(naming.parts) < 2:
        return []
    options = [(str(at), _words(part)) for at, part in enumerate(naming.parts)]
    at = str(naming.parts.index(by))
    who = "" if person is None else str(naming.parts.index(person))
    others = [("", "not in the names"), *(one for one in options if one[0] != at)]
    return [
        Question("class", "The class is", options, at),
        Question("person", "the person is", others, who),
    ]


def _words(part: NamePart) -> str:
    names, more = part.names[:_NAMED], len(part.names) - _NAMED
    where = "the folders" if part.source == "folder" else "in the names"
    return f"{', '.join(names)}{f' and {more} more' if more > 0 else ''} ({where})"


def _below(kind: str, file: DroppedFile, tested: str, label: str, person: str) -> str:
    """Return the folders and the name, without a number, under which a file is kept."""
    who = plain_name(person).replace("-", "_") if person else ""
    own = plain_name(Path(file.base).stem)
    above = [plain_name(tested)] if tested else []
    return "/".join([kind, *above, plain_name(label), f"{who or own}{file.ending}"])


def plain_name(text: Any) -> str:
    """Return a name that every system can have as a file's, and the page can send."""
    plain = _ODD.sub("_", str(text)).strip(" .-_,()+")[:_LONGEST].strip(" .")
    return plain or "unnamed"
