"""``protonn-edge predict``: Classify points on this computer."""

from __future__ import annotations

import csv
import io
from itertools import chain, count
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from protonn_edge.cli.command import OUTPUT, Output, additions, command, option
from protonn_edge.cli.options import MODEL_FILE, POINTS
from protonn_edge.cli.paths import ANSWERS, PREDICTED, OutputFile
from protonn_edge.cli.tables import TABLE, points_for
from protonn_edge.data.naming import NO_LABEL, answer_name
from protonn_edge.data.options import TableOptions
from protonn_edge.data.points.model_points import ModelPoints
from protonn_edge.data.tables.table_file import opened_table
from protonn_edge.data.takes.images import has_images, image_names
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.learn.evaluation.figures import accuracy_figure, saturation_figure
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.model.file import load_model
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model, why_clamped
from protonn_edge.model.policy import Policy, about_answers
from protonn_edge.model.quantization import answers_of
from protonn_edge.model.sensor_counts import with_unit
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import facts_of
from protonn_edge.system.files import write_atomically
from protonn_edge.system.schema import JsonObject


class PredictAddition(Protocol):
    """The options of an extension for data of its own kind."""

    def classified(self, model: Model, data: Path, table: TableOptions, out: Output) -> bool:
        """Classify the data if they are of this kind, print the result; return whether it did."""


@command(
    "predict",
    examples=("model.npz new.csv -o predicted.csv",),
)
def predict_command(
    model_file: Path = MODEL_FILE,
    data: Path = POINTS,
    output: Path | None = option(
        "Write a table (.csv): the columns of DATA, the predicted class and, if known, how certain "
        "it is.  [default: print the classes]",
        OutputFile(ANSWERS),
    ),
    unit: str | None = option(
        "The unit of the training data, if the model does not state it, such as m/s^2, for DATA "
        "that a board recorded; its counts are converted as by 'build --sensor --unit'.",
        metavar="UNIT",
    ),
    added: list[PredictAddition] = additions("predict"),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Classify the points of DATA in integers, with the same answers as the device.

    If DATA has labels, the accuracy is printed, too. Columns are matched by name if MODEL and DATA
    both have names. If DATA has a test part, or points that training held out, only these are
    classified. In an .npz file, the points are in an array X, X_test or X_train. With --hop, DATA
    is a recording with labels, as for 'windows', and false alarms and missed events are counted.
    The most frequent label counts as no event.
    """
    model = with_unit(load_model(model_file), unit)
    if any(each.classified(model, data, table, out) for each in added):
        return
    points = points_for(model, data, table, out, labels="ignorable")
    X, y = points.labelled
    of_rules: dict[str, list[Any]] = {}
    figures: JsonObject = {}
    answers, scores, form = answers_of(model, X)
    policy: Policy[Any] = form.policy
    if isinstance(form, IntegerChain):
        figures["saturations"] = form.quantizer.saturations(X)
        for rule in policy.rules:
            of_rules |= rule.figures(scores)
    words = policy.words(scores, model.classes)
    shown, measured = policy.measured(scores, points.values, points.groups)
    facts = [*facts_of(shown), *about_answers(policy)]
    figures |= measured
    names = words or [answer_name(model.classes, answer) for answer in answers.tolist()]
    answered, counts = np.unique([] if words else names, return_counts=True)
    record = dict(zip(answered.tolist(), counts.tolist(), strict=True))
    labelled = y != NO_LABEL
    if labelled.any():
        share = share_right(answers[labelled], y[labelled])
        accuracy = accuracy_figure(share, int(labelled.sum()))
        figures |= {"accuracy": share, "accuracy_interval": list(accuracy.interval or ())}
        facts = facts_of([accuracy])
    if output is not None:
        files = image_names(data, points.options) if has_images(data) else []
        files = [files[row] for row in points.rows] if files else []
        write_atomically(output, _table(model, points, data, names, of_rules, files))
        if words is None:
            facts += [(name, counted(n, "point")) for name, n in record.items()]
        out.say(fact_table(facts), f"wrote {output}")
    else:
        out.say(*names)
        for name, fact in facts:
            out.remark(f"{name}: {fact}")
    if figures.get("saturations"):
        why = why_clamped(model)
        out.remark(str(saturation_figure(figures["saturations"], X.size, why)))
    figures |= of_rules
    rows = points.rows.tolist()
    out.finish({"n": len(names), "classes": record, "rows": rows, "predicted": names, **figures})


def _table(
    model: Model,
    points: ModelPoints,
    data: Path,
    names: list[str],
    of_rules: dict[str, list[Any]],
    files: list[str],
) -> str:
    """Return the rows of a table that were classified, or their numbers, with the answers."""
    rows = points.rows.tolist()
    head, cells, delimiter = ["row"], [[str(row)] for row in rows], ","
    if points.layout is not None and data.is_file():
        file, chosen = opened_table(data, points.options), set(rows)
        delimiter, head = file.delimiter, [str(column.index + 1) for column in file.columns]
        head = [column.name for column in file.columns] if file.header else head
        read = (row for _, row in file.rows() if row is not None)
        cells = [row for number, row in enumerate(read) if number in chosen]
    elif files:
        head, cells = ["file"], [[file] for file in files]
    elif (points.y != NO_LABEL).all():
        head.append("label")
        cells = [
            [*row, answer_name(model.classes, label)]
            for row, label in zip(cells, points.y.tolist(), strict=True)
        ]
    layout = points.layout
    added = {PREDICTED[model.policy.predicts]: names}
    added |= {name: [*map(str, figures)] for name, figures in of_rules.items()}
    if model.policy.predicts == "value" and layout is not None and layout.decimal_comma:
        added = {
            name: [each.replace(".", ",") for each in column] for name, column in added.items()
        }
    text = io.StringIO(newline="")
    lines = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    lines.writerow([*head, *(_unlike(head, name) for name in added)])
    lines.writerows([*row, *new] for row, *new in zip(cells, *added.values(), strict=True))
    return text.getvalue()


def _unlike(head: list[str], name: str) -> str:
    """Return a name of a column that is none of the others."""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in head)
