"""The kernel of a forest: a walk through each tree's table, with all inputs at hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.boards.cores import Core
from protonn_edge.stages.activity import Activity
from protonn_edge.stages.forest.integers import IntegerForest
from protonn_edge.stages.forest.trees import Places
from protonn_edge.stages.forest.walk import Walk, WalkCycles
from protonn_edge.stages.kernel import Cost, Feed, Kernel, Push, Step

# What the compiler makes, read off the emulator (avr-gcc 5.4 at -O2): at least, on average and at
# most. Around the walk; for an input that is copied, and for a call that copies some.
_AROUND_LEAST, _AROUND_MEAN, _AROUND_CYCLES = 30, 55, 75
_COPIED_MEAN, _COPIED_CYCLES = 8, 10
_COPYING_CALL_MEAN, _COPYING_CALL_CYCLES = 60, 80

_INPUTS_AT_ONCE = 32

_CODE_BYTES = 260

# What the compiler's loops take of those in assembly, on a chip without a multiplier: four forests
# of digits took 1.2 to 1.5 times as many cycles on the emulated ATtiny85.
_PORTABLE = 1.5


@dataclass(frozen=True)
class ForestContext:
    """What ``templates/c/forest`` sees; `lines` are bytes of the table, `walk` its assembly."""

    n_inputs: int
    n_classes: int
    n_trees: int
    n_nodes: int
    score_range: tuple[int, int]
    first_mark: int
    feature_bytes: int
    skip_bytes: int
    counts: bool
    vote: int
    lines: tuple[tuple[int, ...], ...]
    walk: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ForestKernel(Kernel):
    """Inputs are held, by the firmware or by the library, and nodes are read from a table."""

    template: ClassVar[str] = "forest/forest.j2"
    chunk: ClassVar[int] = _INPUTS_AT_ONCE

    stage: IntegerForest
    core: Core
    name: str = "walk"

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

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,  # noqa: ARG002  (the decision reads scores in place)
        activity: Activity | None,
    ) -> Cost:
        """Return what it takes."""
        stage, table = self.stage, self.stage.table.n_bytes
        starts, leaves = stage.trees.leaf_starts, self.leaf_cycles
        always = self.walk.cycles.class_start * stage.n_outputs + self.walk.cycles.around
        mean = None
        if activity is not None:
            (shares,) = activity.stages[self.kind]
            # Of a file of unknown origin they need not be 1 for each tree.
            every = np.add.reduceat(shares, starts)
            means = np.add.reduceat(shares * leaves, starts) / np.maximum(every, 1e-300)
            mean = always + float(means.sum()) + _AROUND_MEAN
            mean += self._copies(feed, _COPIED_MEAN, _COPYING_CALL_MEAN)
        worst = always + int(np.maximum.reduceat(leaves, starts).sum())
        worst += self._copies(feed, _COPIED_CYCLES, _COPYING_CALL_CYCLES)
        least = always + int(np.minimum.reduceat(leaves, starts).sum())
        step = Step(
            self.kind,
            self.name,
            table + _CODE_BYTES,
            mean,
            worst + _AROUND_CYCLES + 2 * self.core.call_cycles,
            least + _AROUND_LEAST,
        )
        return Cost(
            steps=(step if self.core.multiplies else step.in_portable_c(_PORTABLE),),
            tables=table,
            code=_CODE_BYTES,
            state=2 + stage.n_inputs + 2 * stage.n_outputs,
            # A firmware that holds the inputs leaves out the library's own.
            buffer=-feed.values if feed is not None and feed.whole else 0,
            push=Push(_COPIED_CYCLES, _COPIED_CYCLES, _COPYING_CALL_CYCLES, _COPYING_CALL_CYCLES),
        )

    def _copies(self, feed: Feed | None, value: int, call: int) -> int:
        """Return the cycles of copying inputs, and of the firmware's calls for that."""
        if feed is None:
            return value * self.stage.n_inputs
        if feed.whole:
            return 0
        return value * feed.values + call * -(-feed.values // feed.chunk)

    def context(self) -> ForestContext:
        """Lay the stage out in the order in which the generated program reads it."""
        stage, walk, content = self.stage, self.walk, self.stage.table.content
        return ForestContext(
            n_inputs=stage.n_inputs,
            n_classes=stage.n_outputs,
            n_trees=len(stage.trees.roots),
            n_nodes=len(stage.features),
            score_range=stage.output.ends,
            first_mark=walk.first_mark,
            feature_bytes=walk.feature_bytes,
            skip_bytes=walk.skip_bytes,
            counts=walk.counts,
            vote=walk.vote,
            lines=self._lines(content),
            walk=walk.listing.lines,
        )

    def _lines(self, content: bytes) -> tuple[tuple[int, ...], ...]:
        """Return the bytes of what scores begin with, and of each tree, as lines."""
        sizes = [2 * self.stage.n_outputs, *(2 + self.stage.table.tree_bytes).tolist()]
        ends = np.cumsum(sizes).tolist()
        return tuple(
            tuple(content[end - size : end]) for size, end in zip(sizes, ends, strict=True)
        )


def kernels(stage: IntegerForest, core: Core) -> tuple[Kernel, ...]:
    """Return its one kernel."""
    return (ForestKernel(stage, core),)
