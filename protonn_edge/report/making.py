"""The panels of a model's origin and its next step: quantization, training, search, own sketch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.export.rendering import NAME, own_sketch
from protonn_edge.quantization import IntegerChain
from protonn_edge.report.content import PageTable, Panel, Section, Snippet
from protonn_edge.report.figures import figure, front_figure, spaced, stage_figure, training_figure
from protonn_edge.report.inputs import Front

_NOTHING = 1e-9  # an objective that never exceeds this is not shown
_ROWS = 10  # of a table of a curve
_STAGE_NAMES = {
    "float": "none of it",
    "inputs": "the inputs",
    "W": "and W",
    "coordinates": "and Z",
    "tree": "and the tree: all of it",
    "leaves": "and the leaves: all of it",
    "prototypes": "and B, the RBF",
    "Z": "and Z: all of it",
}


def quantization_panels(one: Evidence, salt: str) -> list[Panel]:
    """Return accuracy as the model is quantized step by step, and clamped inputs."""
    if one.points is None or not one.points.stages:
        return []
    stages = one.points.stages
    lost = 100 * (stages[0].accuracy - stages[-1].accuracy)
    values, cut = one.points.raw.size, one.points.saturations
    settings = one.model.record.get("settings")
    dead_zone = isinstance(settings, dict) and bool(settings.get("dead_zone"))
    words = (
        f"{100 * stages[0].accuracy:.2f} % in floats, {100 * stages[-1].accuracy:.2f} % in "
        f"integers: {abs(lost):.2f} points {'lost' if lost >= 0 else 'gained'}. {cut:,} of "
        f"{values:,} input values ({100 * cut / values:.2f} %) were outside the inputs' range and "
        f"were clamped to it{', background in the dead zone among them' if dead_zone else ''}."
    )
    drawn = stage_figure([s.stage for s in stages], [s.accuracy for s in stages], salt)
    rows = tuple(
        (
            _STAGE_NAMES[s.stage],
            f"{100 * s.accuracy:.2f} %",
            f"{s.changed:,}",
            f"{s.disagreements:,}",
        )
        for s in stages
    )
    table = PageTable(("in integers", "accuracy", "points changed", "unlike float"), rows)
    return [
        Panel(figure=figure(drawn, "Accuracy by stage. " + words), caption=words),
        Panel(table=table, table_name="Stage by stage"),
    ]


def training_panels(one: Evidence, salt: str) -> list[Panel]:
    """Return the curves of a training, without an objective that was always 0."""
    history = one.model.record.get("history")
    objective, accuracy = _numbers(history, "objective"), _numbers(history, "accuracy")
    if len(objective) < 2 or len(objective) != len(accuracy):
        return []
    curves = [(accuracy, "accuracy", "Training accuracy", "{:.2%}")]
    if max(map(abs, objective)) >= _NOTHING:
        curves.append((objective, "objective", "The objective", "{:.4g}"))
    return [_curve(*curve, salt) for curve in curves]


def _curve(values: Sequence[float], what: str, title: str, form: str, salt: str) -> Panel:
    texts = [form.format(value).replace("%", " %") for value in values]
    words = f"{title} went from {texts[0]} to {texts[-1]} over {len(values):,} reports."
    drawn = training_figure(values, what, f"{salt}-{what}", shares="%" in form)
    rows = tuple((f"{i + 1:,}", texts[i]) for i in spaced(len(values), _ROWS))
    return Panel(
        figure=figure(drawn, words),
        caption=words,
        table=PageTable(("report", what), rows),
        table_name="Some of the reports",
    )


def _numbers(history: object, name: str) -> list[float]:
    """Return a list of numbers of a model's record, whose contents are untrusted."""
    values = history.get(name) if isinstance(history, dict) else None
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        return []
    return [float(value) for value in values] if all(map(math.isfinite, values)) else []


def front_section(front: Front) -> Section:
    """Return the section of a search."""
    panels: list[Panel] = []
    for alternatives, cost, costs in (
        (front.by_flash, "flash of the classifier, B", [a.flash_bytes for a in front.by_flash]),
        (front.by_time, "mean time of a prediction, ms", [a.mean_ms for a in front.by_time]),
    ):
        accuracies = [each.accuracy for each in alternatives]
        best = 100 * max(accuracies)
        words = f"Accuracy against {cost}: {len(accuracies):,} alternatives, up to {best:.2f} %."
        rows = tuple(
            (f"{each.flash_bytes:,}", f"{each.mean_ms:.3f}", f"{100 * each.accuracy:.2f} %")
            for each in alternatives
        )
        drawn = front_figure(costs, accuracies, cost, f"front-{len(panels)}")
        panels.append(
            Panel(
                figure=figure(drawn, words),
                caption=words,
                table=PageTable(("flash B", "mean ms", "accuracy"), rows),
                table_name="The alternatives",
            )
        )
    lead = "What a search found, in cross-validation: no model of it is better and takes less."
    return Section("search", "Search", lead, tuple(panels))


def sketch_panels(one: Evidence, salt: str) -> list[Panel]:  # noqa: ARG001  (as all of these)
    """Return the command for exporting a model, a sketch with it, and its classes' constants."""
    if not isinstance(one.reference, IntegerChain):
        return []
    sketch = own_sketch(one.reference, one.board)
    return [
        Panel(
            caption=(
                f"Export the library, in the project's folder. Then put the folder {NAME} into the "
                "folder “libraries” of your sketchbook. For PlatformIO, export with --platformio "
                "into the folder “lib” of your project."
            ),
            listing=Snippet("The command", sketch.command),
            table=PageTable(("constant", "class"), sketch.constants, texts=frozenset({1})),
            table_name="What pnn_finish() returns",
        ),
        Panel(
            caption=(
                f"Read your sensor where the sketch says so. Feature i is {sketch.feature}, and "
                f"raw a whole number: {sketch.raw}."
            ),
            listing=Snippet("The sketch", sketch.code),
        ),
    ]
