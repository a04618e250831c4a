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
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.model.activity import Activity
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.registry import STAGES
from protonn_edge.system.schema import JsonObject


@dataclass(frozen=True)
class Feed:
    """How a stage is fed: `chunk` of its `values` at once, and then the rest."""

    values: int
    chunk: int

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
    mean: float  # cycles, about, on points without an input of 0

    def to_json(self) -> JsonObject:
        """Return what is known of its program."""
        return {"name": self.name, "kernel": self.kernel, "flash_bytes": self.flash_bytes}

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
    buffer: int = 0  # SRAM of the firmware's buffer, if this is the first stage
    called: Calls = without_calls  # of the previous stage


@dataclass(frozen=True, eq=False)
class Kernel(ABC):
    """An implementation of an integer stage for one kind of chip."""

    # number of values that firmware collects before it pushes them, unless it holds all
    chunk: ClassVar[int] = 64
    # whether firmware may hold all values even though the library does not need them at once
    holds_inputs: ClassVar[bool] = True
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
    def held(self) -> HeldInputs | None:
        """The buffer of its inputs, if it has one; None if it reads another stage's values."""
        return HeldInputs(self.stage.n_inputs)

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

    @property
    def pushes_whole(self) -> bool:
        """Whether it pushes all values into the next stage in one call."""
        return False

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


COUNTER_BYTES = compiled.bytes_of("uint16_t")  # SRAM of the position of the next input
INPUTS_AT_ONCE = 32  # inputs that firmware collects before pushing them into such a stage


@dataclass(frozen=True)
class HeldInputs:
    """Inputs in a buffer of the firmware, which then feeds all at once, or of the library."""

    n_inputs: int  # their number
    copying: ClassVar[Listing] = Listing(
        """
        copied: ld r0, X+
            st   Z+, r0
            subi %A[count], 1
            sbci %B[count], 0
            brne copied
        """
    )

    @property
    def facts(self) -> Facts:
        """How often the loop is passed."""
        return {"copied": Passed(self.n_inputs, self.n_inputs)}

    @property
    def value(self) -> int:
        """Cycles of copying an input."""
        return int(self.copying.path("copied", ["copied"], {"brne copied": 1}))

    def called(self, feed: Feed) -> float:
        """Return the cycles of calls that copy inputs, besides the loop."""
        return compiled.CALL_CYCLES * feed.calls

    def copied(self, feed: Feed | None) -> float:
        """Return the cycles of copying inputs, with the firmware's calls."""
        if feed is None:  # the previous stage counts its calls
            return self.value * self.n_inputs
        if feed.whole:  # the firmware's own array is read
            return 0
        return self.value * feed.values + self.called(feed)

    def state(self, feed: Feed | None) -> int:
        """Return the SRAM of the inputs and, after another stage, of the next input's position."""
        return self.n_inputs + COUNTER_BYTES * (feed is None)

    def buffer(self, feed: Feed | None) -> int:
        """Return the SRAM of the firmware's buffer, which replaces the library's."""
        return -self.n_inputs if feed is not None and feed.whole else 0


@dataclass(frozen=True, eq=False)
class HeldKernel(Kernel):
    """A classifier in assembly, in one step, with all inputs in a buffer."""

    chunk: ClassVar[int] = INPUTS_AT_ONCE
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

    def cost(self, feed: Feed | None, _: Calls, activity: Activity, /) -> Cost:
        """Return its cost."""
        held, mean = self.held, self.assembly(activity)
        more: dict[str, Any] = {
            "products": self.products(activity),
            "state": self.stage.n_outputs * self.stage.output.bits // 8,
        }
        if held is not None:
            mean += held.copied(feed)
            more["state"] += held.state(feed)
            more |= {"buffer": held.buffer(feed), "called": held.called}
        return self._in_one_step(mean, self.table_bytes, **more)
