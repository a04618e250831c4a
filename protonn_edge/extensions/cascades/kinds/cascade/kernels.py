"""The kernels of a cascade: a kernel for each stage of its two models, all inputs held in SRAM.

Each model is a program of its own within the program: its stages have the same templates, with
names of their own, and are fed all inputs at once. Of all combinations, those are offered that need
less time, flash or SRAM than the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from typing import Any, ClassVar, TypeVar

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.in_templates import StageInTemplate
from protonn_edge.codegen.kernels.kernel import (
    Cost,
    Feed,
    Kernel,
    code_bytes,
    kernels_of,
)
from protonn_edge.codegen.kernels.words import Words, words_of
from protonn_edge.extensions.cascades.kinds.cascade.head import PARTS
from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    IntegerCascade,
    PartStages,
)
from protonn_edge.model.integer_stage import stage_names

_USUAL_SHARE = 0.1  # of points that are passed on
_CALLS = 1.5  # of the functions that a model's program has, most of which are inlined
_LONGEST_NAME = 80  # of a kernel in build.json

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class PartStage(StageInTemplate):
    """A stage of one of the models; none of its inputs are watched.

    Its variables are members of a struct, and the template lists their names by declaring them.
    """

    static: ClassVar[str] = ""

    previous: PartStage | None = None
    next: PartStage | None = None
    names: dict[str, None] = field(default_factory=dict)  # of variables, in their order
    watched: ClassVar[range] = range(0)
    watching: ClassVar[str] = ""
    streamed: ClassVar[bool] = False

    def variable(self, name: str = "") -> str:
        """Return the name of a variable, and list it."""
        own = super().variable(name)
        self.names[own] = None
        return own

    @cached_property
    def words(self) -> Words:
        """Its constants and variables on chips of 32 bits."""
        return words_of(self.stage)


@dataclass(frozen=True, eq=False)
class PartProgram:
    """One of the models in generated C: its name, and its stages."""

    n: str
    stages: tuple[PartStage, ...]
    bits: int  # of its scores

    @classmethod
    def of(cls, n: str, kernels: Sequence[Kernel]) -> PartProgram:
        """Return the program with a kernel for each stage."""
        names = (f"{n}_{name}" for name in stage_names(each.stage.kind for each in kernels))
        stages = [PartStage(name, kernel) for name, kernel in zip(names, kernels, strict=True)]
        for one, other in pairwise(stages):
            object.__setattr__(one, "next", other)
            object.__setattr__(other, "previous", one)
        return cls(n, tuple(stages), kernels[-1].stage.output.bits)

    @property
    def N(self) -> str:  # noqa: N802  (n in capitals)
        """The name of its macros."""
        return self.n.upper()

    @property
    def score_t(self) -> str:
        """The type of its scores in C."""
        return self.stages[-1].score_t

    @property
    def scores(self) -> str:
        """The name of its scores."""
        return f"{self.stages[-1].n}_scores"


@dataclass(frozen=True, eq=False)
class PartPlan:
    """Kernels of the last stages of a model, or of all, and their costs."""

    kernels: tuple[Kernel, ...] = ()
    costs: tuple[Cost, ...] = ()

    def behind(self, kernel: Kernel, *, first: bool) -> PartPlan:
        """Return the plan that begins a stage earlier, with all inputs at once if it is `first`."""
        n = kernel.stage.n_inputs
        feed = Feed(n, n) if first else None
        cost = kernel.cost(feed)
        return PartPlan((kernel, *self.kernels), (cost, *self.costs))

    @property
    def takes(self) -> tuple[float, int, int]:
        """Mean cycles, flash and SRAM."""
        cycles = sum(cost.cycles for cost in self.costs)
        flash = sum(cost.flash for cost in self.costs)
        return cycles, flash, self.state

    @property
    def state(self) -> int:
        """SRAM that it needs while it computes."""
        return sum(cost.state for cost in self.costs)

    @property
    def choices(self) -> Iterator[str]:
        """The names of kernels that were chosen among others."""
        for kernel in self.kernels:
            if len(kernels_of(kernel.stage, kernel.core)) > 1:
                yield kernel.name

    @classmethod
    def with_kernels(cls, kernels: Sequence[Kernel]) -> PartPlan:
        """Return the plan with a kernel for each stage."""
        plan = cls()
        for place in reversed(range(len(kernels))):
            plan = plan.behind(kernels[place], first=not place)
        return plan

    @classmethod
    def every(cls, part: PartStages, core: Core) -> list[PartPlan]:
        """Return the plans of a model that are worth it."""
        plans = [cls()]
        for place in reversed(range(len(part.stages))):
            able = kernels_of(part.stages[place], core)
            grown = [plan.behind(kernel, first=not place) for kernel in able for plan in plans]
            plans = _worthwhile(grown, lambda plan: plan.takes)
        return plans


def _worthwhile(
    every: Iterable[Item], takes: Callable[[Item], tuple[float, int, int]]
) -> list[Item]:
    """Return those that need less of something than any other that needs no more of the rest."""
    kept: list[tuple[Item, tuple[float, int, int]]] = []
    for taken, _, item in sorted((takes(each), place, each) for place, each in enumerate(every)):
        if not any(all(a <= b for a, b in zip(other, taken, strict=True)) for _, other in kept):
            kept.append((item, taken))
    return [item for item, _ in kept]


@dataclass(frozen=True, eq=False)
class CascadeKernel(Kernel):
    """A kernel for each stage of the two models."""

    names_plan: ClassVar[bool] = True

    stage: IntegerCascade
    kernels: tuple[tuple[Kernel, ...], tuple[Kernel, ...]] = ((), ())

    @classmethod
    def of(cls, stage: IntegerCascade, core: Core) -> tuple[Kernel, ...]:
        """Return the pairs of plans that are worth it."""
        if not core.multiplies or core.in_words:
            chosen = [
                tuple(kernels_of(each, core)[0] for each in part.stages) for part in _parts(stage)
            ]
            return (cls(stage, core, "portable", (chosen[0], chosen[1])),)
        pairs = product(*(PartPlan.every(part, core) for part in _parts(stage)))
        made = [
            cls(
                stage,
                core,
                _name_of(pair),
                (pair[0].kernels, pair[1].kernels),
            )
            for pair in _worthwhile(pairs, _pair_takes)
        ]
        return tuple(made)

    @property
    def zeros_bytes(self) -> int:
        """Bytes that are set to 0 again if both models compute."""
        return sum(sum(each.zeros.values()) for part in self.kernels for each in part)

    @cached_property
    def programs(self) -> tuple[PartProgram, ...]:
        """Both models."""
        return tuple(PartProgram.of(n, each) for n, each in zip(PARTS, self.kernels, strict=True))

    @property
    def scales(self) -> Any:
        """The scales of values that a model's features convert as raw values are converted."""
        found = [each.scales for part in self.kernels for each in part if hasattr(each, "scales")]
        if not found:
            raise AttributeError("no stage converts values like raw ones")
        return [scale for scales in found for scale in scales]

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost: of the second model, a share of the cycles."""
        plans = [PartPlan.with_kernels(kernels) for kernels in self.kernels]
        costs = [cost for plan in plans for cost in plan.costs]
        first, second = (plan.takes[0] for plan in plans)
        scores = self.stage.n_outputs * self.stage.output.bits // 8
        return Cost(
            first + _USUAL_SHARE * second + self._between(_USUAL_SHARE),
            sum(cost.tables for cost in costs),
            sum(cost.code for cost in costs) + code_bytes(self),
            max(plan.state for plan in plans) + scores,
        )

    def _between(self, share: float) -> float:
        """Return the cycles of the margin and of the scores, and of calls."""
        n, width = self.stage.n_outputs, self.stage.output.bits // 8
        searched = compiled.TURN_CYCLES * n * self.programs[0].bits // 8
        written = compiled.TURN_CYCLES * (n * width * (1 + share) + share * self.zeros_bytes)
        return searched + written + compiled.calls(_CALLS * (1 + share), self.core)


def _name_of(pair: Sequence[PartPlan]) -> str:
    """Return the kernels that were chosen among others; of deep networks, their first letters."""
    name = "; ".join(" ".join(plan.choices) or "-" for plan in pair)
    if len(name) <= _LONGEST_NAME:
        return name
    return "; ".join("".join(each[0] for each in plan.choices) or "-" for plan in pair)


def _parts(stage: IntegerCascade) -> tuple[PartStages, PartStages]:
    return stage.first, stage.second


def _pair_takes(pair: tuple[PartPlan, ...]) -> tuple[float, int, int]:
    first, second = (plan.takes for plan in pair)
    cycles = first[0] + _USUAL_SHARE * second[0]
    return cycles, first[1] + second[1], max(first[2], second[2])


kernels = CascadeKernel.of
