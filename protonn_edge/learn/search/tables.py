"""The table of candidates of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from protonn_edge.chips.boards import Board
from protonn_edge.learn.evaluation.terminal import row_table
from protonn_edge.learn.search.limits import ACCURACY, Metric
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.searched import shown

Columns = Mapping[str, tuple[str, ...]]  # see `SearchSpec.columns`


def candidate_table(
    candidates: Sequence[Record], board: Board, columns: Columns, metric: Metric = ACCURACY
) -> Table:
    """Return a row for each candidate, with the deviation of its metric over the folds."""
    shares = ("%",) if metric == ACCURACY else (f"{metric}{metric.unit}", "accuracy %")
    shares = shares[:1] if metric.is_reported else shares
    figures = ("trial", *shares, "±", "flash B", "SRAM B", "ms")
    texts = range(len(figures), len(figures) + len(columns))  # only settings may be folded
    cells = [
        (
            str(each.number),
            *map(metric.shown, (each.score, each.accuracy)[: len(shares)]),
            metric.shown(each.deviation),
            f"{each.measured.flash_bytes:,}",
            f"{each.measured.sram_bytes:,}",
            f"{board.milliseconds(cycles):.3f}" if (cycles := each.measured.cycles) else "-",
            *(
                ", ".join(shown(each.settings[name]) for name in names if name in each.settings)
                for names in columns.values()
            ),
        )
        for each in candidates
    ]
    return row_table((*figures, *columns), cells, texts)
