"""The figures of the report, each a function from numbers to an SVG for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from protonn_edge.report.svg import (
    ACCENT,
    INK,
    LIMIT,
    MUTED,
    RULE,
    SECOND,
    THIRD,
    WIDTH,
    axes,
    mark,
    variable,
)
from protonn_edge.stages.decision.rejection import answer_names
from protonn_edge.stages.feature_stage import Seen

_CURVE_MARKS = 12  # of a curve of many values

# For an image behind its features: the least ink that is drawn, its darkness, and the minimum
# height in px.
_SEEN_INK = 0.04
_SEEN_SHADE = 0.45
_SEEN_LOWEST = 60


def confusion_figure(counts: NDArray[np.int64], classes: Sequence[str], salt: str) -> str:
    """Return the confusion matrix of many classes: a row per actual, a column per predicted class.

    It is (L, L), or (L, L + 1) with a last column for "unknown", and perhaps such a row.
    """
    n, columns = counts.shape
    answers = answer_names(columns, classes)
    with axes(WIDTH, salt) as (area, drawn):
        area.set(xlim=(-0.5, columns - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        area.grid(visible=False)
        area.spines[:].set_visible(False)
        area.set(xlabel="predicted", ylabel="actual", xticks=[], yticks=[])
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        for row, column in np.argwhere(counts).tolist():
            colour = ACCENT if row == column else LIMIT if column < n else MUTED
            # A few mistakes of many must be seen.
            alpha = round(0.12 + 0.4 * float(np.sqrt(shares[row, column])), 2)
            square = area.add_patch(_square((column - 0.47, row - 0.47), 0.94, colour, alpha))
            told = _points(int(counts[row, column]))
            words = f"{answers[row]}, answered {answers[column]}: {told}"
            square.set_gid(mark(words))
    return drawn[0]


def latency_figure(
    milliseconds: NDArray[np.float64], bound: float | None, mean: float | None, salt: str
) -> str:
    """Return the histogram of latencies, with the plan's bound and its estimate of the mean.

    The axis begins at the smallest latency. A bound far beyond it is named at the right edge.
    """
    low, high = float(milliseconds.min()), float(milliseconds.max())
    spread = max(high - low, 0.002 * high, 1e-6)
    lines = [
        (value, words, colour)
        for value, words, colour in ((mean, "planned mean", INK), (bound, "bound", LIMIT))
        if value is not None
    ]
    near = [value for value, *_ in lines if low - spread <= value <= high + 4 * spread]
    left, right = min([low, *near]), max([high, *near])
    pad = 0.05 * max(right - left, spread)
    with axes(240, salt) as (area, drawn):
        n_bins = min(40, max(8, len(milliseconds) // 12)) if high > low else 1
        ends = (low, high) if high > low else (low - pad / 2, high + pad / 2)
        counts, edges = np.histogram(milliseconds, n_bins, ends)
        for count, begin, end in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
            if count:
                bar = Rectangle((begin, 0), end - begin, count, facecolor=ACCENT)
                bar.set_gid(mark(f"{begin:.3f} to {end:.3f} ms: {_points(count)}"))
                area.add_patch(bar)
        area.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        area.xaxis.set_major_locator(MaxNLocator(6))
        area.set(xlabel="ms a prediction", ylabel="points", xlim=(left - pad, right + pad))
        top = float(counts.max())
        area.set_ylim(0, 1.4 * top)
        for place, (value, words, colour) in enumerate(lines):
            # Each name has a row of its own, so that none is written over another.
            row = (1.3 - 0.14 * place) * top
            text = f"{words} {value:.3f}"
            if value not in near:
                area.text(right + pad, row, f"{text} \u2192", ha="right", va="center", color=colour)
                continue
            dashes = (0, (1, 2)) if colour == INK else "solid"
            (line,) = area.plot([value] * 2, [0, row], color=colour, lw=1.4, linestyle=dashes)
            line.set_gid(mark(f"{text} ms"))
            at_right = value > (left + right) / 2
            area.annotate(
                text,
                (value, row),
                (-6 if at_right else 6, 0),
                textcoords="offset points",
                ha="right" if at_right else "left",
                va="center",
                color=colour,
            )
    return drawn[0]


@dataclass(frozen=True)
class Part:
    """A part of a memory: its use, and its bytes."""

    name: str
    size: int


_PART_COLOURS = (ACCENT, SECOND, THIRD, LIMIT, INK)
_LAST_PART = MUTED  # of the unused part
_CHANNEL_COLOURS = (ACCENT, SECOND, THIRD, LIMIT, MUTED, INK)


def memory_figure(parts: Sequence[Part], limit: int, salt: str) -> str:
    """Return one memory of the board as a bar, filled with its parts up to the limit."""
    with axes(78, salt) as (area, drawn):
        area.grid(visible=False)
        area.spines[:].set_visible(False)
        area.set(xlim=(0, limit), ylim=(0, 1), yticks=[])
        area.add_patch(_bar(0, limit, RULE, 0.5))
        start = 0
        for part, colour in zip(parts, _part_colours(len(parts)), strict=True):
            words = f"{part.name}: {part.size:,} bytes, {100 * part.size / limit:.1f} %"
            area.add_patch(_bar(start, part.size, colour, 0.9)).set_gid(mark(words))
            start += part.size
        free = area.add_patch(_bar(start, max(0, limit - start), RULE, 0))
        free.set_gid(mark(f"free: {limit - start:,} bytes"))
        steps = MaxNLocator(4, integer=True).tick_values(0, limit)
        ticks = [tick for tick in steps if 0 <= tick < 0.85 * limit]
        area.set_xticks([*ticks, limit], [f"{tick:,.0f}" for tick in [*ticks, limit]])
        area.tick_params(axis="x", length=0)
        area.get_xticklabels()[-1].set_horizontalalignment("right")
    return drawn[0]


def part_colours(count: int) -> list[str]:
    """Return the names of the colours of `memory_figure` for a number of parts."""
    return [variable(colour) for colour in _part_colours(count)]


def _part_colours(count: int) -> list[str]:
    return [*_cycle(_PART_COLOURS, count - 1), _LAST_PART]


def stage_figure(stages: Sequence[str], accuracies: Sequence[float], salt: str) -> str:
    """Return accuracy, 0..1, as the model is quantized step by step."""
    with axes(220, salt) as (area, drawn):
        places = np.arange(len(stages))
        area.plot(places, accuracies, color=ACCENT)
        for place, stage, accuracy in zip(places.tolist(), stages, accuracies, strict=True):
            (dot,) = area.plot(place, accuracy, "o", color=ACCENT, markersize=7)
            dot.set_gid(mark(f"{stage}: {100 * accuracy:.2f} %"))
        area.set_xlim(-0.4, len(stages) - 0.6)
        area.set_xticks(places, stages)
        _share_axis(area, accuracies)
    return drawn[0]


def training_figure(values: Sequence[float], what: str, salt: str, *, shares: bool = False) -> str:
    """Return the reports of a training as curves: `shares`, 0..1, or any numbers."""
    steps = np.arange(1, len(values) + 1)
    colour = ACCENT if shares else SECOND
    with axes(190, salt) as (area, drawn):
        area.plot(steps, values, color=colour)
        area.set(xlabel="report", ylabel=what)
        area.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        if shares:
            _share_axis(area, values)
        else:
            area.set_ylim(bottom=min(0.0, *values))
            area.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        step = max(1, len(values) // _CURVE_MARKS)
        for i in sorted({*range(0, len(values), step), len(values) - 1}):
            (dot,) = area.plot(steps[i], values[i], "o", color=colour, markersize=7)
            number = f"{100 * values[i]:.2f} %" if shares else f"{values[i]:.4g}"
            dot.set(gid=mark(f"report {i + 1:,}: {what} {number}"), alpha=0)
    return drawn[0]


def threshold_figure(
    thresholds: Sequence[float],
    curves: Sequence[tuple[str, Sequence[float]]],
    chosen: float,
    what: str,
    salt: str,
) -> str:
    """Return shares, 0..1, of rejected points by the threshold, and the current threshold.

    The first curve is of false alarms, the second of rejected mistakes.
    """
    with axes(250, salt) as (area, drawn):
        for colour, (name, values) in zip((LIMIT, ACCENT), curves, strict=False):
            area.plot(thresholds, values, color=colour, drawstyle="steps-post")
            for threshold, value in zip(thresholds, values, strict=True):
                (dot,) = area.plot(threshold, value, "o", color=colour, markersize=7)
                words = f"threshold {threshold:,.0f}: {100 * value:.1f} % of {name} rejected"
                dot.set(gid=mark(words), alpha=0)
        line = area.axvline(chosen, color=INK, linewidth=1.2, linestyle=(0, (1, 2)))
        line.set_gid(mark(f"set to {chosen:,.0f}"))
        area.set(xlabel=f"threshold of the {what}", ylabel="rejected", ylim=(-0.03, 1.03))
        area.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        area.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        area.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    return drawn[0]


def _share_axis(area: Axes, shares: Sequence[float]) -> None:
    """Give an axis of shares, 0..1, a range around them of at most 100 %."""
    low, high = min(shares), max(shares)
    spread = max(high - low, 0.01)
    bottom, top = max(0.0, low - 0.3 * spread), min(1.0, high + 0.3 * spread)
    ticks = MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(bottom, top)
    area.set_yticks([tick for tick in ticks if bottom - 1e-9 <= tick <= top + 1e-9])
    area.set_ylim(bottom, top + 0.05 * spread)  # room for a dot at 100 %
    decimals = 2 if spread < 0.005 else 1 if spread < 0.05 else 0
    area.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=decimals, symbol=" %"))


def front_figure(costs: Sequence[float], accuracies: Sequence[float], cost: str, salt: str) -> str:
    """Return accuracy, 0..1, against a cost, the cheapest first."""
    with axes(230, salt) as (area, drawn):
        area.step(costs, accuracies, where="post", color=ACCENT)
        for x, accuracy in zip(costs, accuracies, strict=True):
            (dot,) = area.plot(x, accuracy, "o", color=ACCENT, markersize=6)
            dot.set_gid(mark(f"{100 * accuracy:.2f} % for {x:,g} ({cost})"))
        area.set_xlabel(cost)
        area.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        area.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1, symbol=" %"))
        area.xaxis.set_major_locator(MaxNLocator(5))
        area.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    return drawn[0]


def trace_figure(lines: NDArray[np.float64], salt: str) -> str:
    """Return a window of levels, 0..1, (channels, samples), as one line per channel."""
    with axes(100, salt, width=180) as (area, drawn):
        area.set_axis_off()
        area.set_ylim(-0.03, 1.03)
        colours = _cycle(_CHANNEL_COLOURS, len(lines)) if len(lines) > 1 else [INK]
        for line, colour in zip(np.round(lines, 2), colours, strict=True):
            area.plot(np.arange(len(line)), line, color=colour, linewidth=1.2)
    return drawn[0]


def channel_colours(count: int) -> list[str]:
    """Return the names of the colours of `trace_figure` for a number of channels."""
    return [variable(colour) for colour in _cycle(_CHANNEL_COLOURS, count)]


def bars_figure(levels: NDArray[np.float64], salt: str) -> str:
    """Return a point's levels, 0..1, in the order of the data, as bars."""
    with axes(100, salt, width=180) as (area, drawn):
        area.set_axis_off()
        area.set_ylim(-0.03, 1.03)
        area.stairs(np.round(levels, 3), fill=True, color=MUTED)
    return drawn[0]


def seen_figure(seen: Seen, salt: str) -> str:
    """Return a feature stage's view: an image, the borders of areas, and strokes."""
    height, width = seen.image.shape
    pixels = max(_SEEN_LOWEST, round(WIDTH * height / width))
    with axes(min(pixels, WIDTH), salt) as (area, drawn):
        area.set_axis_off()
        area.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
        for row, column in np.argwhere(seen.image >= _SEEN_INK).tolist():
            alpha = round(_SEEN_SHADE * float(seen.image[row, column]), 2)
            area.add_patch(_square((column, row), 1, INK, alpha))
        area.add_patch(Rectangle((0, 0), width, height, fill=False, edgecolor=RULE, linewidth=0.8))
        area.hlines(seen.rows, 0, width, colors=MUTED, linewidths=0.6, linestyles="dotted")
        area.vlines(seen.columns, 0, height, colors=MUTED, linewidths=0.6, linestyles="dotted")
        x, y, dx, dy = np.round(seen.strokes, 3).T
        area.plot([x, x + dx], [y, y + dy], color=ACCENT, linewidth=1.6)
    return drawn[0]


def _square(corner: tuple[float, float], side: float, colour: str, alpha: float) -> Rectangle:
    return Rectangle(corner, side, side, facecolor=colour, alpha=alpha)


def _bar(start: float, size: float, colour: str, alpha: float) -> Rectangle:
    return Rectangle((start, 0.1), size, 0.8, facecolor=colour, alpha=alpha)


def _cycle(values: Sequence[str], count: int) -> list[str]:
    return [values[i % len(values)] for i in range(count)]


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count:,} points"
