"""One way to compute an integer stage on a chip: what it takes, and what its C is made of.

Values are pushed from stage to stage, and costs are folded the other way: what it takes to push
into a stage is part of what the one before it takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards.cores import Core
from protonn_edge.stages.activity import Activity
from protonn_edge.stages.integer_stage import IntegerStage

CHUNK_CYCLES = 2_500
"""What the firmware lets a push take with interrupts disabled.

At 115,200 baud a byte arrives every 1,389 cycles, and the fourth after the first would be lost.
"""


@dataclass(frozen=True, eq=False)
class Push:
    """What pushing values into a stage takes: bounds.

    Attributes
    ----------
    value, zero : int
        Cycles of a value, and of one that is 0.
    call : int
        Cycles of a call besides its values.
    whole : int
        Cycles of all calls, besides the values, where these are there all at once.
    more : ndarray of shape (n,), int64
        Cycles that each value takes more if it is not 0.
    least : int
        Cycles that all values take at least.
    skips_zeros : bool
        Whether values that are 0 need not be pushed if others follow.
    whole_mean : float
        As `whole`, but on average, about, where the stage knows it.
    """

    value: int
    zero: int
    call: int
    whole: int
    more: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    least: int = 0
    skips_zeros: bool = False
    whole_mean: float = 0.0


@dataclass(frozen=True)
class Feed:
    """How the firmware feeds the first stage: `chunk` of its `values` at once, at most."""

    values: int
    chunk: int

    @property
    def whole(self) -> bool:
        """Whether all values come in one call."""
        return self.chunk >= self.values

    def chunks(self, push: Push, costs: Sequence[float]) -> list[int]:
        """Return how many values of these cycles the firmware pushes at once, time after time."""
        chunks, cycles = [0], float(push.call)
        for each in costs:
            chunks[-1], cycles = chunks[-1] + 1, cycles + each
            if cycles + push.value > CHUNK_CYCLES or chunks[-1] == self.chunk:
                chunks.append(0)
                cycles = float(push.call)
        return chunks if chunks[-1] else chunks[:-1]

    def calls(self, push: Push, costs: Sequence[float]) -> int:
        """Return how often the firmware pushes values of these cycles."""
        return len(self.chunks(push, costs))


@dataclass(frozen=True)
class Step:
    """One step of a prediction, as plans and reports list it.

    Attributes
    ----------
    name, kernel : str
        What it does, and how.
    flash_bytes : int
        Its constants and, about, its code.
    mean : float or None
        Cycles on points of the activity that the plan was made for; None if that is not known.
    worst : int
        Cycles that no input exceeds.
    least : int
        Cycles that no input goes below.
    """

    name: str
    kernel: str
    flash_bytes: int
    mean: float | None
    worst: int
    least: int

    def on(self, core: Core, portable: float) -> Step:
        """Return the step on a chip.

        One that cannot multiply has the compiler's loops, which take so many times the cycles.
        """
        if core.multiplies:
            return self
        mean = None if self.mean is None else portable * self.mean
        worst = ceil(portable * self.worst)
        return replace(self, kernel="portable C", mean=mean, worst=worst, least=0)


@dataclass(frozen=True)
class Cost:
    """What a kernel takes.

    Attributes
    ----------
    steps : tuple of Step
        Its cycles.
    tables, code : int
        Flash of constants, and, about, of code.
    state : int
        SRAM of variables.
    buffer : int
        SRAM that the firmware takes for what it feeds, where this is the first stage.
    push : Push, optional
        What pushing into it takes; None where the stage before leaves its values in place.
    begin : int
        Of the cycles, those of ``pnn_begin``, at most.
    exclusive : int
        How many cycles of the bounds no input takes together.
    spares : int
        Cycles of the next stage's least that need not be taken.
    """

    steps: tuple[Step, ...]
    tables: int
    code: int
    state: int
    buffer: int = 0
    push: Push | None = None
    begin: int = 0
    exclusive: int = 0
    spares: int = 0


class Kernel(ABC):
    """One way to compute an integer stage on a kind of chip.

    Attributes
    ----------
    stage : IntegerStage
        What it computes.
    name : str
        What tells it from the stage's other kernels: "columns", "held".
    template : str
        The file of ``templates/c`` that has its C.
    chunk : int
        Values that the firmware collects before it pushes them, where it does not hold all.
    names_plan : bool
        Whether a plan has its name, where it is the first such kernel: a user may ask for it.
    feedings : tuple of bool
        Whether the firmware may hold all values, where this is the first stage; in order of choice.
    """

    name: str
    template: ClassVar[str]
    chunk: ClassVar[int] = 64
    names_plan: ClassVar[bool] = False
    stage: IntegerStage
    core: Core

    @property
    def kind(self) -> str:
        """The kind of its stage."""
        return self.stage.kind

    def needed_for(self, name: str) -> str:  # noqa: ARG002
        """Return what its stage lacks for a kernel of this name; the middle of a sentence."""
        return "another kind of model"

    @property
    def feedings(self) -> tuple[bool, ...]:
        """Whether the firmware may hold all values: what is pushed must take a known time."""
        return (True, False) if self.core.multiplies else (True,)

    @abstractmethod
    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None) -> Cost:
        """Return what it takes.

        Parameters
        ----------
        feed : Feed or None
            How the firmware feeds it; None if a stage comes before it.
        following : Push or None
            What pushing into the next stage takes.
        activity : Activity or None
            What the means are for.
        """

    @abstractmethod
    def context(self) -> Any:
        """Return what its template sees: numbers computed, names escaped."""
