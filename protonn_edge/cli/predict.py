"""``protonn-edge predict``: classify points without labels."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import click
import numpy as np

from protonn_edge.build.windowing import SAMPLES_LIMIT, VOTES_LIMIT
from protonn_edge.chain.decision import UNKNOWN
from protonn_edge.chain.file import load_model
from protonn_edge.chain.model import why_clamped
from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.options import MODEL_FILE, POINTS, FiniteRange
from protonn_edge.cli.paths import PREDICTIONS, PREDICTIONS_HEAD, OutputFile
from protonn_edge.cli.tables import TABLE, points_for
from protonn_edge.datasets import TableOptions
from protonn_edge.datasets.images import has_images, image_names
from protonn_edge.datasets.recorded import read_recording
from protonn_edge.errors import InputError, counted
from protonn_edge.evaluation.live import live_figures
from protonn_edge.quantization import quantize, why_floats_alone
from protonn_edge.report.terminal import fact_table, saturation_fact
from protonn_edge.system.files import write_atomically


@command("predict", needs={"--votes --refractory": "--hop"}, apart={"-o": "--hop"})
def predict_command(
    model_file: Path = MODEL_FILE,
    data: Path = POINTS,
    output: Path | None = option(
        "Write a table (.csv) with the index of each row (from 0), the predicted class and, if "
        "known, the confidence and the file's name.  [default: print the classes]",
        OutputFile(PREDICTIONS),
    ),
    hop: int | None = option(
        "If DATA is a recording: samples from the start of one window to the start of the next.",
        click.IntRange(1, SAMPLES_LIMIT),
    ),
    votes: int = option(
        "With --hop: report the majority class of this many windows.",
        click.IntRange(1, VOTES_LIMIT),
        shown=1,
    ),
    refractory: float = option(
        "With --hop: after a report, report no other class for this many seconds.",
        FiniteRange(0, 3600),
        shown=0.0,
    ),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Classify the points of DATA in integers, with the same answers as the device.

    Labels in DATA are ignored, except with --hop. Columns are matched by name if MODEL and DATA
    both have names. If DATA has a test part, only this part is classified. In an .npz file, the
    points are in an array X, X_test or X_train. With --hop, DATA is a recording with labels, as for
    'windows', and false alarms and missed events are counted. The most frequent label counts as no
    event.
    """
    model = load_model(model_file)
    if hop is not None:
        recorded = read_recording(data, table)
        live = live_figures(model, recorded, hop, votes, refractory)
        out.notice(recorded.dataset.notices)
        out.say(fact_table(live.facts()))
        out.finish(live.to_json())
        return
    if model.multilabel:
        raise InputError(
            f"{model_file} predicts sets of labels, but 'predict' prints one class per point; in "
            "Python, call the loaded model's predict"
        )
    rows: list[int] = []
    X, _ = points_for(model, data, table, out, labelled=False, on_rows=rows.extend)
    per_cent: list[int] = []
    figures: dict[str, Any] = {}
    if why_floats_alone(model) is None:
        integers = quantize(model)
        answers, scores = integers.answers(integers.quantize(X))
        figures["saturations"] = integers.features.saturations(X)
        if integers.confidence is not None:
            per_cent = integers.confidence.percent(scores).tolist()
    else:
        answers = model.predict(X)
    names = ["unknown" if i == UNKNOWN else model.classes[i] for i in answers.tolist()]
    answered, counts = np.unique(names, return_counts=True)
    record = dict(zip(answered.tolist(), counts.tolist(), strict=True))
    if output is not None:
        files = image_names(data, table) if has_images(data) else []
        write_atomically(output, _table(rows, names, per_cent, files))
        out.say(fact_table([(name, counted(n, "point")) for name, n in record.items()]))
        out.say(f"wrote {output}")
    else:
        out.say(*names)
    if figures.get("saturations"):
        why = why_clamped(model)
        out.remark(": ".join(saturation_fact(figures["saturations"], X.size, why)))
    if per_cent:
        figures["confidence_percent"] = per_cent
    out.finish({"n": len(names), "classes": record, "rows": rows, "predicted": names, **figures})


def _table(rows: list[int], names: list[str], per_cent: list[int], files: list[str]) -> str:
    others = {"confidence_percent": per_cent, "file": files}
    given = {name: column for name, column in others.items() if column}
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([*PREDICTIONS_HEAD, *given])
    lines.writerows(zip(rows, names, *given.values(), strict=True))
    return text.getvalue()
