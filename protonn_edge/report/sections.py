"""The sections of a report, from evidence.

A panel is about one run. Several runs are side by side, and equal panels are shown once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.report.answers import (
    accuracy_panels,
    mistake_panels,
    seen_panels,
    space_panels,
    unknown_panels,
)
from protonn_edge.report.battery import Battery
from protonn_edge.report.content import Panel, Section
from protonn_edge.report.costs import energy_panels, latency_panels, memory_panels, plan_panels
from protonn_edge.report.making import quantization_panels, training_panels
from protonn_edge.report.own_sketch import sketch_panels

MakePanels = Callable[[Evidence, str], list[Panel]]


def sections_of(evidence: Sequence[Evidence], battery: Battery) -> list[Section]:
    """Return all sections with contents, in order."""
    sections = [_section(*each, evidence) for each in _sections(battery)]
    return [section for section in sections if section.panels]


def _section(
    name: str, title: str, lead: str, make: MakePanels, evidence: Sequence[Evidence]
) -> Section:
    columns = [make(one, f"{name}-{number}") for number, one in enumerate(evidence)]
    for others in columns[1:]:  # the page's script uses the first run
        others[:] = [replace(panel, live="") for panel in others]
    names = [one.name for one in evidence]
    rows = (_once_each(row, names) for row in zip_longest(*columns))
    return Section(name, title, lead, tuple(chain.from_iterable(rows)))


def _once_each(row: Sequence[Panel | None], names: Sequence[str]) -> list[Panel]:
    """Return the different panels of a row with one per run, each with the names of its runs."""
    runs: dict[Panel, list[str]] = {}
    for panel, name in zip(row, names, strict=True):
        if panel is not None:
            # Figures have different ids; their texts are compared instead.
            same = (each for each in runs if _words(each) == _words(panel))
            runs.setdefault(next(same, panel), []).append(name)
    return [
        replace(panel, run="" if len(of) == len(names) else ", ".join(of))
        for panel, of in runs.items()
    ]


def _words(panel: Panel) -> Panel:
    return replace(panel, figure=None, live="")


def _sections(battery: Battery) -> tuple[tuple[str, str, str, MakePanels], ...]:
    return (
        ("accuracy", "Accuracy", "", accuracy_panels),
        ("space", "The model's space", "", space_panels),
        (
            "mistakes",
            "The worst mistakes",
            "Wrong answers, the most confident first.",
            mistake_panels,
        ),
        ("seen", "What the model sees", "What the first stage extracts from a point.", seen_panels),
        (
            "unknown",
            "Unknown",
            "What other thresholds would reject, on the same points.",
            unknown_panels,
        ),
        (
            "latency",
            "Latency",
            "Cycles as the board's own timer counts them. No input takes longer than the bound.",
            latency_panels,
        ),
        ("energy", "Energy", "", lambda one, _: energy_panels(one, battery)),
        (
            "memory",
            "Memory",
            "What the linked firmware takes of the board, with the protocol and the drivers.",
            memory_panels,
        ),
        ("plan", "Plan", "How a prediction is computed, stage by stage.", plan_panels),
        (
            "sketch",
            "In your own sketch",
            "How to put this model into a program of your own.",
            sketch_panels,
        ),
        (
            "quantization",
            "Quantization",
            "Accuracy as the model is quantized step by step, on the same points.",
            quantization_panels,
        ),
        ("training", "Training", "", training_panels),
    )
