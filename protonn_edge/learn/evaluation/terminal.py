"""Tables for the terminal: facts, figures against the board's limits, confusions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from protonn_edge.data.naming import answer_names
from protonn_edge.learn.evaluation.accuracy import ClassFigures, Quality, frequent_confusions
from protonn_edge.learn.evaluation.figures import budget_fact, memory_figures
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import Facts, facts_of, percent

if TYPE_CHECKING:  # a command imports those that it uses
    from protonn_edge.chips.boards import Board
    from protonn_edge.codegen.plan import DevicePlan
    from protonn_edge.codegen.projects.checks import Usage
    from protonn_edge.device.runner import DeviceShare
    from protonn_edge.model.quantization import StageLoss

_NAME_WIDTH = 28  # two of them and a number fit a line
_LABEL_WIDTH = 12  # if a matrix does not fit otherwise
_TERMINAL_WIDTH = 80
_CLASSES_SHOWN = 30
_CONFUSIONS_SHOWN = 12

BY_CLASS = ("class", "points", "precision", "recall", "F1")


def fact_table(facts: Sequence[tuple[str, str]]) -> Table:
    """Return a table of names and values."""
    columns = Column(style="bold"), Column(overflow="fold")
    table = Table(*columns, box=box.SIMPLE, show_header=False)
    for name, value in facts:
        table.add_row(name, Text(value))  # text from data is never markup
    return table


def row_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    texts: Collection[int] = (0,),
    **settings: Any,
) -> Table:
    """Return a table of rows of text, with settings of rich; columns not in `texts` are numbers."""
    columns = [
        Column(heading, style="" if place else "bold", overflow="fold")
        if place in texts
        else Column(heading, justify="right", no_wrap=True)
        for place, heading in enumerate(headings)
    ]
    table = Table(*columns, box=box.SIMPLE, **settings)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def budget_facts(usage: Usage, board: Board) -> Facts:
    """Return rows that compare the firmware's memory with the board's."""
    return [*facts_of(memory_figures(usage, board)), budget_fact(board)]


def plan_rows(plan: DevicePlan) -> list[tuple[str, ...]]:
    """Return name, kernel and flash of each stage, and of all."""
    flash = sum(stage.flash_bytes for stage in plan.steps)  # without the rest of the firmware
    rows = [(each.name, each.kernel, f"{each.flash_bytes:,}") for each in plan.steps]
    return [*rows, ("prediction", "", f"{flash:,}")]


def plan_table(plan: DevicePlan) -> Table:
    """Return a row per stage of a prediction: its kernel and its flash."""
    headings = ("stage", "kernel", "flash B")
    return row_table(headings, plan_rows(plan), {0, 1}, caption=PLAN_CAPTION)


PLAN_CAPTION = "estimated before compiling"


def repetition_fact(n: int, cycles: int, board: Board, counts: str) -> tuple[str, str]:
    """Return the row of a prediction that was computed n times, for `cycles` in all."""
    if counts != "cycles":
        return "repeated", f"{counted(n, 'time')}, each {cycles / n:,.0f} {counts}"
    seconds = board.milliseconds(cycles) / 1000
    each = f"{cycles / n:,.0f} cycles"
    if board.power_watts:
        each += f", {board.millijoules(cycles / n):.4f} mJ"
    return "repeated", f"{counted(n, 'time')} in {seconds:.3f} s, each {each}"


def device_table(shares: Sequence[DeviceShare]) -> Table:
    """Return the results of several boards, one row each."""
    counts = ("points", "points/s", "mean cycles", "retries", "reopened", "resets")
    rows = [
        (
            share.device,
            f"{share.n:,}",
            f"{share.points_per_s:,.1f}",
            "-" if share.cycles_mean is None else f"{share.cycles_mean:,.0f}",
            f"{share.retried:,}",
            f"{share.reopened:,}",
            "-" if share.stats is None else f"{share.stats.resets:,}",
            share.loss or "-",
        )
        for share in shares
    ]
    return row_table(("board", *counts, "failure"), rows, {0, 7})


def stage_rows(losses: Sequence[StageLoss]) -> list[tuple[str, ...]]:
    """Return stage, accuracy, and points that changed and that differ from floats, by stage."""
    return [
        (each.stage, percent(each.accuracy), f"{each.changed:,}", f"{each.disagreements:,}")
        for each in losses
    ]


def stage_parts(losses: Sequence[StageLoss], n: int, *, without: str = "") -> tuple[str, Table]:
    """Return a sentence, and a row with the loss of each stage of quantization on n points.

    The accuracy is that of the highest score, `without` the rules of a policy.
    """
    sentence = f"accuracy{without} after each step of quantization, on {counted(n, 'point')}:"
    headings = ("last step in integers", "accuracy", "answers changed", "differ from floats")
    (_, *floats), *others = stage_rows(losses)
    return sentence, row_table(headings, [("none", *floats), *others])


def class_parts(quality: Quality | None) -> tuple[RenderableType, ...]:
    """Return a table of precision, recall and F1, one row per class, if it fits a screen."""
    if quality is None or not 1 < len(quality.names) <= _CLASSES_SHOWN:
        return ()
    names = [_short(name, _NAME_WIDTH) for name in quality.names]
    return "by class:", row_table(BY_CLASS, class_rows(names, quality.classes))


def class_rows(
    names: Sequence[str], classes: Sequence[ClassFigures]
) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table `BY_CLASS`."""

    def share(value: float | None) -> str:
        return "-" if value is None else percent(value, 1)

    return tuple(
        (name, f"{each.n:,}", share(each.precision), share(each.recall), share(each.f1))
        for name, each in zip(names, classes, strict=True)
    )


def confusion_parts(
    counts: NDArray[np.int64], classes: Sequence[str]
) -> tuple[RenderableType, ...]:
    """Return a sentence with a table of the confusion matrix or the most frequent confusions.

    Confusions are listed, if there are any, when the matrix does not fit a terminal. With answers
    that are no class, the matrix has one more column, "unknown", and possibly such a row.
    """
    every = answer_names(counts.shape[1], classes)
    for longest in (_NAME_WIDTH, _LABEL_WIDTH):
        names = [_short(name, longest) for name in every]
        widths = [
            max(len(name), len(str(largest)))
            for name, largest in zip(names, counts.max(axis=0).tolist(), strict=True)
        ]
        if max(map(len, names)) + sum(width + 2 for width in widths) + 4 <= _TERMINAL_WIDTH:
            sentence = "confusion matrix (rows: actual classes, columns: predicted classes):"
            return sentence, _confusion_table(counts, [*map(Text, names)])
    frequent = frequent_confusions(counts, _CONFUSIONS_SHOWN)
    if not frequent:
        return ("no class was confused with another",)
    names = [_short(name, _NAME_WIDTH) for name in every]
    rows = [(names[actual], names[said], f"{n:,}") for actual, said, n in frequent]
    return "most frequent confusions:", row_table(("actual", "predicted", "points"), rows, {0, 1})


def _confusion_table(counts: NDArray[np.int64], names: Sequence[Text]) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("", style="bold")
    for name in names:
        table.add_column(name, justify="right", header_style="bold")
    for actual, name in enumerate(names[: len(counts)]):
        cells = [
            f"[bold]{count}[/]" if actual == predicted else (str(count) if count else "[dim].[/]")
            for predicted, count in enumerate(counts[actual].tolist())
        ]
        table.add_row(name, *cells)
    return table


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "\u2026"
