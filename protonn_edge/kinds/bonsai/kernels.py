"""The kernel of a tree of gated sums: a walk through its table, with all inputs in SRAM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.kernels.held_inputs import INPUTS_AT_ONCE, HeldInputs
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step
from protonn_edge.kinds.bonsai.integers import IntegerBonsaiTree
from protonn_edge.kinds.bonsai.walk import CLOBBERED, Walk

# Compiled code, measured on the emulator (avr-gcc 5.4 at -O2): on average and at most. Around the
# walk, less where inputs are in place.
_AROUND_MEAN, _AROUND_CYCLES = 60, 85
_IN_PLACE_MEAN = 30
_COPY_CYCLES, _COPYING_CALL_CYCLES = (7, 10), (75, 90)

DENSE, SPARSE = KERNELS = ("dense", "sparse")

_CODE_BYTES = 80  # around the walk

# Time of the compiler's loops relative to assembly, on a chip without a multiplier: five trees of
# digits took 5.8 to 6.2 times as many cycles on the emulated ATtiny85, 11 times with short rows.
_PORTABLE = 7.0


@dataclass(frozen=True, eq=False)
class BonsaiTreeKernel(Kernel):
    """Walks through the tree; inputs are in the projection's output, or in a buffer.

    Attributes
    ----------
    name : {"dense", "sparse"}
        The storage of rows, chosen by the stage.
    """

    template: ClassVar[str] = "bonsai_tree/bonsai_tree.j2"
    chunk: ClassVar[int] = INPUTS_AT_ONCE
    names_plan: ClassVar[bool] = True
    clobbered: ClassVar[tuple[int, ...]] = CLOBBERED

    stage: IntegerBonsaiTree
    core: Core
    name: str

    @cached_property
    def walk(self) -> Walk:
        """The loop."""
        stage = self.stage
        return Walk(
            stage.n_inputs,
            stage.n_rows,
            stage.depth,
            stage.weight_shift,
            stage.gate_shift,
            stage.signed,
            stage.flash.sparse,
        )

    def node_cycles(self, at_most: bool) -> IntArray:
        """Return the maximum or minimum cycles of each node (nodes,), without its children."""
        stage, cycles = self.stage, self.walk.cycles
        rows = stage.flash.entries(stage.gates) + stage.flash.entries(stage.weights)
        rows = rows.reshape(stage.n_nodes, -1)
        nodes: IntArray = cycles.node + (cycles.weight * rows + cycles.row[at_most]).sum(axis=1)
        return nodes

    def branch_cycles(self, right: bool) -> IntArray:
        """Return cycles of going left, or right, from each inner node (inner,)."""
        cycles, entries = self.walk.cycles, self.stage.flash.entries(self.stage.branches)
        return (cycles.right if right else cycles.left) + cycles.weight * entries

    @property
    def _held(self) -> HeldInputs | None:
        """The buffer of the inputs, if the previous stage does not provide one."""
        if self.stage.signed:
            return None
        return HeldInputs(self.stage.n_inputs, _COPY_CYCLES, _COPYING_CALL_CYCLES)

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,  # noqa: ARG002  (the decision reads scores in place)
        activity: Activity | None,
    ) -> Cost:
        """Return its cost."""
        stage, tables = self.stage, len(self.stage.flash.content) + self.stage.table.size
        code, held = self.walk.listing.code_bytes + _CODE_BYTES, self._held
        always = self.walk.cycles.around + self.walk.cycles.clear * stage.n_rows
        mean = None
        if activity is not None:
            (shares,) = activity.stages[self.kind]
            mean = always + self._mean(shares)
            mean += _AROUND_MEAN + held.mean(feed) if held else _IN_PLACE_MEAN
        worst = always + self._way(at_most=True) + _AROUND_CYCLES + 2 * self.core.call_cycles
        worst += held.worst(feed) if held else 0
        least = always + self._way(at_most=False)
        step = Step(self.kind, self.name, tables + code, mean, worst, least)
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=tables,
            code=code,
            state=(held.state(feed) if held else 0) + 2 * stage.n_outputs,
            buffer=held.buffer(feed) if held else 0,
            push=held.push if held else None,
        )

    def _mean(self, shares: NDArray[np.float64]) -> float:
        """Return the mean cycles of paths, from the share of points that pass each node."""
        nodes = (self.node_cycles(at_most=False) + self.node_cycles(at_most=True)) / 2
        inner = len(self.stage.branches.bias)
        left, right = (
            shares[1::2] @ self.branch_cycles(False),
            shares[2::2] @ self.branch_cycles(True),
        )
        leaf = self.walk.cycles.leaf * float(shares[inner:].sum())
        return float(shares @ nodes + left + right) + leaf

    def _way(self, *, at_most: bool) -> int:
        """Return the cycles of the longest or the shortest path through the tree."""
        choose = max if at_most else min
        whole = self.node_cycles(at_most).tolist()
        left, right = self.branch_cycles(False).tolist(), self.branch_cycles(True).tolist()
        for k in reversed(range(len(whole))):
            if k < len(left):
                whole[k] += choose(left[k] + whole[2 * k + 1], right[k] + whole[2 * k + 2])
            else:
                whole[k] += self.walk.cycles.leaf
        return int(whole[0])

    @property
    def lines(self) -> tuple[tuple[int, ...], ...]:
        """The rows of the tree in flash."""
        return tuple(tuple(line) for line in self.stage.flash.lines)

    @property
    def table(self) -> tuple[int, ...]:
        """The tanh."""
        return tuple(self.stage.table.tolist())


def kernels(stage: IntegerBonsaiTree, core: Core) -> tuple[Kernel, ...]:
    """Return its only kernel."""
    return (BonsaiTreeKernel(stage, core, SPARSE if stage.flash.sparse else DENSE),)
