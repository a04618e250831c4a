"""The example's kernel: a loop in C that scales the values of a push and pushes them on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Calls, Cost, Feed, Kernel
from protonn_edge.model.activity import Activity
from scale.integers import FACTOR_BITS, IntegerScale

# The number of values that are scaled before they are pushed on together.
AT_ONCE = 32

# A product takes as long as these turns of a loop that moves a byte.
_TURNS_OF_A_VALUE = 4


@dataclass(frozen=True, eq=False)
class ScaleKernel(Kernel):
    """Reads the factors from a table in flash; the template uses the public attributes."""

    chunk: ClassVar[int] = AT_ONCE
    shift: ClassVar[int] = FACTOR_BITS
    at_once: ClassVar[int] = AT_ONCE

    stage: IntegerScale
    name: str = "table"

    def cost(
        self,
        feed: Feed | None,
        following: Calls,
        activity: Activity,  # noqa: ARG002  (all values take the same time)
    ) -> Cost:
        """Return the cost."""
        n = self.stage.n_inputs
        parts = n // AT_ONCE
        cycles = compiled.TURN_CYCLES * _TURNS_OF_A_VALUE * n + compiled.calls(parts, self.core)
        cycles += following(Feed(n, AT_ONCE))
        if feed is not None:  # otherwise, the previous stage counts the calls
            cycles += self.called(feed)
        return self._in_one_step(cycles, n, state=2 + AT_ONCE, called=self.called)

    def called(self, feed: Feed) -> float:
        """Return the cycles of calls, of two functions each."""
        return compiled.calls(2 * feed.calls, self.core)


kernels = ScaleKernel.of
