"""The project whose firmware classifies the samples of its sensor, and the choice of its plan."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from protonn_edge.avr.program import read_program
from protonn_edge.boards import Board
from protonn_edge.build.budget import OverBudget, Usage, check_budget
from protonn_edge.build.plan_file import PLAN_FILE, plan_text
from protonn_edge.build.windowing import Windowing
from protonn_edge.chain.model import Model
from protonn_edge.codegen import Limits, Plan, plans, render_c
from protonn_edge.errors import CheckFailed
from protonn_edge.system.files import write_atomically
from protonn_edge.system.resources import resource
from protonn_edge.system.scratch import scratch_folder
from protonn_edge.toolchain.platformio import build_firmware

_OF_THE_FIRMWARE = ("frame.c", "frame.h", "optimize_size.h")


@dataclass(frozen=True)
class LiveBuild:
    """A project that fits its board."""

    files: dict[str, str]  # their texts by their names
    plan: Plan
    ring_bytes: int  # SRAM of the buffer of samples
    usage: Usage  # what the linked firmware uses


def build_live(model: Model, windowing: Windowing) -> LiveBuild:
    """Build firmware that classifies the samples of a sensor, with the fastest plan that fits.

    - `model`: the float model of `windowing`.

    Raises `CheckFailed` if it does not fit the board, or cannot keep up.
    """
    board = windowing.sampling.board
    failures: list[OverBudget] = []
    too_much_state = math.inf  # at least one plan is built, so that there is a failure to report
    for plan in _choices(model, windowing):
        if plan.state_bytes >= too_much_state:
            continue
        files = live_files(windowing, plan)
        ring_bytes = windowing.ring_samples(plan) * len(windowing.used)
        try:
            usage = _usage(files, board, model)
        except OverBudget as failure:
            failures.append(failure)
            if failure.usage.flash_bytes <= board.flash_bytes:  # then it is the SRAM
                too_much_state = plan.state_bytes
            continue
        return LiveBuild(files, plan, ring_bytes, usage)
    smallest = min(failures, key=lambda failure: failure.usage.sram_bytes)
    if windowing.overlapping and smallest.usage.flash_bytes <= board.flash_bytes:
        raise CheckFailed(_too_large_a_ring(windowing, ring_bytes, smallest.usage))
    raise smallest


def live_files(windowing: Windowing, plan: Plan) -> dict[str, str]:
    """Return the files of the PlatformIO project, by their names."""
    firmware = resource("firmware")
    generated = render_c(windowing.model, plan)
    return {
        **windowing.sampling.project("live", windowing.context(plan)),
        PLAN_FILE: plan_text(windowing.model, plan),
        **{f"src/{name}": text for name, text in generated.items()},
        **{f"src/{name}": (firmware / name).read_text("utf-8") for name in _OF_THE_FIRMWARE},
    }


def _choices(model: Model, windowing: Windowing) -> Iterator[Plan]:
    """Yield the plans to try, the fastest first: those that need no buffer, if there are any."""
    limits = Limits.of(windowing.sampling.board)
    if windowing.overlapping:
        ring_bytes = windowing.window * len(windowing.used)
        limits = replace(limits, sram_bytes=limits.sram_bytes - ring_bytes)
    every = plans(windowing.model, limits, activity=model.activity)
    yield from [plan for plan in every if not plan.buffered] or every


def _usage(files: dict[str, str], board: Board, model: Model) -> Usage:
    with scratch_folder() as scratch:
        for name, text in files.items():
            write_atomically(Path(scratch, name), text)
        elf = build_firmware(scratch, board.environment)
        return check_budget(read_program(elf), board, model.all_remedies)


def _too_large_a_ring(windowing: Windowing, ring_bytes: int, usage: Usage) -> str:
    board = windowing.sampling.board
    return (
        f"overlapping windows need a buffer of {ring_bytes:,} B for {windowing.window} samples of "
        f"{len(windowing.used)} channels and for the samples that arrive during a prediction; with "
        f"it, {usage.sram_bytes + usage.stack_bytes:,} B SRAM are needed, but {board.name} has "
        f"{board.sram_bytes:,}; give --hop {windowing.window}, or train on shorter windows or "
        "fewer channels"
    )
