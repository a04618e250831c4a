"""The walk through a forest in assembly, with the cycles of each of its paths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.kernels.listing import Listing
from protonn_edge.kinds.forest.table import ForestTable

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
    """The exact cycles of the walk.

    Attributes
    ----------
    class_start : int
        To set a score.
    left, right : int
        To go left, or right, from an inner node.
    tree : int
        Around the walk through a tree, its leaf's mark included.
    pair : int
        To add to a score, including the count of pairs, if leaves have one.
    count : int
        Around the pairs of a leaf.
    around : int
        Around all.
    """

    class_start: int
    left: int
    right: int
    tree: int
    pair: int
    count: int
    around: int


@dataclass(frozen=True)
class Walk:
    """The loop, for a table whose fields have these bytes; see `stages.forest.table`."""

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
