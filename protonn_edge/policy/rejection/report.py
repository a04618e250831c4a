"""The report's panels of rejected points, by threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from protonn_edge.model.integer_chain import scores_and_nearest
from protonn_edge.policy.rejection import Statistic
from protonn_edge.policy.rejection.rule import IntegerRejection, margins
from protonn_edge.report.content import PageTable, Panel, SectionOfRun
from protonn_edge.report.evidence import Evidence
from protonn_edge.report.figures import DOTTED, dots, percent_axis
from protonn_edge.report.svg import ACCENT, INK, LIMIT, MARK, drawing
from protonn_edge.system.figures import percent

_THRESHOLDS = 40


def unknown_panels(one: Evidence) -> list[Panel]:
    """Return the number of points rejected by each threshold, for a model that rejects."""
    reference = one.reference
    at = reference.policy.find(IntegerRejection)
    if one.points is None or at is None:
        return []
    scores, nearest = scores_and_nearest(reference, one.points.fed)
    right = scores.argmax(axis=1) == one.points.labels
    statistics: dict[Statistic, tuple[str, NDArray[np.int64], int]] = {
        "score": ("highest score", scores.max(axis=1), at.score),
        "distance": ("nearest prototype's RBF value", nearest, at.rbf),
        "margin": ("margin between the two highest scores", margins(scores), at.margin),
    }
    return [
        panel for name in at.statistics for panel in _threshold_panels(*statistics[name], right)
    ]


def _threshold_panels(
    what: str, values: NDArray[np.int64], chosen: int, right: NDArray[np.bool_]
) -> list[Panel]:
    steps = np.linspace(min(0, int(values.min())), int(values.max()) + 1, _THRESHOLDS)
    thresholds = sorted({*np.round(steps).astype(int).tolist(), chosen})
    groups = [("right answers", "limit", values[right])]
    if not right.all():
        groups.append(("wrong answers", "accent", values[~right]))
    curves = [
        (name, [float(np.mean(each < t)) if len(each) else 0.0 for t in thresholds])
        for name, _, each in groups
    ]
    at = thresholds.index(chosen)
    rejected = [f"{percent(shares[at])} of the {name}" for name, shares in curves]
    caption = (
        f"If the {what} of a point is below {chosen:,}, the answer is 'unknown'. This threshold "
        f"rejects {' and '.join(rejected)}. A higher threshold rejects more points."
    )
    key = tuple((colour, f"{name} rejected") for name, colour, _ in groups)
    key = ((key[0][0], "right answers rejected (false alarms)"), *key[1:])
    rows = tuple(
        (f"{t:,}", *(percent(shares[i], 1) for _, shares in curves))
        for i, t in enumerate(thresholds)
        if i % 4 == 0 or i == at
    )
    drawn = threshold_figure(thresholds, curves, chosen, what)
    headings = ("threshold", *(name for name, _ in curves))
    table = PageTable("Rejected answers, by threshold", headings, rows)
    return [Panel.drawn(drawn, caption, key=key), Panel(table=table)]


def threshold_figure(
    thresholds: Sequence[float],
    curves: Sequence[tuple[str, Sequence[float]]],
    chosen: float,
    what: str,
) -> str:
    """Return shares, 0..1, of rejected points by the threshold, and the current threshold.

    The first curve is of false alarms, the second of rejected mistakes.
    """
    with drawing(250) as (area, drawn):
        for colour, (name, values) in zip((LIMIT, ACCENT), curves, strict=False):
            area.plot(thresholds, values, color=colour, drawstyle="steps-post")
            labels = (
                f"threshold {threshold:,.0f}: {percent(value, 1)} of {name} rejected"
                for threshold, value in zip(thresholds, values, strict=True)
            )
            dots(area, thresholds, values, labels, colour, alpha=0)
        line = area.axvline(chosen, color=INK, linewidth=1.2, linestyle=DOTTED)
        line.set_gid(f"{MARK}the model's threshold: {chosen:,.0f}")
        area.set(xlabel=f"threshold of the {what}", ylabel="rejected", ylim=(-0.03, 1.03))
        area.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        area.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        percent_axis(area, 0)
    return drawn[0]


SECTIONS = (
    SectionOfRun(
        "unknown",
        "Unknown",
        "The shares of the test points that other thresholds would reject.",
        unknown_panels,
    ),
)
