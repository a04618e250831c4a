"""``protonn-edge windows``: Cut a recording into windows for 'train'."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click
import numpy as np
from numpy.typing import NDArray

from protonn_edge.cli.command import OUTPUT, Output, additions, argument, command, option
from protonn_edge.cli.options import LEVEL, PATH, FiniteRange, Qualified
from protonn_edge.cli.paths import WINDOWS, OutputFile, check_ending
from protonn_edge.cli.tables import RECORDING_TABLE
from protonn_edge.data.naming import Notice, check_names, label_text, listed, quoted
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import digest_of
from protonn_edge.data.points.expected import is_same_rate
from protonn_edge.data.takes import recordings
from protonn_edge.extensions.sensing.commands.windows_file import WindowsFile
from protonn_edge.extensions.sensing.recordings.recorded import (
    Recording,
    followed_by,
    read_noise,
    read_recording,
)
from protonn_edge.extensions.sensing.recordings.tested_takes import last_takes, takes_among_all
from protonn_edge.extensions.sensing.recordings.triggers import Trigger
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.model.limits import ONSETS, SAMPLE_RATES
from protonn_edge.model.registry import modules_named
from protonn_edge.system.errors import InputError, unneeded
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.files import write_atomically

_BEFORE_SHARE = 5  # of a window
_MARKER, _MOST_MARKED = 2, 4  # rows of a marker, at most; all rows per marked one, at least
_LEAST_RUN = 3  # samples of a label in a row, on average


class WindowsAddition(AddedOptions):
    """The options of a rule for windows."""

    target: Literal["class", "value"] | None = None  # what labels are; None to find out

    def check(self, dataset: Dataset) -> None:
        """Refuse a recording, as a data set, with labels that may be something else."""


@command(
    "windows",
    apart={"--stride": "--trigger --onset", "--trigger": "--onset"},
    examples=("recording.csv -o windows.npz --window 128 --stride 32 --test 0.3",),
)
def windows_command(
    recording: Path = argument(PATH),
    output: Path = option("The data set (.npz).", OutputFile(WINDOWS), required=True),
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
        click.IntRange(*ONSETS),
    ),
    test_share: float = option(
        "Share of each class for testing: windows at the end of runs of equal labels or, in a "
        "folder, the last takes.",
        FiniteRange(0, 1, max_open=True),
        flag="--test",
        also=("holdout",),
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
        "would sample the sound; samples that are not evenly spaced are interpolated.  [default: "
        "from the recording, or its times]",
        FiniteRange(*SAMPLE_RATES),
    ),
    added: list[WindowsAddition] = additions("windows"),
    table: TableOptions = RECORDING_TABLE,
    out: Output = OUTPUT,
) -> None:
    """Cut RECORDING, with samples of all channels in chronological order, into labelled windows.

    RECORDING is a file written by 'record', a table with one sample per row, a WAV file, or a
    folder with a file or a folder per class. Columns of times and sessions are not
    channels; they keep windows from spanning two sessions or a gap in time. Sessions, or the files
    of a folder, become the array 'groups' of the data set, for 'train --groups groups'.
    """
    check_ending(output, "the data set")
    if background is not None:
        check_names([label_text(background)], "--background", distinct=True)
    if table.name is not None and recording.exists() and not recording.is_dir():
        raise unneeded("--name", f"is for a folder of takes, but {recording} is not a folder")
    options = replace(table, background=background, sample_rate=rate)
    recorded = _read(recording, options, added)
    for each in recorded.dataset.notices:
        if each.kind == "uneven":
            raise InputError(f"{recording}: {each.text}")
    if rate is not None:
        by_times = any(each.kind == "rate" for each in recorded.dataset.notices)
        if not is_same_rate(recorded.rate, rate):
            text = (
                f"--rate is {rate:g}, but {recording} has {recorded.rate:g} samples a second; the "
                "data set stores the rate given with --rate"
            )
            out.notice([Notice("rate", text, warning=not by_times)])
        notices = tuple(each for each in recorded.dataset.notices if each.kind != "rate")
        dataset = replace(recorded.dataset, sample_rate=rate, notices=notices)
        recorded = replace(recorded, dataset=dataset)
    noisy = None if noise is None else read_noise(noise, recorded, options)
    alone = None if background is None or noisy is not None else label_text(background)
    if alone is not None and alone not in recorded.dataset.classes:
        text = f"--background is {quoted(alone)}, but all samples have a label"
        out.notice([Notice("background", text, warning=True)])
    own = len(recorded.seams)
    if noisy is not None and background is not None:
        recorded = followed_by(recorded, noisy)
    _check_window(window, recorded.samples.shape[1])
    _check_labels(recording, recorded, window)
    detector = _trigger(recorded, window, trigger, onset)
    windows = _windows(recorded, window, stride, test_share, detector)
    mixed = None if noisy is None else _to_mix(recorded, noisy, own, window, stride, test_share)
    source = {
        "name": recording.name,
        "sha256": digest_of(recording),
        "window": window,
        "stride": stride,
        "trigger": None if detector is None or onset is not None else detector.level,
        "onset": onset,
        "test": test_share,
        "rate": rate,
    }
    cut = WindowsFile(windows, recorded, detector, mixed, source, bool(table.labels))
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **cut.arrays())
    write_atomically(output, content.getvalue())
    out.say(f"{output.name}:", fact_table(cut.facts()))
    told = [*recorded.dataset.notices, *(() if noisy is None else noisy.dataset.notices)]
    told = [each for each in told if noisy is None or each.kind != "background"]
    out.notice(dict.fromkeys([*told, *cut.notices(test_share)]))
    out.finish(cut.to_json())


def _read(path: Path, options: TableOptions, added: Sequence[WindowsAddition]) -> Recording:
    """Return a recording, with what rules say about its labels."""
    target = next((each.target for each in added if each.target), None)
    recorded = read_recording(path, options, target)
    for each in added:
        each.check(recorded.dataset)
    if recorded.values is not None and options.background is not None:
        raise unneeded("--background", "names a class, but the labels are numbers")
    return recorded


def _check_window(window: int, channels: int) -> None:
    """Refuse windows that no features can be computed from; one channel may be audio."""
    for module in modules_named("cutting"):
        module.check_cut(window, channels)


def _check_labels(path: Path, recorded: Recording, window: int) -> None:
    """Refuse labels that change all the time: another column has them, or none."""
    labels, layout = recorded.dataset.y_train, recorded.dataset.layout
    runs = recordings.runs_of(labels)
    _refuse_markers(path, recorded, runs)
    if len(labels) >= window * 2 and len(labels) < _LEAST_RUN * len(runs):
        column = "" if layout is None else f" ({layout.label})"
        raise InputError(
            f"the labels{column} change {len(runs) - 1:,} times in {len(labels):,} samples; name "
            "a column with one label for all samples of a movement with --label NAME, or use "
            "a folder with a file per class"
        )


def _refuse_markers(path: Path, recorded: Recording, runs: Sequence[recordings.Run]) -> None:
    """Refuse labels other than the usual one that are all of single rows, as markers are."""
    labels, classes = recorded.dataset.y_train, recorded.dataset.classes
    usual = int(np.bincount(labels).argmax())
    marked = [(first, end - first) for first, end in runs if labels[first] != usual]
    lengths = [length for _, length in marked]
    if not marked or np.median(lengths) > _MARKER or _MOST_MARKED * sum(lengths) > len(labels):
        return
    names = listed(dict.fromkeys(classes[labels[first]] for first, _ in marked))
    column = next((each for each in recorded.dataset.columns if each.role == "label"), None)
    which, drop = "the labels mark", ""
    if column is not None:
        which, drop = f"{column.title} marks", f" and use --drop {column.flag_value}"
    beside = f"{path.stem}_labels.csv" if path.is_file() else "NAME_labels.csv"
    raise InputError(
        f"{path}: {which} single rows ({len(marked):,} of {names} among {quoted(classes[usual])}), "
        "but windows need the label in all rows of an event; repeat each label up to the end of "
        f"its event, or list start,end,label of each event in {beside} beside it{drop}"
    )


def _trigger(
    recorded: Recording, window: int, given: tuple[float, dict[str, int]] | None, onset: int | None
) -> recordings.SegmentDetector | None:
    """Return where windows begin, if not at regular intervals."""
    if onset is not None:
        channels = recorded.samples.shape[1]
        if channels > 1:
            raise unneeded(
                "--onset",
                f"is for sound with one channel, but the recording has {channels} channels",
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
    return Trigger.of(recorded.samples, runs, window, count, level or None)


def _at_onsets(recorded: Recording, window: int, onset: int) -> recordings.SegmentDetector:
    for module in modules_named("onset"):
        clips: recordings.SegmentDetector = module.at_onsets(recorded.samples, window, onset)
        return clips
    raise unneeded("--onset", "needs features of sound, which are not installed")


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
        raise unneeded("--test", "is given, but the folder has its own takes for testing")
    if share and recorded.take_of is not None and recorded.groups is not None:
        if recorded.values is None:
            tested = last_takes(recorded.take_of, labels, share)
        else:
            tested = takes_among_all(recorded.take_of, recorded.values, share)
        share = 0.0
    samples, seams = recorded.samples, recorded.seams
    dividing = [each for each in recorded.dataset.columns if each.role in ("time", "session")]
    cut = recordings.cut_windows(
        samples,
        labels,
        window,
        stride,
        share,
        seams,
        tested=tested,
        trigger=trigger,
        dividing=",".join(each.flag_value for each in dividing),
    )
    trained = np.isin(cut.y_test, cut.y_train)  # a class without training windows has no number
    of_test = cut.X_test[trained], cut.y_test[trained], cut.test_begins[trained]
    X_test, y_test, test_begins = of_test
    return replace(cut, X_test=X_test, y_test=y_test, test_begins=test_begins)


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
