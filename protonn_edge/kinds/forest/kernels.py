"""The kernels of a forest: a walk through a table, or instructions, with all inputs in SRAM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from protonn_edge.avr.instruction_set import KEPT_BY_CALLEE
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.cores import Core
from protonn_edge.kernels import compiled
from protonn_edge.kernels.kernel import HeldKernel, Kernel
from protonn_edge.kernels.listing import Facts, Listing, Passed
from protonn_edge.kinds.forest import IF_ELSE, WALK
from protonn_edge.kinds.forest.if_else import IfElse, can_be_instructions
from protonn_edge.kinds.forest.integers import ForestTable, IntegerForest

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
_COUNTED = f"""
    lpm  %[left], Z+
    pair:
    lpm  %[a], Z+ ; the class
    lpm  %[b], Z+ ; the value to add to its score
    {_ADD}{_SIGN}{_STORE}
    dec  %[left]
    brne pair
"""


@dataclass(frozen=True, eq=False)
class ForestKernel(HeldKernel):
    """Walks through a table."""

    stage: IntegerForest
    name: str = WALK

    @classmethod
    def of(cls, stage: IntegerForest, core: Core) -> tuple[Kernel, ...]:
        """Return its kernels: the walk and, if possible, the instructions."""
        able = core.multiplies and can_be_instructions(stage.table)
        return (cls(stage, core), IfElseKernel(stage, core)) if able else (cls(stage, core),)

    @cached_property
    def listing(self) -> Listing:
        """The instructions: Z points to the table, X to inputs and scores."""
        table = self.stage.table
        lower, upper = ("%[b]", "%[a]") if table.feature_bytes == 2 else ("%[a]", "__zero_reg__")
        more_feature = "lpm %[b], Z+ ; its lower byte" if table.feature_bytes == 2 else ""
        more_skip = "lpm %[b], Z+" if table.skip_bytes == 2 else ""
        skip_upper = "%[b]" if table.skip_bytes == 2 else "__zero_reg__"
        return Listing(
            f"""
                movw r26, %[scores]
            start:
                lpm  %[a], Z+ ; the initial scores
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
                cpi  %[a], {table.first_mark}
                brcc leaf
                {more_feature}
                movw r26, %[values]
                add  r26, {lower}
                adc  r27, {upper}
                ld   %[a], X
                lpm  %[b], Z+ ; the threshold
                cp   %[b], %[a]
                brcs right
                adiw r30, {table.skip_bytes}
                rjmp node
            right:
                lpm  %[a], Z+ ; passes over the left subtree
                {more_skip}
                add  r30, %[a]
                adc  r31, {skip_upper}
                rjmp node
            leaf:
                {_COUNTED if table.counts else _marked(table)}
            ended:
                movw r30, %[end]
                sbiw %[trees], 1
                brne tree
            """
        )

    @property
    def changed(self) -> tuple[str, ...]:
        """The registers that instructions change; none for a walk."""
        return ()

    def _way(self, begin: str, end: str, **odds: int) -> int:
        """Return the cycles from a label to another."""
        return round(self.listing.mean(begin, [end], {"%[b], 7": 1, **odds}))

    @cached_property
    def leaf_cycles(self) -> IntArray:
        """Cycles of a tree for each leaf that may be reached, (leaves,)."""
        way, trees, table = self._way, self.stage.trees, self.stage.table
        every = np.ones(len(trees.features), np.int64)
        left, right = (way("node", "node", leaf=0, right=taken) * every for taken in (0, 1))
        tree = way("tree", "node") + way("node", "leaf", leaf=1) + way("ended", "tree", tree=1)
        tree += way("leaf", "pair") - 1 if table.counts else 0
        pair = way("pair", "pair", pair=1) if table.counts else way("leaf", "ended")
        return tree + trees.down(left, right)[~trees.inner] + pair * table.pairs

    @property
    def facts(self) -> Facts:
        """The passes of labels, with the longest path to a leaf in each tree."""
        trees, table, scores = self.stage.trees, self.stage.table, self.stage.n_outputs
        every = np.ones(len(trees.features), np.int64)
        left, right = (self._way("node", "node", leaf=0, right=taken) for taken in (0, 1))
        pair = self._way("pair", "pair", pair=1) if table.counts else 0
        leaves = left + trees.down(left * every, right * every)[~trees.inner] + pair * table.pairs
        ends = (each.reduceat(leaves, trees.leaf_starts) for each in (np.maximum, np.minimum))
        most, least = (int(each.sum()) for each in ends)
        weights = {"node": left, "right": right - left, "pair": pair}
        roots = trees.roots.size
        return {"start": Passed(scores, scores), "tree": Passed(roots, roots)} | {
            label: Passed(most, least, name="way", weight=weight)
            for label, weight in weights.items()
            if weight
        }

    @property
    def cycles_once(self) -> float:
        """Cycles of the assembly outside trees, and of its call."""
        # X is set already; the last branches of two loops are not taken.
        around = self._way("start", "start", start=1) * self.stage.n_outputs + 1 - 2
        return around + compiled.calls(1, self.core)

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The instructions."""
        return (self.listing,)

    @property
    def table_bytes(self) -> int:
        """Flash of the trees."""
        return self.stage.table.n_bytes

    def assembly(self, activity: Activity) -> float:
        """Return the mean cycles of all trees, and of the code around them.

        If the activity is unknown, all leaves of a tree are reached as often.
        """
        starts, leaves = self.stage.trees.leaf_starts, self.leaf_cycles
        (shares,) = activity.stages.get(self.stage.kind, (np.ones(len(leaves)),))
        # In a file of unknown origin, shares need not add up to 1 per tree.
        every = np.add.reduceat(shares, starts)
        means = np.add.reduceat(shares * leaves, starts) / np.maximum(every, 1e-300)
        return self.cycles_once + float(means.sum())

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The bytes of the initial scores, and of each tree."""
        content = self.stage.table.content
        sizes = [2 * self.stage.n_outputs, *(2 + self.stage.table.tree_bytes).tolist()]
        ends = np.cumsum(sizes).tolist()
        return tuple(content[end - size : end] for size, end in zip(sizes, ends, strict=True))


def _marked(table: ForestTable) -> str:
    """Return the instructions that add to the score of a leaf's mark."""
    value = f"ldi %[b], {table.vote}" if table.vote else "lpm %[b], Z+"
    return f"subi %[a], {table.first_mark}\n{value}\n{_ADD}{'' if table.vote else _SIGN}{_STORE}"


@dataclass(frozen=True, eq=False)
class IfElseKernel(ForestKernel):
    """Nodes are instructions."""

    name: str = IF_ELSE

    @property
    def code(self) -> IfElse:
        """The instructions."""
        return if_else_of(self.stage)

    @property
    def listing(self) -> Listing:
        """The instructions."""
        return self.code.written.listing

    @property
    def facts(self) -> Facts:
        """Nothing: there are no loops."""
        return {}

    @property
    def changed(self) -> tuple[str, ...]:
        """The registers that the instructions change."""
        return self.code.registers

    @property
    def leaf_cycles(self) -> IntArray:
        """Cycles of a tree for each leaf that may be reached, (leaves,)."""
        return self.code.leaf_cycles

    @property
    def _saved(self) -> int:
        """The number of changed registers that a function must save."""
        return sum(int(register[1:]) in KEPT_BY_CALLEE for register in self.changed)

    @property
    def cycles_once(self) -> float:
        """Cycles of setting registers and scores."""
        return self.code.around_cycles + compiled.SAVED_CYCLES * self._saved

    @property
    def table_bytes(self) -> int:
        """No flash: there are no tables."""
        return 0


@lru_cache(maxsize=8)
def if_else_of(stage: IntegerForest) -> IfElse:
    """Return the instructions of a stage, cached because all its plans share them."""
    return IfElse(stage.table)


kernels = ForestKernel.of
