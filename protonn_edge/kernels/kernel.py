"""An implementation of an integer stage on a chip: its cost, and its template's variables.

Values are pushed from stage to stage. Costs are computed from the last stage to the first, because
the cost of pushing into a stage is part of the previous stage's cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_stage import IntegerStage
from protonn_edge.chain.registry import STAGES
from protonn_edge.kernels.listing import Facts, Listing, Passed

CHUNK_CYCLES = 2_500
"""The maximum cycles of a push by the firmware, with interrupts disabled.

At 115,200 baud a byte arrives every 1,389 cycles, and the fourth after the first would be lost.
"""

SAVED_BY_CALLEE = range(2, 18)
"""Registers that a function must save before it changes them, besides the pointers."""

SAVED_REGISTER_CYCLES = 4  # cycles of saving a register: push and pop


@dataclass(frozen=True, eq=False)
class Push:
    """Upper bounds of the cycles of pushing values into a stage."""

    # cycles of a value, and of a value of 0
    value: int
    zero: int
    call: int  # cycles of a call, without the values
    whole: int  # cycles of all calls, without the values, if all values are available at once
    # (n,): additional cycles of each value if it is not 0
    more: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    least: int = 0  # minimum cycles of all values
    whole_mean: float = 0.0  # approximate mean of `whole`, if it is known


@dataclass(frozen=True)
class Feed:
    """How firmware feeds the first stage: at most `chunk` of its `values` at once."""

    values: int
    chunk: int

    @property
    def whole(self) -> bool:
        """Whether one call passes all values."""
        return self.chunk >= self.values

    def chunks(self, push: Push, costs: Sequence[float]) -> list[int]:
        """Return how many values the firmware pushes in each call, given the `costs` of values."""
        chunks, cycles = [0], float(push.call)
        for each in costs:
            chunks[-1], cycles = chunks[-1] + 1, cycles + each
            if cycles + push.value > CHUNK_CYCLES or chunks[-1] == self.chunk:
                chunks.append(0)
                cycles = float(push.call)
        return chunks if chunks[-1] else chunks[:-1]

    def calls(self, push: Push, costs: Sequence[float]) -> int:
        """Return how many calls the firmware needs, given the `costs` of values."""
        return len(self.chunks(push, costs))


@dataclass(frozen=True)
class Step:
    """One step of a prediction, as plans and reports list it."""

    # the stage, and the way to compute it
    name: str
    kernel: str
    flash_bytes: int  # of constants and, approximately, code
    mean: float | None  # cycles on points with the plan's activity; None if unknown
    worst: int  # upper bound of the cycles for any input
    least: int  # lower bound of the cycles for any input

    def on(self, core: Core, portable: float) -> Step:
        """Return the step on a chip; without a multiplier, C takes `portable` times the cycles."""
        if core.multiplies:
            return self
        mean = None if self.mean is None else portable * self.mean
        worst = ceil(portable * self.worst)
        return replace(self, kernel="portable C", mean=mean, worst=worst, least=0)


@dataclass(frozen=True)
class Cost:
    """The cost of a kernel."""

    steps: tuple[Step, ...]  # its cycles
    # flash of constants, and approximately of code
    tables: int
    code: int
    state: int  # SRAM of variables
    buffer: int = 0  # SRAM of the firmware's buffer, if this is the first stage
    # the cost of pushing into the kernel; None if it reads the previous stage's values in place
    push: Push | None = None
    begin: int = 0  # maximum cycles of ``pnn_begin``, included above
    exclusive: int = 0  # cycles in the bounds that no input can cause together


@dataclass(frozen=True, eq=False)
class Kernel(ABC):
    """An implementation of an integer stage for one kind of chip."""

    # number of values that firmware collects before it pushes them, unless it holds all
    chunk: ClassVar[int] = 64
    # whether firmware may hold all values even though the library does not need them at once
    holds_inputs: ClassVar[bool] = True
    # whether a plan is named after it, for the option --plan, if it is the first such kernel
    names_plan: ClassVar[bool] = False
    # on a chip without a multiplier: time of the compiler's loops relative to the assembly
    portable: ClassVar[float]

    stage: IntegerStage  # the stage that it computes
    core: Core
    name: str = ""  # its name among the stage's kernels: "columns", "held"

    @classmethod
    def of(cls, stage: Any, core: Core) -> tuple[Kernel, ...]:
        """Return the kernels of a stage for chips with this core: by default only this one."""
        return (cls(stage, core),)

    @property
    def kind(self) -> str:
        """The kind of its stage."""
        return self.stage.kind

    @property
    def held(self) -> HeldInputs | None:
        """The buffer of its inputs, if it has one; None if it reads another stage's values."""
        return HeldInputs(self.stage.n_inputs)

    def needed_for(self, name: str) -> str:  # noqa: ARG002
        """Return, in words, which property the stage lacks for a kernel of this name."""
        return "another kind of model"

    @property
    def pushes_whole(self) -> bool:
        """Whether it pushes all values into the next stage in one call."""
        return False

    @property
    def feedings(self) -> tuple[bool, ...]:
        """Whether firmware may hold all values of a first stage: the options, preferred first.

        Pushing needs a known time.
        """
        if not self.core.multiplies:
            return (True,)
        return (True, False) if self.holds_inputs else (False,)

    @abstractmethod
    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None, /) -> Cost:
        """Return its cost.

        - `feed`: how the firmware feeds it; None if there is a previous stage.
        - `following`: the cost of pushing into the next stage; None if that reads values in place.
        - `activity`: for mean cycles.
        """

    def _in_one_step(
        self, cycles: tuple[float | None, float, int], flash: tuple[int, int], **more: Any
    ) -> Cost:
        """Return the cost of a single step with these mean, maximum and minimum cycles.

        `flash` is for tables and code; `more` are fields of `Cost`.
        """
        mean, worst, least = cycles
        step = Step(self.kind, self.name, sum(flash), mean, ceil(worst), least)
        return Cost((step.on(self.core, self.portable),), *flash, **more)


KERNELS: MutableMapping[str, Callable[[Any, Core], tuple[Kernel, ...]]] = STAGES
"""Functions that return the kernels of an integer stage, by its kind."""


def kernels_of(stage: IntegerStage, core: Core) -> tuple[Kernel, ...]:
    """Return the kernels of a stage for chips with this core, in order of preference."""
    return KERNELS[stage.kind](stage, core)


COUNTER_BYTES = 2  # SRAM of the position of the next input
INPUTS_AT_ONCE = 32  # inputs that firmware collects before pushing them into such a stage


@dataclass(frozen=True)
class HeldInputs:
    """Inputs in a buffer of the firmware, which then feeds all at once, or of the library."""

    n_inputs: int  # their number
    # mean and maximum cycles of a call that copies inputs, besides the loop (avr-gcc 5.4 at -O2)
    call: ClassVar[tuple[int, int]] = (48, 80)
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

    def copied(self, feed: Feed | None, *, at_most: bool) -> int:
        """Return the mean or maximum cycles of copying inputs, with the firmware's calls."""
        if feed is None:  # the previous stage counts its calls
            return self.value * self.n_inputs
        if feed.whole:  # the firmware's own array is read
            return 0
        return self.value * feed.values + self.call[at_most] * -(-feed.values // feed.chunk)

    @property
    def push(self) -> Push:
        """The cost of pushing into the stage."""
        return Push(self.value, self.value, self.call[1], self.call[1])

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
    def around(self) -> tuple[int, int]:
        """Mean and maximum cycles of the compiler's code around the assembly."""

    @property
    @abstractmethod
    def flash(self) -> tuple[int, int]:
        """Flash of tables and, approximately, of code."""

    @abstractmethod
    def assembly(self, activity: Activity | None) -> tuple[float | None, int, int]:
        """Return the cycles of the assembly: mean, maximum and minimum."""

    def cost(self, feed: Feed | None, _: Push | None, activity: Activity | None, /) -> Cost:
        """Return its cost."""
        held, (around_mean, around_worst) = self.held, self.around
        mean, worst, least = self.assembly(activity)
        worst += around_worst + 2 * self.core.call_cycles
        more: dict[str, Any] = {"state": self.stage.n_outputs * self.stage.output_bits // 8}
        if held is not None:
            around_mean += held.copied(feed, at_most=False)
            worst += held.copied(feed, at_most=True)
            more["state"] += held.state(feed)
            more |= {"buffer": held.buffer(feed), "push": held.push}
        mean = None if mean is None else mean + around_mean
        return self._in_one_step((mean, worst, least), self.flash, **more)
