"""Check the options of a training and run it, with its progress, until its end or Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

from protonn_edge.cli.command import Output
from protonn_edge.cli.train_options import flags, was_given
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.learner import Learner
from protonn_edge.learn.progress import EpochReport, TrainingStopped, was_stopped
from protonn_edge.learn.refusals import check_compatible
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.system.errors import Interrupted

_SHORTEST = "the remaining steps are shortened so that a complete model is written"


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
