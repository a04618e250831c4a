"""The common style of the figures: matplotlib, with reproducible files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
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
