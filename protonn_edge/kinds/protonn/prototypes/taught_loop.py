"""The loop that compares a point with taught examples, in assembly, in one statement.

Of the record of an example, r23:r22 is where its coordinates begin in the EEPROM, r24 the lower
byte of where the next one is; a squared distance is in r21:r20, less the limit. Z is behind the
slot's class in SRAM, and r25 how many examples are left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.kernels.listing import BEGIN, END, Listing, repeated


@dataclass(frozen=True)
class TaughtVoting:
    """The statement that compares the point with taught examples, and lets near ones vote."""

    dimension: int
    stride: int  # bytes of a record
    shift: int  # from a squared distance, times the sharpness, to its place in the table, 0..6
    limit: int  # the squared distance from which examples are far
    sharpness: int
    vote: int
    score_bytes: int
    nearest: bool  # whether the largest RBF is returned

    @cached_property
    def comparing(self) -> Listing:
        """The instructions."""
        return Listing(
            f"""
            lds  r25, %[examples]
            ldi  r30, lo8(%[taught])
            ldi  r31, hi8(%[taught])
            ldi  r22, lo8(%[first])
            ldi  r23, hi8(%[first])
            tst  r25
            brne slot
            rjmp done ; there are none
        pass: subi r22, lo8(-({self.stride}))
            sbci r23, hi8(-({self.stride}))
        slot: ld r18, Z+
            tst  r18
            breq pass
        example: ldi r26, lo8(%[point])
            ldi  r27, hi8(%[point])
            ldi  r20, lo8(-({self.limit}))
            ldi  r21, hi8(-({self.limit}))
            mov  r24, r22
            out  %[eearh], r23
        coordinate: out %[eearl], r24
            sbi  %[eecr], 0
            ld   r19, X+
            in   r18, %[eedr]
            sub  r18, r19
            brvs far
            muls r18, r18
            add  r20, r0
            adc  r21, r1
            brpl far
            cpi  r26, lo8(%[point] + {self.dimension})
            breq near
            inc  r24
            brne coordinate
        crossed: mov r18, r23 ; the next coordinate is in the next 256 bytes
            inc  r18
            out  %[eearh], r18
            rjmp coordinate
        far: dec r25
            brne pass
            rjmp done
        {self._votes}
        done: clr __zero_reg__
            """
        )

    @property
    def _votes(self) -> str:
        """What adds the vote of a near example."""
        larger = "cp %[largest], r20\nbrsh nearer\nmov %[largest], r20\nnearer:"
        added = ["add r18, r0", "adc r18, r1", *["adc r18, r19"] * (self.score_bytes - 2)]
        return f"""
        near: subi r20, lo8(-({self.limit}))
            sbci r21, hi8(-({self.limit}))
            {repeated(range(2 - self.shift), "lsl r20", "rol r21")}
            ldi  r18, {self.sharpness << min(6, 8 - self.shift)}
            movw r26, r30
            mul  r20, r18
            mov  r30, r1
            mul  r21, r18
            add  r30, r0 ; its place in the table
            ldi  r31, 0
            subi r30, lo8(-(%[table]))
            sbci r31, hi8(-(%[table]))
            lpm  r20, Z
            movw r30, r26
            {larger if self.nearest else ""}
            ld   r18, -X
            ldi  r19, {self.score_bytes}
            mul  r18, r19
            movw r26, r0
            subi r26, lo8(-(%[scores] - {self.score_bytes}))
            sbci r27, hi8(-(%[scores] - {self.score_bytes}))
            ldi  r19, {self.vote}
            mul  r20, r19
            ldi  r19, 0
            {repeated(added, "ld r18, X", "{0}", "st X+, r18")}
            rjmp far
        """

    @property
    def none(self) -> int:
        """Cycles where there is no example."""
        return self.comparing.path(BEGIN, [END], {})

    def worst(self, examples: int, slots: int, crossed: int) -> int:
        """Return the cycles where all vote, and lie across multiples of 256 bytes."""
        path = self.comparing.path
        coordinate = path("coordinate", ["coordinate"], {"brne coordinate": 1})
        across = path("coordinate", ["coordinate"], {}) - coordinate
        on = path("far", ["slot"], {"brne pass": 1})
        near = path("slot", ["coordinate"], {}) + (self.dimension - 1) * coordinate + on
        near += path("coordinate", ["far"], {"breq near": 1, "nearer": 0})
        empty = path("slot", ["slot"], {"breq pass": 1})
        around = path(BEGIN, ["slot"], {"brne slot": 1}) + path("far", [END], {}) - on
        return around + examples * near + (slots - examples) * empty + crossed * across
