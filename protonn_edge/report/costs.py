"""The panels of a prediction's cost: time, energy, memory, and their causes."""

from __future__ import annotations

import numpy as np

from protonn_edge.avr.cores import BOUND_FLAGS
from protonn_edge.codegen import Plan
from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.report.content import PageTable, Panel
from protonn_edge.report.figures import (
    MemoryPart,
    figure,
    latency_figure,
    memory_figure,
    part_colours,
)
from protonn_edge.report.inputs import Battery


def latency_panels(one: Evidence, salt: str) -> list[Panel]:
    """Return the histogram of latencies, and its figures in cycles and ms."""
    summary, board = one.summary, one.board
    if summary.cycles is None or summary.latency_ms is None:
        return []
    cycles = np.array([r.cycles for r in one.answered], np.float64)
    plan, worst = one.firmware.plan, one.worst_cycles
    mean = plan.mean_cycles if isinstance(plan, Plan) else None
    drawn = latency_figure(
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
        rows.append((f"bound, by {BOUND_FLAGS}", f"{worst:,}", f"{board.milliseconds(worst):.3f}"))
    table = PageTable(("", "cycles", "ms"), tuple(rows))
    return [
        Panel(figure=figure(drawn, "Histogram of latencies. " + words), caption=words),
        Panel(table=table, table_name="Of a prediction"),
    ]


def energy_panels(one: Evidence, battery: Battery) -> list[Panel]:
    """Return the energy of a prediction, and the battery life at several rates."""
    energy = one.summary.energy_mj
    if not (energy and energy.mean and one.summary.latency_ms):  # there are no cycles
        return []
    life = battery.life(one.board, one.summary.latency_ms.mean)
    words = (
        f"{energy.mean:.4f} mJ a prediction on average: the board's {one.board.power_watts} W "
        f"times the latency. {battery.sentence(life)}"
    )
    lives = tuple(
        (f"{rate:,g}", f"{100 * each.busy_share:.3g} %", f"{each.mean_mw:.3g}", each.text)
        for rate, each in battery.lives(one.board, one.summary.latency_ms.mean)
    )
    headings = ("a second", "of the time", "mean mW", "battery lasts")
    return [
        Panel(caption=words),
        Panel(table=PageTable(headings, lives), table_name="Battery life"),
    ]


def memory_panels(one: Evidence, salt: str) -> list[Panel]:
    """Return the contents of flash and SRAM, by use and by section."""
    return [
        _memory_panel("Flash", flash_parts(one), one.board.flash_bytes, f"{salt}-flash"),
        _memory_panel("SRAM", sram_parts(one), one.board.sram_bytes, f"{salt}-sram"),
        Panel(
            table=PageTable(
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


def flash_parts(one: Evidence) -> list[MemoryPart]:
    """Return the contents of flash: the plan's stages, and the rest of the firmware."""
    plan, used = one.firmware.plan, one.firmware.usage.flash_bytes
    if isinstance(plan, Plan):
        parts = [
            MemoryPart(stage.name.replace("_", " "), stage.flash_bytes) for stage in plan.steps
        ]
    else:
        parts = [MemoryPart("tables", plan.table_bytes)]
    known = sum(part.size for part in parts)
    return [*parts, MemoryPart("other code, protocol", max(0, used - known))]


def sram_parts(one: Evidence) -> list[MemoryPart]:
    """Return the contents of SRAM: the model's variables, the firmware's, the stack."""
    plan, usage = one.firmware.plan, one.firmware.usage
    state = min(plan.state_bytes, usage.sram_bytes)
    features = 0
    if isinstance(plan, Plan):
        features = min(plan.chunk_features, usage.sram_bytes - state)
    return [
        MemoryPart("the model's variables", state),
        MemoryPart("features", features),
        MemoryPart("other variables", usage.sram_bytes - state - features),
        MemoryPart("stack, at worst", usage.stack_bytes),
    ]


def _memory_panel(name: str, parts: list[MemoryPart], limit: int, salt: str) -> Panel:
    used = sum(part.size for part in parts)
    words = f"{name}: {used:,} of {limit:,} bytes, {100 * used / limit:.1f} %."
    rows = [(part.name, f"{part.size:,}", f"{100 * part.size / limit:.1f} %") for part in parts]
    rows.append(("free", f"{limit - used:,}", f"{100 * (limit - used) / limit:.1f} %"))
    key = tuple(zip(part_colours(len(parts)), (part.name for part in parts), strict=True))
    return Panel(
        figure=figure(memory_figure(parts, limit, salt), words),
        caption=words,
        key=key,
        table=PageTable(("", "bytes", "share"), tuple(rows)),
        table_name=f"{name} by what it is for",
    )


def plan_panels(one: Evidence, salt: str) -> list[Panel]:  # noqa: ARG001  (as all of these)
    """Return the kernel of each stage, with the cycles that the planner estimates."""
    plan = one.firmware.plan
    if not isinstance(plan, Plan):
        return [Panel(caption="There is no cycle estimate for float builds.")]
    rows = [
        (
            stage.name.replace("_", " "),
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
    rows.append(("prediction", "", "", mean, f"{plan.worst_cycles:,}"))
    headings = ("stage", "kernel", "flash B", "mean cycles", "at most")
    table = PageTable(headings, tuple(rows), texts=frozenset({1}))
    name = f"Kernels, and what the planner estimates of them, compiled by {BOUND_FLAGS}"
    return [Panel(table=table, table_name=name)]
