"""The kernel of a tree of gated sums: a walk through its table, with all inputs in SRAM.

The walk is in assembly, and the cycles of each part are known. X and Z point to inputs, scores and
the table. r20:r19:r18 is a sum, r21 an input, r22 a weight, r23 a gate. r16 counts rows, r24 and
r25 weights, r15 levels; r13:r12 is the address of the next score, and r17 is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.cores import Core
from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Kernel
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.codegen.kernels.matvec.loops import COUNTED_IN_A_BYTE
from protonn_edge.extensions.research.kinds.bonsai import DENSE, SPARSE
from protonn_edge.extensions.research.kinds.bonsai.integers import (
    LARGEST_SHIFT,
    IntegerBonsaiTree,
)
from protonn_edge.model.integer_stage import IntArray

# From a shifted sum to its gate in r23: the index is limited, then made non-negative.
_GATE = """
                subi r19, 0x80 ; from 0 on
                sbci r20, 0xff
                tst  r20
                breq inside
                ldi  r19, 0xff ; limited
                sbrc r20, 7
                clr  r19
            inside:
                movw r10, r30
                ldi  r30, lo8(%[gates])
                ldi  r31, hi8(%[gates])
                add  r30, r19
                adc  r31, r17
                lpm  r23, Z
                movw r30, r10
"""

# Adds the product of a shifted sum and its gate, without the lowest byte, to the next score.
_ADD = """
                mulsu r23, r19 ; times the gate, without the lowest byte
                sbc  r18, r18
                mov  r21, r1
                muls r23, r20
                add  r21, r0
                adc  r18, r1
                movw r26, r12
                ld   r0, X
                add  r0, r21
                st   X+, r0
                ld   r0, X
                adc  r0, r18
                st   X+, r0
                movw r12, r26
"""


@dataclass(frozen=True)
class WalkCycles:
    """Cycles of the walk."""

    around: int  # for the setup, without the rows of scores
    clear: int  # to clear a score
    node: int  # around the rows of a node
    weight: int  # per weight, in any row
    row: float  # around the weights of both rows of a score
    leaf: int  # at the end of a leaf
    # around the weights of a branch, including the way to the left or right node
    left: int
    right: int


def _shifted(shift: int) -> str:
    """Return the instructions that shift a sum right and leave 16 bits in r20:r19."""
    right = "asr r20\nror r19\nror r18\n" * shift + "mov r20, r19\nmov r19, r18\n"
    left = "lsl r18\nrol r19\nrol r20\n" * (LARGEST_SHIFT - shift)
    return min(right, left, key=len)


@dataclass(frozen=True, eq=False)
class BonsaiTreeKernel(Kernel):
    """Walks through the tree; inputs are the projection's outputs, or in a buffer."""

    names_plan: ClassVar[bool] = True

    # registers that the walk uses in addition to Z and its operands
    clobbered: ClassVar[tuple[int, ...]] = (*range(10, 28), 0)

    stage: IntegerBonsaiTree

    @classmethod
    def of(cls, stage: IntegerBonsaiTree, core: Core) -> tuple[Kernel, ...]:
        """Return its only kernel, named after the storage of rows, which the stage chooses."""
        return (cls(stage, core, SPARSE if stage.flash.sparse else DENSE),)

    @cached_property
    def listing(self) -> Listing:
        """The instructions."""
        stage = self.stage
        branch = f"""
                tst  r15
                breq done
                dec  r15
            branch:
                {self._sum("branch_weight")}
            branched:
                lpm  r22, Z+ ; bytes of the left subtree
                lpm  r23, Z+
                sbrc r20, 7
                rjmp node ; on the left
                add  r30, r22
                adc  r31, r23
                rjmp node
        """
        return Listing(
            f"""
            start:
                clr  r17
                ldi  r16, {stage.depth}
                mov  r15, r16
                ldi  r16, {stage.n_rows}
                movw r26, %[scores]
            clear:
                st   X+, r17
                st   X+, r17
                dec  r16
                brne clear
            node:
                movw r12, %[scores]
                ldi  r16, {stage.n_rows}
            row:
                {self._sum("gate_weight")}
            gated:
                {_shifted(stage.gate_shift)}
                {_GATE}
            weight:
                {self._sum("weight_weight")}
            weighted:
                {_shifted(stage.weight_shift)}
                {_ADD}
                dec  r16
                breq ended
                rjmp row
            ended:
                {branch if stage.depth else ""}
            done:
                clr  __zero_reg__
            finish:
            """
        )

    def _sum(self, each: str) -> str:
        """Return the instructions that add a row's products; `each` is the label of the loop."""
        n_inputs, sparse = self.stage.n_inputs, self.stage.flash.sparse
        multiply = "muls" if self.stage.signed else "mulsu"
        wide = not sparse and n_inputs > COUNTED_IN_A_BYTE
        if sparse:
            count = "lpm  r24, Z+"
            fetch = "lpm  r21, Z+\nadd r26, r21\nadc r27, r17\nld r21, X"
        else:
            count = f"ldi r24, {n_inputs & 0xFF}"
            count += f"\nldi r25, {n_inputs >> 8}" if wide else ""
            fetch = "ld   r21, X+"
        return f"""
                lpm  r18, Z+ ; the initial value of the sum
                lpm  r19, Z+
                lpm  r20, Z+
                {count}
                movw r26, %[values]
            {each}:
                {fetch}
                lpm  r22, Z+
                {multiply} r22, r21
                sbc  r20, r17 ; less 1 if the product is negative
                add  r18, r0
                adc  r19, r1
                adc  r20, r17
                {"sbiw r24, 1" if wide else "dec  r24"}
                brne {each}
        """

    @property
    def facts(self) -> Facts:
        """The passes of labels; weights are limited together, by the path with most weights."""
        stage, levels = self.stage, self.stage.depth + 1
        rows = stage.flash.entries(stage.gates) + stage.flash.entries(stage.weights)
        nodes = rows.reshape(stage.n_nodes, -1).sum(axis=1)
        branches = stage.flash.entries(stage.branches)
        most, least = (_along(choose, nodes, branches) for choose in (max, min))
        loops = ["gate_weight", "weight_weight", *["branch_weight"] * bool(stage.depth)]
        scores, ways = stage.n_rows, stage.n_rows * levels
        return {
            "clear": Passed(scores, scores),
            "node": Passed(levels, levels),
            "row": Passed(ways, ways),
            **{label: Passed(most, least, name="weights") for label in loops},
        }

    @cached_property
    def cycles(self) -> WalkCycles:
        """The cycles of the parts."""
        walk, depth = self.listing, self.stage.depth

        def way(begin: str, end: str, taken: dict[str, int] | None = None) -> int:
            return walk.path(begin, [end], taken or {})

        # The last branch of a loop is not taken, which saves a cycle.
        around_sum = way("row", "gate_weight") - 1
        around_row = 2 * around_sum + way("weighted", "row", {"ended": 0})
        # An index within the table's range, or beyond either end of it, on average.
        ways = {"inside": 1}, {"inside": 0, "r20, 7": 0}, {"inside": 0, "r20, 7": 1}
        gate = [walk.path("gated", ["weight"], taken) for taken in ways]
        left = right = 0
        if depth:
            going = way("ended", "branch", {"done": 0}) + around_sum
            left, right = (going + way("branched", "node", {"r20, 7": share}) for share in (0, 1))
        return WalkCycles(
            around=way("start", "clear") - 1 + way("done", "finish"),
            clear=way("clear", "clear", {"clear": 1}),
            node=way("node", "row") - 1,
            weight=way("gate_weight", "gate_weight", {"gate_weight": 1}),
            row=around_row + (min(gate) + max(gate)) / 2,
            leaf=way("ended", "done", {"done": 1}) if depth else 0,
            left=left,
            right=right,
        )

    @property
    def node_cycles(self) -> NDArray[np.float64]:
        """The mean cycles of each node (nodes,), without its children."""
        stage, cycles = self.stage, self.cycles
        rows = stage.flash.entries(stage.gates) + stage.flash.entries(stage.weights)
        rows = rows.reshape(stage.n_nodes, -1)
        nodes: NDArray[np.float64] = cycles.node + (cycles.weight * rows + cycles.row).sum(axis=1)
        return nodes

    def branch_cycles(self, right: bool) -> IntArray:
        """Return cycles of going left, or right, from each inner node (inner,)."""
        cycles, entries = self.cycles, self.stage.flash.entries(self.stage.branches)
        return (cycles.right if right else cycles.left) + cycles.weight * entries

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The walk."""
        return (self.listing,)

    @property
    def table_bytes(self) -> int:
        """Flash of the tree and the tanh."""
        return len(self.stage.flash.content) + int(self.stage.table.size)

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        setup = self.cycles.around + self.cycles.clear * self.stage.n_rows
        cycles = compiled.calls(1, self.core) + setup + self._mean(self._shares)
        scores = self.stage.n_outputs * self.stage.output.bits // 8
        return self._with_code(cycles, self.table_bytes, state=scores)

    @property
    def _shares(self) -> NDArray[np.float64]:
        """The share of points that pass each node, if half of them go left."""
        levels = np.log2(np.arange(1, self.stage.n_nodes + 1)).astype(np.int64)
        return np.exp2(-levels).astype(np.float64)

    def _mean(self, shares: NDArray[np.float64]) -> float:
        """Return the mean cycles of paths, given the share of points that pass each node."""
        inner = len(self.stage.branches.bias)
        left, right = (shares[1 + k :: 2] @ self.branch_cycles(bool(k)) for k in (0, 1))
        leaf = self.cycles.leaf * float(shares[inner:].sum())
        return float(shares @ self.node_cycles + left + right) + leaf


def _along(choose: Callable[[int, int], int], nodes: IntArray, branches: IntArray) -> int:
    """Return the sum over nodes and branches along the path that `choose` selects."""
    whole, inner = nodes.tolist(), branches.tolist()
    for k in reversed(range(len(inner))):
        whole[k] += inner[k] + choose(whole[2 * k + 1], whole[2 * k + 2])
    return int(whole[0])


kernels = BonsaiTreeKernel.of
