"""The common style of the figures: matplotlib, with reproducible files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from columns import Record
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

PROTONN, PROTONN_PAPER = "#b3261e", "#e07b39"
OTHERS = ("#5f6b7a", "#8aa0b8", "#3f5a36", "#a08a3c", "#6d4c8d", "#3a7ca5")
_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": "white",
    "font.size": 9,
    "grid.color": "#dddddd",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "protonn-edge",
}


@contextmanager
def panels(path: Path, rows: int, columns: int, size: tuple[float, float]) -> Iterator[Any]:
    """Give axes (rows, columns) to draw on, and write them to an SVG file; `size` is in inches."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        yield figure.subplots(rows, columns, squeeze=False)
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(path, format="svg", metadata=nothing)


def curves(
    axis: Any, records: Sequence[Record], x: str, y: str, by: str, colours: Mapping[str, str]
) -> None:
    """Draw a line for each value of `by` that has a colour, of y, in percent, against x."""
    for label, colour in colours.items():
        points = sorted((r[x], 100 * r[y]) for r in records if r[by] == label and r[y] is not None)
        if points:
            axis.plot(*zip(*points, strict=True), "o-", ms=4, color=colour, label=label)


def by_step(axis: Any, records: Sequence[Record], colours: Sequence[str], step: str) -> None:
    """Draw each record's accuracies after each step."""
    for record, colour in zip(records, colours, strict=False):
        accuracies = [100 * each for each in record["accuracies"]]
        steps = range(1, len(accuracies) + 1)
        axis.plot(steps, accuracies, color=colour, label=record["model"])
    axis.set_xlabel(step)
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
