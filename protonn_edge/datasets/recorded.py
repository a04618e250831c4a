"""Recordings: a table, a WAV file, or a folder of takes, with files or a folder for each class.

All of them become labelled samples in chronological order, with the places where samples are not
consecutive. A take's class is its file's name up to the first dot, as in Edge Impulse's
``circle.1.csv``; in a folder for each class it is the folder's name. Folders ``training`` and
``testing`` divide the takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.dataset import Dataset, Table, dataset_from, dense_features
from protonn_edge.datasets.label_sets import LabelSetTable
from protonn_edge.datasets.naming import label_text
from protonn_edge.datasets.notices import Notice, listed
from protonn_edge.datasets.reading import TEXT_LIMIT_BYTES, load_table
from protonn_edge.datasets.recordings import Repeated, gaps, runs_in
from protonn_edge.datasets.rules import TableOptions, with_point
from protonn_edge.datasets.summary import remarks
from protonn_edge.errors import InputError, counted
from protonn_edge.sensors import MICROPHONE, Instrument
from protonn_edge.sensors.played import read_wave
from protonn_edge.system.files import check_file

_TABLES, _WAVES = (".csv", ".tsv"), (".wav",)
_MOST_TAKES = 100_000
_PARTS = {"training": False, "train": False, "testing": True, "test": True}
_NUMBER = re.compile(r"(\d+)")
_SAME_RATE = 0.05  # maximum relative difference between the rates of two files
_DIGITS = 4  # of a measured rate

_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y")
_TIMES = ("%H:%M:%S.%f", "%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_FORMATS = (*(f"{day} {time}" for day in _DAYS for time in _TIMES), *_TIMES, *_DAYS)
_UNIT = re.compile(r"(?:^|_)(s|secs?|seconds?|ms|milli(?:second)?s?|us|micro(?:second)?s?|ns)$")
_SECONDS = {"s": 1.0, "ms": 1e-3, "milli": 1e-3, "us": 1e-6, "micro": 1e-6, "ns": 1e-9}


@dataclass(frozen=True, eq=False)
class Recording:
    """Labelled samples of some channels.

    Attributes
    ----------
    dataset : Dataset
        Each point is a sample of all channels, in chronological order; no test part.
    seams : ndarray of shape (n,), bool
        True at each sample that does not directly follow the previous one.
    take_of : ndarray of shape (n,), int64, or None
        For a folder, the number of each sample's file.
    tested : ndarray of shape (n,), bool
        The samples for testing.
    groups : sequence of n str, or None
        The person, session or take of each sample.
    notices : tuple of Notice
        Notices, including those of `dataset`.
    """

    dataset: Dataset
    seams: NDArray[np.bool_]
    take_of: NDArray[np.int64] | None
    tested: NDArray[np.bool_]
    groups: Sequence[str] | None
    notices: tuple[Notice, ...]

    @property
    def samples(self) -> NDArray[np.float32]:
        """The samples, (n, channels)."""
        return dense_features(self.dataset.X_train, "the recording")

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels, or none."""
        return self.dataset.feature_names

    @property
    def rate(self) -> float | None:
        """Samples per second, if known."""
        return self.dataset.sample_rate


@dataclass(frozen=True, eq=False)
class _Piece:
    """The samples of a file, and where they are not consecutive."""

    table: Table
    seams: NDArray[np.bool_]
    notices: tuple[Notice, ...]
    classes: tuple[str, ...] = ()


def read_recording(path: Path, options: TableOptions | None = None) -> Recording:
    """Read a recording.

    Parameters
    ----------
    path : Path
        Any file of `load_dataset`, a WAV file, or a folder of takes.
    options : TableOptions, optional
        What is known of tables.

    Raises
    ------
    InputError
        If it cannot be read, has sets of labels, or its files do not have the same channels.
    """
    options = options or TableOptions()
    if path.is_dir() and not (path / "train.txt").is_file():
        return _of_takes(path, options)
    if path.suffix.lower() in _WAVES:
        piece = _piece_of_wave(path, _label_of(path))
    else:
        table, classes = load_table(path, options)
        piece = replace(_piece(table), classes=classes)
    rows = len(piece.seams)
    return _recording(piece, None, np.zeros(rows, np.bool_), piece.table.sessions)


def _of_takes(folder: Path, options: TableOptions) -> Recording:
    takes = _takes_in(folder)
    pieces = _alike([_piece_of(take, options) for take in takes])
    tables = [piece.table for piece in pieces]
    counts = [len(piece.seams) for piece in pieces]
    for piece in pieces:
        piece.seams[:1] = True
    seams = np.concatenate([piece.seams for piece in pieces])
    named = _are_groups(takes) or any(table.sessions for table in tables)
    groups = None
    if named:  # rows without a session are a separate group
        groups = Repeated(
            (name.strip() or take.name, count)
            for take, table in zip(takes, tables, strict=True)
            for name, count in runs_in(table.sessions or Repeated([("", len(table.labels))]))
        )
    together = replace(
        tables[0],
        source=str(folder),
        X=np.concatenate([dense_features(table.X, table.source) for table in tables]),
        labels=Repeated(run for table in tables for run in runs_in(table.labels)),
        notices=(),
        sample_rate=_one_rate(takes, tables),
        instrument=_one_instrument(takes, tables),
        sessions=None,
        times=None,
    )
    of_files = _distinct(note for each in pieces for note in each.notices)
    empty = [take.name for take, count in zip(takes, counts, strict=True) if not count]
    piece = _Piece(together, seams, (*of_files, *_unread(folder, takes, empty)))
    take_of = np.repeat(np.arange(len(takes)), counts)
    tested = np.array([take.tested for take in takes])[take_of]
    return _recording(piece, take_of, tested, groups)


def _unread(folder: Path, takes: Sequence[_Take], empty: Sequence[str]) -> Iterator[Notice]:
    """Yield notices about the files of a folder that are not read, and those without samples."""
    read = {take.path for take in takes}
    parents = {parent for path in read for parent in path.parents}
    inside = sorted(parent for parent in parents if parent.is_relative_to(folder))
    entries = sorted((path for parent in inside for path in parent.iterdir()), key=_order)
    others = [path for path in _shown(entries) if path not in read | parents]
    names = {path.relative_to(folder).as_posix(): path.is_dir() for path in others}
    if files := [name for name, is_folder in names.items() if not is_folder]:
        yield Notice("files", f"not read, as neither .csv, .tsv nor .wav: {listed(files)}")
    if without := [*(name for name, is_folder in names.items() if is_folder), *empty]:
        text = f"left out, as there are no samples in it: {listed(without)}"
        yield Notice("no_samples", text, warning=True)


def _recording(
    piece: _Piece,
    take_of: NDArray[np.int64] | None,
    tested: NDArray[np.bool_],
    groups: Sequence[str] | None,
) -> Recording:
    dataset = dataset_from(piece.table, None, piece.classes, least_classes=1)
    notices = (*dataset.notices, *piece.notices, *remarks(dataset))
    return Recording(dataset, piece.seams, take_of, tested, groups, notices)


def _are_groups(takes: Sequence[_Take]) -> bool:
    """Return whether each class has several takes, so that some can be held out."""
    labels = [take.label for take in takes]
    return all(labels.count(label) > 1 for label in set(labels))


def _piece_of(take: _Take, options: TableOptions) -> _Piece:
    if take.path.suffix.lower() in _WAVES:
        return _piece_of_wave(take.path, take.label)
    table, _ = load_table(take.path, replace(options, labelled=take.label))
    return _piece(table)


def _piece_of_wave(path: Path, label: str) -> _Piece:
    check_file(path, limit_bytes=TEXT_LIMIT_BYTES)
    samples, rate, channels = read_wave(path)
    if not len(samples):
        raise InputError(f"{path} has no samples; record it again, or leave it out")
    labels = Repeated([(label, len(samples))])
    X = samples.astype(np.float32)
    table = Table(
        str(path),
        X,
        labels,
        feature_names=MICROPHONE.channels,
        sample_rate=rate,
        instrument=Instrument.of([MICROPHONE]),
    )
    notices = []
    if channels > 1:
        text = f"a WAV file has {channels} channels, of which the first one is read"
        notices.append(Notice("wave_channels", text))
    return _Piece(table, np.zeros(len(X), np.bool_), tuple(notices))


def _piece(table: Table) -> _Piece:
    """Return a table with its rate and its seams: changes of session and gaps in time."""
    if isinstance(table, LabelSetTable):
        raise InputError(f"{table.source} has sets of labels; give each sample one label")
    rows = int(table.X.shape[0])
    seams = np.zeros(rows, np.bool_) if table.seams is None else table.seams.copy()
    if table.times is None or not rows:
        return _Piece(table, seams, ())
    times, are_dates = _moments_of(table.times)
    if times is None:
        text = "the format of the times is unknown, so gaps in time are not detected"
        return _Piece(table, seams, (Notice("times", text, warning=True),))
    apart = gaps(times)
    notices = []
    if apart.any():
        text = f"{counted(int(apart.sum()), 'gap')} in time, which no window spans"
        notices.append(Notice("gaps", text))
    if table.sample_rate is None:
        table, told = _with_rate(table, times, are_dates=are_dates)
        notices += told
    return _Piece(table, seams | apart, tuple(notices))


def _with_rate(
    table: Table, times: NDArray[np.float64], *, are_dates: bool
) -> tuple[Table, list[Notice]]:
    """Return a table with the rate according to its times, and a notice about it."""
    steps = np.diff(times)
    rising = steps[steps > 0]
    step = float(np.median(rising)) if len(rising) else 0.0
    name = "" if table.layout is None else table.layout.time
    seconds = 1.0 if are_dates else seconds_of_a_unit(name, step)
    if not step or seconds is None:
        return table, []
    # The mean of whole milliseconds is not whole; a coarse clock repeats times.
    usual = steps[(steps >= 0) & (steps < 2 * step)].mean()
    rate = float(f"{1 / (usual * seconds):.{_DIGITS}g}")
    unit = {1.0: "seconds", 1e-3: "milliseconds", 1e-6: "microseconds"}.get(seconds, "nanoseconds")
    samples = "sample" if rate == 1 else "samples"
    text = f"{rate:g} {samples} a second, as times are in {unit}; --rate overrides it"
    return replace(table, sample_rate=rate), [Notice("rate", text)]


def _moments_of(cells: Sequence[str]) -> tuple[NDArray[np.float64] | None, bool]:
    """Return times (n,), in seconds or the unit of the numbers, and whether they are dates."""
    with suppress(ValueError):
        return np.array([float(with_point(cell)) for cell in cells]), False
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    for notation in ("", *_FORMATS):  # the first is ISO 8601
        with suppress(ValueError):
            times = [_moment(cell.strip().replace(",", "."), notation) for cell in cells]
            return np.array([(time - begin).total_seconds() for time in times]), True
    return None, True


def _moment(text: str, notation: str) -> datetime:
    if notation:
        return datetime.strptime(text, notation).replace(tzinfo=UTC)
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def seconds_of_a_unit(name: str, step: float) -> float | None:
    """Return the seconds in a unit of time, by a column's name, or else by the usual step.

    Steps below 0.5 are of seconds, whole ones of 2 to 999 of milliseconds, longer ones of
    microseconds, as an Arduino's clocks count them, and from a million on of nanoseconds, as
    telephones do. None if it is undecided.
    """
    if (found := _UNIT.search(name.lower())) is not None:
        return next(each for unit, each in _SECONDS.items() if found[1].startswith(unit))
    if 0 < step < 0.5:
        return 1.0
    if step < 2 or step != round(step):
        return None
    if step < 1_000:
        return 1e-3
    return 1e-6 if step < 1_000_000 else 1e-9


def _alike(pieces: list[_Piece]) -> list[_Piece]:
    """Return the pieces with the channels of the first one, matched by name."""
    wanted, first = pieces[0].table.feature_names, pieces[0].table
    alike = []
    for piece in pieces:
        table, names = piece.table, piece.table.feature_names
        if not set(wanted) <= set(names) or bool(names) != bool(wanted):
            raise _unlike(table, first)
        table = table.matched(wanted, table.source, first.source)
        if table.X.shape[1] != first.X.shape[1]:
            raise _unlike(table, first)
        alike.append(_Piece(table, piece.seams, (*table.notices, *piece.notices)))
    return alike


def _unlike(table: Table, first: Table) -> InputError:
    return InputError(
        f"{table.source} has {_channels(table)}, {first.source} has {_channels(first)}; give all "
        "files the same channels, or choose some with --channels"
    )


def _channels(table: Table) -> str:
    names = listed(table.feature_names)
    return (
        f"the channels {names}"
        if names
        else f"{counted(table.X.shape[1], 'channel')} without names"
    )


def _one_rate(takes: Sequence[_Take], tables: Sequence[Table]) -> float | None:
    """Return the common rate of all files with a known one."""
    told = [
        (take.name, table.sample_rate)
        for take, table in zip(takes, tables, strict=True)
        if table.sample_rate is not None
    ]
    if not told:
        return None
    name, rate = told[0]
    for other, its in told[1:]:
        if abs(its - rate) > _SAME_RATE * rate:
            raise InputError(
                f"{name} has {rate:g} samples a second, {other} has {its:g}; give recordings of "
                "the same rate"
            )
    return float(np.median([rate for _, rate in told]))


def _one_instrument(takes: Sequence[_Take], tables: Sequence[Table]) -> Instrument | None:
    """Return what measured the values of all files; None if some do not state it."""
    told = [(take.name, table.instrument) for take, table in zip(takes, tables, strict=True)]
    known = [(name, instrument) for name, instrument in told if instrument is not None]
    for name, instrument in known:
        if instrument != known[0][1]:
            raise InputError(
                f"{known[0][0]} is of {known[0][1]}, {name} of {instrument}; give recordings of "
                "the same sensor"
            )
    return known[0][1] if known and len(known) == len(told) else None


def _distinct(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return the notices of several files without duplicates."""
    return tuple({(note.kind, note.text): note for note in notices}.values())


# --- folders of takes -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Take:
    """A file of samples of one class, its path below the folder, and whether it is for testing."""

    path: Path
    name: str
    label: str
    tested: bool


def _label_of(path: Path) -> str:
    return label_text(path.name.split(".", 1)[0])


def _takes_in(folder: Path) -> list[_Take]:
    """Return the takes of a folder, in the order of their names; numbers count as numbers."""
    files, folders = _entries(folder)
    if folders and {each.name.lower() for each in folders} <= set(_PARTS) and not files:
        found = [
            take
            for part in folders
            for take in _of_part(part, folder, tested=_PARTS[part.name.lower()])
        ]
    else:
        found = list(_of_part(folder, folder, tested=False))
    if not found:
        raise InputError(
            f"{folder} has no samples; give a file or a folder for each class, of .csv or .wav"
        )
    if len(found) > _MOST_TAKES:
        raise InputError(f"{folder} has {len(found):,} files, the limit is {_MOST_TAKES:,}")
    return found


def _of_part(folder: Path, root: Path, *, tested: bool) -> Iterator[_Take]:
    files, folders = _entries(folder)
    if files and folders:
        raise InputError(
            f"{folder} has files, such as {files[0].name!r}, and folders, such as "
            f"{folders[0].name!r}; give either a file or a folder for each class"
        )
    for path in files:
        yield _Take(path, path.relative_to(root).as_posix(), _label_of(path), tested)
    for each in folders:
        inside, deeper = _entries(each)
        if deeper:
            raise InputError(
                f"{each} has folders of its own, {listed(path.name for path in deeper)}; give a "
                "folder for each class, with its files"
            )
        for path in inside:
            yield _Take(path, path.relative_to(root).as_posix(), label_text(each.name), tested)


def _entries(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of samples and the subfolders of a folder."""
    try:
        entries = sorted(folder.iterdir(), key=_order)
    except OSError as error:
        raise InputError(
            f"cannot read {folder}: {error.strerror}; check its permissions"
        ) from error
    shown = _shown(entries)
    files = [path for path in shown if path.suffix.lower() in (*_TABLES, *_WAVES)]
    return files, [path for path in shown if path.is_dir() and path not in files]


def _shown(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if not path.name.startswith((".", "_"))]


def _order(path: Path) -> list[tuple[int, str]]:
    """Return the sort key of a path, by which 2 comes before 10."""
    parts = _NUMBER.split(path.name.lower())
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]
