"""The display of a search: a table while it runs, the alternatives as a table and a figure."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from protonn_edge.chips.boards import Board
from protonn_edge.learn.evaluation.terminal import row_table
from protonn_edge.learn.search.choice import candidates, cycles_of, flash_of, front
from protonn_edge.learn.search.limits import ACCURACY, Metric, predicts_cycles
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
    figures = ("trial", *shares, "flash B", "SRAM B", "ms mean")
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
    style: dict[str, Any] = {"title": title, "title_justify": "left", "title_style": ""}
    return row_table((*figures, *columns), cells, texts, **style)


def _ms(each: Record, board: Board) -> str:
    cycles = each.measured.mean_cycles
    return "-" if cycles is None else f"{board.milliseconds(cycles):.3f}"


def kind_table(best: Mapping[str, Record], board: Board, metric: Metric) -> Table:
    """Return the best candidate of each kind, by `best_of_kinds`."""
    headings = "kind", f"{metric}{metric.unit}", "over folds", "ms mean", "flash B"
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


def front_figure(
    candidates: Sequence[Record], board: Board, kind: str, metric: Metric = ACCURACY
) -> bytes:
    """Return a figure, "svg", "png" or "pdf", of the metric against flash and against time.

    All complete trials are points, the fronts lines.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - half a second that other commands save
    from matplotlib.figure import Figure  # noqa: PLC0415

    def _scores(trials: Sequence[Record]) -> list[float]:
        return [float(metric.shown(each.score)) for each in trials]

    shown = [(flash_of, 1.0, "flash of the classifier, B")]
    if predicts_cycles(board):
        shown.append((cycles_of, board.milliseconds(1), "mean time of a prediction, ms"))
    figure = Figure(figsize=(9, 4), layout="constrained")
    axes: Any = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axis, (cost, scale, label) in zip(axes, shown, strict=True):
        line = front(candidates, cost)
        axis.plot(
            [scale * cost(each) for each in candidates], _scores(candidates), ".", color="0.6"
        )
        axis.step([scale * cost(each) for each in line], _scores(line), "o-", where="post", ms=4)
        axis.set_xlabel(label)
        axis.set_xscale("log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(f"{metric} in cross-validation{metric.unit and ', %'}")
    drawn = io.BytesIO()
    metadata = {
        "svg": {"Date": None, "Creator": "protonn-edge"},
        "pdf": {"CreationDate": None, "Creator": "protonn-edge"},
        "png": {"Software": "protonn-edge"},
    }[kind]
    with rc_context({"svg.hashsalt": "protonn-edge"}):  # the same bytes each time
        figure.savefig(drawn, format=kind, metadata=metadata)
    return drawn.getvalue()


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
