"""Clocks of recordings: `windows` finds the rate and the gaps, or names what its times do.

Each law is checked on tables in several languages, units and orders of columns. What is right is
known from how the samples were made, and counted with plain NumPy.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from command_line import refusal, run, run_json
from laws.fuzz.mutation import pick

BRIEF_CASES = 33

_LABELS = ("label", "class", "Klasse", "clase", "étiquette", "метка", "标签")
_CHANNELS = (("ax", "ay", "az"), ("Beschl x", "Beschl y"), ("accélération_x", "accélération_y"))
_CLASSES = (("rest", "walk", "run"), ("Ruhe", "Gehen", "Laufen"), ("1", "2", "3"))
_WINDOW = 20


@dataclass(frozen=True)
class Unit:
    """A unit of times: names of columns, the first time in seconds, and how it is written."""

    names: tuple[str, ...]
    begin: float
    text: Callable[[float], str]


UNITS = (
    Unit(
        ("time", "t", "seconds", "Zeit (s)", "tiempo_s", "temps [s]", "timestamp"),
        0,
        "{:.5f}".format,
    ),
    Unit(("time", "zeit", "tiempo", "время", "時間"), 12.5, "{:.4f}".format),
    Unit(("time_ms", "millis", "Zeit (ms)", "temps_ms", "t [ms]"), 0, lambda s: f"{1e3 * s:.0f}"),
    Unit(("time_ms", "zeit_ms"), 3600, lambda s: f"{1e3 * s:.2f}"),
    Unit(("time_us", "micros", "tiempo (us)"), 7, lambda s: f"{1e6 * s:.0f}"),
    Unit(("timestamp", "epoch", "unixtime"), 1_700_000_000, "{:.4f}".format),
    Unit(("timestamp_ms", "Zeitstempel (ms)"), 1_700_000_000, lambda s: f"{1e3 * s:.0f}"),
    Unit(
        ("when", "fecha", "Datum", "date"),
        1_777_000_000,
        lambda s: datetime.fromtimestamp(s, UTC).isoformat(timespec="milliseconds")[:23],
    ),
)


@dataclass(frozen=True)
class Recorded:
    """Samples: times in seconds, labels, channels, and other columns by their names."""

    times: np.ndarray
    labels: np.ndarray
    X: np.ndarray
    others: dict[str, list[str]]
    rate: float
    lost: np.ndarray  # (n,): whether the sample before was lost, or a take begins

    def of_rows(self, rows: np.ndarray) -> Recorded:
        """Return some rows."""
        others = {name: [cells[row] for row in rows] for name, cells in self.others.items()}
        return replace(
            self, times=self.times[rows], labels=self.labels[rows], X=self.X[rows], others=others
        )

    def windows(self, window: int = _WINDOW) -> int:
        """Count the windows that no gap and no change of the label divides."""
        divided = np.append(True, self.labels[1:] != self.labels[:-1]) | self.lost
        return sum(len(run) // window for run in np.split(self.labels, np.flatnonzero(divided)[1:]))


@dataclass(frozen=True)
class Written:
    """A file, and the names of its columns."""

    path: Path
    time: str
    label: str
    channels: tuple[str, ...]
    options: list[str] = field(default_factory=list)

    def windows(self, *options: object) -> dict[str, object]:
        """Cut it, which succeeds; its times are no channel."""
        made = run_json(*self.command, *self.options, *options)
        assert self.time not in made["channel_names"], f"{self.time} is a channel"
        assert self.label not in made["channel_names"], f"{self.label} is a channel"
        return made

    def refused(self, *names: str) -> str:
        """Check that it is refused in a sentence with these names; return the sentence.

        A column of an unusual name that rises unevenly is asked about first.
        """
        sentence = refusal(run(*self.command, *self.options))
        if f"{self.time!r} rises from row to row" in sentence and not self.options:
            assert "--time " in sentence
            self.options.extend(["--time", f"{self.time}"])
            return self.refused(*names)
        assert not (missing := [each for each in names if each not in sentence]), (
            missing,
            sentence,
        )
        return sentence

    @property
    def command(self) -> tuple[object, ...]:
        """The words of the command that cuts it."""
        return "windows", self.path, "-o", self.path.with_suffix(".npz"), "--window", _WINDOW


def run_case(seed: int, folder: Path) -> None:
    """Check the law whose turn it is."""
    rng = np.random.default_rng(seed)
    LAWS[seed % len(LAWS)](rng, folder)


# --- laws -----------------------------------------------------------------------------------------


def _even(rng: np.random.Generator, folder: Path) -> None:
    """Jitter, lost samples and gaps between takes pass, with the true rate."""
    recorded = _recorded(rng)
    jitter, dropped = pick(rng, (0, 0, 0.1, 0.2)), pick(rng, (0, 0, 0.01, 0.02))
    n = len(recorded.times)
    moved = recorded.times + jitter * rng.uniform(-1, 1, n) / recorded.rate
    kept = rng.random(n) >= dropped
    lost = recorded.lost | np.append(True, ~kept[:-1])
    # a lost row leaves its gap to the next one that is there
    lost = np.logical_or.reduceat(lost, np.append(0, np.flatnonzero(kept)[:-1] + 1))
    recorded = replace(replace(recorded, times=moved).of_rows(np.flatnonzero(kept)), lost=lost)
    made = _written(rng, folder, recorded).windows()
    _is_near(made, recorded.rate, 0.03)
    if not jitter:
        assert made["n_train"] == recorded.windows(), (made["n_train"], recorded.windows())
    else:
        least, most = recorded.windows(), replace(recorded, lost=_takes_begin(recorded)).windows()
        assert least <= made["n_train"] <= most, (least, made["n_train"], most)


def _two_rates(rng: np.random.Generator, folder: Path) -> None:
    """Parts of other rates are refused, with a rate that works for all."""
    between = pick(rng, (0.0, 0.0, 5.0))
    slow = _recorded(rng, takes=2, between=between)
    ratio = pick(rng, (1.25, 1.5, 2, 4))
    fast = _recorded(rng, takes=2, between=between, rate=slow.rate * ratio)
    parts = [slow, fast] if rng.random() < 0.5 else [fast, slow]
    written = _written(rng, folder, _joined(parts, between))
    rate = _advised(written.refused("evenly spaced"), "--rate")
    made = written.windows("--rate", rate)
    assert made["sample_rate"] == float(rate)
    _is_near(made, slow.rate, 0.05)
    seconds = (len(slow.times) + len(fast.times) / ratio) / slow.rate
    assert abs(made["n_train"] - seconds * float(rate) / _WINDOW) <= 6, made["n_train"]


def _changes_only(rng: np.random.Generator, folder: Path) -> None:
    """A log of changes has no rate, whatever its intervals are like."""
    recorded = _recorded(rng, takes=4, between=0)
    n = len(recorded.times)
    intervals = pick(
        rng, (rng.exponential(1, n) + 0.02, rng.uniform(0.1, 2, n), rng.lognormal(0, 0.8, n))
    )
    intervals *= 1.0 + 2 * (recorded.labels == recorded.labels[0])
    written = _written(rng, folder, replace(recorded, times=np.cumsum(intervals) / recorded.rate))
    rate = _advised(written.refused("evenly spaced"), "--rate")
    assert written.windows("--rate", rate)["sample_rate"] == float(rate)


def _packets(rng: np.random.Generator, folder: Path) -> None:
    """Packets of samples have the rate of their samples."""
    size = int(pick(rng, (2, 3, 5, 8, 10)))
    recorded = _recorded(rng, takes=4, between=0, rate=pick(rng, (20, 50, 100)))
    numbers = np.arange(len(recorded.times))
    within = pick(rng, (0, 0.03, 0.05)) / recorded.rate
    times = (numbers // size) * size / recorded.rate + within * (numbers % size)
    recorded = replace(recorded, times=times)
    units = [UNITS[0], UNITS[3], UNITS[4]]
    made = _written(rng, folder, recorded, units).windows()
    _is_near(made, recorded.rate, 0.03)
    assert made["n_train"] == recorded.windows()


def _out_of_order(rng: np.random.Generator, folder: Path) -> None:
    """Rows out of order are sorted, and give the windows of the sorted table."""
    recorded = _recorded(rng, between=pick(rng, (0.0, 5.0)))
    n, how = len(recorded.times), rng.integers(4)
    order = np.arange(n)
    if how == 0:  # neighbours
        for place in np.arange(5, n - 1, int(rng.integers(7, 60))):
            order[[place, place + 1]] = order[[place + 1, place]]
    elif how == 1:  # packets
        for place in range(10, n - 20, int(rng.integers(30, 90))):
            order[place : place + 20] = np.roll(order[place : place + 20], 10)
    elif how == 2:
        order = order[::-1]
    else:
        order = rng.permutation(n)
    written = _written(rng, folder, recorded.of_rows(order), called=True)
    made = written.windows()
    _is_near(made, recorded.rate, 0.03)
    assert made["n_train"] == recorded.windows(), (how, made["n_train"], recorded.windows())


def _slower_sensor(rng: np.random.Generator, folder: Path) -> None:
    """A sensor with values in each few rows is named, and each one can be chosen."""
    every = int(rng.integers(3, 7))
    recorded = _recorded(rng, takes=4, between=0, rate=pick(rng, (25, 50, 64, 100)))
    n = len(recorded.times)
    rows = np.arange(int(rng.integers(every)), n, every)
    names = pick(
        rng, (("gyro",), ("Herzrate",), ("fréquence cardiaque", "pression"), ("温度", "g y"))
    )
    others = {name: [""] * n for name in names}
    for name in names:
        for row, value in zip(rows.tolist(), rng.normal(0, 5, len(rows)), strict=True):
            others[name][row] = f"{value:.2f}"
    written = _written(rng, folder, replace(recorded, others=others))
    sentence = written.refused(*names)
    fast, slower = (_advised(each, "--channels") for each in sentence.split(" or, "))
    _is_near(written.windows("--channels", fast), recorded.rate, 0.03)
    made = written.windows("--channels", slower)
    _is_near(made, recorded.rate / every, 0.03)
    assert sorted(made["channel_names"]) == sorted(names)


def _in_turn(rng: np.random.Generator, folder: Path) -> None:
    """Rows of several devices in turn are refused, and read as one recording for each."""
    count = int(rng.integers(2, 5))
    one = _recorded(rng, takes=3, between=pick(rng, (0.0, 5.0)))
    late = pick(rng, (0.0, 0.0, 0.2 / one.rate / count))
    n = len(one.times)
    rows = np.repeat(np.arange(n), count)
    device = np.tile(np.arange(count), n)
    names = [str(pick(rng, (each + 1, each + 1, each))) for each in range(count)]
    if rng.random() < 0.5 or len(set(names)) < count:
        names = list("ABCD"[:count])
    name = str(pick(rng, ("board", "Brett", "placa", "nœud", "mote", "x2", "device", "sensor nr")))
    table = replace(one.of_rows(rows), others={name: [names[each] for each in device]})
    table = replace(table, times=table.times + device * late, X=table.X + 3 * device[:, None])
    if rng.random() < 0.5:
        table = replace(table, X=_recorded(rng, takes=80).X[: len(table.X)])
    written = _written(rng, folder, table, called=bool(late))
    options = ()
    # names of sessions may be enough
    if name not in ("device", "sensor nr") or run(*written.command).exit_code:
        options = "--session", _advised(written.refused(name, "--session"), "--session")
    made = written.windows(*options)
    _is_near(made, one.rate, 0.03)
    assert made["n_train"] == count * one.windows(), (made["n_train"], count, one.windows())
    assert made["groups"] == count


def _markers(rng: np.random.Generator, folder: Path) -> None:
    """A column of markers is named: they are of single rows."""
    recorded, name = (
        _recorded(rng, takes=2, between=0),
        str(pick(rng, ("Marker", "event", "Ereignis"))),
    )
    marks = np.zeros(len(recorded.times), np.int64)
    places = np.arange(30, len(marks) - 30, int(rng.integers(25, 60)))
    marks[places] = (
        np.arange(len(places)) % 2 + 1 if rng.random() < 0.7 else np.arange(len(places)) + 1
    )
    written = _written(rng, folder, replace(recorded, labels=marks.astype(str)), label=name)
    written.refused(name, "single rows")


def _begins_again(rng: np.random.Generator, folder: Path) -> None:
    """No window spans a clock that begins again."""
    recorded = _recorded(rng, takes=4, between=0.0)
    begins = np.flatnonzero(_takes_begin(recorded))
    at = np.maximum.accumulate(np.where(_takes_begin(recorded), np.arange(len(recorded.times)), 0))
    recorded = replace(recorded, times=recorded.times - recorded.times[at], lost=recorded.lost)
    recorded = replace(recorded, lost=np.isin(np.arange(len(recorded.times)), begins))
    made = _written(rng, folder, recorded, called=True).windows()
    _is_near(made, recorded.rate, 0.03)
    assert made["n_train"] == recorded.windows()


LAWS = (
    _even, _two_rates, _changes_only, _packets, _out_of_order, _slower_sensor, _in_turn, _markers,
    _begins_again, _even, _even,
)  # fmt: skip


# --- samples --------------------------------------------------------------------------------------


def _recorded(
    rng: np.random.Generator,
    *,
    takes: int | None = None,
    between: float | None = None,
    rate: float | None = None,
) -> Recorded:
    """Return takes of a class each, with smooth channels."""
    rate = float(pick(rng, (10, 25, 50, 64, 100)) if rate is None else rate)
    counts = rng.integers(120, 260, int(rng.integers(3, 7)) if takes is None else takes)
    if takes is None and rng.random() < 0.3:  # short gestures
        counts = rng.integers(22, 45, int(rng.integers(8, 30)))
    pauses = rng.uniform(3, 30, len(counts)) if between is None else np.full(len(counts), between)
    times, end = [], 0.0
    for count, pause in zip(counts.tolist(), pauses.tolist(), strict=True):
        times.append(end + np.arange(count) / rate)
        end += count / rate + pause
    n, names = int(counts.sum()), pick(rng, _CLASSES)
    labels = np.repeat(np.array(names)[np.arange(len(counts)) % 2], counts)
    noise = rng.normal(0, 1, (n + 4, 3))
    X = sum(noise[k : n + k] for k in range(5)).round(3)
    begins = np.isin(np.arange(n), np.cumsum(counts) - counts)
    lost = begins if between is None or between else np.arange(n) == 0
    return Recorded(np.concatenate(times), labels, X, {}, rate, lost)


def _takes_begin(recorded: Recorded) -> np.ndarray:
    far = np.diff(recorded.times, prepend=-np.inf) > 1.0
    return far | np.append(True, recorded.labels[1:] != recorded.labels[:-1])


def _joined(parts: list[Recorded], between: float) -> Recorded:
    first, second = parts
    begin = first.times[-1] + between + 1 / first.rate
    return replace(
        first,
        times=np.concatenate([first.times, begin + second.times]),
        labels=np.concatenate([first.labels, second.labels]),
        X=np.concatenate([first.X, second.X]),
        lost=np.concatenate([first.lost, second.lost]),
    )


def _written(
    rng: np.random.Generator,
    folder: Path,
    recorded: Recorded,
    units: tuple[Unit, ...] | list[Unit] = UNITS,
    *,
    called: bool = False,
    label: str | None = None,
) -> Written:
    """Write the samples in one of the units, with columns in any order; the label may be last."""
    fits = [each for each in units if recorded.rate <= 100 or each.text(1e-4) != each.text(0)]
    unit = pick(rng, fits)
    time = str(unit.names[0] if called else pick(rng, unit.names))
    channels = pick(rng, _CHANNELS)
    named = str(pick(rng, _LABELS))
    columns = {name: [f"{x:.3f}" for x in recorded.X[:, i]] for i, name in enumerate(channels)}
    columns |= recorded.others
    columns[time] = [unit.text(unit.begin + each) for each in recorded.times.tolist()]
    order = rng.permutation(list(columns)).tolist()
    if label is None:
        order.insert(int(rng.integers(len(order) + 1)), named)
    else:
        order.append(label)
    columns[label or named] = recorded.labels.tolist()
    ending, mark = pick(rng, ((".csv", ","), (".tsv", "\t"), (".csv", ";")))
    rows = zip(*(columns[name] for name in order), strict=True)
    path = folder / f"recording{ending}"
    path.write_text("".join(f"{mark.join(row)}\n" for row in [order, *rows]), "utf-8")
    return Written(path, time, label or named, channels)


def _advised(sentence: str, flag: str) -> str:
    """Return the value that a sentence gives to an option, as a shell reads it."""
    words = shlex.split(sentence[sentence.index(flag) :])
    return words[flag.startswith("--")]


def _is_near(made: dict[str, object], rate: float, within: float) -> None:
    found = made["sample_rate"]
    assert isinstance(found, float), "there is no rate"
    assert abs(found - rate) <= within * rate, f"{found} samples a second instead of {rate}"
