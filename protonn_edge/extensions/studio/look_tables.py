"""The sheet of dropped text: recordings of samples in time, or tables with one example in a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import PurePosixPath

import numpy as np

from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.label_sets import SET_MARK
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.tables import RawTable
from protonn_edge.data.tables.text import TEXT_LIMIT_BYTES
from protonn_edge.data.tables.usual_names import LABEL_NAMES, SENSOR
from protonn_edge.data.takes.recordings import runs_of
from protonn_edge.data.units import split_unit
from protonn_edge.extensions.sensing.recordings.recorded import Recording, read_recording
from protonn_edge.extensions.studio.columns import columns_of, key_of
from protonn_edge.extensions.studio.dropped import WHOLE_BYTES, DroppedFile
from protonn_edge.extensions.studio.folder import version_of
from protonn_edge.extensions.studio.sheet import Kept, Question, Sheet, grouped, plain_name
from protonn_edge.extensions.studio.views import thinned
from protonn_edge.system.errors import InputError, counted
from protonn_edge.system.schema import JsonObject

_SLOWEST_HZ = 5  # samples a second; rarer rows are records, not a movement
_LEAST_RUN = 20  # rows with the same label, on average, of a recording
_MOST_TEXTS = 60  # of a column that is an answer
_PAIRS = 45
_MOST_SHOWN = 5  # takes of a class
_FIRST_ROWS, _LEAST_ROWS = 4, 2
_FEW_CLASSES, _MOST_CLASSES = 12, 64  # of numbers: that are probably, and possibly classes
_PARTS = [
    ("groups", "people, days or machines: test on one it never saw"),
    ("parts", "parts of one table"),
]
_PIPED = 0.05  # of the cells of a column of sets of labels have a pipe
_FEW_FLAGS = 2  # columns of 0 and 1 that are labels if their names begin alike
_FILE = "file"  # the column with the file of each row, of several tables
_OF_APPS = re.compile(
    r"raw data|with(out)? g|(un)?calibrated|.*(acceler|gyroscope|gravity|magnet|orientation|"
    r"barometer|pressure).*|location.*|metadata|annotation|microphone|pedometer|activity|device|"
    r"time|light|battery|compass",
    re.IGNORECASE,
)
"""The files of a recording by an app on a phone, which has one for each sensor."""


def look_at_tables(
    files: Sequence[DroppedFile], picked: Mapping[str, str], left: list[tuple[str, str]]
) -> Sheet:
    """Return the sheet of text with rows and columns; of apps, `left` has less then."""
    beside = [PurePosixPath(name).stem for name, _ in left]
    beside = [stem for stem in beside if _OF_APPS.fullmatch(stem)]
    if sheet := _of_sensors(files, picked, beside):
        left[:] = [one for one in left if PurePosixPath(one[0]).stem not in beside]
        return sheet
    if picked.get("as") != "tables" and (sheet := _as_takes(files, picked)):
        others = [("tables", "Use them as tables" if len(files) > 1 else "Use it as a table")]
        return replace(sheet, others=others)
    single = [each.name for each in files if each.rows < _LEAST_ROWS]
    if len(single) < len(files):
        left += [(name, "has only one row") for name in single]
        files = [each for each in files if each.name not in single]
    sheet = _as_tables(files, picked)
    if len(files) > 1 and sheet.kind == "table" and _as_takes(files, {}):
        sheet.others = [("takes", "Use them as recordings")]
    return sheet


# --- samples in time ------------------------------------------------------------------------------


def _of_sensors(
    files: Sequence[DroppedFile], picked: Mapping[str, str], others: Sequence[str]
) -> Sheet | None:
    """Return the sheet of recordings with a file for each sensor, of which one is used."""
    stems = [PurePosixPath(each.name).stem for each in files]
    are_sensors = all(_OF_APPS.fullmatch(stem) or SENSOR.fullmatch(stem.lower()) for stem in stems)
    if not are_sensors or len({*stems}) < 2:
        return None
    first = dict(zip(reversed(stems), reversed(files), strict=True))
    usable = [stem for stem in dict.fromkeys(stems) if _samples(first[stem]) is not None]
    if not usable:
        return None
    likely = [stem for stem in usable if re.search("accel|raw", stem, re.IGNORECASE)]
    use = picked.get("sensor", "")
    use = use if use in usable else (likely or usable)[0]
    own = [
        replace(file, name=f"{PurePosixPath(file.name).parent}{file.ending}")
        for file, stem in zip(files, stems, strict=True)
        if stem == use
    ]
    sheet = _as_takes(own, picked)
    if sheet is None:
        return None
    rest = [stem for stem in dict.fromkeys([*stems, *others]) if stem != use]
    note = "A take has a file for each sensor, as apps on phones write them. Not used: "
    sheet.notes.append(f"{note}{', '.join(rest)}.")
    ask = Question("sensor", "Use", [(stem, stem) for stem in usable], use)
    sheet.questions = [*[ask] * (len(usable) > 1), *sheet.questions]
    return sheet


def _samples(file: DroppedFile) -> Recording | None:
    """Return the samples of a file without a class, if its rows are samples in time."""
    if file.size > WHOLE_BYTES:
        return None
    try:
        found = read_recording(file.path, TableOptions(labelled="any"))
    except InputError:
        return None
    return found if (found.rate or 0) >= _SLOWEST_HZ and found.channels else None


def _as_takes(files: Sequence[DroppedFile], picked: Mapping[str, str]) -> Sheet | None:
    """Return the sheet of files that are a take each, or of one with takes of several classes."""
    recorded = _samples(files[0])
    like = [each for each in files if _names(each.table) == _names(files[0].table)]
    if recorded is None or 2 * len(like) < len(files):
        return None
    texts = [each for each in files[0].table.columns if _is_answer(each) and each.kind == "text"]
    if texts:
        labels = next(filter(_is_in_runs, texts), None)
        if labels is None or len(files) > 1:
            return None
        return _in_runs(files[0], labels, recorded)
    rate, n = recorded.rate or 1.0, files[0].table.n
    channels = counted(len(recorded.channels), "channel")
    lead = f"Each has {channels}, {rate:,.4g} samples a second, {n / rate:.3g} s."

    def drawn(file: DroppedFile) -> JsonObject:
        return {"curves": _curves(file.table, recorded), "seconds": file.table.n / rate}

    sheet = grouped("takes", "take", like, picked, lead, drawn)
    sheet.left = [
        (each.name, f"has other columns than {like[0].base}") for each in files if each not in like
    ]
    return _with_channels(sheet, recorded)


def _with_channels(sheet: Sheet, recorded: Recording) -> Sheet:
    instrument = recorded.dataset.instrument
    units = [each.text for each in instrument.units] if instrument else []
    named = zip(recorded.channels, units or [""] * len(recorded.channels), strict=False)
    sheet.channels = [f"{name} ({unit})" if unit else name for name, unit in named]
    facts = {"rate": recorded.rate, "channels": [*recorded.channels], "units": units}
    sheet.facts = facts
    return sheet


def _names(table: RawTable) -> list[str]:
    return [each.name for each in table.columns]


def _curves(table: RawTable, recorded: Recording, rows: slice = slice(None)) -> list[list[float]]:
    """Return the channels of some rows, with few points."""
    own = {
        name: each.values
        for each in table.columns
        for name in (each.name, split_unit(each.name)[0])
    }
    found = (own.get(name) for name in recorded.channels)
    values = (each[rows] for each in found if each is not None)
    return [thinned(np.nan_to_num(each), _PAIRS).tolist() for each in values]


def _texts(column: Column) -> list[str]:
    return [] if column.texts is None else [each.strip() for each in column.texts.texts]


def _is_answer(column: Column) -> bool:
    """Whether a column may be an answer: a number, or one of few texts."""
    few = 1 < len({*_texts(column)}) <= _MOST_TEXTS
    return column.kind == "number" or (column.kind == "text" and few)


def _is_in_runs(column: Column) -> bool:
    assert column.texts is not None
    codes = column.texts.codes
    return len(codes) >= _LEAST_RUN * len(runs_of(codes))


def _in_runs(file: DroppedFile, labels: Column, recorded: Recording) -> Sheet:
    """Return the sheet of one recording with a column of classes, a take for each run."""
    assert labels.texts is not None
    rate, texts, runs = recorded.rate or 1.0, _texts(labels), runs_of(labels.texts.codes)
    classes = dict[str, JsonObject]()
    kept, content = list[Kept](), _TakeRows(file, labels.index)
    for first, end in runs:
        name = texts[int(labels.texts.codes[first])]
        if not name:
            continue  # samples of no class
        own = classes.setdefault(name, {"name": name, "n": 0, "shown": []})
        own["n"] += 1
        if own["n"] <= _MOST_SHOWN:
            curves = _curves(file.table, recorded, slice(first, end))
            own["shown"].append({"curves": curves, "seconds": (end - first) / rate})
        stem = plain_name(PurePosixPath(file.name).stem)
        place = f"{stem}/{plain_name(name)}/{plain_name(name)}{file.ending}"
        kept.append(Kept(place, content.part(first, end), number=True))
    takes, seconds = counted(len(kept), "take"), f"{file.table.n / rate:.3g}"
    lead = (
        f"{counted(len(recorded.channels), 'channel')}, {rate:,.4g} samples a second. The classes "
        f"are in the column {labels.name}; a take is a stretch of one class."
    )
    named = counted(len(classes), "class", "classes")
    title = f"One recording of {seconds} s: {named}"
    found = Sheet("takes", title, lead, f"Add {takes}", [*classes.values()], kept=kept, unit="take")
    return _with_channels(found, recorded)


class _TakeRows:
    """The rows of a file without its column of classes, which become the files of takes."""

    def __init__(self, file: DroppedFile, labels: int) -> None:
        opened = file.table.files[0]
        self._mark, self._labels, self._names = opened.delimiter, labels, opened.names
        text = opened.path.read_text("utf-8-sig", errors="replace")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=opened.delimiter)
        of_line = {}
        for row in reader:
            of_line[reader.line_num] = row
        self.rows = [of_line.get(line, []) for line in file.table.lines]

    def part(self, first: int, end: int) -> bytes:
        """Return a table of some rows."""
        written = io.StringIO()
        writer = csv.writer(written, delimiter=self._mark, lineterminator="\n")
        for row in (self._names, *self.rows[first:end]):
            writer.writerow([*row[: self._labels], *row[self._labels + 1 :]])
        return written.getvalue().encode()


# --- one example in each row ----------------------------------------------------------------------


def _as_tables(files: Sequence[DroppedFile], picked: Mapping[str, str]) -> Sheet:
    """Return the sheet of a table, of parts of one, or of several, of which one is used."""
    names = _names(files[0].table)
    small = len(files) == 1 or all(each.size <= WHOLE_BYTES for each in files)
    if small and all(_names(each.table) == names for each in files):
        return _of_table(files, picked)
    at = picked.get("file", "")
    if not (at.isdecimal() and int(at) < len(files)):
        at = str(max(range(len(files)), key=lambda number: files[number].rows))
    chosen = files[int(at)]
    sheet = _of_table([chosen], picked)
    named = [f"{each.base} ({each.rows:,} rows)" for each in files]
    options = [(str(number), words) for number, words in enumerate(named)]
    sheet.title = f"{len(files):,} tables{' with different columns' * small}"
    sheet.lead = f"A model learns from one of them. {sheet.lead}"
    sheet.questions = [Question("file", "Use", options, at), *sheet.questions][:2]
    return sheet


def _of_table(files: Sequence[DroppedFile], picked: Mapping[str, str]) -> Sheet:
    first = files[0]
    rows = sum(each.rows for each in files)
    large = first.size > WHOLE_BYTES
    about = f"about {float(f'{rows:.2g}'):,.0f}" if large else f"{rows:,}"
    columns = len(first.table.columns)
    what = "A table" if len(files) == 1 else f"{len(files):,} tables with the same columns"
    title = f"{what}: {about} rows, {counted(columns, 'column')}"
    lead = "One example in each row."
    if large:
        size = f"{first.size >> 20:,} MB"
        lead = f"{first.base} has {size}. The columns below are of its first rows."
    if first.size > TEXT_LIMIT_BYTES:
        limit = f"Tables of up to {TEXT_LIMIT_BYTES >> 20} MB can be read: save a part of it."
        return Sheet("nothing", f"{first.base} has {size}", limit)
    if rows < _LEAST_ROWS:
        return Sheet("nothing", f"{first.base} has only one row", "A model learns from many rows.")
    found, answer = _judged(first, picked)
    use = "Use this table" if len(files) == 1 else f"Use these {len(files):,} tables"
    parts = picked.get("files", "groups")
    kept = [_kept_table(files, with_names=parts == "groups")]
    rows_of = [[cell[:40] for cell in row] for row in first.table.files[0].first[:_FIRST_ROWS]]
    sheet = Sheet("table", title, lead, use, kept=kept)
    sheet.preview = {"head": _roles(found), "rows": rows_of}
    sheet.questions = _about_answer(found, answer, _sets_in(first.table))
    as_what = next((each.then for each in sheet.questions), None)
    target = found.get("target") or (as_what.value if as_what else None)
    sheet.chosen = {"column": found.get("label") or answer, "target": target}
    if sets := found.get("sets"):
        sheet.chosen = {"labels": sets}
    if found.get("error"):
        sheet.notes.append(str(found["error"]).replace(first.path.name, first.base))
    if len(files) > 1:
        sheet.questions.append(Question("files", "The files are", _PARTS, parts))
        sheet.chosen |= {"session": _FILE} if parts == "groups" else {}
    return sheet


def _sets_in(table: RawTable) -> list[str]:
    """Return the columns of sets of labels: one of texts with pipes, or the last ones of 0 and 1.

    There are at least two of these, whose names begin alike, or three, and no other answer.
    """
    texts = [each for each in table.columns if each.kind == "text" and each.texts is not None]
    for each in texts:
        assert each.texts is not None
        piped = np.array([SET_MARK in text for text in each.texts.texts])[each.texts.codes]
        if piped.mean() >= _PIPED:
            return [key_of(each)]
    answers = [each for each in texts if _is_answer(each)]
    answers += [each for each in table.columns if each.name.lower() in LABEL_NAMES]
    numbers = [each for each in table.columns if each.values is not None]
    columns = [*takewhile(_is_flag, reversed(numbers))]
    alike = len({each.name[:_FEW_FLAGS] for each in columns}) == 1
    if answers or len(columns) < (_FEW_FLAGS if alike else _FEW_FLAGS + 1):
        return []
    ones = sum(each.values for each in columns if each.values is not None)
    is_class = bool(np.all(ones == 1))
    return [] if is_class else [key_of(each) for each in reversed(columns)]


def _is_flag(column: Column) -> bool:
    return column.values is not None and {*np.unique(column.values)} <= {0.0, 1.0}


def _together(sets: Sequence[str]) -> str:
    """Return the name of columns of sets of labels in a request."""
    return f"{len(sets)} columns together" if len(sets) > 1 else "".join(sets)


def _judged(file: DroppedFile, picked: Mapping[str, str]) -> tuple[JsonObject, str]:
    """Return what the reader finds in the columns, and the answer if it does not know that."""
    path = file.table.files[0].path
    sets = _sets_in(file.table)
    chosen = picked.get("column") or _together(sets), picked.get("target") or "labels"
    if sets and chosen == (_together(sets), "labels"):
        found = columns_of(path, version_of(path), {"labels": sets})
        return {**found, "sets": sets, "label": _together(sets)}, ""
    given = {name: picked[name] for name in ("column", "target") if picked.get(name)}
    if len(sets) == 1 and given.get("target"):
        given.setdefault("column", sets[0])
    found = columns_of(path, version_of(path), given)
    if found["asks"] != "column":
        return found, ""
    usual = [each for each in file.table.columns if _is_answer(each)]
    if not usual:
        return found, ""
    answer = usual[-1].name or str(usual[-1].index + 1)
    return columns_of(path, version_of(path), {**given, "column": answer}), answer


def _roles(found: JsonObject) -> list[list[str]]:
    """Return the name of each column, and what it is, unless it is an input."""
    why = {"label": "the answer", "out": "left out", "session": "person or session"}
    said = []
    for each in found["columns"]:
        role = "label" if each["role"] == "label" else each["as"]
        kind = {"date": "a time, ", "text": "text, "}.get(each["kind"], "")
        word = why.get(role, "in doubt" if role == "" else "a time, left out" * (role == "time"))
        said.append([each["name"], f"{kind}{word}" if role == "out" else word])
    return said


def _about_answer(found: JsonObject, answer: str, sets: Sequence[str]) -> list[Question]:
    """Return the question what to predict, and as what."""
    label, in_sets = found.get("label") or answer, bool(found.get("sets"))
    names = [each["key"] for each in found["columns"] if each["kind"] != "date"]
    if not names:
        return []
    classes, together = found.get("classes") or 0, _together(sets)
    options = [(together, ", ".join(sets))] * (len(sets) > 1) + [(name, name) for name in names]
    ways = list[tuple[str, str]]()
    if label == together != "":
        ways.append(("labels", f"any of {classes if in_sets else 'its'} labels"))
    if in_sets and len(sets) == 1:
        ways.append(("class", "one of its combinations"))
    elif 0 < classes <= _MOST_CLASSES and not in_sets:
        ways.append(("class", f"one of {counted(classes, 'class', 'classes')}"))
    if found.get("is_number") and not in_sets:
        ways.append(("value", "a number"))
    usual = "class" if classes <= _FEW_CLASSES else "value"
    target = found.get("target") or usual
    as_what = Question("target", "as", ways, target) if ways else None
    return [Question("column", "Predict", options, label, as_what)]


def _kept_table(files: Sequence[DroppedFile], *, with_names: bool) -> Kept:
    """Return a table, or one of several, with a column for the file of each row if wanted."""
    first = files[0]
    if len(files) == 1:
        return Kept(f"{plain_name(PurePosixPath(first.name).stem)}{first.ending}", first.path)
    written, opened = io.StringIO(), first.table.files[0]
    writer = csv.writer(written, delimiter=opened.delimiter, lineterminator="\n")
    writer.writerow([*opened.names, *[_FILE] * with_names])
    for file in files:
        name = [PurePosixPath(file.name).with_suffix("").as_posix()] * with_names
        writer.writerows([*row, *name] for row in _TakeRows(file, -1).rows)
    return Kept(f"tables{first.ending}", written.getvalue().encode())
