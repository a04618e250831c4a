"""An implementation of an integer stage on a chip: its cost, and its template's variables.

Plans are chosen by bytes, and by about the cycles of a point without a value of 0: a constant or
two of a kernel times its work, such as products or tests. Bounds come from the linked program alone
(`avr.paths`). Chips without a multiplier execute C in place of the kernels; there, cycles only
order the plans.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.model.integer_stage import IntegerStage
from protonn_edge.model.registry import STAGES

_BYTES_AROUND = 300  # flash of the C around the listings of a stage


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
class Cost:
    """The cost of a kernel."""

    cycles: float  # about, on points without an input of 0
    # flash of constants, and approximately of code
    tables: int
    code: int
    state: int  # SRAM of variables

    @property
    def flash(self) -> int:
        """Flash of all."""
        return self.tables + self.code


@dataclass(frozen=True, eq=False)
class Kernel(ABC):
    """An implementation of an integer stage for one kind of chip."""

    # whether firmware holds all values before it computes; else, it collects a `chunk` of them
    # before it pushes these
    holds_inputs: ClassVar[bool] = True
    chunk: ClassVar[int] = 64
    # whether a plan is named after it if it is the first such kernel; each kind of classifier has
    # one
    names_plan: ClassVar[bool] = False
    # whether it takes flash for speed, as does C that tests raw floats
    is_instructions: ClassVar[bool] = False

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

    @property
    def zeros(self) -> Mapping[str, int]:
        """Variables that must be 0 where a prediction does not set them, and their bytes."""
        return {}

    @abstractmethod
    def cost(self, feed: Feed | None, /) -> Cost:
        """Return its cost, with about the cycles of a point without a value of 0.

        - `feed`: how the firmware feeds it; None if there is a previous stage.
        """

    def _with_code(self, cycles: float, tables: int, *, state: int) -> Cost:
        """Return the cost with these cycles and bytes of tables, and with the code's bytes."""
        return Cost(cycles, tables, code_bytes(self), state)


KERNELS: MutableMapping[str, Callable[[Any, Core], tuple[Kernel, ...]]] = STAGES
"""Functions that return the kernels of an integer stage, by its kind."""


def kernels_of(stage: IntegerStage, core: Core) -> tuple[Kernel, ...]:
    """Return the kernels of a stage for chips with this core, in order of preference."""
    return KERNELS[stage.kind](stage, core)


def code_bytes(kernel: Kernel) -> int:
    """Return the flash of a kernel's code, approximately."""
    return _BYTES_AROUND + sum(each.code_bytes for each in kernel.listings)
