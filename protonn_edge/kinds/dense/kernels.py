"""The kernels of a hidden layer: those of its product, with the loop from sums to bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Push, Step
from protonn_edge.kernels.listing import Listing
from protonn_edge.kernels.matvec.kernels import MatvecKernel
from protonn_edge.kinds.dense.integers import IntegerDense

# Cycles of compiled code around the loop; and how many fewer cycles the call of the next stage
# takes on average than the firmware's calls, for which the next stage accounts.
_AROUND_CYCLES, _CALLED_LESS = 30, 85

# Cycles of the compiler's loop on a chip without a multiplier, per cycle of the assembly.
_PORTABLE = 10.0
_CODE_BYTES = 60

_LIMIT = """
                breq store
                ldi  r24, 255
"""


@dataclass(frozen=True, eq=False)
class DenseKernel(MatvecKernel):
    """A hidden layer with weights in columns, with masks, as instructions, or two per byte."""

    pushes_whole = True
    stage: IntegerDense

    @cached_property
    def rectifying(self) -> Listing:
        """The loop that converts sums, of two bytes each, to bytes.

        X points to the sums, Z to the values, r20 is 0.
        """
        drops = self.stage.accumulator_bits > 16
        return Listing(
            f"""
            sum:
                {"adiw r26, 1" if drops else ""}
                ld   r18, X+
                ld   r19, X+
                clr  r24
                tst  r19
                brmi rest ; below 0
                mul  r18, %[multiplier]
                mov  r24, r1
                mul  r19, %[multiplier]
                add  r24, r0
                adc  r1, r20
                {_LIMIT if self.stage.limits else ""}
            store:
            rest:
                st   Z+, r24
            next:
                dec  %[left]
                brne sum
            """
        )

    def cost(self, feed: Feed | None, following: Push | None, activity: Activity | None, /) -> Cost:
        """Return its cost."""
        assert following is not None
        rectify = self._rectify(following, activity).on(self.core, _PORTABLE)
        return self._cost(feed, activity, rectify, code=_CODE_BYTES)

    def _rectify(self, following: Push, activity: Activity | None) -> Step:
        """Return the step that converts sums to bytes, and passes them on in one call."""
        loop, units, around = self.rectifying, self.stage.n_outputs, ("sum", ["sum"])
        mean = None
        if activity is not None:
            (shares,) = activity.stages[self.kind]
            # Few units reach the limit.
            odds = {"rest": 1 - float(shares.mean()), "store": 1.0, "sum": 1.0}
            mean = units * loop.mean(*around, odds) + following.whole_mean - _CALLED_LESS
        worst, least = (units * each(*around, {"sum": 1}) for each in (loop.worst, loop.least))
        worst += _AROUND_CYCLES + self.core.call_cycles + following.whole
        return Step("rectify", "loop", _CODE_BYTES, mean, math.ceil(worst), int(least))


kernels = DenseKernel.of
