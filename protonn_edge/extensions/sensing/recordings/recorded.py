"""Recordings: a table, a WAV file, or a folder with takes or a subfolder for each class.

All become labelled samples in chronological order, with a mark where samples are not consecutive;
see `protonn_edge.data.takes.takes` for folders. The tables of a folder are read as one, so that
columns are judged by all takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.checks.checks import remarks
from protonn_edge.data.checks.far_values import about_far_label
from protonn_edge.data.formats import read_parts
from protonn_edge.data.naming import Notice, listed
from protonn_edge.data.options import USUAL_DELIMITERS, TableOptions
from protonn_edge.data.points.dataset import Dataset, Table, dataset_from, several_labels
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.points.label_sets import LabelSetTable
from protonn_edge.data.points.values import Values, has_values, value_dataset
from protonn_edge.data.roles.table_points import of_recording, read_table
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.tables.text import TEXT_LIMIT_BYTES
from protonn_edge.data.takes.take_names import unsaid_names
from protonn_edge.data.takes.take_notices import repeated, unread
from protonn_edge.data.takes.takes import (
    ACQUISITIONS,
    TABLES,
    WAVES,
    Take,
    are_named_after_files,
    groups_of,
    label_of,
    refuse_recurring,
    takes_in,
)
from protonn_edge.data.units import split_unit, unit_of
from protonn_edge.extensions.sensing.recordings.acquisitions import read_acquisition
from protonn_edge.extensions.sensing.recordings.clipping import about_clipping
from protonn_edge.extensions.sensing.recordings.interval_files import labels_file_of
from protonn_edge.extensions.sensing.recordings.intervals import labelled_by_intervals
from protonn_edge.extensions.sensing.recordings.joined import in_order, joined, options_of
from protonn_edge.extensions.sensing.recordings.timing import (
    FileFacts,
    of_each_session,
    one_instrument,
    one_rate,
    timed,
    without_units,
)
from protonn_edge.extensions.sensing.recordings.unlike_parts import NamedTakes, about_unlike_parts
from protonn_edge.extensions.sensing.recordings.waves import CHANNELS, MICROPHONE, read_wave
from protonn_edge.system.errors import InputError, counted, lacking
from protonn_edge.system.files import check_file

_SYNCHRONOUS = 0.02  # maximum relative difference of the ends of files of one take
_REPEATED = 0.45  # share of rows that repeat the row before if each is logged twice
_UNNAMED = "unknown"  # the class of samples whose labels are in a file of their own
_NOISE = "noise"  # the class of noise in messages
_COUNTS = ("raw", "count", "counts", "lsb")  # in brackets, they are no units


@dataclass(frozen=True, eq=False)
class Recording:
    """Labelled samples of some channels."""

    # each point is a sample of all channels, in chronological order; there is no test part
    dataset: Dataset
    # (n,): true at each sample that does not directly follow the previous one
    seams: NDArray[np.bool_]
    take_of: NDArray[np.int64] | None  # (n,): for a folder, the number of each sample's file
    tested: NDArray[np.bool_]  # (n,): the samples for testing
    groups: Coded | None  # the person, session or take of each sample
    files: tuple[str, ...] = ()  # for a folder, the names of its files
    # (n,): numbers as labels; the data set then has one class, with their name
    values: Values | None = None

    @property
    def samples(self) -> NDArray[np.float32]:
        """The samples, (n, channels)."""
        return self.dataset.X_train

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels, or none."""
        return self.dataset.feature_names

    @property
    def rate(self) -> float | None:
        """The sampling rate, None if unknown."""
        return self.dataset.sample_rate

    @property
    def begins(self) -> NDArray[np.bool_]:
        """Where a take or a session begins, (n,); other seams are gaps within one."""
        begins = np.zeros(len(self.seams), np.bool_)
        if self.take_of is not None:
            begins[1:] |= np.diff(self.take_of) != 0
        if self.groups is not None:
            ends = np.cumsum([count for _, count in self.groups.runs])
            begins[ends[:-1]] = True
        return begins


def read_recording(
    path: Path,
    options: TableOptions | None = None,
    target: Literal["class", "value"] | None = None,
) -> Recording:
    """Read a table, a WAV file or a folder of takes; refuse label sets and differing channels.

    By default, labels with decimals are values if there are many, and otherwise classes.
    """
    options = options or TableOptions()
    if path.is_dir() and not (path / "train.txt").is_file():
        return _of_takes(path, options, target)
    beside = labels_file_of(path) if options.labelled is None and path.is_file() else None
    given = options if beside is None else replace(options, labelled=_UNNAMED, background=None)
    table, classes = _of_file(path, given)
    if beside is not None:
        table = labelled_by_intervals(table, [beside], [path.name], options)
    untested = np.zeros(len(table.labels), np.bool_)
    return _recording(table, None, untested, table.sessions, classes, target)


def read_noise(path: Path, recorded: Recording, options: TableOptions) -> Recording:
    """Read recordings of noise that have the channels, rate and sensor of `recorded`.

    Their labels are ignored: all samples belong to the class ``options.background``.
    """
    label = options.background or _NOISE
    options = replace(options, name=None, label=None, labelled=label)
    noise = read_recording(path, options, "class")
    own, dataset = recorded.dataset, noise.dataset
    alike = set(own.feature_names) <= set(noise.channels)
    if alike:
        dataset = dataset.matched(own.feature_names, str(path), "the recording")
    if not alike or dataset.n_features != own.n_features:
        unlike = _unlike(str(path), dataset, "the recording", own)
        raise InputError(f"{unlike}; use noise recorded with the same sensor")
    named = {"the recording": own, str(path): dataset}
    both = {name: FileFacts(each.sample_rate, each.instrument) for name, each in named.items()}
    one_rate(both, sampled=dataset.instrument is MICROPHONE)
    one_instrument(both)
    notices = (
        replace(each, text=f"the noise never varies in {listed(each.columns)}; check its recording")
        if each.kind == "constant"
        else each
        for each in dataset.notices
    )
    labels = np.zeros_like(dataset.y_train)
    dataset = replace(dataset, y_train=labels, classes=(label,), notices=tuple(notices))
    return replace(noise, dataset=dataset)


def followed_by(first: Recording, second: Recording) -> Recording:
    """Append the takes of another recording, which has the same channels."""
    own, other = first.dataset, second.dataset
    classes = tuple(dict.fromkeys((*own.classes, *other.classes)))
    number = np.array([classes.index(name) for name in other.classes])
    seams, count = second.seams.copy(), len(second.seams)
    seams[:1] = True
    take_of, groups, files = first.take_of, first.groups, first.files
    if take_of is not None:
        files += second.files or ("the noise",)
        later = np.zeros(count, np.int64) if second.take_of is None else second.take_of
        take_of = np.concatenate([take_of, take_of.max() + 1 + later])
    if groups is not None:
        later_groups = second.groups or Coded.repeated([("noise", count)])
        groups = Coded.repeated([*groups.runs, *later_groups.runs])
    dataset = replace(
        own,
        X_train=np.concatenate([first.samples, second.samples]),
        y_train=np.concatenate([own.y_train, number[other.y_train]]),
        classes=classes,
    )
    tested = np.concatenate([first.tested, second.tested])
    seams = np.concatenate([first.seams, seams])
    return Recording(dataset, seams, take_of, tested, groups, files)


def _of_takes(
    folder: Path, options: TableOptions, target: Literal["class", "value"] | None
) -> Recording:
    takes = takes_in(folder, options.name, labelled=True, files=options.files)
    of_file = replace(options, name=None, files=())
    each_one = [of_file]
    if len(takes[0].files) > 1:
        each_one = options_of(of_file, takes[0].files)
    is_asked = options.name is None and not options.files
    try:
        read = [
            _of_sensor([take.files[n] for take in takes], takes, own)
            for n, own in enumerate(each_one)
        ]
    except InputError:
        if is_asked:
            refuse_recurring(folder, takes, recorded=True)
        raise
    stems = [path.stem for path in takes[0].files]
    table = read[0]
    if len(read) > 1:
        table = in_order(joined(read, stems, folder), options.channels)
    assert table.file_of is not None
    names = tuple(take.name for take in takes)
    labelled = not options.labelled and not are_named_after_files(table, takes)
    if any(take.labels_file for take in takes) and not options.labelled:
        files = [take.labels_file for take in takes]
        table = labelled_by_intervals(table, files, names, options)
        labelled = True
    if not labelled:
        takes_in(folder, options.name, files=options.files)  # refuses names without a class
        if is_asked and not _at_other_times(table, takes):
            refuse_recurring(folder, takes, recorded=True)
    notes = list(table.notices)
    if options.name is None and len(takes) > 1 and not (labelled and table.sessions):
        notes += unsaid_names(takes, labelled=labelled)
    assert table.file_of is not None
    filled = np.bincount(table.file_of, minlength=len(takes)) > 0
    empty = [take.name for take, some in zip(takes, filled, strict=True) if not some]
    notes += [*unread(folder, takes, empty=empty), *repeated(takes, labelled=labelled)]
    groups = groups_of(table, takes, labelled=labelled or has_values(table, target, ()))
    tested = np.array([take.tested for take in takes])[table.file_of]
    table = replace(table, source=str(folder), notices=tuple(dict.fromkeys(notes)))
    table, file_of = replace(table, sessions=None), table.file_of
    return _recording(table, file_of, tested, groups, target=target, files=names)


def _at_other_times(table: Table, takes: Sequence[Take]) -> bool:
    """Whether files of a folder begin or end at other times, as those of sensors do not."""
    if table.times is None:
        return False
    ends: dict[Path, list[tuple[float, float]]] = {}
    for take in np.unique(table.file_of).tolist():  # type: ignore[arg-type]
        first, last = table.times.values[table.file_of == take][[0, -1]].tolist()
        ends.setdefault(takes[take].stem.parent, []).append((first, last))
    apart = (np.ptp(each, axis=0).max() / np.ptp(each, axis=1).max() for each in ends.values())
    return any(each > _SYNCHRONOUS for each in apart)


def _of_sensor(paths: Sequence[Path], takes: Sequence[Take], options: TableOptions) -> Table:
    """Return the samples of the same sensor in all takes."""
    suffixes = {path.suffix.lower() for path in paths}
    labels = [take.label for take in takes]
    if not suffixes <= {*TABLES}:
        for kinds in (WAVES, ACQUISITIONS):
            if suffixes <= {*kinds}:
                if not all(labels) and not any(take.labels_file for take in takes):
                    raise InputError(
                        f"{paths[0].parent} has files that are called like parts of a data set, "
                        f"such as {paths[0].name!r}, but no classes; put the files of each class "
                        "into a folder called like it"
                    )
                pairs = zip(paths, (label or _UNNAMED for label in labels), strict=True)
                return _stacked(
                    [_of_file(path, replace(options, labelled=each))[0] for path, each in pairs]
                )
        raise InputError(
            f"{paths[0].parent} has files that end in {' and in '.join(sorted(suffixes))}; use one "
            "format for all takes"
        )
    if any(take.labels_file for take in takes):
        return _of_tables(paths, replace(options, labelled=_UNNAMED, background=None), None)
    return _of_tables(paths, options, labels if all(labels) else None)


def _of_tables(paths: Sequence[Path], options: TableOptions, labels: Sequence[str] | None) -> Table:
    """Return the samples of one or more tables, with their rate and their instrument."""
    table = read_table(paths, options, labels=labels, recorded=True)
    features = {each.feature: each.first_name for each in table.columns}
    names = [features.get(number, name) for number, name in enumerate(table.feature_names)]
    origins = {str(path): FileFacts(*of_recording(path, names)) for path in paths}
    notices = (*table.notices, *without_units(origins))
    table = replace(
        table, notices=notices, sample_rate=one_rate(origins), instrument=one_instrument(origins)
    )
    table = of_each_session(_without_repeats(_with_units(table)))
    return timed(table, [str(path) for path in paths], options.sample_rate)


def _stacked(tables: Sequence[Table]) -> Table:
    """Return the samples of files with the same channels as one table."""
    first = tables[0]
    for table in tables:
        if table.feature_names != first.feature_names or table.X.shape[1] != first.X.shape[1]:
            unlike = _unlike(table.source, table, first.source, first)
            raise InputError(f"{unlike}; give all files the same channels")
    counts = [len(table.labels) for table in tables]
    seams = [table.gaps_between.copy() for table in tables]
    for each in seams[1:]:
        each[:1] = True
    origins = {each.source: FileFacts(each.sample_rate, each.instrument) for each in tables}
    return replace(
        first,
        X=np.concatenate([each.X for each in tables]),
        labels=Coded.repeated(run for table in tables for run in table.labels.runs),
        notices=tuple(note for table in tables for note in table.notices),
        sample_rate=one_rate(origins, sampled=first.instrument is MICROPHONE),
        instrument=one_instrument(origins),
        file_of=np.repeat(np.arange(len(tables)), counts),
        seams=np.concatenate(seams),
    )


def _without_repeats(table: Table) -> Table:
    """Return a table without the second of each two rows, if every row was logged twice."""
    X = table.X
    if len(X) < 4 or table.times is None:
        return table
    same = (X[1:] == X[:-1]).all(axis=1) & (np.diff(table.times.values) == 0)
    if same.mean() < _REPEATED or (same[1:] & same[:-1]).any():
        return table
    kept = np.concatenate([[True], ~same])
    seams = table.gaps_between
    text = f"{int(same.sum()):,} rows that repeat the row before were left out"
    repeated = table.parted(kept)
    notices = (*table.notices, Notice("repeated_rows", text))
    return replace(repeated, seams=seams[kept], notices=notices)


def _recording(
    table: Table,
    take_of: NDArray[np.int64] | None,
    tested: NDArray[np.bool_],
    groups: Coded | None,
    classes: tuple[str, ...] = (),
    target: Literal["class", "value"] | None = None,
    files: tuple[str, ...] = (),
) -> Recording:
    values = None
    if has_values(table, target, classes):
        of_values = value_dataset(table, None)
        values, name = of_values.y_train[:, 0], of_values.classes[0]
        notices = (*of_values.notices, *about_far_label(of_values))
        table = replace(table, labels=Coded.repeated([(name, len(values))]), notices=notices)
        classes = (name,)
    dataset = dataset_from(table, None, classes, least_classes=1)
    X, y, names = dataset.X_train, dataset.y_train, dataset.feature_names
    clipped = about_clipping(X, take_of, names)
    unlike = about_unlike_parts(
        X, y, _parts(dataset, take_of, groups, files), names, dataset.classes
    )
    dataset = replace(dataset, notices=(*dataset.notices, *remarks(dataset), *clipped, *unlike))
    return Recording(dataset, table.gaps_between, take_of, tested, groups, files, values)


def _parts(
    dataset: Dataset,
    take_of: NDArray[np.int64] | None,
    groups: Coded | None,
    files: tuple[str, ...],
) -> NamedTakes:
    """Return the takes of samples, or the sessions in a file, or else the classes."""
    if take_of is not None:
        return NamedTakes(files, take_of)
    if groups is None:
        return NamedTakes(dataset.classes, dataset.y_train)
    names, numbers = np.unique(np.array(list(groups)), return_inverse=True)
    return NamedTakes(names.tolist(), numbers)


def _of_file(path: Path, options: TableOptions) -> tuple[Table, tuple[str, ...]]:
    """Return the samples of a file, and the classes if it names them."""
    suffix = path.suffix.lower()
    if suffix in WAVES:
        return _of_wave(path, options.labelled or label_of(path), options.sample_rate), ()
    if suffix in ACQUISITIONS:
        return read_acquisition(path, options.labelled or label_of(path)), ()
    if suffix in USUAL_DELIMITERS and path.is_file():
        return _of_tables([path], options, [options.labelled] if options.labelled else None), ()
    table, _, classes = read_parts(path, options)
    if isinstance(table, LabelSetTable):
        raise several_labels(table.source, "samples of a recording have one each")
    return table, classes


def _with_units(table: Table) -> Table:
    """Return a table with its instrument and plain names if all are like ``ax (m/s^2)``."""
    pairs = [split_unit(name) for name in table.feature_names]
    names = tuple(name for name, _ in pairs)
    if table.instrument or len(set(names)) < len(names) or not pairs:
        return table
    with suppress(InputError):  # a text that is no unit
        units = tuple(unit_of("" if unit.lower() in _COUNTS else unit) for _, unit in pairs)
        return replace(table, feature_names=names, instrument=Instrument("", units))
    return table


def _of_wave(path: Path, label: str, rate: float | None) -> Table:
    check_file(path, limit_bytes=TEXT_LIMIT_BYTES)
    wave = read_wave(path).sampled(rate)
    if not len(wave.values):
        raise lacking(path, "samples", "record the file again, or leave it out")
    notices = []
    if wave.channels > 1:
        text = f"only the first of a WAV file's {wave.channels} channels is read"
        if wave.channel:
            text = f"channel {wave.channel + 1} of a WAV file is read, because others are silent"
        notices.append(Notice("wave_channels", text, warning=wave.channel > 0))
    return Table(
        str(path),
        wave.values.astype(np.float32),
        Coded.repeated([(label, len(wave.values))]),
        feature_names=CHANNELS,
        notices=tuple(notices),
        sample_rate=wave.rate,
        instrument=MICROPHONE,
    )


def _unlike(name: str, points: Table | Dataset, other: str, first: Table | Dataset) -> str:
    """Return how the channels of a file differ from those of another."""
    missing = [each for each in first.feature_names if each not in points.feature_names]
    if missing and points.feature_names:
        return f"{name} lacks some channels of {other} ({listed(missing)})"
    return f"{name} has {_channels(points)}, but {other} has {_channels(first)}"


def _channels(points: Table | Dataset) -> str:
    if points.feature_names:
        return f"the channels {listed(points.feature_names)}"
    samples = points.X if isinstance(points, Table) else points.X_train
    return f"{counted(samples.shape[1], 'channel')} without names"
