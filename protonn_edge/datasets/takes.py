"""Folders of takes: which files are read, and the class, person and session of each.

A take's class is its file's name up to the first dot, as in Edge Impulse's ``circle.1.csv``, or the
name of its folder if each class has one. A pattern such as ``{class}_{person}_{take}`` reads the
class from a part of the file's name; without ``{class}``, the folder's name is the class. Folders
``training`` and ``testing`` divide the takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from protonn_edge.datasets.naming import Notice, label_text, listed
from protonn_edge.errors import InputError, shortened

WAVES = (".wav",)
SAMPLES = (".csv", ".tsv", *WAVES)
_MOST_TAKES = 100_000
_PARTS = {"training": False, "train": False, "testing": True, "test": True}
_NUMBER = re.compile(r"(\d+)")
_FIELD = re.compile(r"\{(\w+)\}")
_BETWEEN = re.compile(r"[_\-. ]")  # between the parts of a name
_FEW_TAKES = 4


@dataclass(frozen=True)
class NamePattern:
    """A pattern of file names: text with fields in braces, such as ``class``.

    A field ends at the first occurrence of the text after it. Takes form a group if their fields
    ``person`` are equal or, without this field, all fields other than ``class`` and ``take``.
    """

    text: str

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
        """Return the class of a file by its name, if given, and its group; or empty texts.

        Raises `InputError` if the name does not match the pattern.
        """
        before, *pieces = _FIELD.split(self.text)
        fields: dict[str, str] = {}
        stem = "/".join(path.with_suffix("").parts[-1 - self.text.count("/") :])
        matches, rest = stem.startswith(before), stem[len(before) :]
        for name, behind in zip(pieces[::2], pieces[1::2], strict=True):
            value, there, rest = rest.partition(behind) if behind else (rest, "", "")
            matches = matches and value != "" and there == behind
            fields[name] = value
        if not matches or rest:
            raise InputError(
                f"{path} does not match the pattern {shortened(repr(self.text))}; rename the file, "
                "or move it out of the folder"
            )
        label = fields.pop("class", "")
        fields.pop("take", None)
        return label_text(label), fields.get("person") or "_".join(fields.values())

    @classmethod
    def guessed(cls, takes: Sequence[Take]) -> Self | None:
        """Guess the pattern of names that contain the class; None if there is none."""
        parts = [_BETWEEN.split(take.path.stem) for take in takes]
        if {len(each) for each in parts} not in ({2}, {3}):
            return None
        if 2 * len({each[0] for each in parts}) > len(takes):
            return None
        between = {tuple(_BETWEEN.findall(take.path.stem)) for take in takes}
        if len(between) > 1 or not all(map(all, parts)):
            return None
        names = ("{person}", "{take}") if len(parts[0]) > 2 else ("{take}",)
        texts = zip(between.pop(), names, strict=True)
        return cls("".join(["{class}", *(piece for pair in texts for piece in pair)]))


@dataclass(frozen=True)
class Take:
    """A file of samples of one class, with its path below the folder."""

    path: Path
    name: str
    label: str
    tested: bool
    group: str = ""  # the fields that takes of its group share


def label_of(path: Path) -> str:
    """Return the class of a file by its name alone."""
    return label_text(path.name.split(".", 1)[0])


def takes_in(
    folder: Path,
    names: str | None = None,
    suffixes: Sequence[str] = SAMPLES,
    *,
    labelled: bool = False,
) -> list[Take]:
    """Return the takes of a folder, ordered by name, with numbers in numeric order.

    - `names`: the text of a `NamePattern`, if any
    - `suffixes`: those of the files
    - `labelled`: whether files state the classes of their samples, so names need not
    """
    pattern = None if names is None else NamePattern(names)
    files, folders = _entries(folder, suffixes)
    divided = folders and {each.name.lower() for each in folders} <= set(_PARTS) and not files
    parts = folders if divided else [folder]
    tested = [bool(divided) and _PARTS[part.name.lower()] for part in parts]
    takes = [
        take
        for part, is_tested in zip(parts, tested, strict=True)
        for take in _of_part(part, folder, suffixes, tested=is_tested)
    ]
    if not takes:
        raise InputError(
            f"{folder} has no samples; give each class a file or a folder of files that end in "
            f"{' or '.join(suffixes)}"
        )
    if len(takes) > _MOST_TAKES:
        raise InputError(
            f"{folder} has {len(takes):,} files, but the limit is {_MOST_TAKES:,}; use fewer files"
        )
    if pattern is None:
        return takes
    alone = next((take for take in takes if take.path.parent in parts), None)
    classless = not labelled and "{class}" not in pattern.text
    if alone is not None and (classless or "/" in pattern.text):
        raise pattern.refusal(f", but {alone.name} is not in a folder of its class")
    named = [(take, *pattern.read(take.path)) for take in takes]
    return [replace(take, label=label or take.label, group=group) for take, label, group in named]


def unsaid_names(takes: Sequence[Take], *, labelled: bool) -> Iterator[Notice]:
    """Yield warnings if a pattern of names would probably give other classes or groups.

    - `labelled`: whether files state the classes of their samples
    """
    classes = {take.label for take in takes}
    stems = [_BETWEEN.split(take.path.stem, maxsplit=1) for take in takes]
    firsts = {stem[0] for stem in stems}
    of_firsts = {(stem[0], take.label) for stem, take in zip(stems, takes, strict=True)}
    guess = NamePattern.guessed(takes)
    between = takes[0].path.stem[len(stems[0][0]) :][:1] or "_"
    are = "counts as a group"
    if labelled:
        between = "/" if takes[0].path.parent != takes[-1].path.parent else between
        case, name = "several are from the same person", f"{{person}}{between}{{take}}"
    elif len(takes) == len(classes) >= _FEW_TAKES and guess is not None:
        are, name = "has its own class", guess.text
        case = f"{takes[0].path.name} belongs to class {guess.read(takes[0].path)[0]}"
    elif (
        all(len(stem) == 2 for stem in stems)
        and 1 < len(firsts) <= len(takes) / 4
        and 2 * len(firsts) <= len(of_firsts) <= len(takes) / 2
    ):
        case, name = f"{listed(sorted(firsts))} are persons", f"{{person}}{between}{{take}}"
    else:
        return
    text = f"each of the {len(takes):,} files {are}; if {case}, give --name '{name}'"
    yield Notice("names", text, warning=True)


def _of_part(folder: Path, root: Path, suffixes: Sequence[str], *, tested: bool) -> Iterator[Take]:
    files, folders = _entries(folder, suffixes)
    if files and folders:
        raise InputError(
            f"{folder} has files, such as {files[0].name!r}, and folders, such as "
            f"{folders[0].name!r}; give only files or only folders, one for each class"
        )
    for path in files:
        yield Take(path, path.relative_to(root).as_posix(), label_of(path), tested)
    for each in folders:
        inside, deeper = _entries(each, suffixes)
        if deeper:
            raise InputError(
                f"{each} contains folders ({listed(path.name for path in deeper)}), but the folder "
                "of a class may contain only files; move the files out of these folders"
            )
        for path in inside:
            yield Take(path, path.relative_to(root).as_posix(), label_text(each.name), tested)


def _entries(folder: Path, suffixes: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Return the sample files and the subfolders of a folder."""
    try:
        entries = sorted(folder.iterdir(), key=order)
    except OSError as error:
        raise InputError(
            f"cannot read {folder}: {error.strerror}; check its permissions"
        ) from error
    visible = shown(entries)
    files = [path for path in visible if path.suffix.lower() in suffixes]
    return files, [path for path in visible if path.is_dir() and path not in files]


def unread(
    folder: Path,
    takes: Sequence[Take],
    suffixes: Sequence[str] = SAMPLES,
    empty: Sequence[str] = (),
) -> Iterator[Notice]:
    """Yield notices about files of a folder that are not read, or have no samples."""
    read = {take.path for take in takes}
    parents = {parent for path in read for parent in path.parents}
    inside = sorted(parent for parent in parents if parent.is_relative_to(folder))
    entries = sorted((path for parent in inside for path in parent.iterdir()), key=order)
    expected = read | parents
    others = [path for path in shown(entries) if path not in expected]
    names = {path.relative_to(folder).as_posix(): path.is_dir() for path in others}
    if files := [name for name, is_folder in names.items() if not is_folder]:
        which = f"{', '.join(suffixes[:-1])} nor {suffixes[-1]}"
        yield Notice("files", f"files that are neither {which} were not read: {listed(files)}")
    if without := [*(name for name, is_folder in names.items() if is_folder), *empty]:
        text = f"left out because they have no samples: {listed(without)}"
        yield Notice("no_samples", text, warning=True)


def shown(paths: Iterable[Path]) -> list[Path]:
    """Return the paths that are not hidden."""
    return [path for path in paths if not path.name.startswith((".", "_"))]


def order(path: Path) -> list[tuple[int, str]]:
    """Return the sort key of a path, by which 2 comes before 10."""
    parts = _NUMBER.split(path.name.lower())
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]
