"""The figures of a run, a model's answers and a build, each stated once for all outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from protonn_edge.learn.evaluation.accuracy import Quality, wilson_interval
from protonn_edge.system.errors import counted
from protonn_edge.system.figures import Better, Figure, percent

if TYPE_CHECKING:  # a command imports those that it uses
    from protonn_edge.chips.boards import Board
    from protonn_edge.codegen.projects.checks import Usage
    from protonn_edge.codegen.verification.agreement import PossibleCycles
    from protonn_edge.device.results import Summary


def run_figures(
    summary: Summary,
    board: Board,
    *,
    measured: Sequence[Figure] = (),
    quality: Quality | None,
    usage: Usage | None,
    possible: PossibleCycles,
) -> list[Figure]:
    """Return the figures of a run, as the terminal, JSON, the report and tests show them.

    Those of answers that are no classes are `measured`, and the `quality` is of answers that are.
    """
    return [
        *_answer_figures(summary, measured),
        *quality_figures(quality),
        *_cost_figures(summary, board),
        *bound_figures(possible, board),
        *([] if usage is None else memory_figures(usage, board)),
    ]


def _answer_figures(summary: Summary, measured: Sequence[Figure]) -> list[Figure]:
    """Return how good the answers of a run are, if that is known."""
    of_all = f" of {counted(summary.n, 'point')}"
    unlabelled = "" if measured else ", without labels"
    figures = [Figure("n", "points", summary.n, note=unlabelled), *measured]
    if summary.labelled:
        figures = [accuracy_figure(summary.accuracy, summary.labelled)]
    if summary.others:
        normal = summary.labelled - summary.others
        alarms = summary.false_alarms
        figures += detection_figures(normal, alarms, summary.others, summary.others_found)
    elif summary.unknown:
        right = summary.accuracy_of_classified if summary.labelled else None
        others = "" if right is None else f"; {percent(right)} of the other answers are correct"
        share = summary.unknown / summary.n
        figures.append(Figure("unknown", "unknown", share, "%", 2, note=of_all + others))
    if summary.lost:
        figures.append(Figure("lost", "unanswered", summary.lost, better="less", note=of_all))
    return figures


def _cost_figures(summary: Summary, board: Board) -> Iterator[Figure]:
    """Yield cycles, time and energy of a prediction, or instructions, if there are any."""
    for key, name, unit, digits, spread in (
        ("cycles", "cycles", "", 0, summary.cycles),
        ("instructions", "instructions", "", 0, summary.instructions),
        ("latency_ms", "latency", "ms", 3, summary.latency_ms),
        ("energy_mj", f"energy at {board.power_watts} W", "mJ", 4, summary.energy_mj),
    ):
        if spread is not None:
            ends = {each: getattr(spread, each) for each in ("min", "p99", "max")}
            yield Figure(key, name, spread.mean, unit, digits, "less", spread=ends)


def accuracy_figure(share: float, n: int) -> Figure:
    """Return the accuracy on n points, 0 to 1, with its interval."""
    interval = wilson_interval(round(share * n), n)
    note = f" of {counted(n, 'point')}"
    return Figure("accuracy", "accuracy", share, "%", 2, "more", note, interval=interval)


def detection_figures(normal: int, false_alarms: int, others: int, found: int) -> list[Figure]:
    """Return the shares of answers `unknown` to points of classes and to others."""
    alarms = _part("false_alarms", "false alarms", false_alarms, normal, "normal points", "less")
    return [*alarms, *_part("detected", "detected", found, others, "other points", "more")]


def _part(
    key: str, name: str, part: int, whole: int, what: str, better: Better
) -> Iterator[Figure]:
    if whole:
        interval, note = wilson_interval(part, whole), f" of {whole:,} {what}"
        yield Figure(key, name, part / whole, "%", 2, better, note, interval=interval)


def quality_figures(quality: Quality | None) -> list[Figure]:
    """Return the figures that put an accuracy into proportion; none for a single class."""
    if quality is None or len(quality.names) < 2:
        return []
    always = f", by always answering {quality.names[quality.largest]!r}"
    balanced, f1 = quality.balanced_accuracy, quality.macro_f1
    mean = ", the mean recall"
    return [
        Figure("baseline", "baseline", quality.baseline, "%", 2, note=always),
        Figure("balanced_accuracy", "balanced accuracy", balanced, "%", 2, "more", mean),
        Figure("macro_f1", "macro F1", f1, "%", 2, "more"),
    ]


def memory_figures(usage: Usage, board: Board) -> list[Figure]:
    """Return the firmware's memory, beside the board's."""
    flash, memory = usage.flash_bytes, usage.memory_bytes
    return [
        Figure("flash_bytes", "flash", flash, "B", 0, "less", limit=board.flash_bytes),
        Figure("sram_bytes", "SRAM, static", usage.sram_bytes, "B", 0, "less"),
        Figure("stack_bytes", usage.stack_name, usage.stack_bytes, "B", 0, "less"),
        Figure("memory_bytes", "SRAM + stack", memory, "B", 0, "less", limit=board.sram_bytes),
    ]


def bound_figures(possible: PossibleCycles, board: Board) -> list[Figure]:
    """Return a prediction's bound, if there is one."""
    if not possible.proven:
        return []
    note = f", {possible.why}, {board.time(possible.most)}"
    return [Figure("bound_cycles", "bound", possible.most, "cycles", 0, "less", note)]


def budget_fact(board: Board) -> tuple[str, str]:
    """Return the row of firmware that was built: what does not fit is never built."""
    return ("budget", f"fits {board.name}")


def saturation_figure(saturations: int, values: int, why: str = "") -> Figure:
    """Return the number of raw values clamped by quantization, and `why` if that is on purpose."""
    share = f" ({percent(saturations / values)})" if values else ""
    why = f", {why}" if why and saturations else ""
    note = f" of {values:,} values{share}{why}"
    return Figure("saturations", "inputs clamped", saturations, better="less", note=note)
