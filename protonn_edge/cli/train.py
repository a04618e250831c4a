"""``protonn-edge train``: learn a model and write it."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np
from click.core import ParameterSource
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.cli.command import Command, FiniteRange, Output, json_option, range_of
from protonn_edge.cli.data import DataReport
from protonn_edge.cli.paths import MODEL, NameOrPath, OutputFile
from protonn_edge.cli.quantities import Bytes, ImageShape, WindowShape
from protonn_edge.cli.rejection import (
    DEFAULT_STATISTICS,
    by_option,
    rejection_facts,
    rejection_option,
    rejection_record,
)
from protonn_edge.cli.tables import table_options
from protonn_edge.conversion import from_reference
from protonn_edge.conversion.reference_model import read_reference_model
from protonn_edge.datasets import (
    Dataset,
    MultiLabelDataset,
    TableOptions,
    holdout,
    load_dataset,
    with_groups,
)
from protonn_edge.datasets.dataset import dense_features
from protonn_edge.datasets.matching import match_columns
from protonn_edge.errors import InputError
from protonn_edge.evaluation.accuracy import share_right
from protonn_edge.evaluation.ranking import PLACES, precision_at
from protonn_edge.model import ProtoNNModel, load_model, save_model
from protonn_edge.model.sizes import paper_bytes
from protonn_edge.quantization import (
    Statistics,
    check_counts,
    check_rate,
    quantize,
    why_floats_alone,
    with_rejection,
)
from protonn_edge.report.terminal import fact_table
from protonn_edge.stages.average_pooling.pooling import pooling_for
from protonn_edge.stages.decision.rejection import UNKNOWN, Statistic
from protonn_edge.stages.deskew.deskew import PixelScale
from protonn_edge.stages.window_features import FeatureSet, WindowFeatureStage
from protonn_edge.training import EpochReport, ProtoNNClassifier
from protonn_edge.training.folds import check_classes_of_groups
from protonn_edge.training.held_out import FOLDS, held_out_statistics
from protonn_edge.training.task import PROTOTYPES_PER_CLASS, default_prototypes

_F = TypeVar("_F", bound=Callable[..., Any])

_OUTLIER_EXPOSURE = 0.5  # with --rejection
_DEFAULTS: dict[str, Any] = ProtoNNClassifier().get_params()


def _number(flag: str, parameter: str, text: str) -> Callable[[_F], _F]:
    """Return the option for a number of the estimator, with the estimator's range and default."""
    return _setting(flag, parameter, estimator_range(parameter), text)


def estimator_range(parameter: str) -> click.ParamType[Any]:
    """Return the numbers that the estimator takes as a parameter."""
    return range_of(ProtoNNClassifier._parameter_constraints, parameter)


def _setting(
    flag: str, parameter: str, kind: click.ParamType[Any], text: str
) -> Callable[[_F], _F]:
    """Return the option for a parameter of the estimator, with the estimator's default."""
    default = _DEFAULTS[parameter]
    # A number may have a word for a default, such as "auto", which the option itself cannot take.
    word = isinstance(default, str) and not isinstance(kind, click.Choice)
    shown = {"show_default": default} if word else {"default": default, "show_default": True}
    return click.option(flag, parameter, type=kind, help=text, **shown)


@click.command("train", cls=Command)
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=OutputFile(MODEL), required=True, help="The model file (.npz)."
)
@_number("--projection-dim", "n_projections", "d, outputs of the projection.")
@click.option(
    "--prototypes",
    "n_prototypes",
    type=estimator_range("n_prototypes"),
    help=f"m, shared among the classes.  [default: {PROTOTYPES_PER_CLASS} a class]",
)
@_setting(
    "--budget",
    "budget",
    Bytes(),
    "Bytes for the int8 parameters, such as 16kB (16,000): chooses d and m by the paper's rules.",
)
@_number("--lambda-w", "sparsity_projection", "Non-zero share of W.")
@_number("--lambda-b", "sparsity_prototypes", "Non-zero share of B.")
@_number("--lambda-z", "sparsity_labels", "Non-zero share of Z.")
@_setting(
    "--optimizer",
    "optimizer",
    click.Choice(["joint", "alternating"]),
    "All three matrices together, or in turn as in the paper.",
)
@_setting(
    "--loss",
    "loss",
    click.Choice(["cross_entropy", "squared_error", "hinge"]),
    "What is minimized.",
)
@_number("--gamma-numerator", "gamma_numerator", "Gamma times the median distance.")
@_number("--gamma", "gamma", "The RBF's width, in place of the median's.")
@_setting(
    "--init-projection",
    "init_projection",
    click.Choice(["lda", "gaussian", "pca", "nca", "identity", "sleec"]),
    "Where W starts; identity is no projection, whatever d is.",
)
@_setting(
    "--init-prototypes",
    "init_prototypes",
    click.Choice(["per_class", "kmeans", "sample"]),
    "Where B and Z start.",
)
@click.option(
    "--start-from",
    type=click.Path(path_type=Path),
    help="A model file to go on from, whose sizes and normalization hold; or a folder with the "
    "reference implementation's W, B, Z and gamma, for features as --normalization says, else raw.",
)
@_setting(
    "--normalization",
    "normalization",
    click.Choice(["standard", "minmax", "none", "l2"]),
    "What is done to the features; it costs the device nothing, but cannot be l2 there.",
)
@_number("--epochs", "epochs", "Joint: passes over the training points.")
@_number("--iterations", "iterations", "Alternating: turns of each matrix.")
@_number("--pass-epochs", "pass_epochs", "Alternating: epochs of a turn.")
@_setting(
    "--step-sizes",
    "step_sizes",
    click.Choice(["inverse", "inverse_sqrt"]),
    "Alternating: steps of eta/t, or eta/sqrt(t), accelerated.",
)
@_number("--batch-size", "batch_size", "Points a step.")
@_number("--learning-rate", "learning_rate", "Joint: the largest step.")
@_number(
    "--noise",
    "input_noise",
    "Deviation of noise added to normalized features.",
)
@_setting(
    "--quantization-aware/--no-quantization-aware",
    "quantization_aware",
    click.BOOL,
    "Joint: train the second half on what the integers compute.",
)
@_number(
    "--dead-zone",
    "dead_zone",
    "Joint: share of a feature's range, beside its most frequent value, that reads as that value.",
)
@_number(
    "--clip",
    "clip",
    "Share of points at either end of a feature's range that count as outliers, not beyond it.",
)
@_setting("--class-weight", "class_weight", click.Choice(["balanced"]), "Every class counts alike.")
@_setting("--image-shape", "image_shape", ImageShape(), "The features are the pixels of images.")
@_setting(
    "--average-pooling",
    "reduced_shape",
    ImageShape(),
    "Project the averages of this many areas of an image, which the device makes.",
)
@_setting("--crop", "cropped_shape", ImageShape(), "Average this much, in the image's middle.")
@_setting("--deskew/--no-deskew", "deskew", click.BOOL, "Deskew images, before.")
@_setting(
    "--features",
    "features",
    click.STRING,
    "Project features of windows of samples, which the device makes: some of mean, deviation, min, "
    "max, change, crossings and bands:4, parted by commas.",
)
@_setting(
    "--window",
    "window_shape",
    WindowShape(),
    "Samples and channels of a window, such as 128x3; by default as the arrays of an .npz have it.",
)
@_number("--sample-rate", "sample_rate", "Samples a second, for sketches.")
@_setting(
    "--augment/--no-augment",
    "augment",
    click.BOOL,
    "Joint: shift, turn, scale and distort the images a little at random.",
)
@click.option(
    "--groups",
    type=NameOrPath(),
    help="An array of DATA, or a file with a line per training point: which group each is of, say "
    "a person, where the device will meet other ones. See --group-shift.",
)
@_number(
    "--group-shift",
    "group_shift",
    "Joint, with --groups: move points at random up to this far from their group towards another.",
)
@_number(
    "--outlier-exposure",
    "strangers",
    "Joint: made-up points of no class a training point. With --rejection: 0.5 if not given.",
)
@rejection_option(
    'Answer "unknown" to what is unlike all classes, with this share of false alarms, such as 1%; '
    f"trains {FOLDS} more models to find out where."
)
@by_option
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--holdout",
    "share",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    help="Hold this share of the training points, or of --groups, out and report on it instead of "
    "the test part.",
)
@click.option(
    "--verbose",
    is_flag=True,
    help="Print objective, training and test accuracy after every epoch, or every matrix's turn.",
)
@table_options
@json_option
def train_command(
    data: Path,
    output: Path,
    seed: int,
    share: float | None,
    groups: str | None,
    start_from: Path | None,
    rate: float | None,
    by: tuple[Statistic, ...],
    verbose: bool,
    table: TableOptions,
    as_json: bool,
    **settings: Any,
) -> None:
    """Learn a model from DATA and write it.

    DATA is an .npz, .csv, .tsv or libsvm file, or a folder with train.txt and test.txt. Where its
    points have sets of labels, the model is for floats alone, and ranks them.
    """
    check_output(output)
    out = Output(as_json)
    dataset = load_grouped(data, table, groups)
    if groups is None and _was_given("group_shift"):
        raise InputError("--group-shift is given without --groups, which says what they are")
    initial_model = None
    if start_from is not None:
        initial_model = _start_model(start_from, dataset, settings["normalization"])
        dataset = with_columns(dataset, initial_model.feature_names, str(data))
    if share is not None:
        dataset = holdout(dataset, share, seed)
    settle_window(dataset, settings)
    _settle_sizes(dataset, settings)
    by = by or DEFAULT_STATISTICS
    if rate is not None:
        _settle_rejection(dataset, settings, rate, len(by))
    elif _was_given("by"):
        raise InputError("--rejection-by is given without --rejection, which says how often")
    given = {name: value for name, value in settings.items() if value is not None}
    if initial_model is not None:
        given["initial_model"] = initial_model
    report = DataReport(dataset, dataset.notices, out)
    model = train(dataset, out, seed=seed, verbose=verbose, on_progress=report.say, **given)
    report.say()
    if rate is not None:
        model = with_rejection(model, _held_out(model, dataset, out, seed, given), rate, by)
        out.say(fact_table(rejection_facts(model)))
    model = with_accuracy_floor(model, dataset)
    save_model(model, output)
    record = describe(model, dataset) | {"data": report.to_json()}
    out.say(sentence_of(record), f"wrote {output}")
    out.finish(record)


def load_grouped(data: Path, table: TableOptions, groups: str | None) -> Dataset:
    """Return what DATA holds, with the groups that ``--groups`` names, if it does."""
    if groups is not None and not Path(groups).exists():
        table = replace(table, groups=groups)
    dataset = load_dataset(data, table)
    return dataset if groups is None else with_groups(dataset, groups, data)


def with_columns(dataset: Dataset, wanted: Sequence[str], source: str) -> Dataset:
    """Return a data set with the columns that a model wants, in its order, matched by name."""
    match = match_columns(dataset.feature_names, wanted, source)
    notices = (*dataset.notices, *match.notices)
    if match.columns is None:
        return replace(dataset, notices=notices)
    columns = list(match.columns)
    return replace(
        dataset,
        X_train=dataset.X_train[:, columns],
        X_test=dataset.X_test[:, columns],
        feature_names=tuple(wanted),
        notices=notices,
    )


def train(
    dataset: Dataset,
    out: Output,
    *,
    seed: int,
    verbose: bool = False,
    on_progress: Callable[[], object] = lambda: None,
    **settings: Any,
) -> ProtoNNModel:
    """Train an estimator with these settings and return its model.

    `on_progress` is called whenever there is some: the settings can be used then.

    It shows a progress bar; or, if `verbose`, a line of objective and accuracies after each report,
    for which the test part is classified each time.
    """
    classifier = ProtoNNClassifier(random_state=seed, **settings)
    tested = verbose and len(dataset.y_test) > 0
    test = (dataset.X_test, dataset.y_test) if tested else None
    with warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore", ConvergenceWarning)  # said below, without a stack
        bar = None
        if not verbose:
            bar = stack.enter_context(out.progress("training", _epochs(_DEFAULTS | settings)))

        def on_report(report: EpochReport) -> None:
            on_progress()
            if bar is None:
                out.say(_report_line(report, classifier))
            else:
                bar.move_to(report.epoch, _note(report))

        classifier.callback = on_report
        classifier.fit(dataset.X_train, dataset.y_train, groups=dataset.groups, evaluate_on=test)
    for restart in classifier.restarts_:
        out.say(str(restart))
    return classifier.to_model(classes=dataset.classes, feature_names=dataset.feature_names)


def _held_out(
    model: ProtoNNModel, dataset: Dataset, out: Output, seed: int, settings: dict[str, Any]
) -> Statistics:
    """Return the statistics of the training points, each by a model that was trained without it."""
    classifier = ProtoNNClassifier(random_state=seed, **settings)
    with out.progress("calibrating", FOLDS) as bar:
        return held_out_statistics(
            classifier,
            dense_features(dataset.X_train, "the training part"),
            dataset.y_train,
            model,
            groups=dataset.groups,
            on_fold=lambda number, folds: bar.move_to(number - 1, f"model {number} of {folds}"),
        )


def _settle_rejection(
    dataset: Dataset, settings: dict[str, Any], rate: float, statistics: int
) -> None:
    """Refuse what would only fail after the training, and train with outlier exposure."""
    if isinstance(dataset, MultiLabelDataset) or settings["normalization"] == "l2":
        raise InputError(
            "--rejection is for models of one class a point that a device can run; leave it out, "
            "or train with one label a point and another --normalization than l2"
        )
    check_rate(len(dataset.y_train), rate / statistics)
    if dataset.groups is not None:
        check_classes_of_groups(np.array(dataset.classes)[dataset.y_train], dataset.groups)
    joint = settings["optimizer"] == "joint" and not issparse(dataset.X_train)
    if joint and not _was_given("strangers"):
        settings["strangers"] = _OUTLIER_EXPOSURE


def _note(report: EpochReport) -> str:
    turn = f"{report.parameter}: " if report.parameter else ""
    return (
        f"{turn}objective {report.objective:.4f}, training accuracy {100 * report.accuracy:.2f} %"
    )


def _report_line(report: EpochReport, classifier: ProtoNNClassifier) -> str:
    """Return what the reference implementation reports after each parameter's pass."""
    if report.parameter:
        iteration = -(-report.epoch // (3 * classifier.pass_epochs))
        begin = f"iteration {iteration:,} of {classifier.iterations:,}, "
    else:
        begin = f"epoch {report.epoch:,} of {report.epochs:,}, "
    line = begin + _note(report)
    if report.test_accuracy is not None:
        line += f", test accuracy {100 * report.test_accuracy:.2f} %"
    return line


def _start_model(path: Path, dataset: Dataset, normalization: str) -> ProtoNNModel:
    """Return the model to go on from: our own, or that of a folder of the reference's files."""
    if not path.is_dir():
        return load_model(path)
    kind = normalization if _was_given("normalization") else "none"
    return reference_model_for(dataset, path, kind)


def reference_model_for(dataset: Dataset, folder: Path, normalization: str) -> ProtoNNModel:
    """Return the model of the reference's files in a folder, for this data."""
    label_sets = dataset.y_train if isinstance(dataset, MultiLabelDataset) else None
    return from_reference(
        read_reference_model(folder),
        dataset.X_train,
        normalization,
        dataset.classes,
        feature_names=dataset.feature_names,
        label_sets=label_sets,
    )


def _epochs(settings: dict[str, Any]) -> int:
    """Return how many epochs the last report will have counted."""
    if settings["optimizer"] == "alternating":
        return int(3 * settings["iterations"] * settings["pass_epochs"])
    return int(settings["epochs"])


def describe(model: ProtoNNModel, dataset: Dataset) -> dict[str, Any]:
    """Return the JSON object of a trained model; accuracies are 0 to 1, or None."""
    if model.multilabel:
        return _describe_ranking(model, dataset)
    X, y = dataset.X_test, dataset.y_test
    record = {
        "train_accuracy": share_right(model.predict(dataset.X_train), dataset.y_train),
        "float_accuracy": share_right(model.predict(X), y) if len(y) else None,
        "n": len(y),
        "restarts": list(model.record.get("restarts", ())),
        "rejection": rejection_record(model),
        "unknown_share": None,
    }
    reason = why_floats_alone(model)
    if reason is not None:
        return record | {"accuracy": None, "paper_bytes": paper_bytes(model), "no_device": reason}
    integer_model = quantize(model)
    in_integers = unknown = None
    if len(y) > 0:
        Q = integer_model.quantize(dense_features(X, "the test part"))
        predicted = integer_model.predict(Q)
        in_integers, unknown = share_right(predicted, y), float(np.mean(predicted == UNKNOWN))
    return record | {
        "accuracy": in_integers,
        "unknown_share": unknown if model.rejection is not None else None,
        "model_bytes": integer_model.model_bytes,
        "model_sha256": integer_model.model_sha256,
    }


def with_accuracy_floor(model: ProtoNNModel, dataset: Dataset) -> ProtoNNModel:
    """Return the model with a record that says how accurate a device with it must be at least.

    That is the integers' share of right test points, less two standard errors of that many points:
    other points of the same kind will reach it, too. Nothing is recorded without test points, or
    for a model that no device runs.
    """
    if model.multilabel or why_floats_alone(model) is not None or len(dataset.y_test) == 0:
        return model
    integer_model = quantize(model)
    Q = integer_model.quantize(dense_features(dataset.X_test, "the test part"))
    share = share_right(integer_model.predict(Q), dataset.y_test)
    error = math.sqrt(share * (1 - share) / len(Q))
    floor = math.floor(1000 * max(0.0, share - 2 * error)) / 1000
    return replace(model, record={**model.record, "accuracy_floor": floor})


def _describe_ranking(model: ProtoNNModel, dataset: Dataset) -> dict[str, Any]:
    """Return the JSON object of a model of label sets: precisions 0 to 1, or None."""
    record: dict[str, Any] = {}
    for prefix, X, labels in (
        ("train_", dataset.X_train, dataset.y_train),
        ("", dataset.X_test, dataset.y_test),
    ):
        found = precision_at(model.scores(X), labels) if labels.shape[0] else {}
        record |= {f"{prefix}precision_at_{k}": found.get(k) for k in PLACES}
    return record | {
        "n": int(dataset.y_test.shape[0]),
        "restarts": list(model.record.get("restarts", ())),
        "threshold": model.threshold,
        "paper_bytes": paper_bytes(model),
        "no_device": why_floats_alone(model),
    }


def _precisions(record: dict[str, Any], prefix: str = "") -> str:
    """Return a text such as "P@1/3/5 68.92 / 63.04 / 58.32 %"."""
    figures = [100 * record[f"{prefix}precision_at_{k}"] for k in PLACES]
    return f"P@{'/'.join(map(str, PLACES))} {' / '.join(f'{x:.2f}' for x in figures)} %"


def _ranking_sentence(record: dict[str, Any]) -> str:
    sizes = f"{record['paper_bytes']:,} B as the paper counts"
    trained = f"{_precisions(record, 'train_')} in training"
    if not record["n"]:
        return f"{trained}, {sizes}; the data has no test part"
    return f"{_precisions(record)} of {record['n']:,} test points ({trained}), {sizes}"


def sentence_of(record: dict[str, Any]) -> str:
    """Return what `describe` found, for people."""
    if "precision_at_1" in record:
        return _ranking_sentence(record)
    if "no_device" in record:
        sizes = f"{record['paper_bytes']:,} B as the paper counts, for floats alone"
    else:
        sizes = f"{record['model_bytes']:,} B of int8 parameters"
    trained = f"accuracy {100 * record['train_accuracy']:.2f} % in training"
    if not record["n"]:
        return f"{trained}, {sizes}; the data has no test part"
    tested = f"{trained}; on {record['n']:,} test points {100 * record['float_accuracy']:.2f} %"
    if record["accuracy"] is None:
        return f"{tested}; {sizes}"
    tested += f" in float, {100 * record['accuracy']:.2f} % in integers"
    if record["unknown_share"] is not None:
        tested += f", {100 * record['unknown_share']:.2f} % answered unknown"
    return f"{tested}; {sizes}"


def check_output(path: Path) -> None:
    """Refuse a name that cannot be written before minutes are spent on training."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; name the model file, for example {path / 'model.npz'}"
        )
    if path.suffix != ".npz":
        raise InputError(f"the model file is called {path.name!r}; its name must end in .npz")
    there = next(parent for parent in path.absolute().parents if parent.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(
            f"cannot write {path}: {there} is no folder to write to; choose another -o"
        )


def settle_window(dataset: Dataset, settings: dict[str, Any]) -> None:
    """Take the shape of a window from the data where it is not given."""
    if settings.get("features") is None or settings.get("window_shape") is not None:
        return
    shape = (*dataset.point_shape, 1)[:2]
    if len(dataset.point_shape) > 2:
        raise InputError(
            f"--features is given, but a point of the data has the axes "
            f"{'x'.join(map(str, dataset.point_shape))}; say --window SAMPLESxCHANNELS"
        )
    settings["window_shape"] = shape if dataset.point_shape else (dataset.n_features, 1)


def _settle_sizes(dataset: Dataset, settings: dict[str, Any]) -> None:
    """Refuse what would only fail after the training, or for want of memory."""
    features = dataset.n_features
    pooling = pooling_for(
        settings["image_shape"],
        settings["reduced_shape"],
        settings["cropped_shape"],
        PixelScale(0.0, 1.0) if settings["deskew"] else None,
    )
    inputs, what = features, "features"
    if pooling is not None:
        inputs, what = pooling.n_outputs, "averages"
    elif settings["features"] is not None:
        windows = dense_features(dataset.X_train[:1], "the training part")
        declared = FeatureSet.of(settings["features"])
        window_features = WindowFeatureStage.fitted(declared, settings["window_shape"], windows)
        inputs = window_features.n_outputs
    if settings["budget"] is not None:
        _leave_sizes_to_budget(settings)
        return
    if _was_given("n_projections") and settings["n_projections"] > inputs:
        raise InputError(
            f"--projection-dim is {settings['n_projections']:,}, the data has {inputs:,} {what}; "
            f"a projection has no more outputs than inputs, so try at most {inputs:,}"
        )
    points, multilabel = dataset.X_train.shape[0], isinstance(dataset, MultiLabelDataset)
    given = settings["n_prototypes"]
    if given is not None and given > points:
        raise InputError(
            f"--prototypes is {given:,}, the data has {points:,} points to train with; try "
            "fewer prototypes"
        )
    if multilabel or settings["normalization"] == "l2":
        return  # no code is generated
    projections = min(settings["n_projections"], inputs)
    if settings["init_projection"] == "identity":
        projections = inputs
    prototypes = given or default_prototypes(dataset.n_classes)
    check_counts(features, projections, prototypes, dataset.n_classes)


def _leave_sizes_to_budget(settings: dict[str, Any]) -> None:
    for name, flag in (("n_projections", "--projection-dim"), ("n_prototypes", "--prototypes")):
        if _was_given(name):
            raise InputError(
                f"--budget and {flag} are both given, but a budget decides on the sizes; leave one "
                "of the two out"
            )
    settings["n_prototypes"] = None


def _was_given(parameter: str) -> bool:
    """Return whether an option is on the command line, its default aside."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is not ParameterSource.DEFAULT
