"""The example's kernel: a loop in C over the values of a push, which are then pushed on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push
from scale.integers import FACTOR_BITS, IntegerScale

# Values that are scaled before they are pushed on together.
AT_ONCE = 32

# The loop is the compiler's: constants that cover what the emulator measured.
_VALUE_CYCLES, _VALUE_LEAST = 36, 8
_PART_CYCLES = 24
_CALL_CYCLES = 60
_BEGIN_CYCLES = 6

_CODE_BYTES = 120


@dataclass(frozen=True, eq=False)
class ScaleKernel(Kernel):
    """A table of factors in flash; its template reads what is public."""

    portable = 4.0  # a product takes more where the chip has no multiplier
    chunk: ClassVar[int] = AT_ONCE
    shift: ClassVar[int] = FACTOR_BITS
    at_once: ClassVar[int] = AT_ONCE

    stage: IntegerScale
    name: str = "table"

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,
        activity: Activity | None,  # noqa: ARG002  (a value takes the same, whatever it is)
    ) -> Cost:
        """Return what it takes."""
        assert following is not None
        n = self.stage.n_inputs
        push = self._push(following)
        cycles = _BEGIN_CYCLES + _VALUE_CYCLES * n + n // AT_ONCE * self._part(following)
        if feed is not None:  # else the stage before counts the calls
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
        """Return bounds for what is pushed; what is not 0 may be 0 when it is scaled."""
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
        """Return the cycles of pushing a part on, besides its values."""
        return _PART_CYCLES + self.core.call_cycles + following.call


kernels = ScaleKernel.of
