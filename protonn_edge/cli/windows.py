"""``protonn-edge windows``: cut a recording into windows to train with."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from protonn_edge.cli.command import Command, FiniteRange, Output, json_option
from protonn_edge.cli.paths import WINDOWS, OutputFile
from protonn_edge.cli.quantities import Level
from protonn_edge.cli.tables import names_in, table_options
from protonn_edge.datasets import Notice, TableOptions
from protonn_edge.datasets.naming import listed, title
from protonn_edge.datasets.recorded import Recording, read_recording
from protonn_edge.datasets.recordings import (
    SegmentDetector,
    Trigger,
    Windows,
    classes_that_move,
    cut_windows,
    last_takes,
    runs_of,
)
from protonn_edge.datasets.rules import is_called_as_time
from protonn_edge.errors import InputError, counted
from protonn_edge.features.audio.clips import Clips
from protonn_edge.features.audio.frames import SAMPLE_LIMIT
from protonn_edge.features.audio.onset import THRESHOLDS
from protonn_edge.features.window_features import check_window
from protonn_edge.features.window_features.stage import SAMPLE_RATES
from protonn_edge.report.terminal import fact_table
from protonn_edge.sensors import MICROPHONE
from protonn_edge.sensors.kinds import ANALOG_RATE, to_arrays
from protonn_edge.system.files import write_atomically

_BEFORE_SHARE = 5  # of a window
_LEAST_RUN = 3  # samples of a label in a row, on average


@click.command("windows", cls=Command)
@click.argument("recording", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=OutputFile(WINDOWS), required=True, help="The data set (.npz)."
)
@click.option(
    "--window",
    type=click.IntRange(2),
    required=True,
    help="Length of a window, in samples per channel.",
)
@click.option(
    "--stride",
    type=click.IntRange(1),
    help="Samples between the starts of consecutive training windows.  [default: a whole window]",
)
@click.option(
    "--trigger",
    type=Level(),
    help="Instead, cut a window where movement begins: where the channels' ranges over an eighth "
    "of a window add up to this level. auto chooses one.",
)
@click.option(
    "--before",
    type=click.IntRange(0),
    help="With --trigger: samples of a window before that point.  [default: a fifth of a window]",
)
@click.option(
    "--onset",
    type=click.IntRange(*THRESHOLDS),
    help="Cut a clip of sound where the board hears it begin: where the mean difference of "
    "samples, in steps of a byte, exceeds this; 4 is usual. The file keeps it for 'train'.",
)
@click.option(
    "--test",
    "test_share",
    type=FiniteRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share at the end of each run of equal labels, or of the takes in a folder, that becomes "
    "test windows.",
)
@click.option(
    "--channels",
    multiple=True,
    metavar="COLUMNS",
    help="Columns of a table that are channels: names or numbers, separated by commas.  "
    "[default: all numbers but labels, times and sessions]",
)
@click.option(
    "--session",
    metavar="COLUMN",
    help="Column with the session, person or recording of each row; no window spans two.  "
    "[default: a column called session, subject, person, user, ...]",
)
@click.option(
    "--time",
    metavar="COLUMN",
    help="Column with the time of each row; no window spans a gap.  [default: a column called "
    "time, timestamp, t, ms, ...]",
)
@click.option(
    "--rate",
    type=FiniteRange(*SAMPLE_RATES),
    help="Samples per second.  [default: from the recording, or its times]",
)
@table_options
@json_option
def windows_command(
    recording: Path,
    output: Path,
    window: int,
    stride: int | None,
    trigger: float | None,
    before: int | None,
    onset: int | None,
    test_share: float,
    channels: tuple[str, ...],
    session: str | None,
    time: str | None,
    rate: float | None,
    table: TableOptions,
    as_json: bool,
) -> None:
    """Cut RECORDING, samples of all channels in the order of time, into labelled windows.

    RECORDING is what 'record' writes, a table with one sample per row, a WAV file, or a folder with
    a file or a folder per class. Columns of times and sessions are not channels: no window spans
    two sessions, or a gap in time. Sessions, or the files of a folder, become the array 'groups' of
    the data set, for 'train --groups groups'.
    """
    if output.suffix != ".npz":
        raise InputError(f"the data set is called {output.name!r}; its name must end in .npz")
    if before is not None and trigger is None:
        raise click.UsageError("--before needs --trigger; give both")
    if [stride, trigger, onset].count(None) < 2:
        raise click.UsageError(
            "--stride is for regular windows, --trigger for movements, --onset for sounds; give one"
        )
    out = Output(as_json)
    options = replace(table, session=session, time=time, channels=names_in(channels, "--channels"))
    recorded = read_recording(recording, options)
    if rate is not None:
        recorded = replace(recorded, dataset=replace(recorded.dataset, sample_rate=rate))
    _check_window(window, recorded.samples.shape[1])
    _check_labels(recorded, window)
    found = _trigger(recorded, window, trigger, before, onset)
    cut = _cut(recorded, window, stride, test_share, found)
    arrays = _arrays(cut, recorded, onset)
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    write_atomically(output, content.getvalue())
    out.say(f"{output.name}:", fact_table(_facts(cut, recorded, found)))
    out.notice([*recorded.dataset.notices, *_notices(cut, recorded, found)])
    if test_share and not len(cut.y_test):
        out.notice([_untested(test_share)])
    out.finish(_record(cut, recorded, found, arrays))


def _check_window(window: int, channels: int) -> None:
    """Refuse windows that no features can be computed from; one channel may be audio."""
    if channels > 1:
        check_window(window, channels)
    elif window > SAMPLE_LIMIT:
        raise InputError(f"a window has {window:,} samples; a device counts 1 to {SAMPLE_LIMIT:,}")


def _check_labels(recorded: Recording, window: int) -> None:
    """Refuse labels that change all the time: another column has them, or none."""
    labels, layout = recorded.dataset.y_train, recorded.dataset.layout
    runs = runs_of(labels)
    if len(labels) >= window * 2 and len(labels) < _LEAST_RUN * len(runs):
        found = "" if layout is None else f" ({layout.label})"
        raise InputError(
            f"the labels{found} change {len(runs) - 1:,} times in {len(labels):,} samples; name "
            "the column that has one label for all samples of a movement with --label, or give a "
            "folder with a file per class"
        )


def _trigger(
    recorded: Recording,
    window: int,
    level: float | None,
    before: int | None,
    onset: int | None,
) -> SegmentDetector | None:
    """Return where windows begin, if not at regular intervals."""
    if onset is not None:
        channels = recorded.samples.shape[1]
        if channels > 1:
            raise InputError(f"--onset is for sound, of one channel, and these are {channels}")
        return Clips.of(recorded.samples, window, onset)
    if level is None:
        return None
    count = window // _BEFORE_SHARE if before is None else before
    if count >= window:
        raise InputError(
            f"--before is {count:,}, but a window has only {window:,} samples; give fewer"
        )
    runs = runs_of(recorded.dataset.y_train, recorded.seams)
    return Trigger.of(recorded.samples, runs, window, count, level or None)


def _cut(
    recorded: Recording,
    window: int,
    stride: int | None,
    share: float,
    trigger: SegmentDetector | None,
) -> Windows:
    """Return the windows; in a folder, whole takes are held out for testing."""
    labels, tested = recorded.dataset.y_train, recorded.tested
    if share and tested.any():
        raise InputError(
            "--test is given, but the folder has its own takes for testing; leave it out"
        )
    if share and recorded.take_of is not None and recorded.groups is not None:
        tested, share = last_takes(recorded.take_of, labels, share), 0.0
    cut = cut_windows(
        recorded.samples,
        labels,
        window,
        stride,
        share,
        recorded.seams,
        tested=tested,
        trigger=trigger,
    )
    known = np.isin(cut.y_test, cut.y_train)  # a class without training windows has no number
    return replace(cut, X_test=cut.X_test[known], y_test=cut.y_test[known])


def _arrays(cut: Windows, recorded: Recording, onset: int | None) -> dict[str, Any]:
    """Return the contents of the file: windows, their classes, rate, onset and groups."""
    dataset = recorded.dataset
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
    if recorded.channels:
        arrays["channel_names"] = np.array(recorded.channels)
    if recorded.rate is not None:
        arrays["sample_rate"] = np.array(recorded.rate)
    if onset is not None:
        arrays["onset"] = np.array(onset)
    if recorded.groups is not None:
        arrays["groups"] = np.array([recorded.groups[row].strip() for row in cut.begins])
    return arrays | to_arrays(dataset.instrument)


def _facts(
    cut: Windows, recorded: Recording, trigger: SegmentDetector | None
) -> list[tuple[str, str]]:
    """Return the rows of what was cut."""
    dataset = recorded.dataset
    window, channels = cut.X_train.shape[1:]
    names = f": {', '.join(recorded.channels)}" if recorded.channels else ""
    facts = [
        ("windows", f"{len(cut.y_train):,} to train with, {len(cut.y_test):,} to test"),
        ("samples", f"{window:,} of {counted(channels, 'channel')} each{names}"),
        ("classes", _counted(dataset.classes, *_counts(cut, dataset.n_classes))),
    ]
    if recorded.rate is not None:
        facts.append(("rate", f"{recorded.rate:g} Hz"))
    if dataset.instrument is not None:
        facts.append(("sensor", str(dataset.instrument)))
    if trigger is not None:
        facts += trigger.facts
    groups = {recorded.groups[row].strip() for row in cut.begins} if recorded.groups else set()
    if len(groups) > 1:
        facts.append(("groups", f"{len(groups):,}, for 'train --groups groups'"))
    return facts


def _record(
    cut: Windows, recorded: Recording, trigger: SegmentDetector | None, arrays: dict[str, Any]
) -> dict[str, Any]:
    counts = _counts(cut, recorded.dataset.n_classes)[0]
    return {
        "window": cut.X_train.shape[1],
        "channels": cut.X_train.shape[2],
        "channel_names": list(recorded.channels),
        "sample_rate": recorded.rate,
        "trigger": None if trigger is None else trigger.level,
        "n_train": len(cut.y_train),
        "n_test": len(cut.y_test),
        "classes": list(arrays["class_names"].tolist()),
        "n_of_class": dict(zip(recorded.dataset.classes, counts.tolist(), strict=True)),
        "groups": len(set(arrays["groups"].tolist())) if "groups" in arrays else None,
    }


def _notices(cut: Windows, recorded: Recording, trigger: SegmentDetector | None) -> list[Notice]:
    """Return what of the recording is in no window, and what may not be a channel."""
    dataset, window = recorded.dataset, cut.X_train.shape[1]
    runs = runs_of(dataset.y_train, recorded.seams)
    notices = []
    for place, name in enumerate(recorded.channels, start=1):
        if is_called_as_time(name):
            text = (
                f"{title(name, place)} is used as a channel, as its numbers do not increase; leave "
                "it out with --drop, or name it with --time"
            )
            notices.append(Notice("time_channel", text, warning=True, columns=(name,)))
    if recorded.rate is not None and recorded.channels == MICROPHONE.channels:
        notices += _too_fast(recorded.rate)
    short = sum(end - first < window for first, end in runs)
    if short:
        text = f"shorter than a window: {short:,} of {counted(len(runs), 'run')} of a label"
        notices.append(Notice("short_runs", text))
    moving = (
        frozenset(range(dataset.n_classes))
        if trigger is None
        else classes_that_move(dataset.y_train, runs, trigger)
    )
    still = [name for index, name in enumerate(dataset.classes) if index not in moving]
    if still:
        text = f"cut at regular intervals, as nothing moves there: {listed(still)}"
        notices.append(Notice("still", text, columns=tuple(still)))
    counts = _counts(cut, dataset.n_classes)[0]
    missing = [dataset.classes[index] for index in np.flatnonzero(counts == 0)]
    if missing:
        reason = "no training run is as long as a window" if trigger is None else trigger.missing
        text = f"left out, as {reason}: {listed(missing)}"
        notices.append(Notice("no_window", text, warning=True))
    return notices


def _untested(share: float) -> Notice:
    text = (
        f"there are no test windows, as no share of {share:g} at the end of a run has a whole one; "
        "use a larger --test, or shorter windows"
    )
    return Notice("no_test", text, warning=True)


def _too_fast(rate: float) -> list[Notice]:
    """Return a word about sound that no board can sample."""
    if rate <= ANALOG_RATE:
        return []
    text = (
        f"{rate:g} samples a second are more than the {ANALOG_RATE:,.0f} that a board can take "
        "from a microphone; convert the recording to 8,000"
    )
    return [Notice("rate", text, warning=True)]


def _counts(cut: Windows, n_classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of training and test windows of each class."""
    train, test = (np.bincount(y, minlength=n_classes) for y in (cut.y_train, cut.y_test))
    return train, test


def _counted(classes: tuple[str, ...], train: NDArray[np.int64], test: NDArray[np.int64]) -> str:
    """Return the numbers of windows of each class: training and, if there are any, test windows."""
    tested = [f" + {count:,}" if test.any() else "" for count in test]
    return ", ".join(
        f"{name} {count:,}{more}" for name, count, more in zip(classes, train, tested, strict=True)
    )
