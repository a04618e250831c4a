"""The kernels of linear scores: those of the product, with the conversion of sums to scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.codegen.kernels.kernel import Cost, Feed
from protonn_edge.codegen.kernels.listing import Listing
from protonn_edge.codegen.kernels.matvec.kernels import MatvecKernel
from protonn_edge.kinds.linear.integers import IntegerLinear

_WIDENING = Listing(
    """
    sum: ld r22, -X
        ld   r21, -X
        ld   r20, -X
        mov  r23, r22
        lsl  r23
        sbc  r23, r23 ; the sign
        st   -Z, r23
        st   -Z, r22
        st   -Z, r21
        st   -Z, r20
        dec  %[left]
        brne sum
    """
)


@dataclass(frozen=True, eq=False)
class LinearKernel(MatvecKernel):
    """Scores with weights in columns, as instructions, or two per byte."""

    widening: ClassVar[Listing] = _WIDENING

    stage: IntegerLinear

    @property
    def from_sums(self) -> bool:
        """Whether scores must be computed from sums, because they are not the sums themselves."""
        stage = self.stage
        return stage.n_sums < stage.n_outputs or stage.accumulator_bits < stage.output.bits

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loop behind the product."""
        widens = self.from_sums and self.stage.n_sums == self.stage.n_outputs
        return (self.widening,) if widens else ()

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        more = self.stage.n_outputs * self.stage.output.bits // 8 - self.sum_bytes
        widening = sum(each.path("sum", ["sum"], {"sum": 1}) for each in self.listings)
        return self._cost(widening * self.stage.n_sums, state=self.from_sums * max(0, more))


kernels = LinearKernel.of
