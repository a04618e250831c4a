"""The kernels of a forest: a walk through tables, or instructions, with all inputs in SRAM."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import (
    INPUTS_AT_ONCE,
    SAVED_BY_CALLEE,
    SAVED_REGISTER_CYCLES,
    Cost,
    Feed,
    HeldInputs,
    Kernel,
    Push,
    Step,
)
from protonn_edge.kernels.listing import Listing
from protonn_edge.kinds.forest.if_else import IfElse
from protonn_edge.kinds.forest.integers import ForestTable, IntegerForest, Places

_ADD = """
    movw r26, %[scores]
    add  r26, %[a]
    adc  r27, __zero_reg__
    add  r26, %[a]
    adc  r27, __zero_reg__
    ld   r0, X
    add  r0, %[b]
    st   X+, r0
    ld   r0, X
    adc  r0, __zero_reg__
"""
_SIGN = """
    sbrc %[b], 7
    dec  r0 ; its sign
"""
_STORE = """
    st   X, r0
"""


@dataclass(frozen=True)
class WalkCycles:
    """The exact cycles of the walk."""

    class_start: int  # to set a score
    # to go left, or right, from an inner node
    left: int
    right: int
    tree: int  # around the walk through a tree, its leaf's mark included
    pair: int  # to add to a score, including the count of pairs, if leaves have one
    count: int  # around the pairs of a leaf
    around: int  # around all


@dataclass(frozen=True)
class Walk:
    """The loop, for a table whose fields have these bytes; see `integers`."""

    feature_bytes: int
    skip_bytes: int
    counts: bool
    vote: int
    first_mark: int

    @classmethod
    def of(cls, table: ForestTable) -> Walk:
        """Return the walk through a table."""
        return cls(
            table.feature_bytes, table.skip_bytes, table.counts, table.vote, table.first_mark
        )

    @cached_property
    def listing(self) -> Listing:
        """The instructions: Z points to the table, X to inputs and scores."""
        lower, upper = ("%[b]", "%[a]") if self.feature_bytes == 2 else ("%[a]", "__zero_reg__")
        more_feature = "lpm %[b], Z+ ; its lower byte" if self.feature_bytes == 2 else ""
        more_skip = "lpm %[b], Z+" if self.skip_bytes == 2 else ""
        skip_upper = "%[b]" if self.skip_bytes == 2 else "__zero_reg__"
        adding = self._counted() if self.counts else self._marked()
        return Listing(
            f"""
                movw r26, %[scores]
            start:
                lpm  %[a], Z+ ; what the scores begin with
                st   X+, %[a]
                lpm  %[a], Z+
                st   X+, %[a]
                dec  %[left]
                brne start
            tree:
                lpm  %A[end], Z+ ; where the next tree begins
                lpm  %B[end], Z+
                add  %A[end], r30
                adc  %B[end], r31
            node:
                lpm  %[a], Z+ ; the feature, or the mark of a leaf
                cpi  %[a], {self.first_mark}
                brcc leaf
                {more_feature}
                movw r26, %[values]
                add  r26, {lower}
                adc  r27, {upper}
                ld   %[a], X
                lpm  %[b], Z+ ; the threshold
                cp   %[b], %[a]
                brcs right
                adiw r30, {self.skip_bytes}
                rjmp node
            right:
                lpm  %[a], Z+ ; passes over the left subtree
                {more_skip}
                add  r30, %[a]
                adc  r31, {skip_upper}
                rjmp node
            leaf:
                {adding}
            ended:
                movw r30, %[end]
                sbiw %[trees], 1
                brne tree
            """
        )

    def _marked(self) -> str:
        """Return the instructions that add to the score of a leaf's mark."""
        value = f"ldi %[b], {self.vote}" if self.vote else "lpm %[b], Z+"
        return f"subi %[a], {self.first_mark}\n{value}\n{_ADD}{'' if self.vote else _SIGN}{_STORE}"

    def _counted(self) -> str:
        """Return the instructions that add to the number of scores in a leaf."""
        return f"""
            lpm  %[left], Z+
            pair:
            lpm  %[a], Z+ ; the class
            lpm  %[b], Z+ ; what is added to its score
            {_ADD}{_SIGN}{_STORE}
            dec  %[left]
            brne pair
        """

    @cached_property
    def cycles(self) -> WalkCycles:
        """The cycles of the paths."""

        def way(begin: str, end: str, **odds: int) -> int:
            return round(self.listing.mean(begin, [end], {"%[b], 7": 1, **odds}))

        pair = way("pair", "pair", pair=1) if self.counts else way("leaf", "ended")
        return WalkCycles(
            class_start=way("start", "start", start=1),
            left=way("node", "node", leaf=0, right=0),
            right=way("node", "node", leaf=0, right=1),
            tree=way("tree", "node") + way("node", "leaf", leaf=1) + way("ended", "tree", tree=1),
            pair=pair,
            count=way("leaf", "pair") - 1 if self.counts else 0,
            around=1 - 2,  # X is set; the last branches of two loops are not taken
        )


# Compiled code, measured on the emulator (avr-gcc 5.4 at -O2): on average and at most. Around the
# walk, or the instructions besides saving registers.
_AROUND_WALK, _AROUND_CODE = (55, 75), (13, 40)

_SAVED_BYTES = 4  # of saving a register

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
        return sum(int(register[1:]) in SAVED_BY_CALLEE for register in self.code.registers)

    @property
    def around_cycles(self) -> tuple[int, int, int]:
        """Cycles of setting registers and scores, and of compiled code."""
        always = self.code.around_cycles + SAVED_REGISTER_CYCLES * self._saved
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
