"""The kernels of a hidden layer: those of its product, with the loop from sums to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from protonn_edge.chain.activity import Activity
from protonn_edge.kernels.kernel import Cost, Feed, Step
from protonn_edge.kernels.listing import Listing
from protonn_edge.kernels.matvec.kernels import MatvecKernel
from protonn_edge.kinds.dense.integers import IntegerDense

# How many fewer cycles the call of the next stage takes, with the compiled code around the loop,
# than the firmware's calls.
_CALLED_LESS = 85

# Assumed if the activity is unknown.
_ACTIVE = 0.5

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

    def cost(self, feed: Feed | None, following: float, activity: Activity, /) -> Cost:
        """Return its cost."""
        rectify = self._rectify(following, activity).on(self.core, _PORTABLE)
        return self._cost(feed, activity, rectify, code=_CODE_BYTES)

    def _rectify(self, following: float, activity: Activity) -> Step:
        """Return the step that converts sums to bytes, and passes them on in one call."""
        units = self.stage.n_outputs
        (shares,) = activity.stages.get(self.kind, (np.full(units, _ACTIVE),))
        # Few units reach the limit.
        odds = {"rest": 1 - float(shares.mean()), "store": 1.0, "sum": 1.0}
        mean = units * self.rectifying.mean("sum", ["sum"], odds) + following - _CALLED_LESS
        return Step("rectify", "loop", _CODE_BYTES, mean)


kernels = DenseKernel.of
