"""The display of a search: a table while it runs, and one of the alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.table import Table

from protonn_edge.chips.boards import Board
from protonn_edge.learn.evaluation.terminal import row_table
from protonn_edge.learn.search.choice import candidates, cycles_of, flash_of, front
from protonn_edge.learn.search.limits import ACCURACY, Metric
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.search import Progress
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.searched import shown

_BEST = 5

Columns = Mapping[str, tuple[str, ...]]  # see `SearchSpec.columns`


def progress_table(
    progress: Progress, trials: int, board: Board, columns: Columns, metric: Metric = ACCURACY
) -> Table:
    """Return the progress of the search, and the best trials so far."""
    counts = Counter(record.outcome for record in progress.records)
    trained = sum(counts.values()) - counts["infeasible"]
    title = [
        f"{trained:,} of {trials:,} trials ({counts['pruned']:,} stopped early)",
        f"{counts['infeasible']:,} did not fit",
        f"{progress.running:,} under way",
    ]
    if progress.seconds_left is not None:
        minutes, seconds = divmod(max(0, int(progress.seconds_left)), 60)
        title.append(f"{minutes}:{seconds:02} left")
    best = sorted(candidates(progress.records), key=lambda each: -each.score)
    return _table(best[:_BEST], board, columns, metric, title=", ".join(title))


def candidate_table(
    candidates: Sequence[Record], board: Board, columns: Columns, metric: Metric = ACCURACY
) -> Table:
    """Return the candidates on either front, the best first."""
    kept = {each.number: each for cost in (flash_of, cycles_of) for each in front(candidates, cost)}
    return _table(sorted(kept.values(), key=lambda each: -each.score), board, columns, metric)


def _table(
    rows: Sequence[Record], board: Board, columns: Columns, metric: Metric, title: str | None = None
) -> Table:
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
        for each in rows
    ]
    style: dict[str, object] = {"title": title, "title_justify": "left", "title_style": ""}
    return row_table((*figures, *columns), cells, texts, **style)


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


@contextmanager
def live_table(
    trials: int, points: TrialPoints, columns: Columns
) -> Iterator[Callable[[Progress], object]]:
    """Show the progress of a search on standard error, if that is a terminal."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda _: None
        return
    asked = trials, points.board, columns, points.metric
    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield lambda progress: live.update(progress_table(progress, *asked), refresh=True)
