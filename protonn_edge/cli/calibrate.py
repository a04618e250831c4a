"""``protonn-edge calibrate``: Adapt a model's answers to points that it was not trained on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from protonn_edge.chain.file import load_model, save_model
from protonn_edge.chain.policy import described
from protonn_edge.chain.watch import statistics_of
from protonn_edge.cli.command import OUTPUT, Output, command
from protonn_edge.cli.options import MODEL_FILE, MODEL_OUTPUT, POINTS
from protonn_edge.cli.paths import check_output
from protonn_edge.cli.rules import GivenRules, rule_examples, rule_needs, rule_options
from protonn_edge.cli.tables import TABLE, points_for
from protonn_edge.datasets import TableOptions
from protonn_edge.datasets.naming import NO_CLASS, NO_CLASS_NAME
from protonn_edge.evaluation.accuracy import share_of
from protonn_edge.evaluation.terminal import fact_table
from protonn_edge.extensions import brought
from protonn_edge.quantization import quantize


@command(
    "calibrate",
    needs=rule_needs("calibrate"),
    examples=(*rule_examples("calibrate"), "model.npz calibration.csv -o calibrated.npz"),
)
def calibrate_command(
    model_file: Path = MODEL_FILE,
    data: Path = POINTS,
    rules: GivenRules = rule_options("calibrate"),
    output: Path = MODEL_OUTPUT,
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Adapt MODEL to DATA: points of the model's classes that training and testing do not use.

    The options do what those of 'train' do, without training more models. If DATA has at least 100
    points, firmware that watches its answers compares them with the model's answers for DATA.
    """
    check_output(output)
    model, steps = load_model(model_file), rules.steps()
    X = points_for(model, data, table, out, labels="ignorable", one_part=True).X
    record: dict[str, Any] = {"n": len(X)}
    for step in steps:
        model = step.applied(model, X)
        record |= step.to_json()
    integers = quantize(model)
    Q = integers.quantize(X)
    expected = statistics_of(integers, Q)
    if expected is not None or not steps:  # too few points for a rule leave it as it is
        model = replace(model, expected=expected)
    if not steps:
        for _, extended in brought("device model").values():
            extended(integers, model)  # refuses points from which nothing was measured
    save_model(model, output)
    share = share_of(integers.predict(Q), NO_CLASS)
    text = f"{100 * share:.2f} % of the {len(X):,} calibration points"
    facts = [*model.policy.facts(model.head), (NO_CLASS_NAME, text)]
    out.say(fact_table(facts), f"wrote {output}")
    record |= {"unknown_share": share, **described(model.policy)}
    out.finish(record | {"model_sha256": integers.model_sha256})
