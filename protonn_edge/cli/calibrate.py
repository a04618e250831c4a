"""``protonn-edge calibrate``: make a trained model reject unknown inputs."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from protonn_edge.chain.decision.rejection import UNKNOWN, Statistic
from protonn_edge.chain.file import load_model, save_model
from protonn_edge.cli.command import Command, Output, json_option
from protonn_edge.cli.paths import MODEL, OutputFile, check_output
from protonn_edge.cli.rejection import (
    DEFAULT_STATISTICS,
    by_option,
    rejection_facts,
    rejection_option,
    rejection_record,
)
from protonn_edge.cli.tables import points_for, table_options
from protonn_edge.datasets import TableOptions
from protonn_edge.quantization import quantize, statistics_of, with_rejection
from protonn_edge.report.terminal import fact_table


@click.command("calibrate", cls=Command)
@click.argument("model_file", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@rejection_option(
    "Share of valid inputs that may be rejected by mistake, such as 1%.", required=True
)
@by_option
@click.option(
    "-o", "--output", type=OutputFile(MODEL), required=True, help="The model file (.npz)."
)
@table_options
@json_option
def calibrate_command(
    model_file: Path,
    data: Path,
    rate: float,
    by: tuple[Statistic, ...],
    output: Path,
    table: TableOptions,
    as_json: bool,
) -> None:
    """Make MODEL answer "unknown" to inputs unlike its classes, and write the new model.

    The thresholds are chosen on DATA: points of its classes that MODEL was neither trained nor will
    be tested on. 'train --rejection' needs no such points.
    """
    check_output(output)
    out = Output(as_json)
    model = load_model(model_file)
    X, _ = points_for(model, data, table, out, held_out=True)
    model = with_rejection(model, statistics_of(model, X), rate, by or DEFAULT_STATISTICS)
    save_model(model, output)
    integers = quantize(model)
    rejected = float(np.mean(integers.predict(integers.quantize(X)) == UNKNOWN))
    share = f"{100 * rejected:.2f} % of the {len(X):,} calibration points"
    out.say(fact_table([*rejection_facts(model), ("unknown", share)]), f"wrote {output}")
    out.finish(
        {
            "n": len(X),
            "rate": rate,
            "unknown_share": rejected,
            "rejection": rejection_record(model),
            "model_sha256": integers.model_sha256,
        }
    )
