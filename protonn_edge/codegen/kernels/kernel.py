"""An implementation of an integer stage on a chip: its mean cost, and its template's variables.

Plans are chosen by mean cycles. Bounds come from the linked program alone (`avr.paths`). Costs are
computed from the last stage to the first, because the call of the next stage is part of a stage's
cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.model.activity import Activity
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.registry import STAGES


@dataclass(frozen=True)
class Feed:
    """How a stage is fed: `chunk` of its `values` at once, and then the rest."""

    values: int
    chunk: int
    held: bool = True  # whether it reads all in an array, or takes them as they arrive

    @classmethod
    def at_once(cls, values: int) -> Feed:
        """Return how one call feeds all values."""
        return cls(values, values)

    @property
    def whole(self) -> bool:
        """Whether one call passes all values."""
        return self.chunk >= self.values

    @property
    def calls(self) -> int:
        """The number of calls."""
        return -(-self.values // self.chunk)


Calls = Callable[[Feed], float]
"""Mean cycles of the calls that feed a stage, without its work for the values."""


def without_calls(_: Feed) -> float:
    """Return 0: a stage that reads the values of the previous stage in place is not called."""
    return 0.0


@dataclass(frozen=True)
class Step:
    """One step of a prediction, as plans and reports list it."""

    # the stage, and the way to compute it
    name: str
    kernel: str
    flash_bytes: int  # of constants and, approximately, code
    mean: float  # cycles on points with the plan's activity

    def on(self, core: Core, products: float = 0.0, bits: float = compiled.PRODUCT_BITS) -> Step:
        """Return the step on a chip; without a multiplier, C takes the place of the listings.

        `products` is the mean number of products of two variables that are not 0, and `bits` the
        mean length of their multipliers.
        """
        if core.multiplies:
            return self
        mean = compiled.without_multiplier(self.mean, products, bits)
        return replace(self, kernel="portable C", mean=mean)


@dataclass(frozen=True)
class Cost:
    """The cost of a kernel."""

    steps: tuple[Step, ...]  # its cycles
    # flash of constants, and approximately of code
    tables: int
    code: int
    state: int  # SRAM of variables
    called: Calls = without_calls  # of the previous stage


@dataclass(frozen=True, eq=False)
class Kernel(ABC):
    """An implementation of an integer stage for one kind of chip."""

    # whether firmware may hold all values before it computes, or collects a `chunk` of them before
    # it pushes these; the options, preferred first
    holds_inputs: ClassVar[tuple[bool, ...]] = (True,)
    chunk: ClassVar[int] = 64
    # whether a plan is named after it, for the option --plan, if it is the first such kernel; each
    # kind of classifier has one
    names_plan: ClassVar[bool] = False

    stage: IntegerStage  # the stage that it computes
    core: Core
    name: str = ""  # its name among the stage's kernels: "columns", "held"

    @classmethod
    def of(cls, stage: Any, core: Core) -> tuple[Kernel, ...]:
        """Return the kernels of a stage for chips with this core: by default only this one."""
        return (cls(stage, core),)

    @property
    def listings(self) -> Sequence[Listing]:
        """Its loops in assembly."""
        return ()

    def needed_for(self, name: str) -> str:  # noqa: ARG002
        """Return, in words, which property the stage lacks for a kernel of this name."""
        return "another kind of model"

    @property
    def zeros(self) -> Mapping[str, int]:
        """Variables that must be 0 where a prediction does not set them, and their bytes."""
        return {}

    @abstractmethod
    def cost(self, feed: Feed | None, following: Calls, activity: Activity, /) -> Cost:
        """Return its cost.

        - `feed`: how the firmware feeds it; None if there is a previous stage.
        - `following`: the cycles of calling the next stage.
        - `activity`: the points for which cycles are estimated.
        """

    def _in_one_step(self, mean: float, tables: int, *, products: float = 0.0, **more: Any) -> Cost:
        """Return the cost of a single step with these mean cycles and bytes of tables.

        For `products`, see `Step.on`; `more` are fields of `Cost`.
        """
        code = code_bytes(self)
        step = Step(self.stage.kind, self.name, tables + code, mean)
        return Cost((step.on(self.core, products),), tables, code, **more)


KERNELS: MutableMapping[str, Callable[[Any, Core], tuple[Kernel, ...]]] = STAGES
"""Functions that return the kernels of an integer stage, by its kind."""


def kernels_of(stage: IntegerStage, core: Core) -> tuple[Kernel, ...]:
    """Return the kernels of a stage for chips with this core, in order of preference."""
    return KERNELS[stage.kind](stage, core)


def code_bytes(kernel: Kernel) -> int:
    """Return the flash of a kernel's code, approximately."""
    return compiled.STAGE_BYTES + sum(each.code_bytes for each in kernel.listings)


@dataclass(frozen=True, eq=False)
class HeldKernel(Kernel):
    """A classifier in assembly, in one step."""

    names_plan: ClassVar[bool] = True

    @property
    @abstractmethod
    def table_bytes(self) -> int:
        """Flash of its tables."""

    @abstractmethod
    def assembly(self, activity: Activity) -> float:
        """Return the mean cycles of the assembly, with its call."""

    def products(self, activity: Activity) -> float:  # noqa: ARG002
        """Return the mean number of products of two variables."""
        return 0.0

    def cost(self, _: Feed | None, __: Calls, activity: Activity, /) -> Cost:
        """Return its cost."""
        return self._in_one_step(
            self.assembly(activity),
            self.table_bytes,
            products=self.products(activity),
            state=self.stage.n_outputs * self.stage.output.bits // 8,
        )
