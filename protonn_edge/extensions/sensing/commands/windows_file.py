"""The file that `windows` writes: windows with their labels, their facts, and notices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.files.arrays import SOURCE
from protonn_edge.data.naming import Notice, in_order, listed
from protonn_edge.data.points.instruments import to_arrays
from protonn_edge.data.points.label_sets import SET_MARK
from protonn_edge.data.points.values import spread_of
from protonn_edge.data.takes import recordings
from protonn_edge.extensions.sensing.recordings.recorded import Recording
from protonn_edge.extensions.sensing.sensor_kinds import ANALOG_RATE, MICROPHONE
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject

BEGINS = ("begins", "test_begins")
"""The arrays with the row of the recording at which each window of a part begins."""

_FEWEST_EVENTS = 5
_NEAR = 0.1  # of the share for testing that is asked for


@dataclass(frozen=True, eq=False)
class WindowsFile:
    """Windows, their recording, and their starts, if not at regular intervals."""

    windows: recordings.CutWindows
    recorded: Recording
    trigger: recordings.SegmentDetector | None
    noise: NDArray[np.float32] | None = None  # windows to mix into copies
    # the recording's name and SHA-256, and how it was cut
    source: Mapping[str, object] = field(default_factory=dict)
    in_sets: bool = False  # whether the names of classes are those of sets of labels

    def arrays(self) -> dict[str, Array]:
        """Return the contents of the file: windows, their classes, rate, groups and source.

        The source has the number of the recording's ``rows``, too, which `BEGINS` count from 0.
        """
        cut, dataset = self.windows, self.recorded.dataset
        arrays: dict[str, Array] = {"X_train": cut.X_train}
        if self.values is None:
            present = np.unique(cut.y_train)
            number = np.full(dataset.n_classes, -1)
            number[present] = np.arange(len(present))
            y_train, y_test = number[cut.y_train], number[cut.y_test]
            arrays["class_names"] = np.array(dataset.classes)[present]
            if self.in_sets:
                names = [tuple(filter(None, text.split(SET_MARK))) for text in dataset.classes]
                arrays["class_names"] = found = np.array(in_order(set().union(*names)))
                sets = np.array([[name in own for name in found] for own in names], np.uint8)
                y_train, y_test = sets[cut.y_train], sets[cut.y_test]
        else:
            y_train, y_test = self.values
            arrays["value_name"] = np.array(dataset.classes)
        arrays["y_train"] = y_train
        if len(cut.y_test):
            arrays |= {"X_test": cut.X_test, "y_test": y_test}
        if self.recorded.channels:
            arrays["channel_names"] = np.array(self.recorded.channels)
        if self.recorded.rate is not None:
            arrays["sample_rate"] = np.array(self.recorded.rate)
        if self.trigger is not None:
            arrays |= self.trigger.arrays()
        if self.groups is not None:
            arrays["groups"] = np.array(self.groups)
        if self.noise is not None:
            arrays["background_noise"] = self.noise
        source = {**self.source, "rows": len(self.recorded.samples)}
        arrays[SOURCE] = np.array(json.dumps(source))
        arrays |= dict(zip(BEGINS, (cut.begins, cut.test_begins), strict=True))
        return arrays | to_arrays(dataset.instrument)

    @property
    def values(self) -> list[NDArray[np.float64]] | None:
        """The number of each training and each test window, if labels are numbers."""
        values, window = self.recorded.values, self.windows.X_train.shape[1]
        if values is None:
            return None
        begins = (self.windows.begins, self.windows.test_begins)
        return [
            np.array([values[begin : begin + window].mean() for begin in some], np.float64)
            for some in begins
        ]

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

    @property
    def tested_share(self) -> float:
        """The share of the samples in windows that are in test windows."""
        window, edges = self.windows.X_train.shape[1], np.zeros(len(self.recorded.seams) + 1)
        for place, step in ((0, 1), (window, -1)):
            np.add.at(edges, self.windows.begins + place, step)
        trained, tested = np.count_nonzero(edges.cumsum()), window * len(self.windows.y_test)
        return float(tested / (trained + tested))

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of the windows, as rows."""
        cut, dataset = self.windows, self.recorded.dataset
        window, channels = cut.X_train.shape[1:]
        names = f": {', '.join(self.recorded.channels)}" if self.recorded.channels else ""
        train, test = self.counts
        tested = [f" + {count:,}" if test.any() else "" for count in test]
        of_class = zip(dataset.classes, train, tested, strict=True)
        labels = "classes", ", ".join(f"{name}: {count:,}{more}" for name, count, more in of_class)
        if self.values is not None:
            labels = dataset.classes[0], spread_of(self.values[0])
        share = f" ({percent(self.tested_share, 0)} of the samples)" * (len(cut.y_test) > 0)
        text = f"{len(cut.y_train):,} for training, {len(cut.y_test):,} for testing{share}"
        facts = [
            ("windows", text),
            ("each window", f"{window:,} samples of {counted(channels, 'channel')}{names}"),
            labels,
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

    def to_json(self) -> JsonObject:
        """Return the windows' facts with the field names of this command's JSON."""
        cut, recorded = self.windows, self.recorded
        classes, counts = recorded.dataset.classes, self.counts[0].tolist()
        if self.values is not None:
            classes, counts = (), []
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
            "value": recorded.dataset.classes[0] if self.values else None,
            "groups": None if self.groups is None else len(set(self.groups)),
            "n_noise": 0 if self.noise is None else len(self.noise),
        }

    def notices(self, test_share: float) -> Iterator[Notice]:
        """Yield notices of rows without a window."""
        recorded, window = self.recorded, self.windows.X_train.shape[1]
        classes, labels = recorded.dataset.classes, recorded.dataset.y_train
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
        yield from self._counted(recordings.runs_of(labels))
        yield from self._overlapping()
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
                f"there are no test windows, because {100 * test_share:g} % of each class is less "
                "than half a window; use a larger --test, or shorter windows"
            )
            yield Notice("no_test", text, warning=True)
        elif test_share and abs(self.tested_share - test_share) > _NEAR:
            text = (
                f"{percent(self.tested_share, 0)} of the samples are for testing, although --test "
                f"is {test_share:g}, because windows and takes are held out as a whole; record "
                "more takes, or use shorter windows"
            )
            yield Notice("test_share", text)
        untested = tuple(classes[index] for index in np.flatnonzero((train > 0) & (test == 0)))
        if untested and test.any():
            text = (
                f"classes without test windows: {listed(untested)}; add recordings of them, or cut "
                "shorter windows"
            )
            yield Notice("untested", text, warning=True, columns=untested)

    def _counted(self, runs: Sequence[recordings.Run]) -> Iterator[Notice]:
        """Yield a warning if an unnamed label counts events: each of its numbers is in one run."""
        dataset = self.recorded.dataset
        layout, order = dataset.layout, [dataset.y_train[first] for first, _ in runs]
        column = next((each for each in dataset.columns if each.role == "label"), None)
        guessed = layout is not None and layout.label_found == "the last one"
        if column is None or not guessed or len(runs) < _FEWEST_EVENTS:
            return
        if column.is_whole and order == sorted(set(order)):
            text = (
                f"each number of {column.title} is in one run of rows, and they rise, as numbers "
                f"of events do; if it counts events, use --session {column.flag_value} and "
                "name the column of labels with --label NAME"
            )
            yield Notice("counted", text, warning=True, columns=(column.key,))

    def _overlapping(self) -> Iterator[Notice]:
        """Yield a warning if 'train' could only hold out windows that share samples with others."""
        cut = self.windows
        begins, divided = np.sort(cut.begins), len({*(self.groups or ())}) > 1 or len(cut.y_test)
        if self.values and not divided and (np.diff(begins) < cut.X_train.shape[1]).any():
            text = (
                "windows overlap, and no sessions divide them, so 'train' would hold out windows "
                "that share samples with others; give --test 0.3, or record several sessions"
            )
            yield Notice("overlap", text, warning=True)

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
                f"{self.trigger.option}"
            )
            yield Notice("empty_runs", text, warning=True)

    def _some(self, runs: Sequence[recordings.Run], of: Sequence[recordings.Run]) -> str:
        """Return the number of some runs of others, with their files in a folder."""
        recorded, text = (
            self.recorded,
            f"{len(runs):,} of {counted(len(of), 'run')}{' of equal labels' * (not self.values)}",
        )
        if recorded.take_of is None:
            return text
        files = dict.fromkeys(recorded.files[recorded.take_of[first]] for first, _ in runs)
        return f"{text} (in {listed(files)})"
