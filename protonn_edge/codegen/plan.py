"""The plan of a generated program: a kernel for each stage, the feeding, and the costs.

The cost of a kernel follows from its stage's integers, their proven ranges, and the activity on the
points that the model is for (`Activity`). Costs are accumulated from the last stage to the first:
pushing into a stage is part of the cost of the stage before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from protonn_edge.avr.cores import BOUND_FLAGS, UNO_CORE, Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_stage import IntegerStage, stage_names
from protonn_edge.kernels.kernel import CHUNK_CYCLES, Cost, Feed, Kernel, Push, Step
from protonn_edge.system.shown import Shown

# Flash of the firmware besides the stages, and SRAM besides their variables, including the stack;
# measured on linked programs.
_CODE_BYTES = 3_300
_FIRMWARE_SRAM_BYTES = 200

ENTRY_BYTES = 4
"""SRAM of the public functions: the number of features left, whether a prediction has begun, and
the last class."""

# What they take of a prediction, by the compiler, on average and at most; and of its pnn_begin.
_ENTRY_CYCLES, _ENTRY_BEGIN_CYCLES = (20, 30), 20


@dataclass(frozen=True, eq=False)
class Plan(Shown):
    """The program to generate, and its costs.

    Attributes
    ----------
    kernels : tuple of Kernel
        One for each stage, from the inputs to the class.
    feed : Feed
        How the firmware feeds the first one.
    costs : tuple of Cost
        What each takes.
    core : Core
        The kind of chip for which cycles are counted. If it has no multiplier, the compiler
        generates the loops, and cycles are an estimate.
    """

    kernels: tuple[Kernel, ...]
    feed: Feed
    costs: tuple[Cost, ...]
    core: Core = UNO_CORE

    @cached_property
    def named(self) -> dict[str, Kernel]:
        """The kernels by the names of their stages."""
        names = stage_names(kernel.kind for kernel in self.kernels)
        return dict(zip(names, self.kernels, strict=True))

    def of(self, name: str) -> Any:
        """Return the kernel of the stage of this name; None if there is none."""
        return self.named.get(name)

    @cached_property
    def choices(self) -> dict[str, str]:
        """What distinguishes this plan from the model's others: feeding and kernels."""
        feeding = "held" if self.buffered else "streamed"
        return {"feeding": feeding, **{name: kernel.name for name, kernel in self.named.items()}}

    @property
    def kernel(self) -> str:
        """How the weights of the first matrix product are read, or how trees are evaluated."""
        return next(kernel.name for kernel in self.kernels if kernel.names_plan)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of a prediction."""
        return tuple(step for cost in self.costs for step in cost.steps)

    @property
    def push(self) -> Push:
        """The cost of pushing the received bytes."""
        push = self.costs[0].push
        assert push is not None
        return push

    @property
    def table_bytes(self) -> int:
        """Flash of the constant tables that a prediction reads; a lower bound when linked."""
        return sum(cost.tables for cost in self.costs)

    @property
    def state_bytes(self) -> int:
        """SRAM of the model's own variables."""
        return ENTRY_BYTES + sum(cost.state for cost in self.costs)

    @property
    def flash_bytes(self) -> int:
        """Estimated flash of the firmware."""
        return self.table_bytes + sum(cost.code for cost in self.costs) + _CODE_BYTES

    @property
    def sram_bytes(self) -> int:
        """Estimated SRAM of the firmware, including the stack."""
        buffers = self.feed.chunk + sum(cost.buffer for cost in self.costs)
        return self.state_bytes + buffers + _FIRMWARE_SRAM_BYTES

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
    def fed_feature_cycles(self) -> float:
        """Bound of the cycles per feature when features arrive over the serial line."""
        if self.buffered:
            return 0.0
        chunk = max(1, (CHUNK_CYCLES - self.push.call) // self.push.value)
        return self.push.value + self.push.call / chunk

    @property
    def mean_cycles(self) -> float | None:
        """Mean cycles of a prediction, if the activity is known."""
        means = [step.mean for step in self.steps]
        return None if None in means else sum(mean for mean in means if mean is not None)

    @property
    def least_cycles(self) -> int:
        """Lower bound of a prediction's cycles; 0 if cycles are an estimate.

        Every stage takes its cheapest path: inputs that are 0, or not 0 if that is cheaper, and
        distances abandoned at the first possible coordinate. Code generated by the compiler is not
        counted.
        """
        if self.estimated:
            return 0
        return sum(step.least for step in self.steps) - sum(cost.spares for cost in self.costs)

    @property
    def worst_cycles(self) -> int:
        """Upper bound of a prediction's cycles; an estimate if `estimated` is true."""
        return sum(step.worst for step in self.steps) - self.exclusive_cycles

    @property
    def bound(self) -> str:
        """The bound in words, with the chip and the compiler's flags for which it holds."""
        most = "about" if self.estimated else "at most"
        return f"{most} {self.worst_cycles:,} cycles on {self.core.chip}, compiled by {BOUND_FLAGS}"

    @property
    def begin_cycles(self) -> int:
        """Bound of the cycles of ``pnn_begin``."""
        return sum(cost.begin for cost in self.costs)

    def with_means(self, means: Sequence[float | None]) -> Plan:
        """Return the plan with other mean cycles, one for each of its steps."""
        left = iter(means)
        costs = (
            replace(cost, steps=tuple(replace(step, mean=next(left)) for step in cost.steps))
            for cost in self.costs
        )
        return replace(self, costs=tuple(costs))

    @property
    def exclusive_cycles(self) -> int:
        """Cycles by which the sum of the steps' bounds exceeds the bound of any input."""
        return sum(cost.exclusive for cost in self.costs)

    def facts(self) -> dict[str, str]:
        """Return the kernels and the cycles."""
        mean = {} if self.mean_cycles is None else {"mean": f"about {self.mean_cycles:,.0f} cycles"}
        return {
            "kernels": ", ".join(f"{name} {choice}" for name, choice in self.choices.items()),
            **mean,
            "bound": self.bound,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the kernel, the steps and their sums with the package's JSON names."""
        return {
            "kernel": self.kernel,
            "cycles": {
                "least": self.least_cycles,
                "mean": self.mean_cycles,
                "worst": self.worst_cycles,
            },
            "estimated": self.estimated,
            "flags": BOUND_FLAGS,
            "stages": [asdict(step) for step in self.steps],
        }


def of_each_stage(
    stages: Sequence[IntegerStage], activity: Activity | None
) -> list[Activity | None]:
    """Return each stage's part of an activity, if there is one."""
    return [None] * len(stages) if activity is None else list(activity.of_each(stages))


def plan_with(
    kernels: Sequence[Kernel], activity: Activity | None = None, *, held: bool = True
) -> Plan:
    """Return the plan with a kernel for each stage, from the inputs to the class.

    Parameters
    ----------
    kernels : sequence of Kernel
        All of one core.
    activity : Activity, optional
        Activity for mean cycles.
    held : bool
        Whether the firmware holds all values before it computes.
    """
    first = kernels[0]
    values = first.stage.n_inputs
    feed = Feed(values, values if held else min(values, first.chunk))
    known = of_each_stage([kernel.stage for kernel in kernels], activity)
    costs: list[Cost] = []
    following: Push | None = None
    for place, kernel in reversed(list(enumerate(kernels))):
        cost = kernel.cost(None if place else feed, following, known[place])
        costs.insert(0, cost)
        following = cost.push
    costs[0] = _with_entry(costs[0])
    plan = Plan(tuple(kernels), feed, tuple(costs), first.core)
    numbered = map(_with_number, plan.named, kernels, costs)
    return replace(plan, costs=tuple(numbered))


def _with_entry(cost: Cost) -> Cost:
    """Return the cost of the first stage with that of the public functions, which feed it."""
    step, *others = cost.steps
    mean, worst = _ENTRY_CYCLES
    step = replace(
        step, mean=None if step.mean is None else step.mean + mean, worst=step.worst + worst
    )
    return replace(cost, steps=(step, *others), begin=cost.begin + _ENTRY_BEGIN_CYCLES)


def _with_number(name: str, kernel: Kernel, cost: Cost) -> Cost:
    """Return the cost of the second stage of a kind with the number in its steps' names, too."""
    number = name.removeprefix(kernel.kind)
    if not number:
        return cost
    return replace(cost, steps=tuple(replace(step, name=step.name + number) for step in cost.steps))
