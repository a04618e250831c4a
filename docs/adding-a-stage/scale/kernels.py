"""The example's kernel: a loop in C that scales the values of a push and pushes them on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Kernel
from scale.integers import FACTOR_BITS, IntegerScale

# The number of values that are scaled before they are pushed on together.
AT_ONCE = 32

# Mean cycles of the compiled code, as measured on the emulator: for a value, for a part, and for a
# call.
_VALUE_CYCLES = 30
_PART_CYCLES = 24
_CALL_CYCLES = 60

_CODE_BYTES = 120


@dataclass(frozen=True, eq=False)
class ScaleKernel(Kernel):
    """Reads the factors from a table in flash; the template uses the public attributes."""

    portable = 4.0  # a product takes longer on a chip without a multiplier
    chunk: ClassVar[int] = AT_ONCE
    shift: ClassVar[int] = FACTOR_BITS
    at_once: ClassVar[int] = AT_ONCE

    stage: IntegerScale
    name: str = "table"

    def cost(
        self,
        feed: Feed | None,
        following: float,
        activity: Activity,  # noqa: ARG002  (all values take the same time)
    ) -> Cost:
        """Return the cost."""
        n = self.stage.n_inputs
        part = _PART_CYCLES + self.core.call_cycles + following
        cycles = _VALUE_CYCLES * n + n // AT_ONCE * part
        if feed is not None:  # otherwise, the previous stage counts the calls
            cycles += feed.calls * _CALL_CYCLES
        return self._in_one_step(cycles, (n, _CODE_BYTES), state=2 + AT_ONCE, called=_CALL_CYCLES)


kernels = ScaleKernel.of
