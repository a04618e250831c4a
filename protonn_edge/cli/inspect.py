"""``protonn-edge inspect``: Show the contents of a model, in floats and in integers."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
import numpy as np

from protonn_edge.chips.boards import export_board_names
from protonn_edge.cli.board_table import show_boards
from protonn_edge.cli.command import OUTPUT, Output, additions, argument, command, option
from protonn_edge.cli.options import PATH, POINTS_PATH
from protonn_edge.cli.tables import READ_FLAGS, TABLE, points_for
from protonn_edge.codegen.planner import make_plan
from protonn_edge.data.naming import channel_names
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.evaluation.terminal import fact_table, stage_parts
from protonn_edge.model import stored
from protonn_edge.model.file import load_model
from protonn_edge.model.head import matrices_of, paper_bytes, settings_of, title_of
from protonn_edge.model.integer_stage import IntegerStage, stage_names
from protonn_edge.model.model import Model, units_of
from protonn_edge.model.point_format import size_text
from protonn_edge.model.quantization import quantize, why_floats_alone
from protonn_edge.model.raw_inputs import unit_words
from protonn_edge.model.rule_kinds import described
from protonn_edge.system.errors import shortened
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.data.points.model_points import ModelPoints


class InspectAddition(Protocol):
    """The options of an extension, with which it measures a model on the points of --data."""

    def columns(self, table: TableOptions) -> TableOptions:
        """Return the options for reading the data."""

    def measured(self, model: Model, points: ModelPoints, data: Path, out: Output) -> JsonObject:
        """Print what it measures, if it is asked for; return entries of the JSON object."""


_NAMES_SHOWN = 12
_FEATURES_SHOWN = 4


@command(
    "inspect",
    needs={READ_FLAGS: "--data"},
    apart={"--boards": "file --data"},
    examples=("model.npz --data test.csv", "--boards", "my_board.toml"),
)
def inspect_command(
    file: Path | None = argument(PATH, metavar="[FILE]", required=False),
    data: Path | None = option(
        "Labelled points for measuring the cost of quantization.", POINTS_PATH
    ),
    boards: bool = option("List the boards that --board accepts.", is_flag=True),
    added: list[InspectAddition] = additions("inspect"),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Show the contents of FILE, a model: in floats and in integers.

    With --data, also show the accuracy after each step of quantization. FILE may also be a board's
    .toml file, which is checked; see docs/boards.md.
    """
    if boards:
        show_boards(out, export_board_names())
        return
    if file is None:
        raise click.UsageError("name a model file or a board's .toml file, or give --boards")
    if file.suffix == ".toml":
        show_boards(out, [str(file)])
        return
    model = load_model(file)
    record = _describe(model)
    facts = [
        ("classifier" if model.policy.predicts == "class" else "kind", title_of(model)),
        *_sizes(model),
        *([("trained on", str(model.instrument))] if model.instrument else []),
        *_facts(model, record),
        *model.policy.facts(model.head),
    ]
    if stopped := model.record.get("stopped"):
        facts.append(("training", f"stopped after {shortened(str(stopped))}"))
    if data is not None:
        for each in added:
            table = each.columns(table)
        points = points_for(model, data, table, out)
        X, y = points.labelled
    out.say(f"{file.name}:", fact_table(facts))
    if data is not None:
        from protonn_edge.model.quantization import stage_losses  # few need it

        losses = stage_losses(model, X, y)
        record |= {"n": len(y), "stages": [asdict(loss) for loss in losses]}
        if losses:
            out.say(*stage_parts(losses, len(y), without=model.policy.without_words))
        for each in added:
            record |= each.measured(model, points, data, out)
    out.finish(record)


def _describe(model: Model) -> JsonObject:
    reason = why_floats_alone(model)
    record = {
        "features": model.n_features,
        **_features(model),
        "feature_names": list(model.feature_names),
        "sensor": None if model.instrument is None else model.instrument.sensor,
        "units": [unit.text for unit in model.instrument.units] if model.instrument else [],
        "inputs": model.n_inputs,
        "classifier": model.head.kind,
        **{size.name: size.number for size in model.sizes},
        **settings_of(model.head),
        "classes": list(model.classes),
        "normalization": model.normalizer.kind,
        "clipped": model.clipped,
        **described(model.policy),
        "nonzero": {
            name: np.count_nonzero(matrix) / matrix.size
            for name, matrix in matrices_of(model.head).items()
        },
        "paper_bytes": paper_bytes(matrices_of(model.head).values()),
        "record": dict(model.record),
    }
    return record | ({"no_device": reason} if reason else _describe_integers(model))


def _describe_integers(model: Model) -> JsonObject:
    integer_model = quantize(model)
    plan = make_plan(integer_model)
    return {
        "model_bytes": integer_model.model_bytes,
        "model_sha256": integer_model.model_sha256,
        "input_maximum": integer_model.quantizer.maximum,
        "zero": integer_model.quantizer.zero.tolist(),
        "step": integer_model.quantizer.step.tolist(),
        "raw_scale": [float(f"1e{k}") for k in integer_model.raw_inputs.exponents.tolist()],
        **_accumulators(integer_model.own_stages[0]),
        "score_bits": integer_model.own_stages[-1].output.bits,
        "score_range": list(integer_model.own_stages[-1].output.ends),
        "table_bytes": plan.table_bytes,
        "state_bytes": plan.state_bytes,
    }


def _accumulators(stage: IntegerStage) -> JsonObject:
    """Return the bits and the proven range of a stage's accumulators, if it has any."""
    bits, reached = (getattr(stage, name, None) for name in ("accumulator_bits", "accumulators"))
    if reached is None:
        return {}
    return {"accumulator_bits": bits, "accumulator_range": list(reached.ends)}


def _features(model: Model) -> JsonObject:
    """Return the form of points, and the fields of the stages that compute features."""
    if model.features is None:
        return {}
    signal, names = model.features.points.signal, model.feature_names
    channels = () if signal is None else channel_names(names, signal.channels)
    return {
        "points": stored.described(model.features.points),
        "feature_stages": stored.described(model.features.stages),
    } | ({"channel_names": list(channels)} if channels else {})


def _sizes(model: Model) -> list[tuple[str, str]]:
    """Return the form of points, and what each stage of the features computes."""
    features = model.features
    if features is None:
        return [("features D", f"{model.n_features:,}")]
    signal = features.points.signal
    shape = size_text(features.points.shape)
    size = shape if signal is None else signal.text(model.feature_names)
    kinds = stage_names(stage.kind for stage in features.stages)
    return [
        ("features" if signal is None else "samples", f"{model.n_features:,}: {size}"),
        *(
            (name.replace("_", " "), stored.words(stage))
            for name, stage in zip(kinds, features.stages, strict=True)
        ),
        ("features D", f"{features.n_outputs:,}"),
    ]


def _facts(model: Model, record: JsonObject) -> list[tuple[str, str]]:
    names = record["classes"]
    shown = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
    shares = ", ".join(f"{name} {percent(share, 0)}" for name, share in record["nonzero"].items())
    facts = [
        *((f"{size.name} {size.symbol}", f"{size.number:,}") for size in model.sizes),
        _answers(model, shown),
        *(
            (name.replace("_", " "), f"{value:.6g}")
            for name, value in settings_of(model.head).items()
        ),
        ("normalization", record["normalization"] + ", clipped" * record["clipped"]),
        ("non-zero entries", shares),
        ("size by ProtoNN's count", f"{record['paper_bytes']:,} B"),
    ]
    return facts + (
        _device_facts(model, record)
        if "model_bytes" in record
        else [("device", f"none, because {record['no_device']}")]
    )


def _answers(model: Model, shown: str) -> tuple[str, str]:
    """Return the row of what a model answers, with names of classes, of labels or of a number."""
    if model.policy.predicts == "value":
        return "predicts", f"a number: {shown}"
    return f"{'classes' if model.policy.predicts == 'class' else 'labels'} L", (
        f"{model.n_classes:,}: {shown}"
    )


def _sending_facts(model: Model, record: JsonObject) -> list[tuple[str, str]]:
    """Return in which units a sketch passes raw values to pnn_quantize, one line per unit."""
    scales = record["raw_scale"][: len(units_of(model))]  # of all features, or of the channels
    names = channel_names(model.feature_names, len(scales)) or model.feature_names
    if len(names) != len(scales):
        what = "feature" if len(scales) == model.n_features else "channel"
        names = tuple(f"{what} {i}" for i in range(len(scales)))
    facts = []
    for scale in dict.fromkeys(scales):
        of_scale = [name for name, other in zip(names, scales, strict=True) if other == scale]
        unit = unit_words(round(math.log10(scale))) or "whole numbers"
        shown = ", ".join(of_scale[:_FEATURES_SHOWN])
        if len(of_scale) == len(scales):
            shown = "all values"
        elif len(of_scale) > _FEATURES_SHOWN:
            shown += f" and {len(of_scale) - _FEATURES_SHOWN:,} more"
        facts.append(("pnn_quantize takes", f"{shown} as {unit}"))
    return facts


def _device_facts(model: Model, record: JsonObject) -> list[tuple[str, str]]:
    accumulators = []
    if "accumulator_bits" in record:
        low, high = record["accumulator_range"]
        said = f"{record['accumulator_bits']} bits, {low:,} to {high:,} for any input"
        accumulators.append(("accumulators", said))
    return [
        ("int8 parameters", f"{record['model_bytes']:,} B"),
        ("tables in flash", f"{record['table_bytes']:,} B"),
        ("variables in SRAM", f"{record['state_bytes']:,} B"),
        ("quantized input", f"0 to {record['input_maximum']}"),
        *_sending_facts(model, record),
        *accumulators,
        ("scores", f"{record['score_bits']} bits"),
        ("model SHA-256 begins with", record["model_sha256"][:16]),
    ]
