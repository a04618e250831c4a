"""The kernels of a cascade: a kernel for each stage of its two models, all inputs held in SRAM.

Each model is a program of its own within the program: its stages have the same templates, with
names of their own, and are fed all inputs at once. Of all combinations, those are offered that need
less time, flash or SRAM than the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, ClassVar, TypeVar

import numpy as np

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.in_templates import StageInTemplate
from protonn_edge.codegen.kernels.kernel import (
    Calls,
    Cost,
    Feed,
    Kernel,
    Step,
    code_bytes,
    kernels_of,
    without_calls,
)
from protonn_edge.codegen.kernels.words import Words, words_of
from protonn_edge.extensions.cascades.kinds.cascade.head import PARTS
from protonn_edge.extensions.cascades.kinds.cascade.integers import (
    IntegerCascade,
    PartStages,
)
from protonn_edge.model.activity import Activity
from protonn_edge.model.integer_stage import stage_names

_USUAL_SHARE = 0.1  # of points that are passed on, if it is unknown
_CALLS = 1.5  # of the functions that a model's program has, most of which are inlined
_LONGEST_NAME = 80  # of a kernel in build.json

_OWN = r"UPPER_FEATURES"
"""What each program defines; the rest of its names begins with those of its stages."""

_LEAST = re.compile(r"(\b(?:PASSED|WHOLE|SHARED)\([^,\n]+, \d+, )\d+")
"""The fact of how often places are passed at least."""

_COMMENT = re.compile(r"/\*.*?\*/")
_NAME = re.compile(r"(\w+)(?:\[[^]]*\])?[;,]")
"""A name that a declaration ends with, or one of several."""

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class PartStage(StageInTemplate):
    """A stage of one of the models; none of its inputs are watched."""

    previous: PartStage | None = None
    next: PartStage | None = None
    watched: ClassVar[range] = range(0)
    watching: ClassVar[str] = ""
    streamed: ClassVar[bool] = False

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

    def own(self, text: str, prefix: str) -> str:
        """Return C with names of this model for what each program defines with a prefix."""
        bare = prefix.rstrip("_")
        pattern = _OWN.replace("PFX", bare).replace("UPPER", bare.upper())

        def renamed(found: re.Match[str]) -> str:
            name = re.sub(rf"^{bare}_|^{bare.upper()}_", "", found[0])
            return f"{self.N if name.isupper() else self.n}_{name}"

        text = re.sub(rf"\b(?:{pattern})\b", renamed, text)
        if self.n == PARTS[-1]:  # it may not run at all
            text = _LEAST.sub(r"\g<1>0", text)
        return text

    def placed(self, text: str) -> Placed:
        """Return the variables of a stage in C as members of a struct."""
        before, members, behind, names = list[str](), list[str](), list[str](), list[str]()
        lines, open_ = list[str](), False
        for line in text.split("\n"):
            is_open = open_ or line.startswith("static ")
            lines.append(line)
            if is_open and (line.endswith("{") or (open_ and not line.startswith("}"))):
                open_ = True
            elif is_open:
                members += (each.removeprefix("static ") for each in lines)
                names += _NAME.findall(_COMMENT.sub("", line.rpartition("}")[2]))
                lines, open_ = [], False
            elif not line.startswith(("/*", " *")):  # what describes a variable stays with it
                (behind if members else before).extend(lines)
                lines = []
        (behind if members else before).extend(lines)
        texts = ("\n".join(each).strip("\n") for each in (before, members, behind))
        return Placed(next(texts), next(texts), next(texts), names)


@dataclass(frozen=True)
class Placed:
    """Variables as members of a struct: the lines before and behind it, and their names."""

    before: str
    members: str
    behind: str
    names: Sequence[str]


@dataclass(frozen=True, eq=False)
class PartPlan:
    """Kernels of the last stages of a model, or of all, and their costs."""

    kernels: tuple[Kernel, ...] = ()
    costs: tuple[Cost, ...] = ()

    @property
    def called(self) -> Calls:
        """Mean cycles of calls that push values into it."""
        return self.costs[0].called if self.costs else without_calls

    def behind(self, kernel: Kernel, activity: Activity, *, first: bool) -> PartPlan:
        """Return the plan that begins a stage earlier, with all inputs at once if it is `first`."""
        feed = Feed.at_once(kernel.stage.n_inputs) if first else None
        cost = kernel.cost(feed, self.called, activity)
        return PartPlan((kernel, *self.kernels), (cost, *self.costs))

    @property
    def takes(self) -> tuple[float, int, int]:
        """Mean cycles, flash and SRAM."""
        cycles = sum(step.mean for cost in self.costs for step in cost.steps)
        flash = sum(cost.tables + cost.code for cost in self.costs)
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
    def with_kernels(cls, kernels: Sequence[Kernel], activities: Sequence[Activity]) -> PartPlan:
        """Return the plan with a kernel for each stage."""
        plan = cls()
        for place in reversed(range(len(kernels))):
            plan = plan.behind(kernels[place], activities[place], first=not place)
        return plan

    @classmethod
    def every(cls, part: PartStages, core: Core) -> list[PartPlan]:
        """Return the plans of a model that are worth it."""
        activities = _of_each(part, part.usual)
        plans = [cls()]
        for place in reversed(range(len(part.stages))):
            able = kernels_of(part.stages[place], core)
            grown = [
                plan.behind(kernel, activities[place], first=not place)
                for kernel in able
                for plan in plans
            ]
            plans = _worthwhile(grown, lambda plan: plan.takes)
        return plans


def _of_each(part: PartStages, activity: Activity | None) -> list[Activity]:
    """Return each stage's part of an activity; if there is none, inputs are never 0."""
    if activity is None:
        return [Activity(np.ones(stage.n_inputs)) for stage in part.stages]
    return list(activity.of_each(part.stages))


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

    def cost(self, _: Feed | None, __: Calls, activity: Activity, /) -> Cost:
        """Return its cost: of the second model, the mean for the share that is passed on."""
        share, *activities = self._activities(activity)
        plans = [
            PartPlan.with_kernels(kernels, _of_each(part, own))
            for part, own, kernels in zip(_parts(self.stage), activities, self.kernels, strict=True)
        ]
        steps = [
            replace(step, name=f"{part.n} {step.name}", mean=step.mean * weight)
            for part, plan, weight in zip(self.programs, plans, (1.0, share), strict=True)
            for cost in plan.costs
            for step in cost.steps
        ]
        costs = [cost for plan in plans for cost in plan.costs]
        between = Step("passing on", "margin", code_bytes(self), self._between(share))
        steps.insert(len(plans[0].costs), between)
        scores = self.stage.n_outputs * self.stage.output.bits // 8
        return Cost(
            tuple(steps),
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

    def _activities(self, activity: Activity) -> tuple[float, Activity | None, Activity | None]:
        """Return the share that is passed on, and the activity of both models on their points."""
        first, second = _parts(self.stage)
        measured = activity.stages.get(self.stage.kind)
        if measured is None:
            return _USUAL_SHARE, first.usual, second.usual
        passed_on, *shares = measured
        share = float(passed_on[0])
        n = len(shares) - len(second.sums(np.zeros((0, self.stage.n_inputs), np.uint8)))
        others = second.usual
        if share > 0:
            others = second.activity_of(tuple(each / share for each in shares[n:]))
        return share, first.activity_of(tuple(shares[:n])), others


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
