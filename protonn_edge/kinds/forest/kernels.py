"""The kernels of a forest: a walk through tables, or instructions, with all inputs in SRAM."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.held_inputs import INPUTS_AT_ONCE, HeldInputs
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kernels.listing import Listing
from protonn_edge.kinds.forest.if_else import IfElse
from protonn_edge.kinds.forest.integers import IntegerForest
from protonn_edge.kinds.forest.trees import Places
from protonn_edge.kinds.forest.walk import Walk, WalkCycles

# Compiled code, measured on the emulator (avr-gcc 5.4 at -O2): on average and at most. Around the
# walk, or the instructions besides saving registers.
_AROUND_WALK, _AROUND_CODE = (55, 75), (13, 40)

_CALL_SAVED = range(2, 18)  # registers
_SAVED_CYCLES, _SAVED_BYTES = 4, 4  # of one

_WALK_BYTES, _COPYING_BYTES = 260, 120  # of code

# Time of the compiler's loops relative to assembly, on a chip without a multiplier: four forests
# of digits took 1.2 to 1.5 times as many cycles on the emulated ATtiny85.
_PORTABLE = 1.5


WALK, IF_ELSE = KERNELS = ("walk", "if-else")


@dataclass(frozen=True, eq=False)
class ForestKernel(Kernel):
    """Evaluates a forest; inputs are in a buffer of the firmware or the library."""

    template: ClassVar[str] = "forest/forest.j2"
    chunk: ClassVar[int] = INPUTS_AT_ONCE
    names_plan: ClassVar[bool] = True

    stage: IntegerForest
    core: Core

    @property
    @abstractmethod
    def listing(self) -> Listing:
        """The assembly: a walk through the table, or trees as instructions."""

    @property
    def changed(self) -> tuple[str, ...]:
        """The registers that instructions change; none for a walk."""
        return ()

    @property
    @abstractmethod
    def leaf_cycles(self) -> Places:
        """Cycles of a tree by the leaf in which it ends, (leaves,)."""

    @property
    @abstractmethod
    def around_cycles(self) -> tuple[int, int, int]:
        """Cycles outside trees and copies of inputs: minimum, mean and maximum."""

    @property
    @abstractmethod
    def flash(self) -> tuple[int, int]:
        """Flash of tables, and approximately of code."""

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,  # noqa: ARG002  (the decision reads scores in place)
        activity: Activity | None,
    ) -> Cost:
        """Return its cost."""
        stage, (tables, code) = self.stage, self.flash
        held = HeldInputs(stage.n_inputs)
        starts, leaves = stage.trees.leaf_starts, self.leaf_cycles
        around_least, around_mean, around_worst = self.around_cycles
        mean = None
        if activity is not None:
            (shares,) = activity.stages[self.kind]
            # In a file of unknown origin, they need not add up to 1 per tree.
            every = np.add.reduceat(shares, starts)
            means = np.add.reduceat(shares * leaves, starts) / np.maximum(every, 1e-300)
            mean = around_mean + float(means.sum()) + held.mean(feed)
        worst = around_worst + int(np.maximum.reduceat(leaves, starts).sum())
        worst += held.worst(feed) + 2 * self.core.call_cycles
        least = around_least + int(np.minimum.reduceat(leaves, starts).sum())
        step = Step(self.kind, self.name, tables + code, mean, worst, least)
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=tables,
            code=code,
            state=held.state(feed) + 2 * stage.n_outputs,
            buffer=held.buffer(feed),
            push=held.push,
        )

    @property
    def lines(self) -> tuple[tuple[int, ...], ...]:
        """The bytes of the initial scores, and of each tree."""
        content = self.stage.table.content
        sizes = [2 * self.stage.n_outputs, *(2 + self.stage.table.tree_bytes).tolist()]
        ends = np.cumsum(sizes).tolist()
        return tuple(
            tuple(content[end - size : end]) for size, end in zip(sizes, ends, strict=True)
        )


@dataclass(frozen=True, eq=False)
class WalkKernel(ForestKernel):
    """Nodes are read from a table."""

    name: str = WALK

    @cached_property
    def walk(self) -> Walk:
        """The loop."""
        return Walk.of(self.stage.table)

    @cached_property
    def leaf_cycles(self) -> Places:
        """Cycles of a tree by the leaf in which it ends, (leaves,)."""
        cycles: WalkCycles = self.walk.cycles
        trees, pairs = self.stage.trees, self.stage.table.pairs
        every = np.ones(len(trees.features), np.int64)
        ways = trees.down(cycles.left * every, cycles.right * every)[~trees.inner]
        leaves: Places = cycles.tree + ways + cycles.count + cycles.pair * pairs
        return leaves

    @property
    def around_cycles(self) -> tuple[int, int, int]:
        """Cycles of setting the scores, and of compiled code."""
        always = self.walk.cycles.class_start * self.stage.n_outputs + self.walk.cycles.around
        mean, worst = _AROUND_WALK
        return always, always + mean, always + worst

    @property
    def flash(self) -> tuple[int, int]:
        """Flash of the table, and approximately of the loop."""
        return self.stage.table.n_bytes, _WALK_BYTES

    @property
    def listing(self) -> Listing:
        """The walk."""
        return self.walk.listing


@dataclass(frozen=True, eq=False)
class IfElseKernel(ForestKernel):
    """Nodes are instructions."""

    name: str = IF_ELSE

    @property
    def code(self) -> IfElse:
        """The instructions."""
        return if_else_of(self.stage)

    @property
    def leaf_cycles(self) -> Places:
        """Cycles of a tree by the leaf in which it ends, (leaves,)."""
        return self.code.leaf_cycles

    @property
    def _saved(self) -> int:
        """The number of changed registers that a function must save."""
        return sum(int(register[1:]) in _CALL_SAVED for register in self.code.registers)

    @property
    def around_cycles(self) -> tuple[int, int, int]:
        """Cycles of setting registers and scores, and of compiled code."""
        always = self.code.around_cycles + _SAVED_CYCLES * self._saved
        mean, worst = _AROUND_CODE
        return always, always + mean, always + worst

    @property
    def flash(self) -> tuple[int, int]:
        """No flash for tables, and that of the code."""
        return 0, self.code.listing.code_bytes + _SAVED_BYTES * self._saved + _COPYING_BYTES

    @property
    def listing(self) -> Listing:
        """The instructions."""
        return self.code.listing

    @property
    def changed(self) -> tuple[str, ...]:
        """Their registers."""
        return self.code.registers


@lru_cache(maxsize=8)
def if_else_of(stage: IntegerForest) -> IfElse:
    """Return the instructions of a stage, which are the same for all its plans."""
    return IfElse(stage.table)


def kernels(stage: IntegerForest, core: Core) -> tuple[Kernel, ...]:
    """Return its kernels: the walk, and instructions if trees can be instructions."""
    walk = WalkKernel(stage, core)
    able = core.multiplies and IfElse.able(stage.table)
    return (walk, IfElseKernel(stage, core)) if able else (walk,)
