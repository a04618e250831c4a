"""The figures of the report, each a function from numbers to an SVG for the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from protonn_edge.report.svg import ACCENT, INK, LIMIT, MUTED, RULE, SECOND, THIRD, WIDTH, axes
from protonn_edge.stages.feature_stage import Seen

_MOST_NAMED = 30  # classes whose names fit beside a confusion matrix
_MOST_COUNTED = 12  # classes whose counts fit into one
_NAME_WIDTH = 12

# Of an image under what is made of it: the least ink that is drawn, how dark it is, and the least
# height in px.
_SEEN_INK = 0.04
_SEEN_SHADE = 0.45
_SEEN_LOWEST = 60


def confusion_figure(counts: NDArray[np.int64], classes: Sequence[str], salt: str) -> str:
    """Return the confusion matrix: a row per actual, a column per predicted class.

    It is (L, L), or (L, L + 1) with a last column for "unknown", and perhaps such a row.
    """
    n, columns = counts.shape
    with axes(WIDTH, salt) as (area, drawn):
        area.set(xlim=(-0.5, columns - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        area.grid(visible=False)
        area.spines[:].set_visible(False)
        area.tick_params(length=0)
        area.set(xlabel="predicted", ylabel="actual")
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        for row, column in np.argwhere(counts).tolist():
            colour = ACCENT if row == column else LIMIT if column < n else MUTED
            # A few mistakes of many must be seen; ink must stay readable on all of them.
            alpha = round(0.12 + 0.4 * float(np.sqrt(shares[row, column])), 2)
            cell = (column - 0.47, row - 0.47)
            area.add_patch(_square(cell, 0.94, colour, alpha))
            if n <= _MOST_COUNTED:
                text = str(counts[row, column])
                area.text(column, row, text, ha="center", va="center_baseline", fontsize=10)
        names = [_shortened(name) for name in classes] if n <= _MOST_NAMED else []
        answers = [*names, *["?"] * (columns - len(names))] if names else []
        turned = 90 if max(map(len, names), default=0) > 3 else 0
        area.set_xticks(list(range(len(answers))), answers, rotation=turned)
        area.set_yticks(list(range(len(answers[:n]))), answers[:n])
    return drawn[0]


def latency_figure(
    milliseconds: NDArray[np.float64], bound: float | None, mean: float | None, salt: str
) -> str:
    """Return the histogram of latencies, with the plan's bound and the mean that it foretells."""
    with axes(230, salt) as (area, drawn):
        area.hist(milliseconds, bins=min(40, max(8, len(milliseconds) // 12)), color=ACCENT)
        area.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        area.set(xlabel="ms a prediction", ylabel="points")
        area.set_xlim(left=0)
        top = area.get_ylim()[1]
        area.set_ylim(top=1.18 * top)
        if mean is not None:
            area.axvline(mean, ymax=0.85, color=INK, linewidth=1.2, linestyle=(0, (1, 2)))
            area.text(mean, 1.04 * top, "planned mean", ha="center", color=MUTED)
        if bound is not None:
            area.axvline(bound, ymax=0.85, color=LIMIT, linewidth=1.6)
            area.set_xlim(right=1.04 * bound)
            area.text(bound, 1.04 * top, "bound", ha="right", color=LIMIT)
    return drawn[0]


@dataclass(frozen=True)
class Part:
    """A part of a memory: what it is for, and its bytes."""

    name: str
    size: int


_PART_COLOURS = (ACCENT, SECOND, THIRD, MUTED, INK)


def memory_figure(parts: Sequence[Part], limit: int, salt: str) -> str:
    """Return one memory of the board as a bar, filled with its parts up to the limit."""
    with axes(78, salt) as (area, drawn):
        area.grid(visible=False)
        area.spines[:].set_visible(False)
        area.set(xlim=(0, limit), ylim=(0, 1), yticks=[])
        area.add_patch(_bar(0, limit, RULE, 0.5))
        start = 0
        for part, colour in zip(parts, _cycle(_PART_COLOURS, len(parts)), strict=True):
            area.add_patch(_bar(start, part.size, colour, 0.9))
            start += part.size
        steps = MaxNLocator(5, integer=True).tick_values(0, limit)
        ticks = [tick for tick in steps if 0 <= tick < 0.9 * limit]
        area.set_xticks([*ticks, limit], [f"{tick:,.0f}" for tick in [*ticks, limit]])
        area.tick_params(axis="x", length=0)
        area.get_xticklabels()[-1].set_horizontalalignment("right")
    return drawn[0]


def part_colours(count: int) -> list[str]:
    """Return the names of the colours that `memory_figure` gives to so many parts."""
    return _cycle(("accent", "second", "third", "muted", "ink"), count)


def stage_figure(stages: Sequence[str], accuracies: Sequence[float], salt: str) -> str:
    """Return accuracy, 0..1, with ever more of the model in integers."""
    with axes(200, salt) as (area, drawn):
        places = np.arange(len(stages))
        area.plot(places, accuracies, color=ACCENT, marker="o", markersize=5)
        spread = max(max(accuracies) - min(accuracies), 0.01)
        area.set_ylim(min(accuracies) - spread, min(1.005, max(accuracies) + spread))
        area.set_xlim(-0.4, len(stages) - 0.6)
        area.set_xticks(places, stages)
        area.yaxis.set_major_locator(MaxNLocator(5))
        decimals = 1 if spread < 0.05 else 0
        area.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=decimals, symbol=" %"))
    return drawn[0]


def training_figure(objective: Sequence[float], accuracy: Sequence[float], salt: str) -> str:
    """Return objective and training accuracy, 0..1, by the reports of a training."""
    steps = np.arange(1, len(objective) + 1)
    with axes(230, salt) as (area, drawn):
        area.plot(steps, objective, color=SECOND)
        area.set_xlabel("report")
        area.set_ylabel("objective", color=SECOND)
        area.set_ylim(bottom=min(0.0, *objective))
        area.tick_params(axis="y", labelcolor=SECOND)
        area.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        area.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        right = area.twinx()
        right.grid(visible=False)
        right.spines[:].set_visible(False)
        right.plot(steps, accuracy, color=ACCENT)
        right.set_ylabel("training accuracy", color=ACCENT)
        right.tick_params(axis="y", labelcolor=ACCENT)
        right.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        right.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1, symbol=" %"))
    return drawn[0]


def front_figure(costs: Sequence[float], accuracies: Sequence[float], cost: str, salt: str) -> str:
    """Return accuracy, 0..1, against a cost, the cheapest first: what is reached for how much."""
    with axes(230, salt) as (area, drawn):
        area.step(costs, accuracies, where="post", color=ACCENT)
        area.plot(costs, accuracies, "o", color=ACCENT, markersize=5)
        area.set_xlabel(cost)
        area.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        area.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1, symbol=" %"))
        area.xaxis.set_major_locator(MaxNLocator(5))
        area.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    return drawn[0]


def trace_figure(levels: NDArray[np.float64], salt: str, *, connected: bool) -> str:
    """Return a point's levels, 0..1, in the order of the data.

    Connected they are a line, as is right for a signal; else each feature is a bar.
    """
    values = np.round(levels, 3)
    with axes(90, salt, width=170) as (area, drawn):
        area.set_axis_off()
        area.set_ylim(-0.03, 1.03)
        if connected:
            area.plot(np.arange(len(values)), values, color=INK, linewidth=1)
        else:
            area.stairs(values, fill=True, color=MUTED)
    return drawn[0]


def seen_figure(seen: Seen, salt: str) -> str:
    """Return what a feature stage looks at: an image, the borders of areas, and strokes."""
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


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "\u2026"
