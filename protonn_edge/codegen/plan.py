"""The plan of a generated program: a kernel for each stage, how it is fed, and the costs.

The cost of a kernel depends on its stage's integers, and the `Activity` on the points for which the
model is meant. Costs are accumulated from the last stage to the first: the call that pushes into a
stage is part of the cost of the stage before it. Cycles are means, by which plans are chosen; a
bound comes from the linked program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from protonn_edge.chips.cores import BOUND_FLAGS, Core
from protonn_edge.codegen.kernels.compiled import bytes_of
from protonn_edge.codegen.kernels.kernel import Calls, Cost, Feed, Kernel, Step, without_calls
from protonn_edge.codegen.kernels.listing import cycles_of
from protonn_edge.codegen.kernels.matvec import kernels as matvec
from protonn_edge.model import registry
from protonn_edge.model.activity import Activity
from protonn_edge.model.integer_stage import IntegerStage, stage_names
from protonn_edge.system.errors import InputError
from protonn_edge.system.facts_repr import FactsRepr
from protonn_edge.system.schema import JsonObject

# Flash of the firmware besides the stages, and SRAM besides their variables, including the stack;
# measured on linked programs.
_CODE_BYTES = 3_300
_FIRMWARE_SRAM_BYTES = 200

PLANS = (*matvec.KERNELS, *registry.PLANS)
"""Names of plans, which are names of kernels of one stage of a model."""

ENTRY_BYTES = bytes_of("uint16_t", "uint8_t", "uint8_t")
"""SRAM of the public functions: the number of features left, whether a prediction has begun, and
the last class."""


_CALLED_CYCLES = cycles_of("call") + cycles_of("ret")
_ENTRY_CYCLES = cycles_of("sei") + ENTRY_BYTES * cycles_of("sts") + cycles_of("cli")
"""What the firmware measures of a public function, besides the call and the work."""


class DevicePlan(Protocol):
    """What is known of a device's program before it is linked."""

    @property
    def core(self) -> Core | None:
        """The kind of chip for which cycles are counted, if they are."""

    @property
    def kernel(self) -> str:
        """How the weights are read."""

    @property
    def choices(self) -> Mapping[str, str]:
        """What distinguishes it from the model's other plans."""

    @property
    def table_bytes(self) -> int:
        """Flash of the constant tables that a prediction reads; a lower bound when linked."""

    @property
    def state_bytes(self) -> int:
        """SRAM of the model's own variables."""

    @property
    def chunk_features(self) -> int:
        """Features that the firmware collects before pushing them."""

    @property
    def buffered(self) -> bool:
        """Whether the firmware holds all features before it computes."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of a prediction; none if they are not predicted."""

    @property
    def mean_cycles(self) -> float | None:
        """Mean cycles of a prediction, if they are known."""

    def facts(self) -> dict[str, str]:
        """Return what was predicted, for people."""

    def to_json(self) -> JsonObject:
        """Return what was predicted, with the package's JSON names."""


@dataclass(frozen=True, eq=False)
class ProgramCost:
    """Costs of a generated program: flash and SRAM in bytes, and cycles of a prediction."""

    feed: Feed  # how the firmware feeds the first kernel
    costs: tuple[Cost, ...]  # the costs of each kernel, from the inputs to the class
    # The kind of chip for which cycles are counted. If it has no multiplier, the compiler generates
    # the loops, and cycles are an estimate.
    core: Core

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of a prediction."""
        return tuple(step for cost in self.costs for step in cost.steps)

    @property
    def table_bytes(self) -> int:
        """Flash of the constant tables that a prediction reads; a lower bound when linked."""
        return sum(cost.tables for cost in self.costs)

    @property
    def state_bytes(self) -> int:
        """SRAM of the model's own variables."""
        return ENTRY_BYTES + self._own_buffer + sum(cost.state for cost in self.costs)

    @property
    def _own_buffer(self) -> int:
        """SRAM of the library's buffer of pushed features, which firmware that holds all lacks."""
        return self.feed.values if self.feed.held else 0

    @property
    def flash_bytes(self) -> int:
        """Estimated flash of the firmware."""
        return self.table_bytes + sum(cost.code for cost in self.costs) + _CODE_BYTES

    @property
    def sram_bytes(self) -> int:
        """Estimated SRAM of the firmware, including the stack."""
        return self.state_bytes + self.feed.chunk - self._own_buffer + _FIRMWARE_SRAM_BYTES

    @property
    def chunk_features(self) -> int:
        """Features that the firmware collects before pushing them; one call is enough for all."""
        return self.feed.chunk

    @property
    def buffered(self) -> bool:
        """Whether the firmware holds all features before it computes."""
        return self.feed.whole

    @property
    def estimated(self) -> bool:
        """Whether only the order of magnitude of the cycles is known."""
        return not self.core.multiplies

    @property
    def mean_cycles(self) -> float:
        """Mean cycles of a prediction."""
        return sum(step.mean for step in self.steps)


@dataclass(frozen=True, eq=False)
class Plan(ProgramCost, FactsRepr):
    """The program to generate, and its costs."""

    kernels: tuple[Kernel, ...]  # one for each stage, from the inputs to the class

    @cached_property
    def named(self) -> dict[str, Kernel]:
        """The kernels by the names of their stages."""
        names = stage_names(kernel.stage.kind for kernel in self.kernels)
        return dict(zip(names, self.kernels, strict=True))

    def of(self, name: str) -> Any:
        """Return the kernel of the stage of this name; None if there is none."""
        return self.named.get(name)

    @cached_property
    def choices(self) -> dict[str, str]:
        """What distinguishes this plan from the model's others: feeding and kernels."""
        held = self.feed.held or (self.buffered and not self.kernels[0].holds_inputs[0])
        feeding = "held" if held else "streamed"
        return {"feeding": feeding, **{name: kernel.name for name, kernel in self.named.items()}}

    @property
    def kernel(self) -> str:
        """How the weights of the first matrix product are read, or how trees are evaluated."""
        return next(kernel.name for kernel in self.kernels if kernel.names_plan)

    def with_means(self, means: Sequence[float]) -> Plan:
        """Return the plan with other mean cycles, one for each of its steps."""
        left = iter(means)
        costs = (
            replace(cost, steps=tuple(replace(step, mean=next(left)) for step in cost.steps))
            for cost in self.costs
        )
        return replace(self, costs=tuple(costs))

    def facts(self) -> dict[str, str]:
        """Return the kernels and the mean cycles."""
        return {
            "kernels": ", ".join(f"{name} {choice}" for name, choice in self.choices.items()),
            "mean": f"about {self.mean_cycles:,.0f} cycles",
        }

    def to_json(self) -> JsonObject:
        """Return the kernel, the steps and their sums with the package's JSON names."""
        return {
            "kernel": self.kernel,
            "mean_cycles": self.mean_cycles,
            "estimated": self.estimated,
            "flags": BOUND_FLAGS,
            "stages": [asdict(step) for step in self.steps],
        }


@dataclass(frozen=True, eq=False)
class PartialPlan:
    """The kernels of the last stages of a chain, and their costs."""

    kernels: tuple[Kernel, ...] = ()
    costs: tuple[Cost, ...] = ()

    def behind(self, kernel: Kernel, activity: Activity, feed: Feed | None = None) -> PartialPlan:
        """Return the partial plan that begins a stage earlier, given that stage's activity."""
        cost = kernel.cost(feed, self.called, activity)
        return PartialPlan((kernel, *self.kernels), (cost, *self.costs))

    def completed(
        self, first: Kernel, activity: Activity, *, held: bool, chunk: int | None = None
    ) -> Plan:
        """Return the plan with the first stage; see `plan_with`."""
        values = first.stage.n_inputs
        pushed = values if held else min(values, chunk or first.chunk)
        feed = Feed(values, pushed, held=held and first.holds_inputs[0])
        whole = self.behind(first, activity, feed)
        costs = (_with_entry(whole.costs[0], feed, first.core), *self.costs)
        plan = Plan(feed, costs, first.core, whole.kernels)
        return replace(plan, costs=tuple(map(_with_number, plan.named, whole.kernels, costs)))

    @property
    def called(self) -> Calls:
        """Mean cycles of calls that push values into it."""
        return self.costs[0].called if self.costs else without_calls

    @cached_property
    def takes(self) -> tuple[float, ...]:
        """Cycles, flash and SRAM, and cycles of calls with all or single values; less is better."""
        cycles = sum(step.mean for cost in self.costs for step in cost.steps)
        flash = sum(cost.tables + cost.code for cost in self.costs)
        values = self.kernels[0].stage.n_inputs
        calls = (self.called(Feed(values, chunk)) for chunk in (values, 1))
        return cycles, flash, sum(cost.state for cost in self.costs), *calls

    def dominates(self, other: PartialPlan) -> bool:
        """Whether it needs less of something than another one, and more of nothing else."""
        return self.takes != other.takes and all(
            one <= two for one, two in zip(self.takes, other.takes, strict=True)
        )


def check_parts(names: Sequence[str], core: Core) -> None:
    """Raise `InputError` if there are parts, by their names, which a chip cannot have."""
    for name in names:
        raise InputError(
            f"{core.chip} cannot have the part '{name}' of the model; leave it out, or choose "
            "another board"
        )


def of_each_stage(stages: Sequence[IntegerStage], activity: Activity | None) -> list[Activity]:
    """Return each stage's part of an activity; if there is none, inputs are never 0."""
    if activity is None:
        return [Activity(np.ones(stage.n_inputs)) for stage in stages]
    return list(activity.of_each(stages))


def plan_with(
    kernels: Sequence[Kernel],
    activity: Activity | None = None,
    *,
    held: bool = True,
    chunk: int | None = None,
) -> Plan:
    """Return the plan with a kernel for each stage, from the inputs to the class, all of one core.

    Mean cycles follow from an activity; without one, inputs are assumed never to be 0. The firmware
    may hold all values before it computes, or push a `chunk` of them at once, by default as many as
    the first kernel states.
    """
    activities = of_each_stage([kernel.stage for kernel in kernels], activity)
    end = PartialPlan()
    for kernel, of_stage in reversed([*zip(kernels[1:], activities[1:], strict=True)]):
        end = end.behind(kernel, of_stage)
    return end.completed(kernels[0], activities[0], held=held, chunk=chunk)


def _with_entry(cost: Cost, feed: Feed, core: Core) -> Cost:
    """Return the cost of the first stage and of the public functions, which feed it.

    There is one function for all if the stage reads the firmware's array. Otherwise, others begin
    and end the prediction, and the stage itself counts the calls that push.
    """
    step, *others = cost.steps
    calls, pushes = (1, 0) if feed.held else (2 + feed.whole, feed.calls)
    entry = (_CALLED_CYCLES + core.call_cycles) * calls + _ENTRY_CYCLES * (calls + pushes)
    return replace(cost, steps=(replace(step, mean=step.mean + entry), *others))


def _with_number(name: str, kernel: Kernel, cost: Cost) -> Cost:
    """Return the cost of the second stage of a kind with the number in its steps' names, too."""
    number = name.removeprefix(kernel.stage.kind)
    if not number:
        return cost
    return replace(cost, steps=tuple(replace(step, name=step.name + number) for step in cost.steps))
