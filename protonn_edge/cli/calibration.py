"""The work of `train --calibrate`: adapt a model's answers to points that it was not trained on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from protonn_edge.cli.command import Output
from protonn_edge.cli.tables import points_for
from protonn_edge.cli.train_given import TrainOptions
from protonn_edge.cli.train_options import was_given
from protonn_edge.data.naming import NO_CLASS, NO_CLASS_NAME, Notice
from protonn_edge.data.options import READ_NAMES
from protonn_edge.data.points.division import Division, digest_of
from protonn_edge.learn.evaluation.accuracy import share_of
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.model.expected_answers import ExpectedAnswers
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.rule_kinds import described
from protonn_edge.model.watch import device_forms
from protonn_edge.system.errors import InputError, unneeded
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject

_USED = {"data", "output", "calibrate", "as_json", *(each.replace("-", "_") for each in READ_NAMES)}
"""The parameters of `train` that have an effect, beside those of rules and extensions."""


def calibrate(given: TrainOptions, model_file: Path, out: Output) -> None:
    """Adapt a model to the points of DATA, and write it."""
    used = _USED.union(*(vars(each) for each in given.added if each.calibrates))
    for param in click.get_current_context().command.params:
        if param.name not in used and was_given(str(param.name)):
            raise unneeded(param.opts[0], "has no effect with --calibrate")
    data, output = given.data, given.output
    model, steps = load_model(model_file), given.steps()
    if model.policy.predicts != "class":
        raise InputError(
            f"{model_file} predicts no classes, but --calibrate adapts the answers of classifiers; "
            "train the model again"
        )
    points = points_for(model, data, given.table, out, labels="ignorable", one_part=True)
    out.notice(_known_points(model, data))
    X = points.X
    record: JsonObject = {"n": len(X)}
    facts = list[tuple[str, str]]()
    for step in steps:
        model = step.applied(model, X, points.y)
        facts += step.facts(model, len(X))
        record |= step.to_json(model)
    integers = quantize(model)
    Q = integers.quantize(X)
    expected = ExpectedAnswers.of(integers, Q)
    if expected is not None or not steps:  # too few points for a rule leave it as it is
        model = replace(model, expected=expected)
    if not steps:
        for form in device_forms().values():
            form.of(integers, model)  # refuses points from which nothing was measured
    save_model(model, output)
    share = share_of(integers.predict(Q), NO_CLASS)
    facts += model.policy.facts(model.head)
    if NO_CLASS_NAME in (each.name for each in model.policy.other_answers):
        facts.append((NO_CLASS_NAME, f"{percent(share)} of the {len(X):,} calibration points"))
    out.say(*([fact_table(facts)] if facts else []), f"wrote {output}")
    record |= {"unknown_share": share, **described(model.policy)}
    out.finish(record | {"model_sha256": integers.model_sha256})


def _known_points(model: Model, data: Path) -> list[Notice]:
    """Return a warning if the points are those that training held out of its file.

    Training points have a notice already.
    """
    division = Division.of_record(model.record)
    if division is None or not division.share or digest_of(data) != division.sha256:
        return []
    text = (
        f"the model was trained on {data.name}, and its held-out points, which now calibrate the "
        "model, are those that 'hil', 'verify' and 'report' measure it with, so their figures are "
        "no longer for new data; calibrate with other points, or train with --rejection"
    )
    return [Notice("calibration_rows", text, warning=True)]
