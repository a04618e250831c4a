"""The kernel of a forest that walks through its table, with all inputs in SRAM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.kinds.forest import IF_ELSE, LEAF_LISTS, PACKED, WALK
from protonn_edge.kinds.forest.integers import IntegerForest

BEGIN = """
    movw r26, %[scores]
start:
    lpm  %[a], Z+ ; the initial scores
    st   X+, %[a]
    lpm  %[a], Z+
    st   X+, %[a]
    dec  %[left]
    brne start
tree:
"""
TREE = """
    lpm  %A[end], Z+ ; where the next tree begins
    lpm  %B[end], Z+
    add  %A[end], r30
    adc  %B[end], r31
"""
END_OF_TREE = """
ended:
    movw r30, %[end]
    sbiw %[trees], 1
    brne tree
"""
ADD = """
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
STORE = """
    st   X, r0
"""
_COUNTED = f"""
    lpm  %[left], Z+
    pair:
    lpm  %[a], Z+ ; the class
    lpm  %[b], Z+ ; the value to add to its score
    {ADD}
    sbrc %[b], 7
    dec  r0 ; its sign
    {STORE}
    dec  %[left]
    brne pair
"""
_CLASS = """
class:
    lpm  %A[score], Z+ ; the initial score
    lpm  %B[score], Z+
    lpm  r24, Z+ ; how many trees add to it
    lpm  r25, Z+
tree:
    sbiw r24, 1
    brcs added
"""
_ADDED = """
    lpm  %[b], Z+
    add  %A[score], %[b]
    adc  %B[score], %[a]
    movw r30, %[end]
    rjmp tree
added:
    movw r26, %[scores]
    st   X+, %A[score]
    st   X+, %B[score]
    movw %[scores], r26
    dec  %[left]
    brne class
"""


# Cycles of a test, around a tree, and of a score that a leaf adds to, by kernel.
_CYCLES = {
    WALK: (26, 25, 20),
    IF_ELSE: (4.2, 2, 8),
    LEAF_LISTS: (4.2, 20, 20),
    PACKED: (30, 40, 20),
}


@dataclass(frozen=True, eq=False)
class ForestKernel(Kernel):
    """Walks through a table."""

    names_plan: ClassVar[bool] = True

    stage: IntegerForest
    name: str = WALK

    @cached_property
    def listing(self) -> Listing:
        """The instructions: Z points to the table, X to inputs and scores."""
        table = self.stage.table
        lower, upper = ("%[b]", "%[a]") if table.feature_bytes == 2 else ("%[a]", "__zero_reg__")
        more_feature = "lpm %[b], Z+ ; its lower byte" if table.feature_bytes == 2 else ""
        more_skip = "lpm %[b], Z+" if table.skip_bytes == 2 else ""
        skip_upper = "%[b]" if table.skip_bytes == 2 else "__zero_reg__"
        voted = f"subi %[a], {table.first_mark}\nldi %[b], {table.vote}\n{ADD}{STORE}"
        marked = (_COUNTED if table.counts else voted) + END_OF_TREE
        return Listing(
            f"""
            {BEGIN if table.classes is None else _CLASS}
            {TREE}
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
                {marked if table.classes is None else _ADDED}
            """
        )

    @property
    def changed(self) -> tuple[str, ...]:
        """The registers that instructions change; none for a walk."""
        return ()

    def _way(self, begin: str, end: str, **taken: int) -> int:
        """Return the cycles from a label to another."""
        return self.listing.path(begin, [end], {"%[b], 7": 1, **taken})

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
        roots, start = trees.roots.size, "start"
        if table.classes is not None:
            roots, start = roots + scores, "class"  # the loop over trees is left once a class
        return {start: Passed(scores, scores), "tree": Passed(roots, roots)} | {
            label: Passed(most, least, name="way", weight=weight)
            for label, weight in weights.items()
            if weight
        }

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The instructions."""
        return (self.listing,)

    @property
    def table_bytes(self) -> int:
        """Flash of the trees."""
        return self.stage.table.n_bytes

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost, where the leaves of a tree are reached as often."""
        trees = self.stage.trees
        every = np.ones(len(trees.features), np.int64)
        depths, starts = trees.down(every, every)[~trees.inner], trees.leaf_starts
        numbers = np.diff(np.append(starts, len(depths)))
        tests = float((np.add.reduceat(depths, starts) / numbers).sum())
        of_test, of_tree, of_pair = _CYCLES[self.name]
        pairs = float(self.stage.table.pairs.mean())
        cycles = of_test * tests + (of_tree + of_pair * pairs) * len(trees.roots)
        scores = self.stage.n_outputs * self.stage.output.bits // 8
        return self._with_code(cycles, self.table_bytes, state=scores)

    @property
    def lines(self) -> tuple[bytes, ...]:
        """The bytes of initial scores and of each tree."""
        return self.stage.table.lines
