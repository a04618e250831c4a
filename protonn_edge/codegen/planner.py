"""Choose the fastest plan that fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

from protonn_edge.chips.boards import Board
from protonn_edge.chips.cores import EXPORTED_CORES, UNO_CORE, Core
from protonn_edge.codegen.kernels.kernel import Kernel, kernels_of
from protonn_edge.codegen.plan import (
    DevicePlan,
    PartialPlan,
    Plan,
    check_parts,
    plan_with,
)
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.system.checks import check_choice
from protonn_edge.system.extensions import additions_to, parts_of

READABLE_BYTES = 0x10000
"""Flash from which the generated code can read constants: LPM has a 16-bit pointer."""

SPARE_BYTES = 1_500
"""Bytes by which a linked program may be smaller than its plan expects."""

_MOST_HOPES = 3  # plans to link although they are expected not to fit
_WORTHWHILE = 0.99  # of the cycles of the first plan that is expected to fit
_OTHER_CONSTANTS = 2_048  # vectors, names of classes, and the compiler's code before them


@dataclass(frozen=True)
class Limits:
    """Limits of the firmware in bytes: flash, and SRAM including the stack; and the chip."""

    flash_bytes: int = 32_256
    sram_bytes: int = 2_048
    core: Core = UNO_CORE
    table_bytes: int = READABLE_BYTES - _OTHER_CONSTANTS  # of the flash
    whole_bytes: int | None = None  # flash of the board, also `beside` others

    @classmethod
    def of(cls, board: Board) -> Limits:
        """Return the limits of a whole board."""
        table_bytes = board.flash_bytes if board.cpu.in_words else cls.table_bytes
        flash, sram = board.flash_bytes, board.sram_bytes
        return cls(flash, sram, board.cpu, table_bytes, whole_bytes=flash)

    def beside(self, constants: int) -> Limits:
        """Return the limits of a model that shares the flash with other constants, in bytes."""
        flash, tables = self.flash_bytes - constants, self.table_bytes - constants
        return replace(self, flash_bytes=flash, table_bytes=tables)

    def hold(self, plan: Plan) -> bool:
        """Whether a plan fits, as far as is known before linking."""
        return (
            plan.flash_bytes <= self.flash_bytes
            and plan.sram_bytes <= self.sram_bytes
            and plan.table_bytes <= self.table_bytes
        )


def make_plan(
    model: IntegerChain,
    limits: Limits | None = None,
    *,
    kernel: str | None = None,
) -> Plan:
    """Return the fastest plan that fits, or the smallest if none does: the first of `plans`."""
    return plans(model, limits, kernel=kernel)[0]


def plans(
    model: IntegerChain,
    limits: Limits | None = None,
    *,
    kernel: str | None = None,
    spare_bytes: int = 0,
) -> list[Plan]:
    """Return the plans worth trying: the fastest that are expected to fit first, at least one.

    `kernel` ("columns", "unrolled", "packed") restricts the first matrix product to this kernel.
    The last plan is the smallest: if it does not fit, no plan does. With `spare_bytes` of flash, a
    few faster plans that exceed the limit by at most as much come first: linked, they may fit.
    """
    limits = limits or Limits()
    every = list(_pareto_plans(_able(model, limits.core, kernel)))
    fitting = sorted(filter(limits.hold, every), key=lambda plan: plan.order)
    small_enough = [plan for plan in every if plan.sram_bytes <= limits.sram_bytes]
    smallest = min(small_enough or every, key=lambda plan: (plan.flash_bytes, plan.sram_bytes))
    looser = replace(limits, flash_bytes=limits.flash_bytes + spare_bytes)
    worthwhile = _WORTHWHILE * fitting[0].order if fitting else math.inf
    hopes = [
        plan
        for plan in every
        if looser.hold(plan) and not limits.hold(plan) and plan.order < worthwhile
    ]
    hopes = sorted(hopes, key=lambda plan: plan.order)[:_MOST_HOPES]
    tried = [*hopes, *fitting]
    found = tried if smallest in tried else [*tried, smallest]
    return [replace(plan, limit_bytes=limits.whole_bytes) for plan in found]


def device_plans(
    model: IntegerChain, limits: Limits | None = None, **chosen: Any
) -> Sequence[DevicePlan]:
    """Return `plans`, chosen in the same way, or those of a model with its own program."""
    limits = limits or Limits()
    core = limits.core
    if program := own_program(model, core):
        *faster, smallest = program.plans_for(model, core, limits.whole_bytes)
        return [*(plan for plan in faster if plan.flash_bytes <= limits.flash_bytes), smallest]
    if core in EXPORTED_CORES.values():
        check_parts([part.name for part in parts_of(model)], core)
    return plans(model, limits, **chosen)


class OwnProgram(NamedTuple):
    """What plans and renders an extension's models in place of kernels."""

    last_stage: str  # the kind of the last own stage of these models
    module: str  # with what `protonn_edge.codegen.words` has


def own_program(model: IntegerChain, core: Core | None) -> Any:
    """Return the module that plans and renders a model; None if the planner chooses its kernels."""
    for each in additions_to("planner", OwnProgram).values():
        if each.last_stage == model.own_stages[-1].kind:
            return import_module(each.module)
    return import_module("protonn_edge.codegen.words") if core and core.in_words else None


def every_plan(model: IntegerChain, core: Core = UNO_CORE) -> Iterator[Plan]:
    """Yield every plan for a kind of chip, whether it fits or not; many layers have very many."""
    for kernels in product(*reversed(_able(model, core, None))):
        yield plan_with(kernels[::-1])


def _able(model: IntegerChain, core: Core, kernel: str | None) -> list[tuple[Kernel, ...]]:
    """Return each stage's kernels; for the first stage that names plans, only the requested one."""
    able = [kernels_of(stage, core) for stage in model.stages]
    if kernel is not None:
        place = next(place for place, each in enumerate(able) if each[0].names_plan)
        check_choice("kernel", kernel, [each.name for each in able[place]])
        able[place] = tuple(each for each in able[place] if each.name == kernel)
    return able


def _pareto_plans(able: Sequence[Sequence[Kernel]]) -> Iterator[Plan]:
    """Yield the plans that are optimal in speed, flash and SRAM (the Pareto front).

    From the last stage to the first, only promising ends are kept: few, even for long chains.
    """
    ends = [PartialPlan()]
    for place in range(len(able) - 1, 0, -1):
        grown = [end.behind(kernel) for kernel in able[place] for end in ends]
        ends = [end for end in grown if not any(other.dominates(end) for other in grown)]
    for first, end in product(able[0], ends):
        yield end.completed(first)


def plan_of(
    model: IntegerChain,
    choices: Mapping[str, str],
    core: Core = UNO_CORE,
) -> Plan:
    """Return the plan with these choices (see `Plan.choices`).

    Stages not named use their first kernel. Raises `InputError` if the model lacks such a plan for
    this chip.
    """
    kernels = []
    for name, stage in named_stages(model).items():
        able = {kernel.name: kernel for kernel in kernels_of(stage, core)}
        choice = choices.get(name, next(iter(able)))
        check_choice(f"kernel for {name} on {core.chip}", choice, able)
        kernels.append(able[choice])
    return plan_with(kernels)
