"""The sections of a report, made of evidence.

A panel is about one run. Several runs are side by side, and panels that would be the same are shown
once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from protonn_edge.codegen import Plan
from protonn_edge.evaluation.accuracy import class_figures, frequent_confusions, wilson_interval
from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.hil import Result
from protonn_edge.report.battery import Battery
from protonn_edge.report.content import Gallery, Panel, Section, Table
from protonn_edge.report.figures import (
    Part,
    confusion_figure,
    front_figure,
    latency_figure,
    memory_figure,
    part_colours,
    seen_figure,
    stage_figure,
    trace_figure,
    training_figure,
)
from protonn_edge.report.front import Front
from protonn_edge.report.ink import Levels, levels_of
from protonn_edge.report.pictures import image_picture
from protonn_edge.report.svg import labelled
from protonn_edge.stages.decision.rejection import UNKNOWN, answer_name, answer_names

_MISTAKES_SHOWN = 18
_MATRIX_CLASSES = 40  # whose confusion matrix can be read as a table
_CONFUSIONS_SHOWN = 40
_STAGE_NAMES = {
    "float": "none of it",
    "inputs": "the inputs",
    "W": "and W",
    "coordinates": "and Z",
    "tree": "and the tree: all of it",
    "leaves": "and the leaves: all of it",
    "prototypes": "and B, the RBF",
    "Z": "and Z: all of it",
}

MakePanels = Callable[[Evidence, str], list[Panel]]


def sections_of(evidence: Sequence[Evidence], battery: Battery) -> list[Section]:
    """Return all sections of which there is something to show, in their order."""
    sections = [_section(*each, evidence) for each in _SECTIONS]
    sections.insert(_ENERGY_AT, _section(*_energy_section(battery), evidence))
    return [section for section in sections if section.panels]


def _section(
    name: str, title: str, lead: str, make: MakePanels, evidence: Sequence[Evidence]
) -> Section:
    columns = [make(one, f"{name}-{number}") for number, one in enumerate(evidence)]
    names = [one.name for one in evidence]
    rows = (_once_each(row, names) for row in zip_longest(*columns))
    return Section(name, title, lead, tuple(chain.from_iterable(rows)))


def _once_each(row: Sequence[Panel | None], names: Sequence[str]) -> list[Panel]:
    """Return the different panels of a row, one a run, each with the names of its runs."""
    runs: dict[Panel, list[str]] = {}
    for panel, name in zip(row, names, strict=True):
        if panel is not None:
            # Figures have ids that differ; their words tell whether they are the same.
            same = (each for each in runs if _words(each) == _words(panel))
            runs.setdefault(next(same, panel), []).append(name)
    return [
        replace(panel, run="" if len(of) == len(names) else ", ".join(of))
        for panel, of in runs.items()
    ]


def _words(panel: Panel) -> Panel:
    return replace(panel, figure=None)


# --- one section after the other ----------------------------------------------------------------


def _accuracy(one: Evidence, salt: str) -> list[Panel]:
    counts, classes = one.confusion, one.reference.classes
    right, n = int(counts.diagonal().sum()), len(one.results)
    low, high = wilson_interval(right, n)
    by_class = Table(
        ("class", "points", "precision", "recall"),
        tuple(
            (name, f"{each.n:,}", _percent(each.precision), _percent(each.recall))
            for name, each in zip(
                answer_names(len(counts), classes), class_figures(counts), strict=True
            )
        ),
    )
    lost = n - len(one.answered)
    words = f"{right:,} of {n:,} points right: {100 * right / n:.2f} %, with 95 % confidence "
    words += f"{100 * low:.1f} to {100 * high:.1f} % (Wilson)."
    words += f" {lost:,} points got no answer." if lost else ""
    words += _unknown_words(one)
    return [
        Panel(
            figure=_figure(confusion_figure(counts, classes, salt), "Confusion matrix. " + words),
            caption=words,
            table=_matrix(counts, classes),
            table_name=(
                "Confusion matrix, a row per actual class"
                if len(classes) <= _MATRIX_CLASSES
                else "The most frequent mistakes"
            ),
        ),
        Panel(table=by_class, table_name="By class"),
    ]


def _unknown_words(one: Evidence) -> str:
    """Return what is to be said of points that were rejected, a sentence with a space in front."""
    summary = one.summary
    if one.reference.rejection is None:
        return ""
    words = (
        f" {summary.unknown:,} were answered 'unknown' ({100 * summary.unknown / summary.n:.2f} %)"
    )
    right = summary.accuracy_of_classified
    return words + ("." if right is None else f"; of the others {100 * right:.2f} % are right.")


def _matrix(counts: NDArray[np.int64], classes: Sequence[str]) -> Table:
    """Return the confusion matrix as text; of many classes only what is confused most often."""
    if len(classes) <= _MATRIX_CLASSES:
        rows = zip(answer_names(len(counts), classes), counts.tolist(), strict=True)
        return Table(
            ("actual \\ predicted", *answer_names(counts.shape[1], classes)),
            tuple((name, *map(str, row)) for name, row in rows),
        )
    names = answer_names(counts.shape[1], classes)
    confused = frequent_confusions(counts, _CONFUSIONS_SHOWN)
    return Table(
        ("actual", "predicted", "points"),
        tuple((names[each.actual], names[each.predicted], f"{each.n:,}") for each in confused),
        texts=frozenset({1}),
    )


def _mistakes(one: Evidence, salt: str) -> list[Panel]:
    if one.points is None:
        return []
    wrong = sorted((r for r in one.answered if _is_mistake(r)), key=_confidence)
    if not wrong:
        return []
    classes, levels = one.reference.classes, levels_of(one)
    pictures = []
    for place, result in enumerate(wrong[:_MISTAKES_SHOWN]):
        assert result.predicted is not None
        label = answer_name(classes, result.label)
        words = f"{label}, taken for {classes[result.predicted]}"
        name = f"Point {result.index}: {words}"
        raw = one.points.raw[result.index].astype(np.float64)
        pictures.append((_picture(one, levels, raw, name, f"{salt}-{place}"), words))
    more = len(wrong) - len(pictures)
    caption = f"{more:,} more are not shown." if more else ""
    return [Panel(gallery=Gallery(tuple(pictures)), caption=caption)]


def _is_mistake(result: Result) -> bool:
    return result.predicted not in (result.label, UNKNOWN)


def _confidence(result: Result) -> int:
    """Return how far the true class's score is below the answer's, which is never above 0."""
    if result.scores is None or result.predicted is None or result.label == UNKNOWN:
        return 0
    return result.scores[result.label] - result.scores[result.predicted]


def _picture(
    one: Evidence,
    levels: Levels,
    raw: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    name: str,
    salt: str,
) -> Markup:
    if one.image_shape is not None and one.image_shape[0] > 1:
        return Markup(image_picture(levels.of(raw).reshape(one.image_shape), name))  # noqa: S704
    figure = trace_figure(levels.of(raw), salt, connected=one.image_shape is not None)
    return _figure(figure, name)


def _seen(one: Evidence, salt: str) -> list[Panel]:
    stage = one.model.feature_stage
    if one.points is None or stage is None or not one.results:
        return []
    index = next((each.index for each in one.answered), one.results[0].index)
    seen = stage.seen(one.points.raw[index])
    if seen is None:
        return []
    label = answer_name(one.reference.classes, int(one.points.labels[index]))
    caption = f"Point {index}, {label}. {seen.words}"
    return [Panel(figure=_figure(seen_figure(seen, salt), caption), caption=caption)]


def _latency(one: Evidence, salt: str) -> list[Panel]:
    summary, board = one.summary, one.board
    if summary.cycles is None or summary.latency_ms is None:
        return []
    cycles = np.array([r.cycles for r in one.answered], np.float64)
    plan, worst = one.firmware.plan, one.worst_cycles
    mean = plan.mean_cycles if isinstance(plan, Plan) else None
    figure = latency_figure(
        cycles * board.milliseconds(1),
        None if worst is None else board.milliseconds(worst),
        None if mean is None else board.milliseconds(mean),
        salt,
    )
    ms, count = summary.latency_ms, summary.cycles
    words = f"{ms.mean:.3f} ms on average, 99 % within {ms.p99:.3f} ms, {ms.max:.3f} ms at most"
    words += "." if worst is None else f"; the bound is {board.milliseconds(worst):.3f} ms."
    rows = [
        ("least", f"{count.min:,.0f}", f"{ms.min:.3f}"),
        ("mean", f"{count.mean:,.0f}", f"{ms.mean:.3f}"),
        ("99 % at most", f"{count.p99:,.0f}", f"{ms.p99:.3f}"),
        ("most", f"{count.max:,.0f}", f"{ms.max:.3f}"),
    ]
    if mean is not None:
        rows.append(("planned mean", f"{mean:,.0f}", f"{board.milliseconds(mean):.3f}"))
    if worst is not None:
        rows.append(("bound", f"{worst:,}", f"{board.milliseconds(worst):.3f}"))
    table = Table(("", "cycles", "ms"), tuple(rows))
    return [
        Panel(figure=_figure(figure, "Histogram of latencies. " + words), caption=words),
        Panel(table=table, table_name="Of a prediction"),
    ]


def _energy(one: Evidence, battery: Battery) -> list[Panel]:
    energy = one.summary.energy_mj
    if not (energy and energy.mean and one.summary.latency_ms):  # no point took any cycles
        return []
    life = battery.life(one.board, one.summary.latency_ms.mean)
    words = (
        f"{energy.mean:.4f} mJ a prediction on average: {one.board.power_watts} W, what the board "
        f"draws, times the time. {battery.sentence(life)}"
    )
    lives = tuple(
        (f"{rate:,g}", f"{100 * each.busy_share:.3g} %", f"{each.mean_mw:.3g}", each.text)
        for rate, each in battery.lives(one.board, one.summary.latency_ms.mean)
    )
    headings = ("a second", "of the time", "mean mW", "battery lasts")
    return [Panel(caption=words), Panel(table=Table(headings, lives), table_name="Battery life")]


def _memory(one: Evidence, salt: str) -> list[Panel]:
    return [
        _memory_panel("Flash", flash_parts(one), one.board.flash_bytes, f"{salt}-flash"),
        _memory_panel("SRAM", sram_parts(one), one.board.sram_bytes, f"{salt}-sram"),
        Panel(
            table=Table(
                ("section", "bytes", "where"),
                (
                    (".text", f"{one.firmware.sections.text:,}", "flash: code and constants"),
                    (".data", f"{one.firmware.sections.data:,}", "SRAM, and its values in flash"),
                    (".bss", f"{one.firmware.sections.bss:,}", "SRAM, with .noinit"),
                    ("stack", f"{one.firmware.usage.stack_bytes:,}", "SRAM, at worst"),
                ),
                texts=frozenset({2}),
            ),
            table_name="By section",
        ),
    ]


def flash_parts(one: Evidence) -> list[Part]:
    """Return what flash is filled with: the plan's stages, and the rest of the firmware."""
    plan, used = one.firmware.plan, one.firmware.usage.flash_bytes
    if isinstance(plan, Plan):
        parts = [Part(stage.name, stage.flash_bytes) for stage in plan.steps]
    else:
        parts = [Part("tables", plan.table_bytes)]
    known = sum(part.size for part in parts)
    return [*parts, Part("other code, protocol", max(0, used - known))]


def sram_parts(one: Evidence) -> list[Part]:
    """Return what SRAM is filled with: the model's variables, the firmware's, the stack."""
    plan, usage = one.firmware.plan, one.firmware.usage
    state = min(plan.state_bytes, usage.sram_bytes)
    features = 0
    if isinstance(plan, Plan):
        features = min(plan.chunk_features, usage.sram_bytes - state)
    return [
        Part("the model's variables", state),
        Part("features", features),
        Part("other variables", usage.sram_bytes - state - features),
        Part("stack, at worst", usage.stack_bytes),
    ]


def _memory_panel(name: str, parts: list[Part], limit: int, salt: str) -> Panel:
    used = sum(part.size for part in parts)
    words = f"{name}: {used:,} of {limit:,} bytes, {100 * used / limit:.1f} %."
    rows = [(part.name, f"{part.size:,}", f"{100 * part.size / limit:.1f} %") for part in parts]
    rows.append(("free", f"{limit - used:,}", f"{100 * (limit - used) / limit:.1f} %"))
    key = tuple(zip(part_colours(len(parts)), (part.name for part in parts), strict=True))
    return Panel(
        figure=_figure(memory_figure(parts, limit, salt), words),
        caption=words,
        key=key,
        table=Table(("", "bytes", "share"), tuple(rows)),
        table_name=f"{name} by what it is for",
    )


def _plan(one: Evidence, salt: str) -> list[Panel]:  # noqa: ARG001  (as all of these functions)
    plan = one.firmware.plan
    if not isinstance(plan, Plan):
        return [Panel(caption="A float build: its cycles are not foretold.")]
    rows = [
        (
            stage.name,
            stage.kernel,
            f"{stage.flash_bytes:,}",
            "-" if stage.mean is None else f"{stage.mean:,.0f}",
            f"{stage.worst:,}",
        )
        for stage in plan.steps
    ]
    if plan.exclusive_cycles:
        rows.append(("not together", "", "", "", f"-{plan.exclusive_cycles:,}"))
    mean = "-" if plan.mean_cycles is None else f"{plan.mean_cycles:,.0f}"
    rows.append(("prediction", "", f"{plan.flash_bytes:,}", mean, f"{plan.worst_cycles:,}"))
    headings = ("stage", "kernel", "flash B", "mean cycles", "at most")
    return [Panel(table=Table(headings, tuple(rows), texts=frozenset({1})), table_name="Plan")]


def _quantization(one: Evidence, salt: str) -> list[Panel]:
    if one.points is None or not one.points.stages:
        return []
    stages = one.points.stages
    names = [_STAGE_NAMES[stage.stage] for stage in stages]
    lost = 100 * (stages[0].accuracy - stages[-1].accuracy)
    values = one.points.raw.size
    cut = one.points.saturations
    words = (
        f"{100 * stages[0].accuracy:.2f} % in floats, {100 * stages[-1].accuracy:.2f} % in "
        f"integers: {_lost_text(lost)}. {cut:,} of {values:,} input values "
        f"({100 * cut / values:.2f} %) lay beyond the inputs' range and were cut off"
        f"{', background in the dead zone among them' if _has_dead_zone(one) else ''}."
    )
    figure = stage_figure([s.stage for s in stages], [s.accuracy for s in stages], salt)
    rows = tuple(
        (name, f"{100 * s.accuracy:.2f} %", f"{s.changed:,}", f"{s.disagreements:,}")
        for name, s in zip(names, stages, strict=True)
    )
    table = Table(("in integers", "accuracy", "points changed", "unlike float"), rows)
    return [
        Panel(figure=_figure(figure, "Accuracy by stage. " + words), caption=words),
        Panel(table=table, table_name="Stage by stage"),
    ]


def _has_dead_zone(one: Evidence) -> bool:
    settings = one.model.record.get("settings")
    return isinstance(settings, dict) and bool(settings.get("dead_zone"))


def _lost_text(lost: float) -> str:
    return f"{lost:.2f} points lost" if lost >= 0 else f"{-lost:.2f} points gained"


def _training(one: Evidence, salt: str) -> list[Panel]:
    history = one.model.record.get("history")
    objective, accuracy = _numbers(history, "objective"), _numbers(history, "accuracy")
    if len(objective) < 2 or len(objective) != len(accuracy):
        return []
    words = (
        f"The objective went from {objective[0]:.4g} to {objective[-1]:.4g} in "
        f"{len(objective):,} reports, accuracy in training to {100 * accuracy[-1]:.2f} %."
    )
    step = max(1, len(objective) // 10)
    chosen = sorted({*range(0, len(objective), step), len(objective) - 1})
    rows = tuple((str(i + 1), f"{objective[i]:.4g}", f"{100 * accuracy[i]:.2f} %") for i in chosen)
    table = Table(("report", "objective", "accuracy"), rows)
    return [
        Panel(figure=_figure(training_figure(objective, accuracy, salt), words), caption=words),
        Panel(table=table, table_name="Some of the reports"),
    ]


def front_section(front: Front) -> Section:
    """Return the section of a search."""
    panels: list[Panel] = []
    for alternatives, cost, costs in (
        (front.by_flash, "flash of the classifier, B", [a.flash_bytes for a in front.by_flash]),
        (front.by_time, "mean time of a prediction, ms", [a.mean_ms for a in front.by_time]),
    ):
        accuracies = [each.accuracy for each in alternatives]
        best = 100 * max(accuracies)
        words = f"Accuracy against {cost}: {len(accuracies):,} alternatives, up to {best:.2f} %."
        rows = tuple(
            (f"{each.flash_bytes:,}", f"{each.mean_ms:.3f}", f"{100 * each.accuracy:.2f} %")
            for each in alternatives
        )
        figure = front_figure(costs, accuracies, cost, f"front-{len(panels)}")
        panels.append(
            Panel(
                figure=_figure(figure, words),
                caption=words,
                table=Table(("flash B", "mean ms", "accuracy"), rows),
                table_name="The alternatives",
            )
        )
    lead = "What a search found, in cross-validation: no model of it is better and takes less."
    return Section("search", "Search", lead, tuple(panels))


def _numbers(history: object, name: str) -> list[float]:
    """Return a list of numbers of a model's record, which may hold anything."""
    values = history.get(name) if isinstance(history, dict) else None
    numbers = isinstance(values, list) and all(type(value) in (int, float) for value in values)
    if not (isinstance(values, list) and numbers and all(map(math.isfinite, values))):
        return []
    return [float(value) for value in values]


def _figure(svg: str, name: str) -> Markup:
    return Markup(labelled(svg, name))  # noqa: S704  (svg.py escapes what comes from data)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


# --- the order -----------------------------------------------------------------------------------

_SECTIONS: tuple[tuple[str, str, str, MakePanels], ...] = (
    ("accuracy", "Accuracy", "", _accuracy),
    (
        "mistakes",
        "The worst mistakes",
        "Wrong answers, the surest of themselves first.",
        _mistakes,
    ),
    ("seen", "What the model sees", "A test point, and what is made of it first.", _seen),
    (
        "latency",
        "Latency",
        "Cycles as the board's own timer counts them. No input takes longer than the bound.",
        _latency,
    ),
    (
        "memory",
        "Memory",
        "What the linked firmware takes of the board, the protocol and the drivers included.",
        _memory,
    ),
    ("plan", "Plan", "How a prediction is computed, stage by stage.", _plan),
    (
        "quantization",
        "Quantization",
        "Accuracy with ever more of the model in integers, on the same points.",
        _quantization,
    ),
    ("training", "Training", "", _training),
)
_ENERGY_AT = 4  # after latency, which it follows from


def _energy_section(battery: Battery) -> tuple[str, str, str, MakePanels]:
    return "energy", "Energy", "", lambda one, _: _energy(one, battery)
