"""The common part of `train` and `tune`: read data, check options, and show the progress."""

from __future__ import annotations

import math
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from protonn_edge.cli.command import Output
from protonn_edge.cli.tables import with_group_column
from protonn_edge.cli.train_given import TrainOptions
from protonn_edge.cli.train_options import flags, was_given
from protonn_edge.data.files.arrays import source_of
from protonn_edge.data.naming import Notice, channel_names, listed, quoted
from protonn_edge.data.options import TableOptions, texts_of
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division, digest_of
from protonn_edge.data.points.expected import is_same_rate
from protonn_edge.data.points.splits import hold_groups_out, named_groups
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import (
    of_one_class_each,
    overlapping_runs,
    with_groups,
    with_own_groups,
)
from protonn_edge.learn.features import (
    AUTO,
    LONGEST_WINDOW,
    FeatureRequest,
    in_place_of_long,
    is_shaped_as_window,
)
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.parameters import FeatureParameters
from protonn_edge.learn.progress import EpochReport, TrainingStopped, was_stopped
from protonn_edge.learn.refusals import check_compatible
from protonn_edge.learn.targets import Target
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError, Interrupted, counted

if TYPE_CHECKING:
    from protonn_edge.cli.tune_given import TuneOptions

_SHORTEST = "the remaining steps are shortened so that a complete model is written"
DEFAULT_SHARE = 0.2  # of the points, or of the groups, that are held out
_NUMBERED = re.compile(r"(.*?)(\d+(?:\.\d+)?)(\D*)")  # a name, by its last number
_AXES = 2  # samples and channels of a window, height and width of an image


def load_for(given: TrainOptions | TuneOptions, target: Target) -> tuple[Target, Dataset]:
    """Return the target as added options change it, and the data set, which they have checked."""
    for added in given.added:
        target = added.completed(target)
    dataset = _load_divided(given, target)
    for added in given.added:
        added.check(dataset)
    return target, dataset


def _load_divided(given: TrainOptions | TuneOptions, target: Target) -> Dataset:
    """Return the data set in DATA, with a part held out for testing unless it has a test part.

    Groups are those of ``--groups`` or, without it, the file's own. A part of the points of
    `target` is held out, or groups that are named. If a default share cannot be held out, a notice
    says why.
    """
    data, groups, share = given.data, given.groups, given.test_share
    table = with_group_column(given.table, groups)
    dataset = load_dataset(data, table, least_classes=target.least_classes, target=target.read_as)
    window = given.classifier.parameters().get("window_shape")
    if window and not dataset.point_shape and math.prod(window) == dataset.n_features:
        dataset = replace(dataset, point_shape=window)
    if groups is None:
        dataset, groups = with_own_groups(dataset, data)
    else:
        dataset = with_groups(dataset, groups, data)
    dataset = replace(dataset, notices=(*dataset.notices, *of_one_class_each(dataset)))
    division = division_of(data, dataset, given.table, groups)
    if isinstance(share, tuple):
        return _with_groups_held_out(dataset, share, division, target)
    of_row, before = dataset.groups, dataset
    dataset = replace(target.selected(dataset), division=division)
    y = target.relabelled(before.y_train, before, dataset)
    if share == 0 or (share is None and target.is_tested(dataset)):
        return dataset
    by_rows, share_held = given.holdout_rows, share or DEFAULT_SHARE
    try:
        dataset = target.held_out(dataset, share_held, given.seed, by_rows=by_rows)
    except InputError as error:
        if share is not None:
            raise
        text = f"too few points to hold some out: {error}"
        notice = Notice("too_few", text, warning=True)
        return replace(dataset, notices=(*dataset.notices, notice))
    assert dataset.division is not None
    return replace(dataset, division=dataset.division.checked(y, of_row))


def _with_groups_held_out(
    dataset: Dataset, names: tuple[str, ...], division: Division, target: Target
) -> Dataset:
    """Return the points of `target`, with the groups of these names held out for testing."""
    numbers = named_groups(dataset, names)
    selected = target.selected(hold_groups_out(dataset, numbers))
    y = target.relabelled(dataset.y_train, dataset, selected)
    division = division.holding_groups_out(numbers, y, dataset.groups)
    return replace(selected, division=division)


def division_of(data: Path, dataset: Dataset, table: TableOptions, groups: str = "") -> Division:
    """Return the division of DATA, read as a data set with these groups; nothing is held out."""
    labels = [each.name for each in dataset.columns if each.role == "label"]
    name = "" if dataset.groups is None else Path(groups).name
    return Division(
        digest_of(data),
        groups=name,
        label="".join(labels[:1]),
        read=texts_of(table),
        source=source_of(data).get("sha256", ""),
    )


def of_data(model: Model, dataset: Dataset) -> Model:
    """Return a model that records its training data: names, sensor, preparation and division.

    The record has the values that fill gaps of a table, and the texts that became features.
    """
    names = model.feature_names or dataset.feature_names
    preparation, division = dataset.preparation, dataset.division
    prepared = {} if preparation is None else preparation.to_record()
    prepared |= {} if division is None else division.to_record()
    record = {**prepared, **model.record}  # a pipeline's imputers go first
    return replace(model, feature_names=names, instrument=dataset.instrument, record=record)


def settled_samples(dataset: Dataset, settings: FeatureParameters) -> dict[str, Any]:
    """Return the parameters for features of samples that follow from the points, if needed.

    Raises `InputError` if clips of sound would begin at another level than the data's: the board
    would begin its clips elsewhere.
    """
    settings_of_data: dict[str, Any] = {}
    if settings.features is None and _has_windows(dataset, settings):
        settings_of_data["features"] = AUTO
        settings = settings.frozen(features=AUTO)
    asked = settings.asked
    if asked is None or not of_windows(dataset, asked):
        return _image_shape_of(dataset, settings)
    if not was_given("window_shape"):
        settings_of_data["window_shape"] = _window_of(dataset)
    if not is_same_rate(dataset.sample_rate, settings.sample_rate):
        raise InputError(
            f"--sample-rate is {settings.sample_rate:g}, but the data was sampled at "
            f"{dataset.sample_rate:g} Hz; omit --sample-rate, or correct the rate with 'windows "
            f"--rate {settings.sample_rate:g}'"
        )
    if not was_given("sample_rate") and dataset.sample_rate is not None:
        settings_of_data["sample_rate"] = dataset.sample_rate
    if settings.copies and dataset.background_noise is not None:
        settings_of_data["background_noise"] = dataset.background_noise
    if isinstance(settings.features, str):
        text = asked.text_for(settings.features, dataset)
        if text != settings.features:
            settings_of_data["features"] = text
    return settings_of_data


def _image_shape_of(dataset: Dataset, settings: FeatureParameters) -> dict[str, object]:
    """Return the shape of the data's images, if it is needed and was not given."""
    given, shape = settings.image_shape, dataset.point_shape
    if dataset.pixels and given is not None and given != shape:
        here, there = ("x".join(map(str, each)) for each in (given, shape))
        raise InputError(
            f"--image-shape is {here}, but the images have {there} pixels; omit --image-shape, "
            "or scale the images with --size HxW"
        )
    if given is not None and math.prod(given) != dataset.n_features:
        raise InputError(
            f"--image-shape {'x'.join(map(str, given))} has {math.prod(given):,} pixels, but the "
            f"data has {counted(dataset.n_features, 'feature')}; omit --image-shape, or give the "
            "height and the width of a point"
        )
    of_images = dataset.pixels or (settings.asked is not None and settings.asked.of_images)
    if not of_images or len(shape) != _AXES or was_given("image_shape"):
        return {}
    if _is_signal(dataset):
        raise InputError(
            f"--features is {settings.features}, which is for images, but the data has windows of "
            "samples; choose features of windows, such as mean,deviation, or give --image-shape"
        )
    return {"image_shape": shape}


def of_windows(dataset: Dataset, asked: FeatureRequest | None) -> bool:
    """Return whether the features are of windows: some kinds can be of images, too."""
    if asked is None or not (asked.of_samples and asked.of_images):
        return asked is not None and asked.of_samples
    return was_given("window_shape") or (_is_signal(dataset) and not was_given("image_shape"))


def _is_signal(dataset: Dataset) -> bool:
    *_, channels = dataset.point_shape or (1,)
    return bool(dataset.sample_rate or channel_names(dataset.feature_names, channels))


def _has_windows(dataset: Dataset, settings: FeatureParameters) -> bool:
    """Return whether the points are windows of a sensor, for which features are to be found."""
    starts = getattr(settings, "initial_model", None) is not None
    if starts or settings.image_shape is not None or was_given("image_shape"):
        return False
    is_window = _is_signal(dataset) or is_shaped_as_window(dataset)
    is_window = is_window and len(dataset.point_shape) == _AXES and dataset.onset is None
    return is_window and dataset.point_shape[0] <= LONGEST_WINDOW


def with_found_features(learner: Learner, dataset: Dataset, seed: int) -> Dataset:
    """Have a classifier use the features that the training points choose, if it asks for that.

    Points of a group or, without groups, overlapping windows are never divided. Returns the data
    set with a notice of what was chosen.
    """
    if learner.features != AUTO:
        return dataset
    from protonn_edge.learn.found_features import found_features

    groups = overlapping_runs(dataset) if dataset.groups is None else dataset.groups
    y = dataset.as_targets(dataset.y_train)
    points, _, labels = learner.target.labels.of(y).given(learner, dataset.X_train, y, None)
    points = replace(points, group=groups)
    found = found_features(learner.frozen(), points, labels, seed)
    learner.features = found.text
    notice = Notice("features", str(found))
    return replace(dataset, notices=(*dataset.notices, notice))


def with_sample_notices(dataset: Dataset, asked: FeatureRequest | None) -> Dataset:
    """Return the data set with notices about assumptions on its windows.

    Without features, each sample of a window is a feature, which users seldom want. Rows of a table
    and arrays may be windows, or something else. Features may assume something of points, too.
    """
    notices = []
    of_samples, shape = of_windows(dataset, asked), dataset.point_shape
    has_axes, is_signal = len(shape) == _AXES, _is_signal(dataset) or is_shaped_as_window(dataset)
    if not of_samples and has_axes and is_signal and shape[0] > LONGEST_WINDOW:
        text = (
            "the features are the individual samples of the windows, which are longer than the "
            f"{LONGEST_WINDOW} samples of features of windows; "
            f"{in_place_of_long(shape)}"
        )
        notices.append(Notice("samples", text))
    is_told = was_given("image_shape") or was_given("window_shape") or dataset.pixels
    if asked is None and has_axes and not (is_signal or is_told):
        sides = "x".join(map(str, shape))
        text = (
            f"each of the {sides} values of a point is a feature; give --window SAMPLESxCHANNELS "
            f"if they are windows, or --image-shape {sides} if they are images"
        )
        notices.append(Notice("samples", text))
    if of_samples and not dataset.point_shape and not was_given("window_shape"):
        text = (
            f"each point is treated as a window of {dataset.n_features:,} samples of one channel; "
            "give another shape with --window, or cut recordings with 'windows'"
        )
        notices.append(Notice("window", text))
    if asked is not None:
        notices += asked.notices(dataset)
    return replace(dataset, notices=(*dataset.notices, *notices))


def _window_of(dataset: Dataset) -> tuple[int, int]:
    if dataset.layout is not None and dataset.layout.time:
        raise InputError(
            "--features is given, but the data is a recording with one sample per row and times "
            f"in column {quoted(dataset.layout.time)}; cut the recording with 'protonn-edge "
            "windows' first, or give --window if each row is a window"
        )
    if len(dataset.point_shape) > 2:
        raise InputError(
            "--features needs windows, but each point of the data has the shape "
            f"{'x'.join(map(str, dataset.point_shape))}; give --window SAMPLESxCHANNELS"
        )
    if not dataset.point_shape and not _are_in_series(dataset.feature_names):
        with_rate = " and --sample-rate" * was_given("sample_rate")
        raise InputError(
            "--features needs windows, but the columns of the data are named "
            f"{listed(dataset.feature_names)}, unlike the samples of a channel in order; omit "
            f"--features{with_rate}, or give --window {dataset.n_features}x1 if each row is a "
            "window"
        )
    samples, channels, *_ = (*(dataset.point_shape or (dataset.n_features,)), 1)
    return samples, channels


def _are_in_series(names: Sequence[str]) -> bool:
    """Return whether names differ only by a rising number, such as of samples, or are unknown."""
    parts = [_NUMBERED.fullmatch(name) for name in names]
    numbered = [(each[1], each[3], float(each[2])) for each in parts if each]
    if len(numbered) < len(names) or len({each[:2] for each in numbered}) > 1:
        return False
    return all(before < after for (*_, before), (*_, after) in pairwise(numbered))


def check_options(classifier: Learner, dataset: Dataset) -> TrainingRequest:
    """Refuse options that cannot be combined, by their command-line names; return the request."""
    case = TrainingRequest(
        settings=classifier.frozen(),
        predicts=dataset.predicts,
        in_groups=dataset.groups is not None,
        given=frozenset(filter(was_given, flags())),
    )
    check_compatible(case)
    return case


def fit_classifier(
    classifier: Learner,
    dataset: Dataset,
    out: Output,
    *,
    verbose: bool = False,
    on_progress: Callable[[], object] = lambda: None,
) -> str:
    """Train a classifier on the training part of a data set; show a bar, or lines if `verbose`.

    A line has objective and accuracies, for which the test part is classified each time.
    `on_progress` is called after each report; by the first call, the settings have been accepted.
    The first Ctrl-C ends the training after the current epoch, with the best epoch so far; if
    layers are being learned, the classifier after them then gets as little training as possible. A
    second one ends the command.

    Returns how far the training got before Ctrl-C, such as "3 of 9 epochs"; empty without Ctrl-C.
    """
    words_of = classifier.target.labels.words_of
    tested = verbose and len(dataset.y_test) > 0
    test = (dataset.X_test, dataset.as_targets(dataset.y_test)) if tested else None
    with ExitStack() as stack:
        stop = stack.enter_context(stopped_by_ctrl_c())
        bar, stopped = None, list[str]()
        if not verbose:
            bar = stack.enter_context(out.progress("training", classifier.planned_epochs))

        def on_report(report: EpochReport) -> None:
            stop.can_wait = True
            on_progress()
            if bar is None:
                out.say(_report_line(report, words_of))
            else:
                total = report.epochs if report.network else classifier.planned_epochs
                note = _note(report, words_of)
                bar.move_to(report.epoch, note, description=_task(report), total=total)
            if report.network and stop.made:
                stopped.append(report.place)
                out.remark(f"stopped after {report.place}; {_SHORTEST}")
            if stop.made and (report.network or report.epoch < report.epochs):
                raise TrainingStopped

        classifier.callback = classifier.network_callback = on_report
        y = dataset.as_targets(dataset.y_train)
        classifier.fit_accepted(dataset.X_train, y, groups=dataset.groups, evaluate_on=test)
    say_remarks(classifier, out)
    if was_stopped(classifier.history_):
        stopped.append(classifier.history_[-1].place)
    return " and ".join(stopped) or ("all epochs" if stop.made else "")


def say_remarks(classifier: Learner, out: Output) -> None:
    """Print what a training remarks, and which clipping it chose."""
    for remark in (*classifier.remarks_, *filter(None, [classifier.clip_])):
        out.say(str(remark))


def _task(report: EpochReport) -> str:
    return f"learning the {report.network}" if report.network else "training"


def _note(report: EpochReport, words_of: Callable[[float], str]) -> str:
    if report.network:
        return f"loss {report.objective:.4f}"
    turn = f"{report.parameter}: " if report.parameter else ""
    return f"{turn}objective {report.objective:.4f}, training {words_of(report.accuracy)}"


def _report_line(report: EpochReport, words_of: Callable[[float], str]) -> str:
    """Return the line that the reference implementation prints after each parameter's pass."""
    begin = f"epoch {report.epoch:,} of {report.epochs:,}, "
    if report.network:
        begin = f"{_task(report)}, pass {report.epoch:,} of {report.epochs:,}, "
    elif report.parameter:
        begin = f"iteration {report.iteration:,} of {report.iterations:,}, "
    line = begin + _note(report, words_of)
    if report.test_accuracy is not None:
        line += f", test {words_of(report.test_accuracy)}"
    return line


_NOTED = b"\nstopping after this epoch or fit; another Ctrl-C ends the command at once\n"


@dataclass
class StopRequest:
    """The flag of a training."""

    made: bool = False  # whether Ctrl-C was pressed
    can_wait: bool = False  # whether an epoch was finished, so that there is something to keep


@contextmanager
def stopped_by_ctrl_c() -> Iterator[StopRequest]:
    """Have the first Ctrl-C set the flag of a training, or end it if no epoch was finished."""
    request = StopRequest()
    handler = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    usual = handler if callable(handler) and in_main_thread else None

    def note(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, usual)
        if usual is not None and not request.can_wait:
            usual(number, frame)
        request.made = True
        with suppress(OSError):  # `print` must not be called again while it is running
            os.write(sys.stderr.fileno(), _NOTED)

    try:
        if usual is not None:
            signal.signal(signal.SIGINT, note)
        yield request
    except KeyboardInterrupt:
        if request.can_wait:
            raise
        raise Interrupted("stopped before an epoch was finished; nothing is written") from None
    finally:
        if usual is not None:
            signal.signal(signal.SIGINT, usual)
