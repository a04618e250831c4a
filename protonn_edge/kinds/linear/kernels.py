"""The kernels of linear scores: those of the product, with the conversion of sums to scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.codegen.kernels import compiled
from protonn_edge.codegen.kernels.kernel import Cost, Feed, Step
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
        if not self.from_sums:
            return self._cost()
        more = self.stage.n_outputs * self.stage.output.bits // 8 - self.matvec.sum_bytes
        return self._cost(self._scores(), state=max(0, more))

    def _scores(self) -> Step:
        """Return the step from sums to scores."""
        stage = self.stage
        if stage.n_sums < stage.n_outputs:
            negate = compiled.TURN_CYCLES * stage.accumulator_bits // 8
            return Step("scores", "negate", 0, negate)
        widen = self.widening.path("sum", ["sum"], {"sum": 1}) * stage.n_sums
        return Step("scores", "widen", 0, widen + compiled.calls(1, self.core))


kernels = LinearKernel.of
