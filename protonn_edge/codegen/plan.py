"""The plan of a generated program: a kernel for each stage, how it is fed, and the costs.

The cost of a kernel depends on its stage's integers. Cycles are about those of a point without a
value of 0. Plans are ordered by them, and nothing else is: cycles are measured on the chip, and
their bound comes from the linked program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels.compiled import bytes_of
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import cycles_of
from protonn_edge.model.integer_stage import stage_names
from protonn_edge.system.errors import InputError
from protonn_edge.system.facts_repr import FactsRepr
from protonn_edge.system.schema import JsonObject

# Flash of the firmware besides the stages, and SRAM besides their variables, including the stack;
# measured on linked programs.
_CODE_BYTES = 3_300
_FIRMWARE_SRAM_BYTES = 200

ENTRY_BYTES = bytes_of("uint16_t", "uint8_t", "uint8_t")
"""SRAM of the public functions: the number of features left, whether a prediction has begun, and
the last class."""


_CALLED_CYCLES = cycles_of("call") + cycles_of("ret")
_ENTRY_CYCLES = cycles_of("sei") + ENTRY_BYTES * cycles_of("sts") + cycles_of("cli")
"""What the firmware measures of a public function, besides the call and the work."""


class PlannedStage(NamedTuple):
    """A stage of a plan, as reports list it."""

    name: str
    kernel: str  # the way to compute it
    flash_bytes: int  # of constants and, approximately, code


class DevicePlan(Protocol):
    """What is known of a device's program before it is linked."""

    @property
    def core(self) -> Core | None:
        """The kind of chip, if cycles are estimated for it."""

    @property
    def limit_bytes(self) -> int | None:
        """Flash that programs with the C have; None if it was planned for no board."""

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
    def steps(self) -> tuple[PlannedStage, ...]:
        """The stages; none if their flash is not predicted."""

    @property
    def cycles(self) -> float | None:
        """About the cycles of a prediction without an input of 0, by which plans are compared."""

    def facts(self) -> dict[str, str]:
        """Return what was predicted, for people."""

    def to_json(self) -> JsonObject:
        """Return what was predicted, with the package's JSON names."""


@dataclass(frozen=True, eq=False)
class ProgramCost:
    """Costs of a generated program: flash and SRAM in bytes, and cycles of a prediction."""

    feed: Feed  # how the firmware feeds the first kernel
    costs: tuple[Cost, ...]  # the costs of each kernel, from the inputs to the class
    core: Core  # the kind of chip

    @property
    def table_bytes(self) -> int:
        """Flash of the constant tables that a prediction reads; a lower bound when linked."""
        return sum(cost.tables for cost in self.costs)

    @property
    def state_bytes(self) -> int:
        """SRAM of the model's own variables, with the library's buffer of pushed features."""
        return self.predicting_bytes + (self.feed.values if self.feed.held else 0)

    @property
    def predicting_bytes(self) -> int:
        """SRAM of the model's own variables in a program that only calls ``pnn_predict``."""
        return ENTRY_BYTES + sum(cost.state for cost in self.costs)

    @property
    def flash_bytes(self) -> int:
        """Estimated flash of the firmware."""
        return sum(cost.flash for cost in self.costs) + _CODE_BYTES

    @property
    def sram_bytes(self) -> int:
        """Estimated SRAM of the firmware, including the stack."""
        return self.predicting_bytes + self.feed.chunk + _FIRMWARE_SRAM_BYTES

    @property
    def chunk_features(self) -> int:
        """Features that the firmware collects before pushing them; one call is enough for all."""
        return self.feed.chunk

    @property
    def buffered(self) -> bool:
        """Whether the firmware holds all features before it computes."""
        return self.feed.whole

    @property
    def order(self) -> float:
        """What plans are compared by: about the cycles by the work, for no input of 0."""
        return sum(cost.cycles for cost in self.costs)

    @property
    def cycles(self) -> float | None:
        """About the cycles of a prediction without an input of 0; None if they are not known.

        A chip without a multiplier executes C in place of the listings.
        """
        return self.order if self.core.multiplies else None


@dataclass(frozen=True, eq=False)
class Plan(ProgramCost, FactsRepr):
    """The program to generate, and its costs."""

    kernels: tuple[Kernel, ...]  # one for each stage, from the inputs to the class
    limit_bytes: int | None = None  # flash that programs have; None if planned for no board

    @cached_property
    def named(self) -> dict[str, Kernel]:
        """The kernels by the names of their stages."""
        names = stage_names(kernel.stage.kind for kernel in self.kernels)
        return dict(zip(names, self.kernels, strict=True))

    @property
    def steps(self) -> tuple[PlannedStage, ...]:
        """The stages."""
        stages = zip(self.named.items(), self.costs, strict=True)
        return tuple(PlannedStage(name, each.name, cost.flash) for (name, each), cost in stages)

    def of(self, name: str) -> Any:
        """Return the kernel of the stage of this name; None if there is none."""
        return self.named.get(name)

    @cached_property
    def choices(self) -> dict[str, str]:
        """What distinguishes this plan from the model's others: feeding and kernels."""
        feeding = "held" if self.buffered else "streamed"
        return {"feeding": feeding, **{name: kernel.name for name, kernel in self.named.items()}}

    @property
    def unfolds(self) -> bool:
        """Whether trees become instructions."""
        return self.kernels[0].is_instructions

    @property
    def kernel(self) -> str:
        """How the weights of the first matrix product are read, or how trees are evaluated."""
        return next(kernel.name for kernel in self.kernels if kernel.names_plan)

    def facts(self) -> dict[str, str]:
        """Return the kernels."""
        return {
            "kernels": ", ".join(f"{name} {choice}" for name, choice in self.choices.items()),
        }

    def to_json(self) -> JsonObject:
        """Return the kernel and the stages with the package's JSON names."""
        return {
            "kernel": self.kernel,
            "stages": [stage._asdict() for stage in self.steps],
        }


@dataclass(frozen=True, eq=False)
class PartialPlan:
    """The kernels of the last stages of a chain, and their costs."""

    kernels: tuple[Kernel, ...] = ()
    costs: tuple[Cost, ...] = ()

    def behind(self, kernel: Kernel, feed: Feed | None = None) -> PartialPlan:
        """Return the partial plan that begins a stage earlier."""
        cost = kernel.cost(feed)
        return PartialPlan((kernel, *self.kernels), (cost, *self.costs))

    def completed(self, first: Kernel, chunk: int | None = None) -> Plan:
        """Return the plan with the first stage; see `plan_with`."""
        values = first.stage.n_inputs
        # Without a multiplier, a chip is too slow for the line.
        held = first.holds_inputs or not first.core.multiplies
        pushed = values if held else min(values, chunk or first.chunk)
        feed = Feed(values, pushed, held=first.holds_inputs)
        whole = self.behind(first, feed)
        # There is one public function for all if the stage reads the firmware's array. Otherwise,
        # others begin and end the prediction, and the stage itself counts the calls that push.
        calls, pushes = (1, 0) if feed.held else (2 + feed.whole, feed.calls)
        entry = (_CALLED_CYCLES + first.core.call_cycles) * calls + _ENTRY_CYCLES * (calls + pushes)
        cost = replace(whole.costs[0], cycles=whole.costs[0].cycles + entry)
        return Plan(feed, (cost, *self.costs), first.core, whole.kernels)

    @cached_property
    def takes(self) -> tuple[float, int, int]:
        """Cycles, flash and SRAM; less is better."""
        cycles = sum(cost.cycles for cost in self.costs)
        flash = sum(cost.flash for cost in self.costs)
        return cycles, flash, sum(cost.state for cost in self.costs)

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


def plan_with(kernels: Sequence[Kernel], chunk: int | None = None) -> Plan:
    """Return the plan with a kernel for each stage, from the inputs to the class, all of one core.

    A first kernel that holds no inputs gets a `chunk` of them at once, by default as many as it
    states.
    """
    end = PartialPlan()
    for kernel in reversed(kernels[1:]):
        end = end.behind(kernel)
    return end.completed(kernels[0], chunk)
