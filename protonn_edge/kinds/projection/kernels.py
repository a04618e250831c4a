"""The kernels of the projection: those of its product, with the loop that requantizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from protonn_edge.codegen.kernels.kernel import Cost, Feed
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed
from protonn_edge.codegen.kernels.matvec.kernels import MatvecKernel
from protonn_edge.kinds.projection.integers import IntegerProjection

_REQUANTIZED_CYCLES = 48  # of a sum
_WIDE_PRODUCT = """
            mulsu r19, r21
            movw r24, r0
            mul  r18, r21
            add  r23, r0
            adc  r24, r1
            adc  r25, r17
            mulsu r19, r20
            sbc  r25, r17 ; less 1 if the product is negative
            add  r23, r0
            adc  r24, r1
            adc  r25, r17
"""
_PRODUCT = """
            mulsu r19, r20
            mov  r24, r1
            sbc  r25, r25 ; the product's sign
            add  r23, r0
            adc  r24, r17
            adc  r25, r17
"""
_CLAMPING = """
            lpm  r0, Z+ ; the span
            cp   r0, r24
            cpc  r17, r25
            brcc within
            mov  r24, r0
            sbrc r25, 7
            clr  r24
        within: lpm r0, Z+
            add  r24, r0
"""


class Scaling(NamedTuple):
    """A coordinate of a point, relative to `least`; its offset includes this."""

    offset_low: int
    offset_high: int
    span: int
    least: int


@dataclass(frozen=True, eq=False)
class ProjectionKernel(MatvecKernel):
    """The projection with weights in columns, as instructions, or two per byte."""

    stage: IntegerProjection

    @cached_property
    def requantizing(self) -> Listing:
        """The loop that converts sums, in place, to the scale of the next stage."""
        return self._requantizing("movw r28, r26")

    @cached_property
    def requantizing_apart(self) -> Listing:
        """The same, but into a place that the next prediction's sums do not overwrite."""
        return self._requantizing("ldi r28, lo8(%[values])\nldi r29, hi8(%[values])")

    def _requantizing(self, place: str) -> Listing:
        """Return the loop; `place` is code that points Y to the results.

        The upper 16 bits of a sum are in r19:r18, bits 8..31 of the product in r25..r23, 0 in r17.
        """
        stage = self.stage
        wide = stage.multiplier > 255
        first = "sum: adiw r26, 1\n" if stage.accumulator_bits == 24 else "sum: "
        return Listing(
            f"""
            movw r14, r28
            ldi  r26, lo8(%[sums])
            ldi  r27, hi8(%[sums])
            {place}
            ldi  r22, %[outputs]
            clr  r17
            ldi  r20, lo8(%[multiplier])
            {"ldi r21, hi8(%[multiplier])" if wide else ""}
            {first}ld r18, X+
            ld   r19, X+
            mul  r18, r20
            mov  r23, r1
            {_WIDE_PRODUCT if wide else _PRODUCT}
            lpm  r0, Z+
            add  r23, r0
            lpm  r0, Z+
            adc  r24, r0
            lpm  r0, Z+
            adc  r25, r0
            {_CLAMPING if stage.clamps else ""}
            st   Y+, r24
            dec  r22
            brne sum
        last: movw r28, r14
            clr  __zero_reg__
            """
        )

    @property
    def coordinates(self) -> list[Scaling]:
        """The summand of each product, and its limits."""
        stage = self.stage
        limits = zip(stage.output.low.tolist(), stage.output.high.tolist(), strict=True)
        coordinates = []
        for offset, (low, high) in zip(stage.offset.tolist(), limits, strict=True):
            least = low if stage.clamps else 0
            place = Scaling(offset >> 8 & 0xFF, (offset >> 16) - least, high - low, least)
            coordinates.append(place)
        return coordinates

    @property
    def listings(self) -> tuple[Listing, ...]:
        """The loop behind the product."""
        return (self.requantizing,)

    @property
    def facts(self) -> Facts:
        """The passes of the loop over the finished sums."""
        return {"sum": Passed(self.stage.n_sums, self.stage.n_sums)}

    def cost(self, _: Feed | None, /) -> Cost:
        """Return its cost."""
        stage = self.stage
        scalings = stage.n_outputs * (3 + 2 * stage.clamps)
        return self._cost(_REQUANTIZED_CYCLES * stage.n_outputs, tables=scalings)


kernels = ProjectionKernel.of
