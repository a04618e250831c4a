"""The work of `train`: a model, calibrated, described and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from protonn_edge.cli import fitting, samples, training_data
from protonn_edge.cli.command import Output
from protonn_edge.cli.data import DataReport
from protonn_edge.cli.train_given import TrainOptions
from protonn_edge.cli.train_options import was_given
from protonn_edge.cli.trained import describe, detection_report, sentence_of
from protonn_edge.data.naming import Notice
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division
from protonn_edge.learn.better_kind import better_kind
from protonn_edge.learn.calibration import with_accuracy_floor
from protonn_edge.learn.learner import Learner
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model
from protonn_edge.model.other_files import ForeignFolder
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.system.errors import InputError, Interrupted, unneeded
from protonn_edge.system.extensions import additions_to
from protonn_edge.system.schema import JsonObject


def train_model(given: TrainOptions, out: Output) -> None:
    """Train a model, as the options of `train` say, and write it."""
    learner, dataset, steps = _learner_and_data(given)
    if given.start_from is not None and learner.starts_from:
        start = _start_model(learner, given.start_from, dataset)
        learner = replace(learner, initial_model=start)
        dataset = dataset.matched(start.feature_names, str(given.data))
        out.notice(_known_points(start, dataset))
    learner = replace(learner, **samples.settled_samples(dataset, learner))
    dataset = samples.with_found_features(learner, dataset, given.seed)
    if given.groups is None:  # the file's own groups are not for moving points between them
        dataset = replace(dataset, groups=None)
    dataset = samples.with_sample_notices(dataset, learner.asked)
    for step in steps:
        step.prepare(learner, dataset)
    request = fitting.check_options(learner, dataset)
    out.notice(learner.frozen().check_sizes(dataset, request.given))
    for step in steps:
        step.check(dataset, floats_alone=request.for_floats_alone)
    report = DataReport(dataset, out)
    stopped = fitting.fit_classifier(
        learner, dataset, out, verbose=given.verbose, on_progress=report.say
    )
    report.say()
    kinds: JsonObject = {}
    if not stopped:
        try:
            learner, kinds = _of_better_kind(given, steps, learner, dataset, out)
            for step in steps:
                step.after(learner, dataset, out)
        except KeyboardInterrupt:
            stopped = "all epochs"
    model = learner.to_model(classes=dataset.classes, feature_names=dataset.feature_names)
    model = with_accuracy_floor(
        training_data.of_data(model, dataset), dataset.X_test, dataset.y_test
    )
    facts = dict(kinds)
    if stopped:
        stopped += "".join(f", before {step.flag}" for step in steps)
        facts["stopped"] = stopped
    model = replace(model, record={**model.record, **facts})
    if why_floats_alone(model) is None:
        quantize(model)  # refuses numbers that no device can hold
    save_model(model, given.output)
    described, proportions = describe(model, dataset, out)
    record = described | kinds | {"data": report.to_json()}
    said = [*detection_report(record), sentence_of(record), *proportions]
    out.say(*said, f"wrote {given.output}")
    kept = f"stopped after {stopped}; the best model so far is kept in {given.output}"
    out.finish(record, Interrupted(kept) if stopped else None)


def _learner_and_data(given: TrainOptions) -> tuple[Learner, Dataset, list[Any]]:
    """Return what learns, the data set, and the steps that options of rules ask for.

    Raises `InputError` if a step needs classes and there are none.
    """
    learner = given.classifier.untrained(given.seed)
    target, dataset = training_data.load_for(given, learner.frozen().target)
    if dataset.estimator != Dataset.estimator:
        learner = given.classifier.untrained(given.seed, dataset.estimator)
        target = learner.frozen().target
    steps = given.steps(target)
    for step in steps:
        if dataset.predicts != "class" and step.needs_classes:
            raise unneeded(step.flag, "needs points of one class each")
    return learner, dataset, steps


def _of_better_kind(
    given: TrainOptions,
    steps: Sequence[Any],
    learner: Learner,
    dataset: Dataset,
    out: Output,
) -> tuple[Learner, JsonObject]:
    """Return a trained learner, or one of a clearly better kind, and facts about this choice.

    A rule that classes need is asked for with a kind in mind.
    """
    if not given.classifier.is_open or any(step.needs_classes for step in steps):
        return learner, {}
    better = better_kind(learner, dataset, given.seed)
    if better is None:
        return learner, {}
    out.notice([better.notice()])
    fitting.say_remarks(better.learner, out)
    return better.learner, better.to_record()


def _start_model(learner: Learner, path: Path, dataset: Dataset) -> Model:
    """Return the model to continue from: a model file, or a folder of the reference's files."""
    if not path.is_dir():
        model = load_model(path)
        if model.head.kind != learner.starts_from:
            raise InputError(
                f"--start-from needs a model of the kind {learner.starts_from!r}, but the kind is "
                f"{model.head.kind!r}; give a model of the same kind"
            )
        return model
    kind = learner.normalization if was_given("normalization") else "none"
    for each in additions_to("start-from", ForeignFolder).values():
        return each.model_of(dataset, path, kind)
    raise InputError(f"{path} is a folder, which no extension makes a model of; give a model file")


def _known_points(model: Model, dataset: Dataset) -> list[Notice]:
    """Return a warning if the model to start from was trained on some of the held-out points."""
    earlier, division = Division.of_record(model.record), dataset.division
    if earlier is None or division is None or not division.share:
        return []
    if earlier.sha256 != division.sha256 or earlier.check == division.check:
        return []
    text = (
        "the model to start from was trained on some of the held-out points, so the accuracy on "
        "new data is lower; use the --seed, --holdout and --groups of its training"
    )
    return [Notice("training_rows", text, warning=True)]
