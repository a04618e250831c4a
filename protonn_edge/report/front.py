"""The section of a report about a search: accuracy against flash and against time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.ticker import MaxNLocator

from protonn_edge.report.content import PageTable, Panel, Section, ShownFile, objects_of, record_in
from protonn_edge.report.figures import dots, percent_axis
from protonn_edge.report.svg import ACCENT, drawing
from protonn_edge.system.schema import number, whole

_WRITTEN_BY = "'tune --front FILE.json'"
_CANDIDATE = {"accuracy": number(0, 1), "flash_bytes": whole(0, 10**9), "mean_ms": number(0, 1e9)}


@dataclass(frozen=True)
class FrontPoint:
    """A Pareto-optimal model of a search: others are less accurate or need more."""

    accuracy: float  # in cross-validation, 0..1
    flash_bytes: int  # of the classifier
    mean_ms: float  # mean latency of a prediction


@dataclass(frozen=True)
class Front:
    """The alternatives that a search found, by flash and by time, each the cheapest first."""

    by_flash: tuple[FrontPoint, ...]
    by_time: tuple[FrontPoint, ...]


def read_front(path: Path) -> Front:
    """Return a search's result from ``tune --front FILE.json``; `InputError` for other files."""
    with record_in(path, _WRITTEN_BY) as record:
        fronts = [record[name] for name in ("accuracy_by_flash", "accuracy_by_cycles")]
        return Front(*(objects_of(FrontPoint, _CANDIDATE, each) for each in fronts))


FILE = {
    "accuracy_by_flash": ShownFile(_WRITTEN_BY, lambda path, _: front_section(read_front(path)))
}
"""How such a file is shown, by a key of its JSON."""


def front_section(front: Front) -> Section:
    """Return the section of a search."""
    panels: list[Panel] = []
    for alternatives, cost, costs in (
        (front.by_flash, "flash of the classifier, B", [a.flash_bytes for a in front.by_flash]),
        (front.by_time, "mean time of a prediction, ms", [a.mean_ms for a in front.by_time]),
    ):
        accuracies = [each.accuracy for each in alternatives]
        best = 100 * max(accuracies)
        caption = f"Accuracy against {cost.split(',')[0]}: {len(accuracies):,} alternatives, "
        caption += f"up to {best:.2f} %."
        rows = tuple(
            (f"{each.flash_bytes:,}", f"{each.mean_ms:.3f}", f"{100 * each.accuracy:.2f} %")
            for each in alternatives
        )
        drawn = front_figure(costs, accuracies, cost)
        table = PageTable("The alternatives", ("flash B", "mean ms", "accuracy"), rows)
        panels.append(Panel.drawn(drawn, caption, table=table))
    lead = (
        "The best models of a search in cross-validation: no trial was both better and cheaper "
        "than any of these."
    )
    return Section("search", "Search", lead, tuple(panels))


def front_figure(costs: Sequence[float], accuracies: Sequence[float], cost: str) -> str:
    """Return accuracy, 0..1, against a cost, the cheapest first."""
    with drawing(230) as (area, drawn):
        area.step(costs, accuracies, where="post", color=ACCENT)
        pairs = zip(costs, accuracies, strict=True)
        labels = (f"{100 * accuracy:.2f} % for {x:,g} ({cost})" for x, accuracy in pairs)
        dots(area, costs, accuracies, labels, ACCENT, markersize=6)
        area.set_xlabel(cost)
        area.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        percent_axis(area, 1)
        area.xaxis.set_major_locator(MaxNLocator(5))
        area.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    return drawn[0]
