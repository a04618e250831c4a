"""The kernels of a hidden layer: those of its product, with the loop from sums to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.codegen.kernels.kernel import Cost, Feed
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.codegen.kernels.matvec.kernels import MatvecKernel
from protonn_edge.kinds.dense.integers import IntegerDense

_LIMIT = """
                breq store
                ldi  r24, 255
"""


@dataclass(frozen=True, eq=False)
class DenseKernel(MatvecKernel):
    """A hidden layer with weights in columns, as instructions, or two per byte."""

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
                {_LIMIT if self.stage.scale.clips[1] else ""}
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

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost; few units reach the limit."""
        each = self.rectifying.path("sum", ["sum"], {"store": 1, "sum": 1})
        return self._cost(self.stage.n_outputs * each)


kernels = DenseKernel.of
