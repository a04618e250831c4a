"""Recordings: a table, a WAV file, or a folder with files or a folder for each class.

All of them become labelled samples in chronological order, with the places where samples are not
consecutive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.dataset import Dataset, Table, dataset_from, dense_features
from protonn_edge.datasets.label_sets import LabelSetTable
from protonn_edge.datasets.moments import moments_of, seconds_of_a_unit
from protonn_edge.datasets.notices import Notice, listed
from protonn_edge.datasets.reading import TEXT_LIMIT_BYTES, load_table
from protonn_edge.datasets.recordings import gaps
from protonn_edge.datasets.repeated import Repeated, runs_in
from protonn_edge.datasets.rules import TableOptions
from protonn_edge.datasets.summary import remarks
from protonn_edge.datasets.takes import WAVES, Take, label_of, takes_in, unread_in
from protonn_edge.errors import InputError, counted
from protonn_edge.sensors import MICROPHONE, Instrument
from protonn_edge.sensors.wave_files import read_wave
from protonn_edge.system.files import check_file

_SAME_RATE = 0.05  # maximum relative difference between the rates of two files
_DIGITS = 4  # of a measured rate


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
        Any file of `load_dataset`, a WAV file, or a folder of takes, see `datasets.takes`.
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
    if path.suffix.lower() in WAVES:
        piece = _piece_of_wave(path, label_of(path))
    else:
        table, classes = load_table(path, options)
        piece = replace(_piece(table), classes=classes)
    rows = len(piece.seams)
    return _recording(piece, None, np.zeros(rows, np.bool_), piece.table.sessions)


def _of_takes(folder: Path, options: TableOptions) -> Recording:
    takes = takes_in(folder)
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


def _unread(folder: Path, takes: Sequence[Take], empty: Sequence[str]) -> Iterator[Notice]:
    """Yield a word about what of a folder is in no sample."""
    files, folders = unread_in(folder, takes)
    if files:
        yield Notice("files", f"not read, as neither .csv, .tsv nor .wav: {listed(files)}")
    if folders or empty:
        text = f"left out, as there are no samples in it: {listed([*folders, *empty])}"
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


def _are_groups(takes: Sequence[Take]) -> bool:
    """Return whether each class has several takes, so that some can be held out."""
    labels = [take.label for take in takes]
    return all(labels.count(label) > 1 for label in set(labels))


def _piece_of(take: Take, options: TableOptions) -> _Piece:
    if take.is_wave:
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
    times = moments_of(table.times)
    if times is None:
        text = "the format of the times is unknown, so gaps in time are not detected"
        return _Piece(table, seams, (Notice("times", text, warning=True),))
    apart = gaps(times)
    notices = []
    if apart.any():
        text = f"{counted(int(apart.sum()), 'gap')} in time, which no window spans"
        notices.append(Notice("gaps", text))
    if table.sample_rate is None:
        table, told = _with_rate(table, times)
        notices += told
    return _Piece(table, seams | apart, tuple(notices))


def _with_rate(table: Table, times: NDArray[np.float64]) -> tuple[Table, list[Notice]]:
    """Return a table with the rate according to its times, and a notice about it."""
    steps = np.diff(times)
    rising = steps[steps > 0]
    step = float(np.median(rising)) if len(rising) else 0.0
    name = "" if table.layout is None else table.layout.time
    seconds = 1.0 if _are_dates(table) else seconds_of_a_unit(name, step)
    if not step or seconds is None:
        return table, []
    # The mean of whole milliseconds is not whole; a coarse clock repeats times.
    usual = steps[(steps >= 0) & (steps < 2 * step)].mean()
    rate = float(f"{1 / (usual * seconds):.{_DIGITS}g}")
    unit = {1.0: "seconds", 1e-3: "milliseconds", 1e-6: "microseconds"}.get(seconds, "nanoseconds")
    samples = "sample" if rate == 1 else "samples"
    text = f"{rate:g} {samples} a second, as times are in {unit}; --rate overrides it"
    return replace(table, sample_rate=rate), [Notice("rate", text)]


def _are_dates(table: Table) -> bool:
    first: Any = None if table.times is None else table.times[0]
    try:
        float(str(first).replace(",", "."))
    except ValueError:
        return True
    return False


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


def _one_rate(takes: Sequence[Take], tables: Sequence[Table]) -> float | None:
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


def _one_instrument(takes: Sequence[Take], tables: Sequence[Table]) -> Instrument | None:
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
