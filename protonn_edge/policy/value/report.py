"""The report's panels of predicted numbers: how near they are to the true ones."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from protonn_edge.policy.value.figures import COVERED, ValueFigures
from protonn_edge.policy.value.rule import IntegerValue
from protonn_edge.report.content import PageTable, Panel, SectionOfRun
from protonn_edge.report.evidence import Evidence
from protonn_edge.report.figures import DOTTED, dots, spaced
from protonn_edge.report.svg import ACCENT, INK, LIMIT, MARK, MUTED, WIDTH, drawing
from protonn_edge.system.figures import percent

_DOTS = 400  # at most in a figure
_WORST = 10
_DOT = 4.5  # px
_PAD = 0.05  # of the range, beside the dots

Floats = NDArray[np.float64]


def error_panels(one: Evidence) -> list[Panel]:
    """Return predicted against true numbers, the errors, and the largest ones."""
    rule, numbers = one.reference.policy.find(IntegerValue), one.numbers
    if rule is None or numbers is None:
        return []
    name, indices = one.reference.classes[0], numbers.indices
    actual = numbers.actual
    predicted = rule.values(numbers.scores)
    width = None if rule.half_width is None else rule.half_width * rule.unit
    figures = ValueFigures.of(predicted, actual, rule.mean, width, numbers.groups)
    words = [
        f"#{index}: predicted {said:.{rule.decimals}f}, true {true:.6g}"
        for index, said, true in zip(indices, predicted.tolist(), actual.tolist(), strict=True)
    ]
    shown = _shown(np.abs(predicted - actual))
    marks = [words[place] for place in shown]
    caption = f"{figures.n:,} points: {figures.sentence}. On the line, both numbers are equal."
    against = scatter_figure(actual[shown], predicted[shown], marks, name)
    errors = residual_figure(predicted[shown], (predicted - actual)[shown], marks, name, width)
    return [
        Panel.drawn(against, caption, title=f"Predicted and true {name}. ", key=_DOT_KEY),
        Panel.drawn(errors, _interval_words(figures), title=f"Errors of {name}. "),
        Panel(table=_worst(indices, predicted, actual, rule.decimals)),
    ]


_DOT_KEY = (("accent", "a test point"),)


def _shown(errors: Floats) -> list[int]:
    """Return the places of the points to draw: the largest errors, and others evenly."""
    worst = np.argsort(-errors, kind="stable")[:_WORST].tolist()
    return sorted({*worst, *spaced(len(errors), _DOTS - _WORST)})


def _interval_words(figures: ValueFigures) -> str:
    text = "The predicted minus the true number of each point."
    if figures.within is None or figures.tolerance is None:
        return text
    return (
        f"{text} {percent(figures.within, 1)} are between the dotted lines, within "
        f"{figures.tolerance:.4g} of 0. This interval was chosen to contain about "
        f"{percent(COVERED, 0)} of the points that training held out, so only other points test it."
    )


def _worst(indices: list[int], predicted: Floats, actual: Floats, decimals: int) -> PageTable:
    errors = predicted - actual
    order = np.argsort(-np.abs(errors), kind="stable")[:_WORST].tolist()
    rows = tuple(
        (
            f"#{indices[place]}",
            f"{actual[place]:.6g}",
            f"{predicted[place]:.{decimals}f}",
            f"{errors[place]:+.{decimals}f}",
        )
        for place in order
    )
    return PageTable("The largest errors", ("point", "true", "predicted", "error"), rows)


def scatter_figure(actual: Floats, predicted: Floats, words: list[str], name: str) -> str:
    """Return predicted numbers (n,) by the true ones, and the line on which they are equal."""
    low = float(min(actual.min(), predicted.min()))
    high = float(max(actual.max(), predicted.max()))
    pad = _PAD * max(high - low, 1e-9)
    ends = (low - pad, high + pad)
    with drawing(WIDTH) as (area, drawn):
        (line,) = area.plot(ends, ends, color=MUTED, linewidth=1.2)
        line.set_gid(f"{MARK}predicted = true")
        dots(area, actual.tolist(), predicted.tolist(), words, ACCENT, markersize=_DOT, alpha=0.6)
        area.set(xlabel=f"true {name}", ylabel=f"predicted {name}", xlim=ends, ylim=ends)
        area.set_aspect("equal")
        _few_ticks(area)
    return drawn[0]


def residual_figure(
    predicted: Floats, errors: Floats, words: list[str], name: str, width: float | None
) -> str:
    """Return errors (n,) by the predicted numbers, and the interval around 0, if it is known."""
    most = max(float(np.abs(errors).max()), width or 0.0, 1e-9) * (1 + 2 * _PAD)
    with drawing(260) as (area, drawn):
        area.axhline(0, color=MUTED, linewidth=1.2).set_gid(f"{MARK}no error")
        for end in () if width is None else (-width, width):
            line = area.axhline(end, color=INK, linewidth=1.2, linestyle=DOTTED)
            line.set_gid(f"{MARK}interval: {end:+.4g}")
        dots(area, predicted.tolist(), errors.tolist(), words, LIMIT, markersize=_DOT, alpha=0.6)
        area.set(xlabel=f"predicted {name}", ylabel="error", ylim=(-most, most))
        _few_ticks(area)
    return drawn[0]


def _few_ticks(area: Axes) -> None:
    for axis in (area.xaxis, area.yaxis):
        axis.set_major_locator(MaxNLocator(5))


ANSWERS = (
    SectionOfRun(
        "errors",
        "Errors",
        "How near the predicted numbers are to the true ones, in the unit of the labels. #0 is the "
        "first row of the data.",
        error_panels,
    ),
)
