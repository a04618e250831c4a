"""An implementation of an integer stage on a chip: its cost, and its template's variables.

Plans are chosen by bytes, and by about the cycles of a point without a value of 0. Bounds come from
the linked program alone (`avr.paths`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.registry import STAGES
from protonn_edge.system.schema import JsonObject


@dataclass(frozen=True)
class Feed:
    """How a stage is fed: `chunk` of its `values` at once, and then the rest."""

    values: int
    chunk: int
    held: bool = True  # whether it reads all in an array, or takes them as they arrive

    @property
    def whole(self) -> bool:
        """Whether one call passes all values."""
        return self.chunk >= self.values

    @property
    def calls(self) -> int:
        """The number of calls."""
        return -(-self.values // self.chunk)


@dataclass(frozen=True)
class Step:
    """One step of a prediction, as plans and reports list it."""

    # the stage, and the way to compute it
    name: str
    kernel: str
    flash_bytes: int  # of constants and, approximately, code
    cycles: float  # about, on points without an input of 0

    def to_json(self) -> JsonObject:
        """Return what is known of its program."""
        return {"name": self.name, "kernel": self.kernel, "flash_bytes": self.flash_bytes}

    def on(self, core: Core, products: float = 0.0, bits: float = compiled.PRODUCT_BITS) -> Step:
        """Return the step on a chip; without a multiplier, C takes the place of the listings.

        `products` is about the number of products of two variables that are not 0, and `bits` the
        mean length of their multipliers.
        """
        if core.multiplies:
            return self
        cycles = compiled.without_multiplier(self.cycles, products, bits)
        return replace(self, kernel="portable C", cycles=cycles)


@dataclass(frozen=True)
class Cost:
    """The cost of a kernel."""

    steps: tuple[Step, ...]  # its cycles
    # flash of constants, and approximately of code
    tables: int
    code: int
    state: int  # SRAM of variables


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
    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost, with about the cycles of a point without a value of 0.

        - `feed`: how the firmware feeds it; None if there is a previous stage.
        """

    def _in_one_step(
        self, cycles: float, tables: int, *, products: float = 0.0, **more: Any
    ) -> Cost:
        """Return the cost of a single step with these cycles and bytes of tables.

        For `products`, see `Step.on`; `more` are fields of `Cost`.
        """
        code = code_bytes(self)
        step = Step(self.stage.kind, self.name, tables + code, cycles)
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

    @property
    @abstractmethod
    def assembly(self) -> float:
        """About the cycles of the assembly, with its call."""

    @property
    def products(self) -> float:
        """About the number of products of two variables."""
        return 0.0

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        return self._in_one_step(
            self.assembly,
            self.table_bytes,
            products=self.products,
            state=self.stage.n_outputs * self.stage.output.bits // 8,
        )
