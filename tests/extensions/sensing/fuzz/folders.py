"""Folders of tables and recordings: labels, groups and parts equal those of a plain reading.

Each case writes files of one kind: parts of a data set, a table for each person, a folder for each
person, a file for each class, intervals of labels beside recordings, or normal rows alone. The
package must read the classes, the parts and the groups that were written, or ask for the column of
labels in one sentence whose option leads there.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from laws.fuzz.mutation import pick

from protonn_edge.data.options import TableOptions, options_of_texts
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import with_own_groups
from protonn_edge.extensions.sensing.recordings.recorded import Recording, read_recording
from protonn_edge.system.errors import InputError

BRIEF_CASES = 36

_LABELS = (
    *("gesture", "state", "activity_label", "Klasse", "Zustand", "Geste", "estado", "étiquette"),
    *("geste", "tila", "жест", "состояние", "動作", "状态", "상태", "κατάσταση", "movement type"),
    *("label", "target", "y", "kind", "Aktivität", "durum", "trạng thái", "qwx"),
)
_CLASSES = (
    ("walk", "sit", "lie"),
    ("gehen", "sitzen", "liegen", "rennen"),
    ("ходьба", "покой"),
    ("歩く", "座る", "走る"),
    ("up", "down", "left", "right"),
    ("slow walk", "fast walk"),
)
_CODES = (("0", "1"), ("1", "2", "3"), ("-1", "1"), ("10", "20", "30", "40"))
_CHANNELS = ("ax", "ay", "az", "Temp (C)", "x", "напряжение", "加速度")
_PERSONS = (("anna", "ben", "cleo"), ("p1", "p2", "p3", "p4"), ("subject_01", "subject_02"))
_NUMBERED = (("s1", "s2", "s3"), ("P-01", "P-02"), ("Person 1", "Person 2", "Person 3"))
_PARTS = (
    ("train", "test"),
    ("training", "testing"),
    ("Beats_TRAIN", "Beats_TEST"),
    ("train_data", "test_data"),
    ("har-train", "har-test"),
    ("train", "val"),
    ("X_train", "X_valid"),
    ("TRAIN", "TEST"),
)
_FOLDS = (("fold1", "fold2", "fold3"), ("fold_1", "fold_2"), ("cv1", "cv2", "cv3"))


def run_case(seed: int, folder: Path) -> None:
    """Read one folder."""
    rng = np.random.default_rng(seed)
    _LAWS[seed % len(_LAWS)](rng, folder)


# --- what is written ------------------------------------------------------------------------------


@dataclass
class _Form:
    """How all tables of a folder are written."""

    delimiter: str
    suffix: str
    header: list[str]
    place: int  # of the label
    has_header: bool
    files: list[Path] = field(default_factory=list)

    @classmethod
    def drawn(cls, rng: np.random.Generator, *, has_header: bool | None = None) -> _Form:
        suffix, delimiter = pick(
            rng, ((".csv", ","), (".csv", ";"), (".tsv", "\t"), (".csv", "\t"))
        )
        count = int(rng.integers(2, 5))
        header = [str(name) for name in rng.permutation(_CHANNELS)[:count]]
        place = int(pick(rng, (0, count, int(rng.integers(count + 1)))))
        header.insert(place, str(pick(rng, _LABELS)))
        if has_header is None:
            has_header = bool(rng.random() < 0.75)
        return cls(delimiter, suffix, header, place, has_header)

    @property
    def label(self) -> str:
        return self.header[self.place]

    def write(self, rng: np.random.Generator, path: Path, labels: Sequence[str] | int) -> None:
        """Write a table; without labels, it has only so many rows of channels."""
        path = path.with_name(path.name + self.suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [labels] * labels if isinstance(labels, int) else list(labels)
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=self.delimiter, lineterminator="\n")
            names = list(self.header)
            if isinstance(labels, int):
                del names[self.place]
            if self.has_header:
                writer.writerow(names)
            for label in rows:
                cells = [f"{x:.4f}" for x in rng.normal(0, 3, len(self.header) - 1)]
                if not isinstance(labels, int):
                    cells.insert(self.place, str(label))
                writer.writerow(cells)
        self.files.append(path)

    def labels(self, path: Path) -> list[str]:
        """Return the labels in a file, read by the csv module alone."""
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream, delimiter=self.delimiter))[int(self.has_header) :]
        return [row[self.place] for row in rows]

    def is_in_runs(self, path: Path) -> bool:
        """Whether each label has rows that follow each other."""
        labels = self.labels(path)
        return sum(one != other for one, other in pairwise(labels)) < len({*labels})

    def all_counts(self, files: Sequence[Path]) -> Counter[str]:
        """Return the labels in some files."""
        return Counter(label for path in files for label in self.labels(path))


def _labels(rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(pick(rng, (*_CLASSES, *_CLASSES, *_CODES)))


def _drawn(rng: np.random.Generator, classes: Sequence[str], n: int) -> list[str]:
    """Return labels of rows in random order, or one class after the other; each occurs."""
    labels = [classes[row % len(classes)] for row in range(n)]
    return sorted(labels) if rng.random() < 0.4 else [str(each) for each in rng.permutation(labels)]


# --- what is read ---------------------------------------------------------------------------------


def _read(read: Callable[[TableOptions], Any], form: _Form, *texts: str) -> Any:
    """Read data, following the advice of one sentence that asks for the column of labels."""
    try:
        return read(options_of_texts(texts))
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence, sentence
    advised = re.findall(r"--(label (?:'[^']*'|[^\s,;()]+))", sentence)
    options = ["=".join(shlex.split(text)) for text in dict.fromkeys(advised)]
    mine = {f"label={form.label}", f"label={form.place + 1}"}
    if form.place == 0:
        mine.add("label=first")
    found = [text for text in options if text in mine]
    assert found, f"{sentence} does not offer {sorted(mine)}"
    return read(options_of_texts([*texts, found[0]]))


def _tried(read: Callable[[Path], Any], folder: Path) -> tuple[Any, str]:
    """Return what is read, or the sentence of the refusal."""
    try:
        return read(folder), ""
    except InputError as error:
        return None, str(error)


def _counts(dataset: Dataset) -> tuple[Counter[str], Counter[str]]:
    parts = (dataset.y_train, dataset.y_test)
    return tuple(Counter(dataset.classes[y] for y in part.tolist()) for part in parts)  # type: ignore[return-value]


def _groups(dataset: Dataset, folder: Path) -> set[str]:
    return {*with_own_groups(dataset, folder)[0].group_names}


def _recorded_counts(recording: Recording, rows: np.ndarray | slice = slice(None)) -> Counter[str]:
    dataset = recording.dataset
    return Counter(dataset.classes[y] for y in dataset.y_train[rows].tolist())


# --- laws -----------------------------------------------------------------------------------------


def _parts_are_no_classes(rng: np.random.Generator, folder: Path) -> None:
    form, classes = _Form.drawn(rng), _labels(rng)
    names = pick(rng, (*_PARTS, *_FOLDS))
    nested = rng.random() < 0.4
    for name in names:
        form.write(rng, folder / name / name if nested else folder / name, _drawn(rng, classes, 60))
    dataset = _read(lambda options: load_dataset(folder, options), form)
    tested = [] if names in _FOLDS else form.files[-1:]
    trained = [path for path in form.files if path not in tested]
    expected = form.all_counts(trained), form.all_counts(tested)
    assert _counts(dataset) == expected, f"{_counts(dataset)} instead of {expected}"
    assert not _groups(dataset, folder), "parts are no groups"
    recording = _read(lambda options: read_recording(folder, options), form)
    assert _recorded_counts(recording) == sum(expected, Counter[str]())
    assert _recorded_counts(recording, recording.tested) == expected[1]


def _a_table_a_person(rng: np.random.Generator, folder: Path) -> None:
    form, classes = _Form.drawn(rng, has_header=True), _labels(rng)
    persons = pick(rng, _PERSONS)
    for person in persons:
        form.write(rng, folder / person, _drawn(rng, classes, 60))
    dataset = _read(lambda options: load_dataset(folder, options), form)
    expected = form.all_counts(form.files)
    assert _counts(dataset)[0] == expected, f"{_counts(dataset)} instead of {expected}"
    assert _groups(dataset, folder) == {path.name for path in form.files}
    if not all(map(form.is_in_runs, form.files)):
        return  # such rows are no samples of a recording
    recording = _read(lambda options: read_recording(folder, options), form)
    assert _recorded_counts(recording) == expected
    assert {*(recording.groups or ())} == {path.name for path in form.files}


def _a_folder_a_person(rng: np.random.Generator, folder: Path) -> None:
    form, classes = _Form.drawn(rng), tuple(pick(rng, _CLASSES))
    persons = pick(rng, (*_NUMBERED, *_PERSONS))
    for person in persons:
        for label in classes:
            form.write(rng, folder / person / label, 30)
    expected = Counter({label: 30 * len(persons) for label in classes})
    for read in (load_dataset, read_recording):
        found, refusal = _tried(read, folder)
        if refusal:
            assert "--name '{person}/{class}'" in refusal, refusal
            found = read(folder, options_of_texts(["name={person}/{class}"]))
        else:
            notices = getattr(found, "dataset", found).notices
            assert any(each.kind == "names" and each.warning for each in notices), "no warning"
        if isinstance(found, Dataset):
            assert _counts(found)[0] == expected
            assert _groups(found, folder) == {*persons}
        else:
            assert _recorded_counts(found) == expected
            assert {*(found.groups or ())} == {*persons}


def _a_file_a_class(rng: np.random.Generator, folder: Path) -> None:
    form, classes = _Form.drawn(rng), tuple(pick(rng, _CLASSES))
    inside = bool(rng.random() < 0.5)
    for label in classes:
        for take in range(3 if inside else 1):
            form.write(rng, folder / label / str(take) if inside else folder / label, 30)
    expected = Counter(dict.fromkeys(classes, 90 if inside else 30))
    dataset, recording = load_dataset(folder), read_recording(folder)
    assert _counts(dataset) == (expected, Counter())
    assert _recorded_counts(recording) == expected
    assert len({*(recording.groups or ())}) == (3 * len(classes) if inside else 0)


def _intervals(rng: np.random.Generator, folder: Path) -> None:
    classes = tuple(pick(rng, _CLASSES))
    unit, scale = pick(rng, (("t", 1.0), ("time (s)", 1.0), ("ms", 1e3), ("timestamp_us", 1e6)))
    named, times = pick(
        rng, (("", scale), ("_s", 1.0), ("_ms", 1e3), (" (s)", 1.0), ("_samples", 50))
    )
    order = rng.permutation(3)
    behind = str(pick(rng, ("_labels", "-annotations", ".events", " Marken")))
    suffix, delimiter = pick(rng, ((".csv", ","), (".tsv", "\t"), (".csv", ";"), (".txt", "\t")))
    expected, names = Counter[str](), [f"p{n}" for n in range(1, int(rng.integers(2, 5)))]
    for name in names:
        t = np.arange(1000) / 50
        rows = [f"{scale * x:.10g},{rng.normal():.4f},{rng.normal():.4f}" for x in t.tolist()]
        (folder / f"{name}.csv").write_text(f"{unit},x,y\n" + "\n".join(rows) + "\n")
        ends = np.sort(rng.choice(np.arange(0, 1000, 10), 12, replace=False)) / 50
        lines = [(f"begin{named}", f"end{named}", "was")]
        if rng.random() < 0.3 and named == "":  # as Audacity writes them
            lines, order = [], np.arange(3)
        for begin, end in zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True):
            label = str(pick(rng, classes))
            lines.append((f"{times * begin:.10g}", f"{times * end:.10g}", label))
            expected[label] += int(((t >= begin - 1e-9) & (t < end - 1e-9)).sum())
        with (folder / f"{name}{behind}{suffix}").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
            writer.writerows([line[place] for place in order] for line in lines)
    recording = read_recording(folder)
    assert _recorded_counts(recording) == expected, f"{_recorded_counts(recording)}, {expected}"
    groups = {*(recording.groups or ())}
    assert groups == ({f"{name}.csv" for name in names} if names[1:] else set()), groups


def _normal_rows_alone(rng: np.random.Generator, folder: Path) -> None:
    form = _Form.drawn(rng)
    form.write(rng, folder / "machine", 80)
    dataset = load_dataset(form.files[0], least_classes=1)
    assert _counts(dataset) == (Counter(normal=80), Counter())
    assert dataset.n_features == len(form.header) - 1


_LAWS = (
    _parts_are_no_classes,
    _a_table_a_person,
    _a_folder_a_person,
    _a_file_a_class,
    _intervals,
    _normal_rows_alone,
)
