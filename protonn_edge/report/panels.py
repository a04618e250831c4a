"""The panels of a prediction's cost, of the model's origin, and of the next step.

The cost is time, energy, memory and their causes; the origin quantization, training and search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from protonn_edge.codegen.export.own_sketch import NAME, own_sketch
from protonn_edge.codegen.verification.agreement import PROVEN
from protonn_edge.device.instruments import BenchReading
from protonn_edge.learn.evaluation.figures import saturation_figure
from protonn_edge.learn.evaluation.terminal import PLAN_CAPTION, plan_rows, stage_rows
from protonn_edge.model.model import why_clamped
from protonn_edge.report import figures
from protonn_edge.report.content import PageTable, Panel
from protonn_edge.report.evidence import Evidence
from protonn_edge.system.figures import Figure, percent
from protonn_edge.system.schema import list_of, number

_NOTHING = 1e-9  # an objective that never exceeds this is not shown

# Numbers of a history that have finite differences, too.
_DRAWABLE = list_of(number(-1e300, 1e300), 1_000_000)
_ROWS = 10  # of a table of a curve
_STAGE_NAMES = {
    "float": "nothing",
    "inputs": "the inputs",
    "W": "and W",
    "coordinates": "and Z",
    "prototypes": "and B and the RBF",
    "Z": "and Z: everything",
}


def latency_panels(one: Evidence) -> list[Panel]:
    """Return the histogram of latencies, and its figures in cycles and ms."""
    summary, board = one.summary, one.board
    if summary.cycles is None or summary.latency_ms is None:
        return []
    cycles = np.array([r.cycles for r in one.answered], np.float64)
    bound = one.bound_cycles
    drawn = figures.latency_figure(
        cycles * board.milliseconds(1),
        None if bound is None else board.milliseconds(bound),
    )
    by_key = {each.key: each for each in one.figures}
    count, ms = by_key["cycles"], by_key["latency_ms"]
    caption = ms.text + ("." if bound is None else f"; the bound is {board.time(bound)}.")
    rows = [("mean", count.number, ms.number)]
    rows += [
        (each, count.shown(count.spread[each]), ms.shown(ms.spread[each])) for each in ms.spread
    ]
    if bound is not None:
        rows.append((f"bound, {PROVEN}", count.shown(bound), ms.shown(board.milliseconds(bound))))
    table = PageTable("Per prediction", ("", "cycles", "ms"), tuple(rows))
    return [Panel.drawn(drawn, caption, title="Histogram of latencies. "), Panel(table=table)]


def energy_panels(one: Evidence) -> list[Panel]:
    """Return the energy of a prediction, by the board's power and, if measured, by a meter."""
    energy, latency = one.summary.energy_mj, one.summary.latency_ms
    if not (energy and energy.mean and latency):  # there are no cycles
        return []
    figure = next(each for each in one.figures if each.key == "energy_mj")
    caption = (
        f"{figure.text} per prediction: the board's {one.board.power_watts} W times the latency."
    )
    measured = [] if one.power is None else [_power_panel(one.power, latency.mean)]
    return [Panel(caption=caption), *measured]


def _power_panel(power: BenchReading, latency_ms: float) -> Panel:
    """Return an instrument's trace around a batch of predictions, and the energy of one."""
    rows, texts = tuple(power.facts(latency_ms)), frozenset({1})
    table = PageTable(power.title, ("", "per prediction"), rows, texts)
    drawn = figures.power_figure(power.trace_ms, power.trace_mw)
    return Panel.drawn(drawn, power.caption, table=table)


def memory_panels(one: Evidence) -> list[Panel]:
    """Return the contents of flash and SRAM, by use and by section."""
    sections = one.firmware.sections
    rows = (
        (".text", f"{sections.text:,}", "flash: code and constants"),
        (".data", f"{sections.data:,}", "SRAM, with initial values in flash"),
        (".bss", f"{sections.bss:,}", "SRAM, with .noinit"),
        ("stack", f"{one.firmware.usage.stack_bytes:,}", "SRAM, worst case"),
    )
    headings = ("section", "bytes", "where")
    return [
        _memory_panel("Flash", flash_parts(one), one.board.flash_bytes),
        _memory_panel("SRAM", sram_parts(one), one.board.sram_bytes),
        Panel(table=PageTable("By section", headings, rows, texts=frozenset({2}))),
    ]


def flash_parts(one: Evidence) -> list[tuple[str, int]]:
    """Return the contents of flash: the plan's stages, and the rest of the firmware."""
    plan, used = one.firmware.plan, one.firmware.usage.flash_bytes
    sizes = [(stage.name.replace("_", " "), stage.flash_bytes) for stage in plan.steps]
    parts = sizes or [("tables", plan.table_bytes)]
    attributed = sum(size for _, size in parts)
    return [*parts, ("other code, protocol", max(0, used - attributed))]


def sram_parts(one: Evidence) -> list[tuple[str, int]]:
    """Return the contents of SRAM: the model's variables, the firmware's, the stack."""
    plan, usage = one.firmware.plan, one.firmware.usage
    state = min(plan.state_bytes, usage.sram_bytes)
    features = min(plan.chunk_features, usage.sram_bytes - state)
    return [
        ("the model's variables", state),
        ("features", features),
        ("other variables", usage.sram_bytes - state - features),
        (usage.stack_name, usage.stack_bytes),
    ]


def _memory_panel(name: str, parts: list[tuple[str, int]], limit: int) -> Panel:
    used = sum(size for _, size in parts)
    caption = f"{Figure('', name, used, 'B', limit=limit)}."
    rows = [(part, f"{size:,}", percent(size / limit, 1)) for part, size in parts]
    rows.append(("free", f"{limit - used:,}", percent((limit - used) / limit, 1)))
    key = tuple(zip(figures.part_colours(len(parts)), (part for part, _ in parts), strict=True))
    table = PageTable(f"{name} by use", ("", "bytes", "share"), tuple(rows))
    return Panel.drawn(figures.memory_figure(parts, limit), caption, key=key, table=table)


def plan_panels(one: Evidence) -> list[Panel]:
    """Return the kernel of each stage, with the flash that the planner estimates."""
    plan = one.firmware.plan
    if not plan.steps:
        return [Panel(caption="There is no estimate of the stages' flash.")]
    rows = tuple((name.replace("_", " "), *others) for name, *others in plan_rows(plan))
    headings = ("stage", "kernel", "flash B")
    name = f"Kernels and their flash, {PLAN_CAPTION}"
    return [Panel(table=PageTable(name, headings, rows, texts=frozenset({1})))]


def quantization_panels(one: Evidence) -> list[Panel]:
    """Return accuracy as the model is quantized step by step, and clamped inputs."""
    if one.points is None or not one.points.stages:
        return []
    stages = one.points.stages
    first, last = stages[0].accuracy, stages[-1].accuracy
    lost = (
        f"{100 * abs(first - last):.2f} percentage points {'lost' if first >= last else 'gained'}"
    )
    points = one.points
    clamped = saturation_figure(points.saturations, points.raw.size, why_clamped(one.model))
    without = one.reference.policy.without_words.strip().capitalize()
    caption = f"{without}, the accuracy is " if without else ""
    caption += f"{percent(first)} in floats, {percent(last)} in integers: {lost}. "
    caption += f"{clamped.name.capitalize()}: {clamped.text}."
    drawn = figures.stage_figure([s.stage for s in stages], [s.accuracy for s in stages])
    rows = tuple(
        (_STAGE_NAMES.get(stage, f"and the {stage}: everything"), *cells)
        for stage, *cells in stage_rows(stages)
    )
    headings = ("in integers", "accuracy", "answers changed", "differ from floats")
    table = PageTable("Stage by stage", headings, rows)
    return [Panel.drawn(drawn, caption, title="Accuracy by stage. "), Panel(table=table)]


def training_panels(one: Evidence) -> list[Panel]:
    """Return the curves of a training, without an objective that was always 0."""
    history = one.model.record.get("history")
    objective, accuracy = _numbers(history, "objective"), _numbers(history, "accuracy")
    if len(objective) < 2 or len(objective) != len(accuracy):
        return []
    curves = [(accuracy, "accuracy", "Training accuracy", "{:.2%}")]
    if one.reference.policy.predicts == "labels":
        curves = [(accuracy, "P@1", "P@1 of the training points", "{:.2%}")]
    if one.reference.policy.predicts == "value":
        curves = [(accuracy, "R2", "R2 of the training points", "{:.3f}")]
    if max(map(abs, objective)) >= _NOTHING:
        curves.append((objective, "objective", "The objective", "{:.4g}"))
    return [_curve(*curve) for curve in curves]


def _curve(values: Sequence[float], what: str, title: str, form: str) -> Panel:
    texts = [form.format(value).replace("%", " %") for value in values]
    caption = f"{title} went from {texts[0]} to {texts[-1]} over {len(values):,} epochs."
    drawn = figures.training_figure(values, what, shares="%" in form)
    rows = tuple((f"{i + 1:,}", texts[i]) for i in figures.spaced(len(values), _ROWS))
    return Panel.drawn(drawn, caption, table=PageTable("Some of the epochs", ("epoch", what), rows))


def _numbers(history: object, name: str) -> list[float]:
    """Return a list of numbers of a model's record, which is untrusted."""
    values: Any = history.get(name) if isinstance(history, dict) else None
    return [float(value) for value in values] if _DRAWABLE(values) else []


def sketch_panels(one: Evidence) -> list[Panel]:
    """Return the command for exporting a model, a sketch with it, and its classes' constants."""
    instrument = one.model.instrument
    sensors = "" if instrument is None else instrument.sensor
    sketch = own_sketch(one.reference, one.board, sensors)
    exporting = (
        "Run the command in the project's folder to export the library. Then put the folder "
        f"{NAME} into the folder “libraries” of your sketchbook. For PlatformIO, export with "
        "--platformio into the folder “lib” of your PlatformIO project, and add "
        "--library prefix=pnn for the names in the sketch."
    )
    reading = (
        f"Read your sensor at the line “// sensor”. Feature i is {sketch.feature}; “raw” is "
        f"{sketch.raw}."
    )
    if sketch.live:
        reading = sketch.live
        exporting = (
            "Run the command in the project's folder to export the library. Then add it in the "
            "Arduino IDE with Sketch > Include Library > Add .ZIP Library, and open File > "
            f"Examples > {NAME} > Live."
        )
    returned = "The constants of the classes" if sketch.live else "What pnn_finish() returns"
    name, headings = returned, ("constant", "class")
    constants = PageTable(name, headings, sketch.constants, texts=frozenset({1}))
    table = constants if sketch.constants else None
    command = ("The command", sketch.command)
    return [
        Panel(caption=exporting, listing=command, table=table),
        Panel(caption=reading, listing=("The sketch", sketch.code)),
    ]
