"""The figures of the report: functions from numbers to an SVG for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from protonn_edge.data.naming import answer_names
from protonn_edge.report.svg import (
    ACCENT,
    INK,
    LIMIT,
    MARK,
    MUTED,
    ROLES,
    RULE,
    SECOND,
    THIRD,
    WIDTH,
    drawing,
)
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import percent

_PART_COLOURS = (ACCENT, SECOND, THIRD, LIMIT, INK)
_CHANNEL_COLOURS = (ACCENT, SECOND, THIRD, LIMIT, MUTED, INK)

_CURVE_MARKS = 12  # of a curve of many values
DOTTED = (0, (1, 2))


def part_colours(count: int) -> list[str]:
    """Return the names of the colours of `memory_figure` for a number of parts."""
    return [ROLES[colour] for colour in _colours_of_parts(count)]


def channel_colours(count: int) -> list[str]:
    """Return the names of the colours of `trace_figure` for a number of channels."""
    return [ROLES[colour] for colour in _cycle(_CHANNEL_COLOURS, count)]


def confusion_figure(counts: NDArray[np.int64], classes: Sequence[str]) -> str:
    """Return the confusion matrix of many classes: a row per actual, a column per predicted class.

    It is (L, L), or (L, L + 1) with a last column for "unknown", and perhaps such a row.
    """
    n, columns = counts.shape
    answers = answer_names(columns, classes)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    with drawing(WIDTH) as (area, drawn):
        area.set(xlim=(-0.5, columns - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        _without_frame(area)
        area.set(xlabel="predicted", ylabel="actual", xticks=[], yticks=[])
        for row, column in np.argwhere(counts).tolist():
            colour = ACCENT if row == column else LIMIT if column < n else MUTED
            # A few mistakes of many must be seen.
            alpha = round(0.12 + 0.4 * float(np.sqrt(shares[row, column])), 2)
            points = counted(counts[row, column], "point")
            label = f"{answers[row]}, answered {answers[column]}: {points}"
            _box(area, (column - 0.47, row - 0.47), (0.94, 0.94), colour, alpha, label)
    return drawn[0]


def latency_figure(milliseconds: NDArray[np.float64], bound: float | None) -> str:
    """Return the histogram of latencies, with their mean and the bound.

    The axis begins at the smallest latency. A bound far beyond it is named at the right edge.
    """
    low, high = float(milliseconds.min()), float(milliseconds.max())
    spread = max(high - low, 0.002 * high, 1e-6)
    marks = [(float(milliseconds.mean()), "mean", INK), (bound, "bound", LIMIT)]
    lines = [(value, label, colour) for value, label, colour in marks if value is not None]
    near = [value for value, *_ in lines if low - spread <= value <= high + 4 * spread]
    left, right = min([low, *near]), max([high, *near])
    pad = 0.05 * max(right - left, spread)
    n_bins = min(40, max(8, len(milliseconds) // 12)) if high > low else 1
    ends = (low, high) if high > low else (low - pad / 2, high + pad / 2)
    counts, edges = np.histogram(milliseconds, n_bins, ends)
    top = float(counts.max())
    with drawing(240) as (area, drawn):
        for count, begin, end in zip(counts.tolist(), edges[:-1], edges[1:], strict=True):
            if count:
                label = f"{begin:.3f} to {end:.3f} ms: {counted(count, 'point')}"
                _box(area, (begin, 0), (end - begin, count), ACCENT, None, label)
        area.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        area.xaxis.set_major_locator(MaxNLocator(6))
        area.set(xlabel="ms per prediction", ylabel="points", xlim=(left - pad, right + pad))
        area.set_ylim(0, 1.4 * top)
        for place, (value, label, colour) in enumerate(lines):
            # Each name has a row of its own, so that none is written over another.
            row, text = (1.3 - 0.14 * place) * top, f"{label} {value:.3f}"
            if value not in near:
                area.text(right + pad, row, f"{text} \u2192", ha="right", va="center", color=colour)
                continue
            dashes = DOTTED if colour == INK else "solid"
            (line,) = area.plot([value] * 2, [0, row], color=colour, lw=1.4, linestyle=dashes)
            line.set_gid(f"{MARK}{text} ms")
            away, side = (-6, "right") if value > (left + right) / 2 else (6, "left")
            style: dict[str, Any] = {"ha": side, "va": "center", "color": colour}
            area.annotate(text, (value, row), (away, 0), textcoords="offset points", **style)
    return drawn[0]


def memory_figure(parts: Sequence[tuple[str, int]], limit: int) -> str:
    """Return one memory of the board as a bar, filled with its parts, in bytes, up to the limit."""
    with drawing(78) as (area, drawn):
        _without_frame(area)
        area.set(xlim=(0, limit), ylim=(0, 1), yticks=[])
        _box(area, (0, 0.1), (limit, 0.8), RULE, 0.5)
        start = 0
        for (name, size), colour in zip(parts, _colours_of_parts(len(parts)), strict=True):
            label = f"{name}: {size:,} bytes, {percent(size / limit, 1)}"
            _box(area, (start, 0.1), (size, 0.8), colour, 0.9, label)
            start += size
        free = f"free: {limit - start:,} bytes"
        _box(area, (start, 0.1), (max(0, limit - start), 0.8), RULE, 0, free)
        steps = MaxNLocator(4, integer=True).tick_values(0, limit)
        ticks = [*(tick for tick in steps if 0 <= tick < 0.85 * limit), limit]
        area.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        area.tick_params(axis="x", length=0)
        area.get_xticklabels()[-1].set_horizontalalignment("right")
    return drawn[0]


def stage_figure(stages: Sequence[str], accuracies: Sequence[float]) -> str:
    """Return accuracy, 0..1, as the model is quantized step by step."""
    with drawing(220) as (area, drawn):
        places = range(len(stages))
        area.plot(places, accuracies, color=ACCENT)
        labels = (f"{stage}: {percent(a)}" for stage, a in zip(stages, accuracies, strict=True))
        dots(area, places, accuracies, labels, ACCENT)
        area.set_xlim(-0.4, len(stages) - 0.6)
        area.set_xticks(places, stages)
        _share_axis(area, accuracies)
    return drawn[0]


def training_figure(values: Sequence[float], what: str, *, shares: bool = False) -> str:
    """Return the epochs of a training as curves: `shares`, 0..1, or any numbers."""
    colour = ACCENT if shares else SECOND
    with drawing(190) as (area, drawn):
        area.plot(range(1, len(values) + 1), values, color=colour)
        area.set(xlabel="epoch", ylabel=what)
        area.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        if shares:
            _share_axis(area, values)
        else:
            area.set_ylim(bottom=min(0.0, *values))
            area.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        chosen = spaced(len(values), _CURVE_MARKS)
        texts = (percent(values[i]) if shares else f"{values[i]:.4g}" for i in chosen)
        labels = (f"epoch {i + 1:,}: {what} {text}" for i, text in zip(chosen, texts, strict=True))
        dots(area, [i + 1 for i in chosen], [values[i] for i in chosen], labels, colour, alpha=0)
    return drawn[0]


def power_figure(milliseconds: Sequence[float], milliwatts: Sequence[float]) -> str:
    """Return a trace of a board's power."""
    with drawing(230) as (area, drawn):
        area.plot(milliseconds, np.round(milliwatts, 2), color=ACCENT)
        area.set(xlabel="ms since the start of a batch of predictions", ylabel="mW")
        area.yaxis.set_major_locator(MaxNLocator(5))
        area.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    return drawn[0]


def trace_figure(lines: NDArray[np.float64]) -> str:
    """Return a window of levels, 0..1, (channels, samples), as one line per channel."""
    with _thumbnail() as (area, drawn):
        colours = _cycle(_CHANNEL_COLOURS, len(lines)) if len(lines) > 1 else [INK]
        for line, colour in zip(np.round(lines, 2), colours, strict=True):
            area.plot(np.arange(len(line)), line, color=colour, linewidth=1.2)
    return drawn[0]


def bars_figure(levels: NDArray[np.float64]) -> str:
    """Return a point's levels, 0..1, in the order of the data, as bars."""
    with _thumbnail() as (area, drawn):
        area.stairs(np.round(levels, 3), fill=True, color=MUTED)
    return drawn[0]


def spaced(count: int, most: int) -> list[int]:
    """Return about `most` of the first `count` indices, evenly spaced, with the first and last."""
    return sorted({*range(0, count, max(1, count // most)), count - 1})


def dots(
    area: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    labels: Iterable[str],
    colour: str,
    **style: float,
) -> None:
    """Draw dots that show their words on hover."""
    for x, y, label in zip(xs, ys, labels, strict=True):
        (dot,) = area.plot(x, y, "o", color=colour, **{"markersize": 7.0} | style)  # type: ignore[arg-type]
        dot.set_gid(MARK + label)


def _box(
    area: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    colour: str,
    alpha: float | None,
    label: str | None = None,
) -> None:
    """Draw a filled rectangle that shows its words on hover, if there are any."""
    gid = None if label is None else MARK + label
    area.add_patch(Rectangle(corner, *size, facecolor=colour, alpha=alpha, gid=gid))


def _without_frame(area: Axes) -> None:
    area.grid(visible=False)
    area.spines[:].set_visible(False)


def _share_axis(area: Axes, shares: Sequence[float]) -> None:
    """Give an axis of shares, 0..1, a range around them, in which small differences look small."""
    low, high = min(shares), max(shares)
    spread = max(high - low, 0.04)
    bottom, top = max(0.0, low - 0.3 * spread), min(1.0, high + 0.3 * spread)
    ticks = MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(bottom, top)
    area.set_yticks([tick for tick in ticks if bottom - 1e-9 <= tick <= top + 1e-9])
    area.set_ylim(bottom, top + 0.05 * spread)  # room for a dot at 100 %
    percent_axis(area, 2 if spread < 0.005 else 1 if spread < 0.05 else 0)


def percent_axis(area: Axes, decimals: int) -> None:
    """Label the vertical axis in per cent."""
    area.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=decimals, symbol=" %"))


def _colours_of_parts(count: int) -> list[str]:
    return [*_cycle(_PART_COLOURS, count - 1), MUTED]  # the last part is the unused one


def _cycle(values: Sequence[str], count: int) -> list[str]:
    return [values[i % len(values)] for i in range(count)]


@contextmanager
def _thumbnail() -> Iterator[tuple[Axes, list[str]]]:
    """Yield a `drawing` for a small figure of levels, 0..1, without axes."""
    with drawing(100, width=180) as (area, drawn):
        area.set_axis_off()
        area.set_ylim(-0.03, 1.03)
        yield area, drawn
