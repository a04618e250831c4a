"""``protonn-edge windows``: Cut a recording into windows for 'train'."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.registry import modules_named
from protonn_edge.chain.signals import SAMPLE_RATES
from protonn_edge.cli.command import OUTPUT, Output, argument, command, option
from protonn_edge.cli.options import LEVEL, PATH, FiniteRange, Qualified
from protonn_edge.cli.paths import OutputFile
from protonn_edge.cli.tables import TABLE
from protonn_edge.datasets import Notice, TableOptions, recordings
from protonn_edge.datasets.instruments import to_arrays
from protonn_edge.datasets.naming import check_names, label_text, listed, title
from protonn_edge.datasets.onset import THRESHOLDS
from protonn_edge.datasets.recorded import Recording, followed_by, read_noise, read_recording
from protonn_edge.datasets.roles import is_called_as_time
from protonn_edge.errors import InputError, counted
from protonn_edge.evaluation.terminal import fact_table
from protonn_edge.sensors import MICROPHONE
from protonn_edge.sensors.kinds import ANALOG_RATE
from protonn_edge.system.files import write_atomically

_BEFORE_SHARE = 5  # of a window
_LEAST_RUN = 3  # samples of a label in a row, on average


@command(
    "windows",
    apart={"--stride": "--trigger --onset", "--trigger": "--onset"},
    examples=("recording.csv -o windows.npz --window 128 --stride 32 --test 0.3",),
)
def windows_command(
    recording: Path = argument(PATH),
    output: Path = option("The data set (.npz).", OutputFile(), required=True),
    window: int = option(
        "Length of a window, in samples per channel.", click.IntRange(2), required=True
    ),
    stride: int | None = option(
        "Samples between the starts of consecutive training windows.  [default: a whole window]",
        click.IntRange(1),
    ),
    trigger: tuple[float, dict[str, int]] | None = option(
        "Cut a window only where movement begins: where the channels' ranges over an eighth of a "
        "window add up to this level; 'auto' chooses a level. N samples of the window are before "
        "this start, by default a fifth.",
        Qualified(LEVEL, LEVEL.name, before=click.IntRange(0)),
    ),
    onset: int | None = option(
        "Cut a clip where a sound begins: where the mean difference between each sample and the "
        "second one after it, scaled to 8 bits, exceeds N; 4 is usual. The data set stores N for "
        "'train'.",
        click.IntRange(*THRESHOLDS),
    ),
    test_share: float = option(
        "Share of the data for testing: the end of each run of equal labels or, in a folder, the "
        "last takes of each class.",
        FiniteRange(0, 1, max_open=True),
        flag="--test",
        shown=0.0,
    ),
    background: str | None = option(
        "The class for unlabelled samples of a table and for --noise, such as 'nothing'.",
        metavar="CLASS",
    ),
    noise: Path | None = option(
        "Recordings of noise, a file or a folder, that 'train --copies' mixes into the windows.",
        PATH,
    ),
    rate: float | None = option(
        "Samples per second; WAV files with a higher rate are sampled at this rate, as the board "
        "would sample the sound.  [default: from the recording, or its times]",
        FiniteRange(*SAMPLE_RATES),
    ),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Cut RECORDING, with samples of all channels in chronological order, into labelled windows.

    RECORDING is a file written by 'record', a table with one sample per row, a WAV file, or a
    folder with a file or a folder per class. Columns of times and sessions are not
    channels; they keep windows from spanning two sessions or a gap in time. Sessions, or the files
    of a folder, become the array 'groups' of the data set, for 'train --groups groups'.
    """
    if output.suffix != ".npz":
        raise InputError(f"the data set is called {output.name!r}; its name must end in .npz")
    if background is not None:
        check_names([label_text(background)], "--background", distinct=True)
    if table.name is not None and recording.exists() and not recording.is_dir():
        raise InputError(
            f"--read name is for a folder of takes, but {recording} is not a folder; omit it"
        )
    options = replace(table, background=background, sample_rate=rate)
    recorded = read_recording(recording, options)
    if rate is not None:
        by_times = any(each.kind == "rate" for each in recorded.dataset.notices)
        if not by_times and not recordings.is_same_rate(recorded.rate, rate):
            text = (
                f"--rate is {rate:g}, but {recording} has {recorded.rate:g} samples a second; the "
                "data set stores the rate given with --rate"
            )
            out.notice([Notice("rate", text, warning=True)])
        asked = [each for each in recorded.dataset.notices if each.kind == "rate" and each.warning]
        notices = tuple(each for each in recorded.dataset.notices if each not in asked)
        dataset = replace(recorded.dataset, sample_rate=rate, notices=notices)
        recorded = replace(recorded, dataset=dataset)
    noisy = None if noise is None else read_noise(noise, recorded, options)
    own = len(recorded.seams)
    if noisy is not None and background is not None:
        recorded = followed_by(recorded, noisy)
    _check_window(window, recorded.samples.shape[1])
    _check_labels(recorded, window)
    detector = _trigger(recorded, window, trigger, onset)
    windows = _windows(recorded, window, stride, test_share, detector)
    mixed = None if noisy is None else _to_mix(recorded, noisy, own, window, stride, test_share)
    cut = _Cut(windows, recorded, detector, mixed)
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **cut.arrays(onset))
    write_atomically(output, content.getvalue())
    out.say(f"{output.name}:", fact_table(cut.facts()))
    of_noise = () if noisy is None else noisy.dataset.notices
    out.notice(dict.fromkeys([*recorded.dataset.notices, *of_noise, *cut.notices(test_share)]))
    out.finish(cut.to_json())


def _check_window(window: int, channels: int) -> None:
    """Refuse windows that no features can be computed from; one channel may be audio."""
    for module in modules_named("cutting"):
        module.check_cut(window, channels)


def _check_labels(recorded: Recording, window: int) -> None:
    """Refuse labels that change all the time: another column has them, or none."""
    labels, layout = recorded.dataset.y_train, recorded.dataset.layout
    runs = recordings.runs_of(labels)
    if len(labels) >= window * 2 and len(labels) < _LEAST_RUN * len(runs):
        column = "" if layout is None else f" ({layout.label})"
        raise InputError(
            f"the labels{column} change {len(runs) - 1:,} times in {len(labels):,} samples; use "
            "--read label to name a column with one label for all samples of a movement, or use a "
            "folder with a file per class"
        )


def _trigger(
    recorded: Recording, window: int, given: tuple[float, dict[str, int]] | None, onset: int | None
) -> recordings.SegmentDetector | None:
    """Return where windows begin, if not at regular intervals."""
    if onset is not None:
        channels = recorded.samples.shape[1]
        if channels > 1:
            raise InputError(
                f"--onset is for sound with one channel, but the recording has {channels} "
                "channels; omit --onset"
            )
        return _at_onsets(recorded, window, onset)
    if given is None:
        return None
    level, settings = given
    count = settings.get("before", window // _BEFORE_SHARE)
    if count >= window:
        raise InputError(
            f"--trigger has before={count:,}, but a window has only {window:,} samples; give a "
            "smaller number"
        )
    runs = recordings.runs_of(recorded.dataset.y_train, recorded.seams)
    return recordings.Trigger.of(recorded.samples, runs, window, count, level or None)


def _at_onsets(recorded: Recording, window: int, onset: int) -> recordings.SegmentDetector:
    for module in modules_named("onset"):
        clips: recordings.SegmentDetector = module.at_onsets(recorded.samples, window, onset)
        return clips
    raise InputError("features of sound are not installed; omit --onset")


def _windows(
    recorded: Recording,
    window: int,
    stride: int | None,
    share: float,
    trigger: recordings.SegmentDetector | None,
) -> recordings.CutWindows:
    """Return the windows; in a folder, whole takes are held out for testing."""
    labels, tested = recorded.dataset.y_train, recorded.tested
    if share and tested.any():
        raise InputError(
            "--test is given, but the folder has its own takes for testing; omit --test"
        )
    if share and recorded.take_of is not None and recorded.groups is not None:
        tested, share = recordings.last_takes(recorded.take_of, labels, share), 0.0
    samples, seams = recorded.samples, recorded.seams
    cut = recordings.cut_windows(
        samples, labels, window, stride, share, seams, tested=tested, trigger=trigger
    )
    trained = np.isin(cut.y_test, cut.y_train)  # a class without training windows has no number
    return replace(cut, X_test=cut.X_test[trained], y_test=cut.y_test[trained])


def _to_mix(
    recorded: Recording, noise: Recording, own: int, window: int, stride: int | None, share: float
) -> NDArray[np.float32]:
    """Return regular windows of noise, none of them for testing.

    Where noise is a class, too, they are training windows of the rows from `own` on.
    """
    if own == len(recorded.seams):
        recorded, own, stride, share = noise, 0, None, 0.0
    try:
        cut = _windows(recorded, window, stride, share, None)
    except InputError as error:
        raise InputError(f"--noise: {error}") from error
    of_noise = cut.X_train[cut.begins >= own]
    if not len(of_noise):
        raise InputError(
            f"--noise: no recording has at least {window:,} samples for training; make longer "
            "recordings"
        )
    return of_noise


@dataclass(frozen=True, eq=False)
class _Cut:
    """Windows, their recording, and their starts, if not at regular intervals."""

    windows: recordings.CutWindows
    recorded: Recording
    trigger: recordings.SegmentDetector | None
    noise: NDArray[np.float32] | None = None  # windows to mix into copies

    def arrays(self, onset: int | None) -> dict[str, Any]:
        """Return the contents of the file: windows, their classes, rate, onset and groups."""
        cut, dataset = self.windows, self.recorded.dataset
        present = np.unique(cut.y_train)
        number = np.full(dataset.n_classes, -1)
        number[present] = np.arange(len(present))
        arrays: dict[str, Any] = {
            "X_train": cut.X_train,
            "y_train": number[cut.y_train],
            "class_names": np.array(dataset.classes)[present],
        }
        if len(cut.y_test):
            arrays |= {"X_test": cut.X_test, "y_test": number[cut.y_test]}
        if self.recorded.channels:
            arrays["channel_names"] = np.array(self.recorded.channels)
        if self.recorded.rate is not None:
            arrays["sample_rate"] = np.array(self.recorded.rate)
        if onset is not None:
            arrays["onset"] = np.array(onset)
        if self.groups is not None:
            arrays["groups"] = np.array(self.groups)
        if self.noise is not None:
            arrays["background_noise"] = self.noise
        return arrays | to_arrays(dataset.instrument)

    @property
    def groups(self) -> list[str] | None:
        """The group of each training window, if rows have groups."""
        groups = self.recorded.groups
        return None if groups is None else [groups[row].strip() for row in self.windows.begins]

    @property
    def counts(self) -> list[NDArray[np.int64]]:
        """The number of training and of test windows of each class."""
        n = self.recorded.dataset.n_classes
        return [np.bincount(y, minlength=n) for y in (self.windows.y_train, self.windows.y_test)]

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of the windows, as rows."""
        cut, dataset = self.windows, self.recorded.dataset
        window, channels = cut.X_train.shape[1:]
        names = f": {', '.join(self.recorded.channels)}" if self.recorded.channels else ""
        train, test = self.counts
        tested = [f" + {count:,}" if test.any() else "" for count in test]
        of_class = zip(dataset.classes, train, tested, strict=True)
        facts = [
            ("windows", f"{len(cut.y_train):,} for training, {len(cut.y_test):,} for testing"),
            ("each window", f"{window:,} samples of {counted(channels, 'channel')}{names}"),
            ("classes", ", ".join(f"{name}: {count:,}{more}" for name, count, more in of_class)),
        ]
        if self.recorded.rate is not None:
            facts.append(("rate", f"{self.recorded.rate:g} Hz"))
        if dataset.instrument is not None:
            facts.append(("sensor", str(dataset.instrument)))
        facts += [] if self.trigger is None else self.trigger.facts
        groups = sorted({*(self.groups or ())})
        if len(groups) > 1:
            names = f"{len(groups):,} ({listed(groups)})"
            facts.append(("groups", f"{names}, for 'train --groups groups'"))
        if self.noise is not None:
            facts.append(("noise", f"{counted(len(self.noise), 'window')}, for 'train --copies'"))
        return facts

    def to_json(self) -> dict[str, Any]:
        """Return the windows' facts with the field names of this command's JSON."""
        cut, recorded = self.windows, self.recorded
        classes, counts = recorded.dataset.classes, self.counts[0].tolist()
        return {
            "window": cut.X_train.shape[1],
            "channels": cut.X_train.shape[2],
            "channel_names": list(recorded.channels),
            "sample_rate": recorded.rate,
            "trigger": None if self.trigger is None else self.trigger.level,
            "n_train": len(cut.y_train),
            "n_test": len(cut.y_test),
            "classes": [name for name, n in zip(classes, counts, strict=True) if n],
            "n_of_class": dict(zip(classes, counts, strict=True)),
            "groups": None if self.groups is None else len(set(self.groups)),
            "n_noise": 0 if self.noise is None else len(self.noise),
        }

    def notices(self, test_share: float) -> Iterator[Notice]:
        """Yield notices of rows without a window, and of columns that may not be channels."""
        recorded, window = self.recorded, self.windows.X_train.shape[1]
        classes, labels = recorded.dataset.classes, recorded.dataset.y_train
        for place, name in enumerate(recorded.channels, start=1):
            if is_called_as_time(name):
                text = (
                    f"{title(name, place)} is used as a channel, because its numbers do not "
                    "increase as times do; exclude it with --read drop=NAME, or declare it with "
                    "time=NAME"
                )
                yield Notice("time_channel", text, warning=True, columns=(name,))
        if recorded.channels == MICROPHONE.channels and (recorded.rate or 0.0) > ANALOG_RATE:
            text = (
                f"{recorded.rate:g} samples a second are more than the {ANALOG_RATE:,.0f} that a "
                "board can sample from a microphone; convert the recording with --rate 8000"
            )
            yield Notice("rate", text, warning=True)
        runs = recordings.runs_of(labels, recorded.seams)
        short = [(first, end) for first, end in runs if end - first < window]
        if short:
            are = "is" if len(short) == 1 else "are"
            text = f"{self._some(short, runs)} {are} shorter than a window and left out"
            yield Notice("short_runs", text)
        if self.trigger is not None:
            moving = recordings.classes_that_move(labels, runs, self.trigger)
            yield from self._empty_runs([run for run in runs if labels[run[0]] in moving])
            still = tuple(name for index, name in enumerate(classes) if index not in moving)
            if still:
                text = f"labels with little movement, cut at regular intervals: {listed(still)}"
                yield Notice("still", text, columns=still)
        train, test = self.counts
        missing = [classes[index] for index in np.flatnonzero(train == 0)]
        if missing:
            nothing = "no run of equal labels in the training part is as long as a window"
            reason = nothing if self.trigger is None else self.trigger.missing
            yield Notice(
                "no_window", f"classes left out: {listed(missing)}, because {reason}", warning=True
            )
        if test_share and not len(self.windows.y_test):
            text = (
                f"there are no test windows, because the last {100 * test_share:g} % of each run "
                "is shorter than a window; use a larger --test, or shorter windows"
            )
            yield Notice("no_test", text, warning=True)
        untested = tuple(classes[index] for index in np.flatnonzero((train > 0) & (test == 0)))
        if untested and test.any():
            text = (
                f"classes without test windows: {listed(untested)}; add recordings of them, or cut "
                "shorter windows"
            )
            yield Notice("untested", text, warning=True, columns=untested)

    def _empty_runs(self, runs: list[recordings.Run]) -> Iterator[Notice]:
        """Yield a notice of runs in which no window begins, although their class has windows."""
        assert self.trigger is not None
        cut, train = self.windows, self.counts[0]
        labels, window = self.recorded.dataset.y_train, cut.X_train.shape[1]
        long = [(a, b) for a, b in runs if b - a >= window and train[labels[a]]]
        empty = [run for run in long if next(iter(self.trigger.begins(*run)), None) is None]
        if empty:
            text = (
                f"no window begins in {self._some(empty, long)}; check these recordings, or lower "
                "--onset or --trigger"
            )
            yield Notice("empty_runs", text, warning=True)

    def _some(self, runs: Sequence[recordings.Run], of: Sequence[recordings.Run]) -> str:
        """Return the number of some runs of others, with their files in a folder."""
        recorded, text = (
            self.recorded,
            f"{len(runs):,} of {counted(len(of), 'run')} of equal labels",
        )
        if recorded.take_of is None:
            return text
        files = dict.fromkeys(recorded.files[recorded.take_of[first]] for first, _ in runs)
        return f"{text} (in {listed(files)})"
