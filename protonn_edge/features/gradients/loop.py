"""The loops in assembly: the gradient of each pixel, its addition to sums, and the roots.

A pixel without a gradient takes 16 cycles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.codegen.kernels.compiled import bytes_of
from protonn_edge.codegen.kernels.listing import Listing, moved
from protonn_edge.features.gradients.integers import CellAxis, Cells

NEXT_CELL, SHARED, COUNT = 0x40, 0x80, 0x3F
"""A run of pixels as a byte: whether the next cell begins, whether it is shared, its length."""

SUM_BYTES = bytes_of("uint16_t")


@dataclass(frozen=True, eq=False)
class GradientLoops:
    """The loops for images of some cells, and their cycles."""

    cells: Cells
    shift: int  # of sums to the right, 1..8 bits

    @cached_property
    def pixels(self) -> Listing:
        """The code that adds the gradients of pixels."""
        directions = self.cells.directions
        return pixel_loop(directions, SUM_BYTES * directions * self.cells.cells[1])

    @cached_property
    def roots(self) -> Listing:
        """The code that computes features from sums."""
        return root_loop(1 << (8 - self.shift))


def run_bytes(axis: CellAxis) -> tuple[int, ...]:
    """Return the runs of an axis as bytes."""
    runs, before = [], 0
    for pixels, cell, shared in axis.runs:
        runs.append(pixels | NEXT_CELL * (cell != before) | SHARED * shared)
        before = cell
    return tuple(runs)


def pixel_loop(directions: int, row_of_cells: int) -> Listing:
    """Return the loop over runs of pixels of a row, for 4 or 8 directions.

    X points to the incoming row, Y to the row of the gradients, one pixel to the left, and Z to the
    row above, which the incoming row replaces. r16 is the current run, r13:r12 the next one,
    r25:r24 the cell, r19 whether the row is shared, and r1 is 0. The sums of a row of cells take
    `row_of_cells` bytes.
    """
    cell = SUM_BYTES * directions
    return Listing(
        f"""
        row:
            rjmp begin
        run:                    ; Z is kept in r15:r14
            movw r30, r12
            lpm  r16, Z+
            movw r12, r30
            movw r30, r14
            tst  r16
            brne begin
            rjmp done
        begin:
            bst  r16, 7         ; whether the run is shared along the row
            sbrc r16, 6
            adiw r24, {cell}
            andi r16, {COUNT}
        pixel:
            ldd  r21, Y+2       ; right
            ld   r20, Y+        ; left
            ld   r22, Z         ; above
            ld   r23, X+        ; below
            st   Z+, r23
            cp   r20, r21
            cpc  r22, r23
            brne gradient
            dec  r16
            brne pixel
            movw r14, r30
            rjmp run
        gradient:
            movw r14, r30
            movw r30, r24
            {_direction(directions)}
        place:
            add  r30, r18
            adc  r31, r1
        add:
            sbrc r19, 0
            rjmp shared_row
            brts shared
        own:
            {_add("back")}
        back:
            movw r30, r14
            dec  r16
            brne pixel
            rjmp run
            {_shared(cell, row_of_cells)}
        done:
        """
    )


def _shared(cell: int, row_of_cells: int) -> str:
    """Return code that adds r20, halved, to the sums of two or four cells."""
    forward = "\n".join(moved(30, row_of_cells))
    return f"""
        shared:
            lsr  r20
        both:
            {_add("other")}
        other:
            adiw r30, {cell}
            rjmp own
        shared_row:
            lsr  r20
            brts corner
            {_add("below")}
        below:
            {forward}
            rjmp own
        corner:
            lsr  r20
            {_add("beside")}
        beside:
            {_add("beneath", cell)}
        beneath:
            {forward}
            rjmp both
    """


def root_loop(multiplier: int) -> Listing:
    """Return the loop from sums to roots; levels are the sums' upper bytes times this factor.

    X points to the sums, Y to the roots, r25:r24 counts them, and r23:r22 is the table.
    """
    return Listing(
        f"""
            clr  r16
            ldi  r20, {multiplier}
        sum:
            ld   r18, X+
            ld   r19, X+
            mul  r19, r20
            mov  r21, r0
            tst  r1
            brne most
            mul  r18, r20
            or   r21, r1
        root:
            movw r30, r22
            add  r30, r21
            adc  r31, r16
            lpm  r0, Z
            st   Y+, r0
            sbiw r24, 1
            brne sum
            rjmp done
        most:
            ldi  r21, 255
            rjmp root
        done:
            clr  r1
        """
    )


# How gx > 0, gy > 0, and a gradient along the column change Z and r18. With 8 directions, r18 is
# for the column, in bytes plus 2; with 4, for the diagonal.
_DIRECTION = {
    8: ("adiw r30, 2", "ldi  r18, 12", "movw r30, r24  ; along the column\n subi r18, 2"),
    4: ("ldi  r18, 4", "subi r18, 10\n neg  r18", "ldi  r18, 2  ; along the column"),
}


def _direction(directions: int) -> str:
    """Return the instructions for a magnitude in r20, and a direction in r18 or Z."""
    ahead, below, column = _DIRECTION[directions]
    return f"""
            ldi  r18, 6
            sub  r20, r21
            brcc along          ; gx is not above 0
            neg  r20
            {ahead}
        along:
            sub  r22, r23
            brcc down           ; gy is not above 0
            neg  r22
            {below}
        down:
            cp   r20, r22
            brcs steep
            mov  r0, r20
            sub  r0, r22
            cp   r0, r22
            brcc add            ; along the row
            rjmp place
        steep:
            mov  r0, r22
            sub  r0, r20
            cp   r0, r20
            mov  r20, r22
            brcs place
            {column}
    """


def _add(behind: str, offset: int = 0) -> str:
    """Return the instructions that add r20 to the sum at Z plus an offset, and a label."""
    return f"""
            ldd  r0, Z+{offset}
            add  r0, r20
            std  Z+{offset}, r0
            brcc {behind}
            ldd  r0, Z+{offset + 1}
            inc  r0
            std  Z+{offset + 1}, r0
    """
