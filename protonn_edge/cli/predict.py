"""``protonn-edge predict``: classify points without labels."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import click
import numpy as np

from protonn_edge.chain.decision import UNKNOWN
from protonn_edge.chain.file import load_model
from protonn_edge.cli.command import Command, Output, json_option
from protonn_edge.cli.paths import PREDICTIONS, PREDICTIONS_MARK, OutputFile
from protonn_edge.cli.tables import features_for, table_options
from protonn_edge.datasets import TableOptions
from protonn_edge.errors import InputError
from protonn_edge.quantization import quantize, why_floats_alone
from protonn_edge.report.terminal import fact_table
from protonn_edge.system.files import write_atomically


@click.command("predict", cls=Command)
@click.argument("model_file", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputFile(PREDICTIONS),
    help="Write a table (.csv) with the class of each point.  [default: print the classes]",
)
@table_options
@json_option
def predict_command(
    model_file: Path, data: Path, output: Path | None, table: TableOptions, as_json: bool
) -> None:
    """Classify the points of DATA in integers, with the same answers as the device.

    Labels in DATA are ignored. Columns are matched by name if MODEL and DATA both have names. An
    .npz file has the points in an array X, X_test or X_train.
    """
    out = Output(as_json)
    model = load_model(model_file)
    if model.multilabel:
        raise InputError(
            f"{model_file} predicts sets of labels; call predict of the loaded model in Python"
        )
    X = features_for(model, data, table, out)
    if why_floats_alone(model) is None:
        integers = quantize(model)
        answers = integers.predict(integers.quantize(X))
    else:
        answers = model.predict(X)
    names = ["unknown" if i == UNKNOWN else model.classes[i] for i in answers.tolist()]
    found, counts = np.unique(names, return_counts=True)
    record = dict(zip(found.tolist(), counts.tolist(), strict=True))
    if output is not None:
        write_atomically(output, _lines(names))
        out.say(fact_table([(name, f"{n:,} points") for name, n in record.items()]))
        out.say(f"wrote {output}")
    else:
        out.say(*names)
    out.finish({"n": len(names), "classes": record, "predicted": names})


def _lines(names: list[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([name] for name in names)
    return PREDICTIONS_MARK + text.getvalue()
