"""Folders of takes: which files are read, and the class, person and session of each.

A take is a file or, as telephones write them, a folder with a file of each sensor. Its class is its
name up to the first dot, as in Edge Impulse's ``circle.1.csv``, or the name of its folder if each
class has one. A pattern such as ``{class}_{person}_{take}`` reads the class from a part of the
name; without ``{class}``, the folder's name is the class. Folders and files called ``training``,
``testing``, ``validation`` or ``fold1``, or alike, divide the takes, and name no class.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from protonn_edge.data.naming import label_text, listed
from protonn_edge.data.points.dataset import Table
from protonn_edge.data.points.instruments import sensor_files
from protonn_edge.data.roles.part_names import (
    FOLD,
    TRAINING,
    PartName,
    are_parts,
    kind_for_testing,
    names_of_parts,
)
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.takes.name_pattern import NamePattern
from protonn_edge.system.errors import InputError, beyond, cannot_read, lacking

WAVES = (".wav",)
ACQUISITIONS = (".json", ".cbor")
TABLES = (".csv", ".tsv")
SAMPLES = (*TABLES, *WAVES, *ACQUISITIONS)
_MOST_TAKES = 100_000
_NEARLY_ALL = 0.75  # share of folders that have a file of each name
_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Take:
    """The files of samples of one class, one for each sensor, and their name below the folder."""

    files: tuple[Path, ...]
    stem: Path  # the file without its suffix, or the folder of several files
    name: str
    label: str  # empty if its name is that of a part of the data
    tested: bool
    group: str | None = None  # what takes of its group share; None if it is a group of its own
    labels_file: Path | None = None  # the file with intervals of labels beside it

    @property
    def path(self) -> Path:
        """Its first file."""
        return self.files[0]

    @property
    def is_of_person(self) -> bool:
        """Whether its folder is called like a person, and its file like a class."""
        folder = self.stem.parent.name
        return not self.is_folder and self.group == folder and self.label != label_text(folder)

    @property
    def is_folder(self) -> bool:
        """Whether it has a folder of its own."""
        return self.path.parent == self.stem


def label_of(path: Path) -> str:
    """Return the class of a file by its name alone."""
    return label_text(path.name.split(".", 1)[0])


def takes_in(
    folder: Path,
    names: str | None = None,
    suffixes: Sequence[str] = SAMPLES,
    *,
    labelled: bool = False,
    files: Sequence[str] = (),
) -> list[Take]:
    """Return the takes of a folder, ordered by name, with numbers in numeric order.

    - `names`: the text of a `NamePattern`, if any
    - `suffixes`: those of the files
    - `labelled`: whether files state the classes of their samples, so names need not
    - `files`: the names of the files of a take, if each take has a folder
    """
    pattern = None if names is None else NamePattern.below_parts(names)
    parts = _parts_of(folder, suffixes)
    takes = [
        take
        for part, is_tested in parts
        for take in _Part(part, folder, suffixes, is_tested, tuple(files), pattern).takes()
    ]
    if not takes and any(_zipped(folder)):
        packed = listed(path.name for path in _zipped(folder))
        raise InputError(f"{folder} has only packed files ({packed}); unpack each .zip first")
    if not takes and files:
        raise InputError(
            f"no folder in {folder} has the files {listed(files)}; give "
            "--files NAMES with the names of files that each take has"
        )
    if not takes:
        raise lacking(
            folder,
            "samples",
            f"give each class a file or a folder of files that end in {' or '.join(suffixes)}",
        )
    if len(takes) > _MOST_TAKES:
        raise beyond(folder, f"{len(takes):,} files", _MOST_TAKES, "use fewer files")
    roots = [part for part, _ in parts]
    if {*TABLES} <= {*suffixes}:
        takes = _with_labels_files(takes)
    if pattern is None:
        return _by_persons(_divided(takes, roots)) if {*TABLES} <= {*suffixes} else takes
    if "{class}" in pattern.text and "/" not in pattern.text:
        takes = called_after_folders(takes, roots)
    alone = next((take for take in takes if take.stem.parent in roots), None)
    classless = not labelled and "{class}" not in pattern.text
    above, slash, _ = pattern.text.rpartition("/")
    unread = "{class}" in above or (slash and folder in roots)
    if alone is not None and (classless or unread):
        raise pattern.refusal(f", but {alone.name} is not in a folder of its class")
    named = [(take, *pattern.read(take.stem)) for take in takes]
    return [
        replace(take, label=label or take.label, group=group or None)
        for take, label, group in named
    ]


def _divided(takes: Sequence[Take], roots: Sequence[Path]) -> list[Take]:
    """Return takes by the parts that their own names are those of, as ``train.csv`` is.

    What is left of a name is a class only if each part has the same ones.
    """
    names = [None if take.is_folder else PartName.of(take.stem.name) for take in takes]
    if not names_of_parts(names):
        return list(takes)
    tested = kind_for_testing({name.kind for name in names})
    rests = [{each.rest for each in names if (each.kind == tested) == part} for part in (1, 0)]
    words = {_NUMBER.sub("", rest).strip("_-. ") for rest in rests[1]}
    are_classes = len(rests[1]) > 1 and rests[0] <= rests[1] and words != {""}
    divided = []
    for take, name in zip(takes, names, strict=True):
        is_flat = take.stem.parent in roots
        label = label_text(name.rest) if are_classes else ""
        above = "" if is_flat else take.stem.parent.name
        divided.append(
            replace(
                take,
                label=label if is_flat else take.label,
                tested=take.tested or name.kind == tested,
                group="/".join(filter(None, (above, name.rest))),
            )
        )
    return divided


def called_after_folders(takes: Sequence[Take], roots: Sequence[Path] = ()) -> list[Take]:
    """Return takes under the names of their folders, if each has one with a file called alike.

    Telephones pack the only file of a take, such as ``Raw Data.csv``, into a folder for each take.
    """
    folders = [take.stem.parent for take in takes]
    apart = len(set(folders)) == len(takes) > 1 and not set(folders) & set(roots)
    if not apart or len({take.path.name for take in takes}) > 1:
        return list(takes)
    return [
        take if take.is_folder else replace(take, stem=folder)
        for take, folder in zip(takes, folders, strict=True)
    ]


def _zipped(folder: Path) -> Iterator[Path]:
    """Yield packed files in a folder and in the folders in it."""
    every = (*folder.glob("*"), *folder.glob("*/*"))
    return (path for path in every if path.suffix.lower() == ".zip")


def _parts_of(folder: Path, suffixes: Sequence[str]) -> list[tuple[Path, bool]]:
    """Return the folders of the parts of a data set, if it has parts, and which are for testing.

    A part for validation is for testing if there is no other. Folders without classes in a part
    for testing, beside a part that has some, are left out.
    """
    files, folders = _entries(folder, suffixes)
    names = {each: PartName.of(each.name) for each in folders}
    kinds = {each: name.kind for each, name in names.items() if name and not name.rest}
    if not kinds and names and names_of_parts(every := [*names.values()]):
        kinds = {each: name.kind for each, name in zip(names, every, strict=True)}
    if files or not kinds:
        return [(folder, False)]
    are_trained = not {TRAINING, FOLD}.isdisjoint(kinds.values())
    others = [each.name for each in folders if each not in kinds]
    named = [{label_of(path) for path in _entries(each, suffixes)[0]} for each in folders]
    words = len(named[0]) > 1 and not any(map(_NUMBER.search, named[0]))
    alike = words and all(each == named[0] for each in named)
    if not alike and len(kinds) == 1 and (others or not are_trained):
        return [(folder, False)]
    called = f"folders called like parts of a data set ({listed(each.name for each in kinds)})"
    if others:
        raise InputError(
            f"{folder} has {called} and others ({listed(others)}); move the others out, or rename "
            "the folders of parts if these are classes"
        )
    if not are_trained:
        raise InputError(
            f"{folder} has {called}, but none for training; call one of them 'train', or rename "
            "all if these are classes"
        )
    tested = kind_for_testing(kinds.values())
    of_classes = [each for each in kinds if _entries(each, suffixes)[1]]
    kept = [each for each in folders if each in of_classes or not of_classes]
    return [(each, kinds[each] == tested) for each in kept]


@dataclass(frozen=True)
class _Part:
    folder: Path
    root: Path
    suffixes: Sequence[str]
    is_tested: bool
    wanted: tuple[str, ...]
    pattern: NamePattern | None

    def takes(self) -> Iterator[Take]:
        files, folders = _entries(self.folder, self.suffixes)
        if files and not self.wanted and folders:
            raise InputError(
                f"{self.folder} has files, such as {files[0].name!r}, and folders, such as "
                f"{folders[0].name!r}; give only files or only folders, one for each class"
            )
        if not self.wanted:
            yield from (self.take([path], path.with_suffix(""), label_of(path)) for path in files)
        for each in folders:
            label = label_text(each.name)
            inside, deeper = _entries(each, self.suffixes)
            if self.chosen(inside):
                yield self.take(self.chosen(inside), each, label)
            elif deeper and not inside:
                yield from self.deeper(deeper, label)
            elif not self.wanted:
                yield from (self.take([path], path.with_suffix(""), label) for path in inside)

    def deeper(self, folders: Sequence[Path], label: str) -> Iterator[Take]:
        """Yield the takes of a class with a folder for each."""
        for each in folders:
            inside, _ = _entries(each, self.suffixes)
            files = self.chosen(inside) or ([] if self.wanted else inside)
            if len(files) > 1 and not self.wanted:
                if self.pattern is None or "/" not in self.pattern.text:
                    raise ambiguous(files)
                yield from (self.take([path], path.with_suffix(""), label) for path in files)
            elif files:
                yield self.take(files, each, label)

    def chosen(self, files: Sequence[Path]) -> list[Path]:
        """Return the wanted files in their order, if all are among some files."""
        by_name = {path.name: path for path in files} | {path.stem: path for path in files}
        found = [by_name[name] for name in self.wanted if name in by_name]
        return found if len(found) == len(self.wanted) else []

    def take(self, files: Sequence[Path], stem: Path, label: str) -> Take:
        name = (files[0] if len(files) == 1 else stem).relative_to(self.root).as_posix()
        return Take(tuple(files), stem, name, label, self.is_tested)


def _by_persons(takes: Sequence[Take]) -> list[Take]:
    """Return takes by persons if folders differ by a number and have files of the same names.

    The names of such files are classes.
    """
    folders = {take.stem.parent.name for take in takes}
    numbered = all(map(_NUMBER.search, folders)) and len({_word(each) for each in folders}) == 1
    if not numbered or not recurring_words(takes):
        return list(takes)
    return [
        replace(take, label=_word(take.stem.name), group=take.stem.parent.name) for take in takes
    ]


def _word(name: str) -> str:
    """Return a name without its numbers."""
    return label_text(_NUMBER.sub("", name).strip("_-. ()"))


def recurring_words(takes: Sequence[Take]) -> list[str]:
    """Return the words by which files are called that are in all folders, or nearly so.

    They may be sensors, persons or classes; single letters number takes.
    """
    if any(take.is_folder or take.label != label_text(take.stem.parent.name) for take in takes):
        return []
    if are_parts(take.stem.name for take in takes):
        return []
    pairs = {(take.stem.parent, _word(take.stem.name)) for take in takes}
    counts = Counter(word for _, word in pairs)
    n_folders = len({folder for folder, _ in pairs})
    are_words = all(len(word) > 1 or not word.isascii() for word in counts) and "" not in counts
    recur = len(counts) > 1 and min(counts.values()) > 1
    if not are_words or not recur or len(pairs) < _NEARLY_ALL * n_folders * len(counts):
        return []
    return sorted(counts)


def refuse_recurring(folder: Path, takes: Sequence[Take], *, recorded: bool) -> None:
    """Refuse folders that all have files of the same names, of which none has a number.

    - `recorded`: whether several files may be of a take
    """
    words = recurring_words(takes)
    if not words or any(_NUMBER.search(take.stem.name) for take in takes):
        return
    folders = dict.fromkeys(take.stem.parent.name for take in takes)
    files = sorted({take.path.name for take in takes})
    sensors = ",".join(Path(name).stem for name in files[:2])
    sensors = f"if files are from sensors of the same take, choose with --files '{sensors}', and "
    raise InputError(
        f"{folder} has the files {listed(files)} in each of its folders ({listed(folders)}); "
        f"{sensors * recorded}if the folders are persons and the files classes, give "
        "--name '{person}/{class}'; if the folders are classes, give --name '{class}/{take}'"
    )


def ambiguous(files: Sequence[Path]) -> InputError:
    """Return the error for files of a folder that may be takes, or sensors of one take."""
    chosen = ",".join(path.stem for path in files[:2])
    return InputError(
        f"{files[0].parent} has the files {listed(path.name for path in files)}; if each is from a "
        f"sensor of the same take, choose with --files '{chosen}', and if each is a take of "
        "its own, give --name '{class}/{person}/{take}' or, if the upper folders are persons, "
        "--name '{person}/{class}/{take}'"
    )


def _with_labels_files(takes: Sequence[Take]) -> list[Take]:
    """Return takes with the files beside them that have intervals of their labels."""
    found: dict[Path, Path] = {}
    for folder in dict.fromkeys(take.path.parent for take in takes):
        found |= _labels_files(sorted(folder.iterdir(), key=order))
    return [replace(take, labels_file=found.get(take.path)) for take in takes]


def _labels_files(paths: Sequence[Path]) -> dict[Path, Path]:
    """Return the files in a folder that label others, by these: extensions know such files."""
    return {key: path for each in sensor_files() for key, path in each.labels_files(paths).items()}


def _entries(folder: Path, suffixes: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Return the sample files and the subfolders of a folder."""
    try:
        entries = sorted(folder.iterdir(), key=order)
    except OSError as error:
        raise cannot_read(folder, error) from error
    visible = shown(entries)
    files = [path for path in visible if path.suffix.lower() in suffixes]
    of_labels = set(_labels_files(files).values())
    files = [path for path in files if path not in of_labels]
    return files, [path for path in visible if path.is_dir() and path not in files]


def are_named_after_files(table: Table, takes: Sequence[Take]) -> bool:
    """Return whether the labels of samples or points are the classes of their files."""
    return {*table.labels.used} <= {take.label for take in takes}


def groups_of(table: Table, takes: Sequence[Take], *, labelled: bool) -> Coded | None:
    """Return the person, session or take of each row of a table; None if there is one of a class.

    - `labelled`: whether files state the classes of their rows, or takes are of numbers.
    """
    own = [take.group if take.group is not None else take.name for take in takes]
    of_each = Counter(take.label for take in takes)
    pairs = {(take.label, group) for take, group in zip(takes, own, strict=True)}
    are_classes = min(of_each.values()) == 1 or len({*own}) == len(pairs) == len(of_each)
    if not labelled and not table.sessions and are_classes:
        return None
    assert table.file_of is not None
    if table.sessions is None:
        counts = np.bincount(table.file_of, minlength=len(takes)).tolist()
        return Coded.repeated(zip(own, counts, strict=True)) if len({*own}) > 1 else None
    sessions = zip(table.sessions, table.file_of.tolist(), strict=True)
    # rows without a session form a separate group
    return Coded.of(text or own[take] for text, take in sessions)


def shown(paths: Iterable[Path]) -> list[Path]:
    """Return the paths that are not hidden."""
    return [path for path in paths if not path.name.startswith((".", "_", "~$"))]


def order(path: Path) -> list[tuple[int, str]]:
    """Return the sort key of a path, by which 2 comes before 10."""
    parts = _NUMBER.split(path.name.lower())
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]
