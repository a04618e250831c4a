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

from protonn_edge.chips.cores import Core
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


def _shifted(shift: int) -> str:
    """Return the instructions that shift a sum right and leave 16 bits in r20:r19."""
    right = "asr r20\nror r19\nror r18\n" * shift + "mov r20, r19\nmov r19, r18\n"
    left = "lsl r18\nrol r19\nrol r20\n" * (LARGEST_SHIFT - shift)
    return min(right, left, key=len)


_WEIGHT_CYCLES, _ROW_CYCLES, _BRANCH_CYCLES = 14, 90, 40


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
        stage, flash = self.stage, self.stage.flash
        rows = (flash.entries(stage.gates) + flash.entries(stage.weights)).reshape(-1)
        branches = flash.entries(stage.branches)
        of_nodes = (_WEIGHT_CYCLES * rows.sum() + _ROW_CYCLES * rows.size) / stage.n_nodes
        of_branches = (_WEIGHT_CYCLES * branches + _BRANCH_CYCLES).mean() if stage.depth else 0
        cycles = (stage.depth + 1) * of_nodes + stage.depth * of_branches
        scores = self.stage.n_outputs * self.stage.output.bits // 8
        return self._with_code(cycles, self.table_bytes, state=scores)


def _along(choose: Callable[[int, int], int], nodes: IntArray, branches: IntArray) -> int:
    """Return the sum over nodes and branches along the path that `choose` selects."""
    whole, inner = nodes.tolist(), branches.tolist()
    for k in reversed(range(len(inner))):
        whole[k] += inner[k] + choose(whole[2 * k + 1], whole[2 * k + 2])
    return int(whole[0])


kernels = BonsaiTreeKernel.of
