"""``protonn-edge calibrate``: Let a model reject inputs that belong to none of its classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from protonn_edge.chain.decision import STATISTICS, UNKNOWN, Statistic
from protonn_edge.chain.file import load_model, save_model
from protonn_edge.chain.integer_chain import observed
from protonn_edge.chain.model import Model
from protonn_edge.chain.observation import ExpectedAnswers
from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.options import MODEL_FILE, MODEL_OUTPUT, POINTS, SHARE
from protonn_edge.cli.paths import check_output
from protonn_edge.cli.tables import TABLE, points_for
from protonn_edge.datasets import TableOptions
from protonn_edge.evaluation.terminal import fact_table
from protonn_edge.quantization import quantize, statistics_of, with_rejection

DEFAULT_STATISTICS: tuple[Statistic, ...] = ("score",)

REJECTION_BY = option(
    "Reject by score, distance or margin (the lead over the second-best score); repeat the option "
    "to divide SHARE among several of them.  [default: score]",
    click.Choice(STATISTICS),
    flag="--rejection-by",
    multiple=True,
    metavar="STATISTIC",
)


def rejection_rate(text: str, **settings: Any) -> Any:
    """Declare the option for the rate of false alarms."""
    return option(text, SHARE, flag="--rejection", **settings)


def rejection_facts(model: Model) -> list[tuple[str, str]]:
    """Return rows with the conditions for "unknown"; none if the model never rejects."""
    rejection = model.rejection
    if rejection is None:
        return []
    conditions = []
    if rejection.score > 0:
        conditions.append(f"the highest score is below {rejection.score:.4g}")
    if rejection.distance is not None:
        conditions.append(f"no prototype is within {rejection.distance:.3g} RBF widths")
    if rejection.margin > 0:
        conditions.append(f"the highest score leads the second by less than {rejection.margin:.4g}")
    facts = [("unknown if", ", or ".join(conditions))]
    if not model.head.knows_its_inputs:
        far = "inputs far from the training data may have high scores, except with"
        facts.append(("caution", f"{far} --classifier protonn"))
    return facts


def rejection_record(model: Model) -> dict[str, Any] | None:
    """Return the thresholds for a command's JSON; None if there are none."""
    rejection = model.rejection
    if rejection is None:
        return None
    return {
        "score": rejection.score or None,
        "distance": rejection.distance,
        "margin": rejection.margin or None,
    }


@command(
    "calibrate",
    needs={"--rejection-by": "--rejection"},
    examples=("model.npz calibration.csv --rejection 1% -o rejecting.npz",),
)
def calibrate_command(
    model_file: Path = MODEL_FILE,
    data: Path = POINTS,
    rejection: float | None = rejection_rate(
        "Share of valid inputs that may be rejected by mistake, such as 1%.  [default: the "
        "thresholds are not changed]"
    ),
    by: tuple[Statistic, ...] = REJECTION_BY,
    output: Path = MODEL_OUTPUT,
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Adapt MODEL to DATA: points of the model's classes that training and testing do not use.

    With --rejection, the new model answers "unknown" to inputs unlike its classes; 'train
    --rejection' does the same without additional points. If DATA has at least 100 points, firmware
    made with 'build --observe' compares the board's answers with the model's answers for DATA.
    """
    check_output(output)
    model = load_model(model_file)
    X = points_for(model, data, table, out, labels="ignorable", one_part=True).X
    if rejection is not None:
        model = with_rejection(model, statistics_of(model, X), rejection, by or DEFAULT_STATISTICS)
    integers = quantize(model)
    Q = integers.quantize(X)
    expected = ExpectedAnswers.of(integers, Q)
    if expected is not None or rejection is None:  # too few points for thresholds leave it as it is
        model = replace(model, expected=expected)
    if rejection is None:
        observed(integers, model)  # refuses a model, or points, from which nothing was measured
    save_model(model, output)
    rejected = float(np.mean(integers.predict(Q) == UNKNOWN))
    share = f"{100 * rejected:.2f} % of the {len(X):,} calibration points"
    out.say(fact_table([*rejection_facts(model), ("unknown", share)]), f"wrote {output}")
    out.finish(
        {
            "n": len(X),
            "rate": rejection,
            "unknown_share": rejected,
            "rejection": rejection_record(model),
            "model_sha256": integers.model_sha256,
        }
    )
