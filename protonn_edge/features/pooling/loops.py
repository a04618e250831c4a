"""The loops of average pooling in assembly; portable C in the template gives the same integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.codegen.kernels.listing import Listing, repeated
from protonn_edge.codegen.kernels.sums import ByteCode
from protonn_edge.features.pooling.areas import Areas
from protonn_edge.model.layer import Scale

_PIXELS = ("r18", "r19", "r23", "r24")
WHOLE_AREA_PIXELS = len(_PIXELS)  # pixels of an area's row that are kept in registers


@dataclass(frozen=True)
class AreaLoops:
    """The loops over the pixels of areas, and their cycles."""

    areas: Areas  # the areas
    scale: Scale  # from sums to averages

    @cached_property
    def part(self) -> Listing:
        """The loop over the pixels of a part of a row.

        When a pixel completes its column of an area, the row's sum is added to the area's, in
        r21:r20; T is set if the area is complete, and its average is assembled in r19.
        """
        width = self.areas.columns.pixel_units
        tall = self.areas.rows.output_units > 1
        return Listing(
            f"""
                {"bst %[complete], 0" if tall else ""}
            pixel: ld r18, %a[pixel]+
                {_narrow_pixel(self.areas) if width == 1 else _wide_pixel(width)}
                {_to_areas_below(self.areas) if tall else _to_average(width)}
                {average_of(self.scale, "%A[multiplier]", "%B[multiplier]")}
            store: movw r20, %A[pixel]
                movw %A[pixel], %A[average]
                st   %a[pixel]+, r19
                movw %A[average], %A[pixel]
                movw %A[pixel], r20
                {"rjmp next" if tall else _next_area(self.areas) + "rjmp within"}
            end: clr __zero_reg__
            """
        )

    @cached_property
    def summing(self) -> Listing:
        """The loop over a whole row that starts the sums of new areas and adds to the others."""
        added = """
                ld   r20, Z
                add  r18, r20
                ldd  r20, Z+1
                adc  r19, r20
        """
        pixel = ("ld r20, X+", "add r18, r20", "adc r19, __zero_reg__")
        return Listing(
            f"""
            area: ld r18, X+
                clr  r19
                {repeated(range(self.areas.columns.output_units - 1), *pixel)}
                {added if self.areas.rows.output_units > 2 else ""}
                st   Z+, r18
                st   Z+, r19
                dec  r21
                brne area
            """
        )

    @cached_property
    def averaging(self) -> Listing:
        """The loop over the last row of areas, which stores each area's average at Y."""
        pixels = _PIXELS[: self.areas.columns.output_units]
        return Listing(
            f"""
                rjmp area
            empty: adiw r30, 2
                st   Y+, __zero_reg__
                dec  r13
                breq end
            area: ld r20, Z
                ldd  r21, Z+1
                mov  r22, r20
                or   r22, r21
                {repeated(pixels, "ld {0}, X+", "or r22, {0}")}
                breq empty
                {repeated(pixels, "add r20, {0}", "adc r21, __zero_reg__")}
                st   Z+, __zero_reg__
                st   Z+, __zero_reg__
                {average_of(self.scale, "r16", "r17")}
                clr  __zero_reg__
                st   Y+, r19
                dec  r13
                brne area
            end: movw r30, r28
                movw r28, r14
            """
        )


_COUNTED = """
    within: dec %[count]
        brne pixel
        rjmp end
"""


def _narrow_pixel(areas: Areas) -> str:
    return f"""
            add  %A[sum], r18
            adc  %B[sum], __zero_reg__
            dec  %[right]
            breq last
            {_COUNTED}
        last: ldi %[right], {areas.columns.output_units}
            mov  r19, %A[sum]
            or   r19, %B[sum]
            breq empty
    """


def _wide_pixel(width: int) -> str:
    return f"""
            cpi  %[right], {width + 1}
            brlo last
            mul  r18, %[width]
            add  %A[sum], r0
            adc  %B[sum], r1
            subi %[right], {width}
            {_COUNTED}
        last: mov r19, %A[sum]
            or   r19, %B[sum]
            or   r19, r18
            breq empty
            mul  r18, %[right]
            add  %A[sum], r0
            adc  %B[sum], r1
            {_beyond(width)} ; units of the pixel beyond this area
    """


def _beyond(width: int) -> str:
    return f"subi %[right], {width}\nneg %[right]" if width > 1 else ""


def _to_average(width: int) -> str:
    """Return code that uses the sum of a row as it is; r19 is the average of an empty area."""
    return f"""
            movw r20, %A[sum]
            rjmp average
        empty:
            {_beyond(width)}
            rjmp store
        average:
    """


def _to_areas_below(areas: Areas) -> str:
    """Return code that adds a row's sum to its area, and begins the next area with the rest."""
    width, cut = areas.columns.pixel_units, areas.rows.pixel_units > 1
    added = """
            ld   r20, %a[area]
            ldd  r21, %a[area]+1
            add  r20, %A[sum]
            adc  r21, %B[sum]
    """
    begun = """
            clr  r19
            st   %a[area]+, r19
            st   %a[area]+, r19
    """
    if cut:
        added = """
            mul  %B[sum], %[within]
            mov  r21, r0
            mul  %A[sum], %[within]
            add  r21, r1
            ld   r20, %a[area]
            add  r20, r0
            ldd  r0, %a[area]+1
            adc  r21, r0
        """
        begun = """
            mul  %B[sum], %[below]
            mov  r19, r0
            mul  %A[sum], %[below]
            add  r19, r1
            st   %a[area]+, r0
            st   %a[area]+, r19
        """
    passed = f"subi %[right], {width} - {areas.columns.output_units}" if width > 1 else ""
    return f"""
            {added}
            brts complete
            st   %a[area]+, r20
            st   %a[area]+, r21
        next:
            {_next_area(areas)}
            rjmp within
        empty: brts nothing ; the row adds nothing
            adiw %[area], 2
            {passed}
            rjmp within
        nothing: ld r20, %a[area]
            ldd  r21, %a[area]+1
            {_beyond(width)}
            mov  r19, r20
            or   r19, r21
            brne summed
            adiw %[area], 2
            rjmp store
        complete:
        summed:
            {begun}
    """


def _next_area(areas: Areas) -> str:
    """Return code that puts the rest of the pixel in r18 into the next area."""
    if areas.columns.pixel_units == 1:
        return "clr __zero_reg__\nclr %A[sum]\nclr %B[sum]\n"
    return f"""
            mul  r18, %[right]
            movw %A[sum], r0
            subi %[right], {areas.columns.output_units}
            neg  %[right]
    """


def average_of(scale: Scale, *factor: str) -> str:
    """Return code that computes in r19 the average of the sum in r21:r20, and changes r22.

    - `factor`: the registers of the multiplier's bytes.
    """
    return "\n".join(ByteCode(scale, "r19", factor, ("r22",)).of(20, ""))
