"""Tables of the candidates of a search, and of the best of each kind."""

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
    """Return candidates, a row each."""
    shares = ("%",) if metric == ACCURACY else (f"{metric}{metric.unit}", "accuracy %")
    shares = shares[:1] if metric.is_reported else shares
    figures = ("trial", *shares, "flash B", "SRAM B", "ms")
    texts = range(len(figures), len(figures) + len(columns))  # only settings may be folded
    cells = [
        (
            str(each.number),
            *map(metric.shown, (each.score, each.accuracy)[: len(shares)]),
            f"{each.measured.flash_bytes:,}",
            f"{each.measured.sram_bytes:,}",
            _ms(each, board),
            *(
                ", ".join(shown(each.settings[name]) for name in names if name in each.settings)
                for names in columns.values()
            ),
        )
        for each in candidates
    ]
    return row_table((*figures, *columns), cells, texts)


def _ms(each: Record, board: Board) -> str:
    cycles = each.measured.cycles
    return "-" if cycles is None else f"{board.milliseconds(cycles):.3f}"


def kind_table(best: Mapping[str, Record], board: Board, metric: Metric) -> Table:
    """Return the best candidate of each kind, by `best_of_kinds`."""
    headings = "kind", f"{metric}{metric.unit}", "over folds", "ms", "flash B"
    rows = [
        (
            kind,
            metric.shown(each.score),
            f"±{metric.shown(each.deviation)}",
            _ms(each, board),
            f"{each.measured.flash_bytes:,}",
        )
        for kind, each in best.items()
    ]
    return row_table(headings, rows)
