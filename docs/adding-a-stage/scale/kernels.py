"""The example's kernel: a loop in C that scales the values of a push and pushes them on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push
from scale.integers import FACTOR_BITS, IntegerScale

# The number of values that are scaled before they are pushed on together.
AT_ONCE = 32

# Upper and lower bounds of the compiled loop's cycles, as measured on the emulator.
_VALUE_CYCLES, _VALUE_LEAST = 36, 8
_PART_CYCLES = 24
_CALL_CYCLES = 60
_BEGIN_CYCLES = 6

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
        following: Push | None,
        activity: Activity | None,  # noqa: ARG002  (all values take the same time)
    ) -> Cost:
        """Return the cost."""
        assert following is not None
        n = self.stage.n_inputs
        push = self._push(following)
        cycles = _BEGIN_CYCLES + _VALUE_CYCLES * n + n // AT_ONCE * self._part(following)
        if feed is not None:  # otherwise, the previous stage counts the calls
            calls = 1 if feed.whole else feed.calls(push, [push.value] * n)
            cycles += calls * push.call
        return self._in_one_step(
            (cycles, cycles, _VALUE_LEAST * n),
            (n, _CODE_BYTES),
            state=2 + AT_ONCE,
            push=push,
            begin=_BEGIN_CYCLES,
        )

    def _push(self, following: Push) -> Push:
        """Return bounds for pushes; a value other than 0 may become 0 when it is scaled."""
        part = self._part(following)
        around = _VALUE_CYCLES + math.ceil(part / AT_ONCE)
        return Push(
            value=around + max(following.value, following.zero),
            zero=around + following.zero,
            call=_CALL_CYCLES + part,
            whole=_CALL_CYCLES + part,
            more=following.more,
            least=_VALUE_LEAST * self.stage.n_inputs,
        )

    def _part(self, following: Push) -> int:
        """Return the cycles of pushing a part on, not counting its values."""
        return _PART_CYCLES + self.core.call_cycles + following.call


kernels = ScaleKernel.of
