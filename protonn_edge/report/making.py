"""The panels of a model's origin: its quantization, its training, and its search."""

from __future__ import annotations

import math

from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.report.content import Panel, Section, Table
from protonn_edge.report.figures import front_figure, stage_figure, training_figure
from protonn_edge.report.front import Front
from protonn_edge.report.svg import figure

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
    names = [_STAGE_NAMES[stage.stage] for stage in stages]
    lost = 100 * (stages[0].accuracy - stages[-1].accuracy)
    values = one.points.raw.size
    cut = one.points.saturations
    words = (
        f"{100 * stages[0].accuracy:.2f} % in floats, {100 * stages[-1].accuracy:.2f} % in "
        f"integers: {_lost_text(lost)}. {cut:,} of {values:,} input values "
        f"({100 * cut / values:.2f} %) were outside the inputs' range and were clamped to it"
        f"{', background in the dead zone among them' if _has_dead_zone(one) else ''}."
    )
    drawn = stage_figure([s.stage for s in stages], [s.accuracy for s in stages], salt)
    rows = tuple(
        (name, f"{100 * s.accuracy:.2f} %", f"{s.changed:,}", f"{s.disagreements:,}")
        for name, s in zip(names, stages, strict=True)
    )
    table = Table(("in integers", "accuracy", "points changed", "unlike float"), rows)
    return [
        Panel(figure=figure(drawn, "Accuracy by stage. " + words), caption=words),
        Panel(table=table, table_name="Stage by stage"),
    ]


def _has_dead_zone(one: Evidence) -> bool:
    settings = one.model.record.get("settings")
    return isinstance(settings, dict) and bool(settings.get("dead_zone"))


def _lost_text(lost: float) -> str:
    return f"{lost:.2f} points lost" if lost >= 0 else f"{-lost:.2f} points gained"


def training_panels(one: Evidence, salt: str) -> list[Panel]:
    """Return the curves of a training, without an objective that was always 0."""
    history = one.model.record.get("history")
    objective, accuracy = _numbers(history, "objective"), _numbers(history, "accuracy")
    if len(objective) < 2 or len(objective) != len(accuracy):
        return []
    reports = f"over {len(objective):,} reports"
    words = f"Training accuracy went from {100 * accuracy[0]:.2f} % to {100 * accuracy[-1]:.2f} %"
    drawn = training_figure(accuracy, "accuracy", f"{salt}-accuracy", shares=True)
    panels = [_curve(drawn, f"{words} {reports}.", accuracy, "accuracy", "{:.2%}")]
    if max(map(abs, objective)) >= _NOTHING:
        words = f"The objective went from {objective[0]:.4g} to {objective[-1]:.4g}"
        drawn = training_figure(objective, "objective", f"{salt}-objective")
        panels.append(_curve(drawn, f"{words} {reports}.", objective, "objective", "{:.4g}"))
    return panels


def _curve(drawn: str, words: str, values: list[float], what: str, form: str) -> Panel:
    step = max(1, len(values) // _ROWS)
    chosen = sorted({*range(0, len(values), step), len(values) - 1})
    rows = tuple((f"{i + 1:,}", form.format(values[i]).replace("%", " %")) for i in chosen)
    return Panel(
        figure=figure(drawn, words),
        caption=words,
        table=Table(("report", what), rows),
        table_name="Some of the reports",
    )


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
                table=Table(("flash B", "mean ms", "accuracy"), rows),
                table_name="The alternatives",
            )
        )
    lead = "What a search found, in cross-validation: no model of it is better and takes less."
    return Section("search", "Search", lead, tuple(panels))


def _numbers(history: object, name: str) -> list[float]:
    """Return a list of numbers of a model's record, whose contents are untrusted."""
    values = history.get(name) if isinstance(history, dict) else None
    numbers = isinstance(values, list) and all(type(value) in (int, float) for value in values)
    if not (isinstance(values, list) and numbers and all(map(math.isfinite, values))):
        return []
    return [float(value) for value in values]
