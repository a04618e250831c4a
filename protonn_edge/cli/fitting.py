"""The training of a classifier on the terminal: checked before it begins, seen while it runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack

from sklearn.exceptions import ConvergenceWarning

from protonn_edge.cli.command import Output
from protonn_edge.cli.train_options import flags, given_options, was_given
from protonn_edge.datasets import Dataset, MultiLabelDataset
from protonn_edge.errors import InputError
from protonn_edge.quantization import check_counts
from protonn_edge.training import DeviceClassifier, EpochReport
from protonn_edge.training.compatibility import check_compatible
from protonn_edge.training.convolution.training import PassReport
from protonn_edge.training.feature_stages import count_inputs
from protonn_edge.training.protonn_training import default_prototypes
from protonn_edge.training.refusals import Case
from protonn_edge.training.settings import ProtoNNSettings


def check_options(
    classifier: DeviceClassifier, dataset: Dataset, *, rejecting: bool = False
) -> None:
    """Refuse what cannot be combined, in the words of the command line.

    Parameters
    ----------
    rejecting : bool
        Whether the model is to reject points afterwards.
    """
    case = Case.of(
        classifier.training_settings(),
        dataset.X_train,
        multilabel=isinstance(dataset, MultiLabelDataset),
        in_groups=dataset.groups is not None,
        rejecting=rejecting,
        given=given_options(),
    )
    check_compatible(case, classifier.refusals, flags())


def check_sizes(classifier: DeviceClassifier, dataset: Dataset) -> None:
    """Refuse sizes that would only fail after the training, or for want of memory."""
    settings = classifier.training_settings()
    inputs = count_inputs(settings, dataset.X_train)
    if not isinstance(settings, ProtoNNSettings) or settings.budget is not None:
        return
    points = dataset.X_train.shape[0]
    if was_given("n_projections") and settings.n_projections > inputs:
        raise InputError(
            f"--projection-dim is {settings.n_projections:,}, the data has {inputs:,} features; "
            f"a projection has no more outputs than inputs, so try at most {inputs:,}"
        )
    given = settings.n_prototypes
    if given is not None and given > points:
        raise InputError(
            f"--prototypes is {given:,}, the data has {points:,} points to train with; try "
            "fewer prototypes"
        )
    if not isinstance(dataset, MultiLabelDataset) and settings.normalizer_kind != "l2":
        no_projection = settings.init_projection == "identity"
        projections = inputs if no_projection else min(settings.n_projections, inputs)
        prototypes = given or default_prototypes(dataset.n_classes)
        check_counts(
            features=dataset.n_features,
            projections=projections,
            prototypes=prototypes,
            classes=dataset.n_classes,
        )


def fit_classifier(
    classifier: DeviceClassifier,
    dataset: Dataset,
    out: Output,
    *,
    verbose: bool = False,
    on_progress: Callable[[], object] = lambda: None,
) -> None:
    """Train a classifier on the training part of a data set.

    `on_progress` is called whenever there is some: the settings can be used then.

    It shows a progress bar; or, if `verbose`, a line of objective and accuracies after each report,
    for which the test part is classified each time.
    """
    tested = verbose and len(dataset.y_test) > 0
    test = (dataset.X_test, dataset.y_test) if tested else None
    with warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore", ConvergenceWarning)  # said below, without a stack
        bar = None
        if not verbose:
            bar = stack.enter_context(out.progress("training", classifier.planned_epochs))

        def on_report(report: EpochReport) -> None:
            on_progress()
            if bar is None:
                out.say(_report_line(report))
            else:
                epochs = classifier.planned_epochs
                bar.move_to(report.epoch, _note(report), description="training", total=epochs)

        def on_pass(report: PassReport) -> None:
            on_progress()
            what, note = f"learning the {report.network}", f"loss {report.loss:.4f}"
            if bar is None:
                out.say(f"{what}, pass {report.number:,} of {report.passes:,}, {note}")
            else:
                bar.move_to(report.number, note, description=what, total=report.passes)

        classifier.callback, classifier.network_callback = on_report, on_pass
        classifier.fit(dataset.X_train, dataset.y_train, groups=dataset.groups, evaluate_on=test)
    for remark in classifier.remarks_:
        out.say(remark)


def _note(report: EpochReport) -> str:
    turn = f"{report.parameter}: " if report.parameter else ""
    return (
        f"{turn}objective {report.objective:.4f}, training accuracy {100 * report.accuracy:.2f} %"
    )


def _report_line(report: EpochReport) -> str:
    """Return what the reference implementation reports after each parameter's pass."""
    if report.parameter:
        begin = f"iteration {report.iteration:,} of {report.iterations:,}, "
    else:
        begin = f"epoch {report.epoch:,} of {report.epochs:,}, "
    line = begin + _note(report)
    if report.test_accuracy is not None:
        line += f", test accuracy {100 * report.test_accuracy:.2f} %"
    return line
