"""Recordings: a table, a WAV file, or a folder with takes or a subfolder for each class.

All become labelled samples in chronological order, with a mark where samples are not consecutive;
see `protonn_edge.datasets.takes` for folders.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import FLOAT32_MAX, with_point
from protonn_edge.datasets.dataset import (
    Dataset,
    LabelSetTable,
    Provenance,
    Table,
    dataset_from,
    dense_features,
)
from protonn_edge.datasets.naming import Notice, listed, split_unit
from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.reading import TEXT_LIMIT_BYTES, read_parts
from protonn_edge.datasets.recordings import Repeated, gaps, runs_in
from protonn_edge.datasets.summary import remarks
from protonn_edge.datasets.takes import (
    WAVES,
    label_of,
    takes_in,
    unread,
    unsaid_names,
)
from protonn_edge.errors import InputError, counted
from protonn_edge.sensors import MICROPHONE, Instrument
from protonn_edge.sensors.kinds import unit_of
from protonn_edge.sensors.played import read_wave
from protonn_edge.system.files import check_file

_SAME_RATE = 0.05  # maximum relative difference between the rates of two files
_DIGITS = 4  # significant digits of a measured rate
_NOISE = "noise"  # the class of noise in messages

_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y")
_TIMES = ("%H:%M:%S.%f", "%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_FORMATS = (*(f"{day} {time}" for day in _DAYS for time in _TIMES), *_TIMES, *_DAYS)
_UNIT = re.compile(r"(?:^|_)(s|secs?|seconds?|ms|milli(?:second)?s?|[uµμ]s|micro(?:second)?s?|ns)$")
_SECONDS = {"s": 1.0, "ms": 1e-3, "milli": 1e-3, "us": 1e-6, "micro": 1e-6, "ns": 1e-9}
_SECONDS |= dict.fromkeys(("µs", "μs"), 1e-6)
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
    groups: Sequence[str] | None  # the person, session or take of each sample
    files: tuple[str, ...] = ()  # for a folder, the names of its files

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
        """The sampling rate, None if unknown."""
        return self.dataset.sample_rate

    @property
    def begins(self) -> NDArray[np.bool_]:
        """Where a take or a session begins, (n,); other seams are gaps within one."""
        begins = np.zeros(len(self.seams), np.bool_)
        if self.take_of is not None:
            begins[1:] |= np.diff(self.take_of) != 0
        if self.groups is not None:
            begins[np.cumsum([count for _, count in runs_in(self.groups)][:-1])] = True
        return begins


def read_recording(path: Path, options: TableOptions | None = None) -> Recording:
    """Read a table, a WAV file or a folder of takes; refuse label sets and differing channels."""
    options = options or TableOptions()
    if path.is_dir() and not (path / "train.txt").is_file():
        return _of_takes(path, options)
    table, classes = _of_file(path, options)
    return _recording(table, None, np.zeros(len(table.labels), np.bool_), table.sessions, classes)


def read_noise(path: Path, recorded: Recording, options: TableOptions) -> Recording:
    """Read recordings of noise that have the channels, rate and sensor of `recorded`.

    Their labels are ignored: all samples belong to the class ``options.background``.
    """
    label = options.background or _NOISE
    noise = read_recording(path, replace(options, name=None, label=None, labelled=label))
    own, dataset = recorded.dataset, noise.dataset
    alike = set(own.feature_names) <= set(noise.channels)
    if alike:
        dataset = dataset.matched(own.feature_names, str(path), "the recording")
    if not alike or dataset.n_features != own.n_features:
        unlike = _unlike(str(path), dataset, "the recording", own)
        raise InputError(f"{unlike}; use noise recorded with the same sensor")
    both = {"the recording": own, str(path): dataset}
    _one_rate(both)
    _one_instrument(both)
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
        later_groups = second.groups or Repeated([("noise", count)])
        groups = Repeated([*runs_in(groups), *runs_in(later_groups)])
    dataset = replace(
        own,
        X_train=np.concatenate([first.samples, second.samples]),
        y_train=np.concatenate([own.y_train, number[other.y_train]]),
        classes=classes,
    )
    tested = np.concatenate([first.tested, second.tested])
    seams = np.concatenate([first.seams, seams])
    return Recording(dataset, seams, take_of, tested, groups, files)


def _of_takes(folder: Path, options: TableOptions) -> Recording:
    takes = takes_in(folder, options.name, labelled=True)
    of_file = replace(options, name=None)
    read = [_of_file(take.path, replace(of_file, labelled=take.label))[0] for take in takes]
    tables = dict(zip((take.name for take in takes), _alike(read), strict=True))
    labels = {text for table in tables.values() for text, _ in runs_in(table.labels)}
    labelled = not options.labelled and not labels <= {take.label for take in takes}
    if not labelled:
        takes_in(folder, options.name)  # refuses names without a class
    counts = [len(table.labels) for table in tables.values()]
    seams = [_seams_of(table) for table in tables.values()]
    for each in seams:
        each[:1] = True
    groups = None
    of_each = Counter(take.label for take in takes)
    own = {take.name: take.group or take.name for take in takes}
    sessions = any(table.sessions for table in tables.values())
    if labelled or sessions or min(of_each.values()) > 1:
        groups = Repeated(  # rows without a session form a separate group
            (text.strip() or own[name], count)
            for name, table in tables.items()
            for text, count in runs_in(table.sessions or Repeated([("", len(table.labels))]))
        )
    notes = [note for table in tables.values() for note in table.notices]
    if options.name is None and len(takes) > 1 and not (labelled and sessions):
        notes += unsaid_names(takes, labelled=labelled)
    empty = [name for name, table in tables.items() if not table.labels]
    notes += unread(folder, takes, empty=empty)
    together = replace(
        next(iter(tables.values())),
        source=str(folder),
        X=np.concatenate([dense_features(each.X, each.source) for each in tables.values()]),
        labels=Repeated(run for table in tables.values() for run in runs_in(table.labels)),
        seams=np.concatenate(seams),
        notices=(*_merged(notes), *_without_units(tables)),
        sample_rate=_one_rate(tables),
        instrument=_one_instrument(tables),
        sessions=None,
        times=None,
    )
    take_of = np.repeat(np.arange(len(takes)), counts)
    tested = np.array([take.tested for take in takes])[take_of]
    recording = _recording(together, take_of, tested, groups)
    return replace(recording, files=tuple(tables))


def _merged(notices: Sequence[Notice]) -> Iterator[Notice]:
    """Yield different notices once, with one range of rates, and the number of all gaps in time."""
    rates: dict[str, set[float]] = {}
    apart = [int(each.text.split()[0].replace(",", "")) for each in notices if each.kind == "gaps"]
    for notice in dict.fromkeys(notices):
        rate, _, rest = notice.text.partition(" ")
        if notice.kind == "rate":
            rates.setdefault(rest, set()).add(float(rate))
        elif notice.kind != "gaps":
            yield notice
    if apart:
        yield _of_gaps(sum(apart))
    for rest, measured in rates.items():
        ends = sorted({min(measured), max(measured)})
        yield Notice("rate", f"{' to '.join(f'{end:g}' for end in ends)} {rest}")


def _recording(
    table: Table,
    take_of: NDArray[np.int64] | None,
    tested: NDArray[np.bool_],
    groups: Sequence[str] | None,
    classes: tuple[str, ...] = (),
) -> Recording:
    dataset = dataset_from(table, None, classes, least_classes=1)
    dataset = replace(dataset, notices=(*dataset.notices, *remarks(dataset)))
    return Recording(dataset, _seams_of(table), take_of, tested, groups)


def _seams_of(table: Table) -> NDArray[np.bool_]:
    return np.zeros(len(table.labels), np.bool_) if table.seams is None else table.seams


def _of_file(path: Path, options: TableOptions) -> tuple[Table, tuple[str, ...]]:
    """Return the samples of a file, and the classes if it names them."""
    if path.suffix.lower() in WAVES:
        return _of_wave(path, options.labelled or label_of(path), options.sample_rate), ()
    table, _, classes = read_parts(path, options)
    if isinstance(table, LabelSetTable):
        raise InputError(f"{table.source} has sets of labels; give each sample one label")
    return _with_units(_with_times(table)), classes


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
    samples, rate, channels = read_wave(path).sampled(rate)
    if not len(samples):
        raise InputError(f"{path} has no samples; record the file again, or leave it out")
    text = f"only the first of a WAV file's {channels} channels is read"
    return Table(
        str(path),
        samples.astype(np.float32),
        Repeated([(label, len(samples))]),
        feature_names=MICROPHONE.channels,
        notices=(Notice("wave_channels", text),) if channels > 1 else (),
        sample_rate=rate,
        instrument=Instrument.of([MICROPHONE]),
    )


def _with_times(table: Table) -> Table:
    """Return a table with seams at gaps in time, and with the rate that follows from its times."""
    if not table.times:
        return table
    times, are_dates = _moments_of(table.times)
    if times is None:
        text = "the format of the times is unknown, so gaps in time are not detected"
        return replace(table, notices=(*table.notices, Notice("times", text, warning=True)))
    for row in np.flatnonzero(np.abs(times) > FLOAT32_MAX)[:1]:
        raise InputError(
            f"{table.source} has the time {table.times[row][:40]!r}, which is not a finite number; "
            "correct or drop the row"
        )
    apart = gaps(times)
    if apart.any():
        table = replace(table, notices=(*table.notices, _of_gaps(int(apart.sum()))))
    table = replace(table, seams=_seams_of(table) | apart)
    return _with_rate(table, times, are_dates=are_dates) if table.sample_rate is None else table


def _of_gaps(count: int) -> Notice:
    return Notice("gaps", f"{counted(count, 'gap')} in time; no window spans a gap")


def _with_rate(table: Table, times: NDArray[np.float64], *, are_dates: bool) -> Table:
    """Return a table with the rate that follows from its times, and a notice about it."""
    steps = np.diff(times)
    rising = steps[steps > 0]
    step = float(np.median(rising)) if len(rising) else 0.0
    name = "" if table.layout is None else table.layout.time
    seconds = 1.0 if are_dates else seconds_of_a_unit(name, step)
    if not step or seconds is None:
        return table
    # The mean step of whole milliseconds may be fractional; a coarse clock repeats times.
    usual = steps[(steps >= 0) & (steps < 2 * step)].mean()
    rate = float(f"{1 / (usual * seconds):.{_DIGITS}g}")
    unit = {1.0: "seconds", 1e-3: "milliseconds", 1e-6: "microseconds"}.get(seconds, "nanoseconds")
    samples = "sample" if rate == 1 else "samples"
    text = f"{rate:g} {samples} a second, computed from times in {unit}; use --rate to correct it"
    return replace(table, sample_rate=rate, notices=(*table.notices, Notice("rate", text)))


def _moments_of(cells: Sequence[str]) -> tuple[NDArray[np.float64] | None, bool]:
    """Return times (n,), dates in seconds, numbers in their unit, and whether they are dates."""
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
    """Return the seconds in a column's unit of time, found by its name or by the usual step.

    Steps below 0.5 are seconds, whole numbers of 2 to 999 milliseconds, longer ones microseconds,
    as an Arduino counts, and from a million on nanoseconds, as telephones count. None if undecided.
    """
    given = split_unit(name.lower())[1]
    if (match := _UNIT.search(given or name.lower())) is not None:
        return next(each for unit, each in _SECONDS.items() if match[1].startswith(unit))
    if given:
        return None
    if 0 < step < 0.5:
        return 1.0
    if step < 2 or step != round(step):
        return None
    if step < 1_000:
        return 1e-3
    return 1e-6 if step < 1_000_000 else 1e-9


def _alike(tables: Sequence[Table]) -> Iterator[Table]:
    """Yield the tables with the channels of the first one, matched by name."""
    first = tables[0]
    wanted = first.feature_names
    for table in tables:
        names = table.feature_names
        alike = set(wanted) <= set(names) and bool(names) == bool(wanted)
        matched = table.matched(wanted, table.source, first.source) if alike else table
        if not alike or matched.X.shape[1] != first.X.shape[1]:
            unlike = _unlike(table.source, table, first.source, first)
            remedy = "give all files the same channels, or choose common ones with --channels"
            raise InputError(f"{unlike}; {remedy}")
        yield matched


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


def _one_rate(tables: Mapping[str, Provenance]) -> float | None:
    """Return the common rate of all files with a known rate."""
    rates = {name: each.sample_rate for name, each in tables.items() if each.sample_rate}
    first, usual = next(iter(rates.items()), ("", 0.0))
    for name, rate in rates.items():
        if abs(rate - usual) > _SAME_RATE * usual:
            raise InputError(
                f"{first} has {usual:g} samples a second, but {name} has {rate:g}; give recordings "
                "with the same rate or, for WAV files, a --rate no higher than the lowest of their "
                "rates"
            )
    return float(np.median(list(rates.values()))) if rates else None


def _one_instrument(tables: Mapping[str, Provenance]) -> Instrument | None:
    """Return the instrument of all files; None if some do not state it."""
    instruments = {name: each.instrument for name, each in tables.items() if each.instrument}
    first, common = next(iter(instruments.items()), ("", None))
    for name, instrument in instruments.items():
        if instrument != common:
            raise InputError(
                f"{first} contains data from {common}, but {name} from {instrument}; give "
                "recordings from the same sensor"
            )
    return common if len(instruments) == len(tables) else None


def _without_units(tables: Mapping[str, Provenance]) -> Iterator[Notice]:
    """Yield a warning if some files have units and others do not."""
    names = [name for name, each in tables.items() if each.instrument is None]
    if 0 < len(names) < len(tables):
        text = (
            f"the units of {counted(len(tables) - len(names), 'file')} are ignored, because "
            f"{counted(len(names), 'other file')} {'has' if len(names) == 1 else 'have'} none "
            f"({listed(names)}); give all files the same units"
        )
        yield Notice("units", text, warning=True)
