"""The report's panels of sets of labels: how well they are ranked and chosen."""

from __future__ import annotations

from protonn_edge.policy.label_sets.figures import LabelFigures
from protonn_edge.policy.label_sets.rule import IntegerLabelSets
from protonn_edge.report.content import PageTable, Panel, SectionOfRun
from protonn_edge.report.evidence import Evidence
from protonn_edge.system.figures import facts_of

_LABELS = 20  # the most frequent ones


def label_panels(one: Evidence) -> list[Panel]:
    """Return the figures of all labels, and of the most frequent ones."""
    rule, points = one.reference.policy.find(IntegerLabelSets), one.numbers
    if rule is None or points is None:
        return []
    known, chosen = points.actual != 0, rule.values(points.scores) != 0
    figures = LabelFigures.of(points.scores, chosen, known)
    right, said, have = ((chosen & known).sum(axis=0), chosen.sum(axis=0), known.sum(axis=0))
    rows = tuple(
        (
            one.reference.classes[label],
            f"{have[label]:,}",
            f"{said[label]:,}",
            f"{right[label]:,}",
        )
        for label in (-have).argsort(kind="stable")[:_LABELS].tolist()
    )
    header = ("label", "points", "predicted", "rightly")
    return [
        Panel(
            table=PageTable(
                f"{figures.n:,} points", ("figure", ""), tuple(facts_of(figures.figures))
            )
        ),
        Panel(table=PageTable("The most frequent labels", header, rows)),
    ]


ANSWERS = (
    SectionOfRun(
        "labels",
        "Labels",
        "P@k is the mean share of the k best labels that a point has.",
        label_panels,
    ),
)
