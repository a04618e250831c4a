"""The kernels of a hidden layer: those of its product, with the loop from sums to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Calls, Cost, Feed, Step
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.codegen.kernels.matvec.kernels import MatvecKernel
from protonn_edge.kinds.dense.integers import IntegerDense
from protonn_edge.model.activity import Activity

# Assumed if the activity is unknown.
_ACTIVE = 0.5

_LIMIT = """
                breq store
                ldi  r24, 255
"""


@dataclass(frozen=True, eq=False)
class DenseKernel(MatvecKernel):
    """A hidden layer with weights in columns, with masks, as instructions, or two per byte."""

    saves: ClassVar[bool] = False

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

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loop behind the product."""
        return (self.rectifying,)

    def cost(self, _: Feed | None, following: Calls, activity: Activity, /) -> Cost:
        """Return its cost."""
        rectify = self._rectify(following, activity).on(self.core)
        return self._cost(activity, rectify)

    def _rectify(self, following: Calls, activity: Activity) -> Step:
        """Return the step that converts sums to bytes, and passes them on in one call."""
        units = self.stage.n_outputs
        (shares,) = activity.stages.get(self.stage.kind, (np.full(units, _ACTIVE),))
        # Few units reach the limit.
        odds = {"rest": 1 - float(shares.mean()), "store": 1.0, "sum": 1.0}
        mean = units * self.rectifying.mean("sum", ["sum"], odds) + following(Feed.at_once(units))
        mean += compiled.calls(1, self.core)
        return Step("rectify", "loop", self.rectifying.code_bytes, mean)


kernels = DenseKernel.of
