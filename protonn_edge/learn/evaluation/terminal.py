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
from protonn_edge.learn.evaluation.accuracy import (
    ClassFigures,
    Quality,
    frequent_confusions,
    wilson_interval,
)
from protonn_edge.system.errors import counted

if TYPE_CHECKING:  # a command imports those that it uses
    from protonn_edge.chips.boards import Board
    from protonn_edge.codegen.plan import DevicePlan
    from protonn_edge.codegen.projects.checks import Usage
    from protonn_edge.codegen.verification.agreement import PossibleCycles
    from protonn_edge.device.results import Spread, Summary
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


def budget_facts(usage: Usage, board: Board) -> list[tuple[str, str]]:
    """Return rows that compare the firmware's memory with the board's."""
    sram = usage.sram_bytes + usage.stack_bytes
    return [
        ("flash", _of(usage.flash_bytes, board.flash_bytes)),
        ("SRAM, static", f"{usage.sram_bytes:,} B"),
        (usage.stack_name, f"{usage.stack_bytes:,} B"),
        ("SRAM + stack", _of(sram, board.sram_bytes)),
        ("budget", f"fits {board.name}"),
    ]


def saturation_fact(saturations: int, values: int, why: str = "") -> tuple[str, str]:
    """Return the row of raw values clamped by quantization, and `why` if that is on purpose."""
    share = f" ({100 * saturations / values:.2f} %)" if values else ""
    why = f", {why}" if why and saturations else ""
    return "inputs clamped", f"{saturations:,} of {values:,} values{share}{why}"


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


def bound_facts(possible: PossibleCycles, board: Board) -> list[tuple[str, str]]:
    """Return the row of a prediction's bound, if there is one."""
    if not possible.proven:
        return []
    return [("bound", f"{possible.bound}, {board.milliseconds(possible.most):.3f} ms")]


def run_facts(
    summary: Summary,
    board: Board,
    measured: Sequence[tuple[str, str]] = (),
    about: Sequence[tuple[str, str]] = (),
) -> list[tuple[str, str]]:
    """Return the rows of a run's measurements; those of predicted numbers are given.

    They are those that need right answers, and those `about` any answer.
    """
    rows = [("points", f"{summary.n:,}" + ("" if measured else ", without labels"))]
    rows += [*measured, *about]
    if summary.labelled:
        rows = accuracy_facts(summary.accuracy, summary.labelled)
    if summary.others:
        normal = summary.labelled - summary.others
        rows += detection_facts(normal, summary.false_alarms, summary.others, summary.others_found)
    elif summary.unknown:
        share = f"{counted(summary.unknown, 'point')}, {100 * summary.unknown / summary.n:.2f} %"
        right = summary.accuracy_of_classified if summary.labelled else None
        others = "" if right is None else f"; {100 * right:.2f} % of the other answers are correct"
        rows.append(("unknown", share + others))
    if summary.lost:
        rows.append(("unanswered", counted(summary.lost, "point")))
    if summary.cycles and summary.latency_ms and summary.energy_mj:
        rows += [
            ("cycles", _spread(summary.cycles, ",.0f", "")),
            ("latency", _spread(summary.latency_ms, ".3f", " ms")),
            (f"energy at {board.power_watts} W", _spread(summary.energy_mj, ".4f", " mJ")),
        ]
    return rows


def accuracy_facts(share: float, n: int) -> list[tuple[str, str]]:
    """Return the rows of the accuracy on n points, 0 to 1, and of its interval."""
    low, high = wilson_interval(round(share * n), n)
    return [
        ("accuracy", f"{100 * share:.2f} % of {counted(n, 'point')}"),
        ("95 % confidence", f"{100 * low:.2f} to {100 * high:.2f} %"),
    ]


def repetition_fact(n: int, cycles: int, board: Board) -> tuple[str, str]:
    """Return the row of a prediction that was computed n times, for `cycles` in all."""
    seconds = board.milliseconds(cycles) / 1000
    each = f"{cycles / n:,.0f} cycles, {board.millijoules(cycles / n):.4f} mJ"
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
        (each.stage, f"{100 * each.accuracy:.2f} %", f"{each.changed:,}", f"{each.disagreements:,}")
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


def quality_facts(quality: Quality | None) -> list[tuple[str, str]]:
    """Return the rows that put an accuracy into proportion; none for a single class."""
    if quality is None or len(quality.names) < 2:
        return []
    most = quality.names[quality.largest]
    return [
        ("baseline", f"{100 * quality.baseline:.2f} %, by always answering {most!r}"),
        ("balanced accuracy", f"{100 * quality.balanced_accuracy:.2f} %, the mean recall"),
        ("macro F1", f"{100 * quality.macro_f1:.2f} %"),
    ]


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
        return "-" if value is None else f"{100 * value:.1f} %"

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


def detection_facts(
    normal: int, false_alarms: int, others: int, found: int
) -> list[tuple[str, str]]:
    """Return the rows of answers `unknown` to points of classes and to others, with intervals."""
    rows = []
    for name, part, whole, what in (
        ("false alarms", false_alarms, normal, "normal points"),
        ("detected", found, others, "other points"),
    ):
        if whole:
            low, high = wilson_interval(part, whole)
            share = f"{100 * part / whole:.2f} % of {whole:,} {what}"
            interval = f"{100 * low:.2f} to {100 * high:.2f} %"
            rows.append((name, f"{share} (95 % confidence: {interval})"))
    return rows


def _of(used: int, limit: int) -> str:
    return f"{used:,} of {limit:,} B ({100 * used / limit:.1f} %)"


def _spread(spread: Spread, format_spec: str, unit: str) -> str:
    mean, low, high, p99 = (
        format(value, format_spec) for value in (spread.mean, spread.min, spread.max, spread.p99)
    )
    return f"mean {mean}{unit} (min {low}, p99 {p99}, max {high})"


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "\u2026"
