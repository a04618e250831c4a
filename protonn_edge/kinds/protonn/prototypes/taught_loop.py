"""The loop that compares a point with taught examples, in assembly, in one statement.

The first coordinates of all examples are in SRAM, and many examples are far by them alone. r25 is
that of the point; Z is behind that of the slot, whose coordinates begin at r23:r22 in the EEPROM;
r24 is the lower byte of where the next one is. r3:r2 and r5:r4 are the squared distances of the
nearest and the second nearest example so far, plus 1, and r6 and r7 are their classes. Examples
that are not nearer than the second one are far. A squared distance is in r21:r20, less r5:r4, so
that it is negative while the example is near.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from protonn_edge.kernels.listing import BEGIN, END, Facts, Listing, Passed, repeated
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.kinds.protonn.prototypes.teaching import Store, Teaching


@dataclass(frozen=True)
class TaughtVoting:
    """The statement that compares the point with taught examples, and lets near ones vote."""

    stage: IntegerPrototypes  # which can be taught

    @property
    def teaching(self) -> Teaching:
        """The model's limits for teaching."""
        assert self.stage.teaching is not None
        return self.stage.teaching

    @property
    def store(self) -> Store:
        """The layout of the examples."""
        return self.teaching.store(self.stage.n_inputs)

    @property
    def limit(self) -> int:
        """The squared distance from which examples are far."""
        return self.teaching.far_from(self.stage.distance_limit)

    @cached_property
    def comparing(self) -> Listing:
        """The instructions."""
        slots, dimension = self.teaching.slots, self.stage.n_inputs
        return Listing(
            f"""
            {self._started}
        all: rjmp vote
        crossed: mov r18, r23 ; this coordinate is in the next 256 bytes
            inc  r18
            out  %[eearh], r18
            rjmp read
        far: subi r22, lo8(-({self.store.record}))
            sbci r23, hi8(-({self.store.record}))
            cpi  r30, lo8(%[slots] + {slots})
            breq all
        slot: ld r18, Z+
            sub  r18, r25
            brvs far
            muls r18, r18
            movw r20, r0
            sub  r20, r4
            sbc  r21, r5
            brpl far
        example: {"rjmp near" if dimension == 1 else "mov r24, r22"}
            ldi  r26, lo8(%[point] + 1)
            ldi  r27, hi8(%[point] + 1)
            out  %[eearh], r23
        coordinate: inc r24
            breq crossed
        read: out %[eearl], r24
            sbi  %[eecr], 0
            ld   r19, X+
            in   r18, %[eedr]
            sub  r18, r19
            brvs far
            muls r18, r18
            add  r20, r0
            adc  r21, r1
            brpl far
            cpi  r26, lo8(%[point] + {dimension})
            brne coordinate
        {self._nearer}
        {self._vote}
        done: clr __zero_reg__
            """
        )

    @property
    def _started(self) -> str:
        """What begins with the first slot, if there are examples."""
        return f"""
            lds  r25, %[examples]
            tst  r25
            brne some
            rjmp done ; there are none
        some: lds r25, %[point]
            ldi  r30, lo8(%[slots])
            ldi  r31, hi8(%[slots])
            ldi  r22, lo8(%[records])
            ldi  r23, hi8(%[records])
            ldi  r18, lo8({self.limit})
            ldi  r19, hi8({self.limit})
            movw r2, r18
            movw r4, r18
            ldi  r18, {self.stage.n_outputs}
            mov  r6, r18
            mov  r7, r18
            rjmp slot
        """

    @property
    def _nearer(self) -> str:
        """What replaces the nearest or the second example, if this slot has an example."""
        return f"""
        near: movw r26, r22
            sbiw r26, 1 ; its class is before the first coordinate
            out  %[eearl], r26
            out  %[eearh], r27
            sbi  %[eecr], 0
            in   r24, %[eedr]
            cpi  r24, {self.stage.n_outputs}
            brsh far
            adc  r20, r4 ; its squared distance plus 1: here, the carry is set
            adc  r21, r5
            cp   r24, r7 ; of equally near ones, the first class is nearer
            cpc  r20, r4
            cpc  r21, r5
            brsh far
            cp   r24, r6
            cpc  r20, r2
            cpc  r21, r3
            brsh second
            mov  r7, r6
            movw r4, r2
            mov  r6, r24
            movw r2, r20
            rjmp far
        second: mov r7, r24
            movw r4, r20
            rjmp far
        """

    @property
    def _vote(self) -> str:
        """What adds the vote of the nearest example, and then of the second."""
        stage, score_bytes = self.stage, self.stage.output_bits // 8
        larger = "cp %[largest], r20\nbrsh nearer\nmov %[largest], r20\nnearer:"
        added = ["add r18, r0", "adc r18, r1", *["adc r18, r19"] * (score_bytes - 2)]
        return f"""
        vote: mov r24, r6
            cpi  r24, {stage.n_outputs}
            brsh done
            movw r20, r2
            mov  r6, r7
            movw r2, r4
            ldi  r18, {stage.n_outputs}
            mov  r7, r18
            subi r20, 1
            sbci r21, 0
            {repeated(range(2 - stage.distance_shift), "lsl r20", "rol r21")}
            ldi  r18, {self.teaching.sharpness << min(6, 8 - stage.distance_shift)}
            mul  r20, r18
            mov  r30, r1
            mul  r21, r18
            add  r30, r0 ; its place in the table
            ldi  r31, 0
            subi r30, lo8(-(%[table]))
            sbci r31, hi8(-(%[table]))
            lpm  r20, Z
            {larger if stage.gives_nearest else ""}
            ldi  r19, {score_bytes}
            mul  r24, r19
            movw r26, r0
            subi r26, lo8(-(%[scores]))
            sbci r27, hi8(-(%[scores]))
            ldi  r19, {self.teaching.vote}
            mul  r20, r19
            ldi  r19, 0
            {repeated(added, "ld r18, X", "{0}", "st X+, r18")}
            rjmp vote
        """

    @property
    def facts(self) -> Facts:
        """How often labels are passed, however full the store is and wherever it begins."""
        return {
            "slot": Passed(self.teaching.slots),
            "example": Passed(self.teaching.slots),
            "vote": Passed(Teaching.voters + 1),
            "coordinate": Passed(self.stage.n_inputs - 1, of="example"),
            "crossed": Passed(self.store.pages),
        }

    @property
    def none(self) -> int:
        """Cycles where there is no example."""
        return self.comparing.path(BEGIN, [END], {})

    @property
    def worst(self) -> int:
        """Cycles where all slots are near, and lie across multiples of 256 bytes."""
        listing, slots = self.comparing, self.teaching.slots
        around = listing.path(BEGIN, ["slot"], {"brne some": 1})
        around += listing.path("far", ["vote"], {"breq all": 1})
        around += listing.path("vote", [END], {"brsh done": 1})
        each = listing.path("slot", ["coordinate", "near"], {})
        coordinate = listing.path("coordinate", ["near"], {}) + 1
        each += (self.stage.n_inputs - 1) * coordinate
        each += int(listing.worst("near", ["far"], {})) + listing.path("far", ["slot"], {})
        votes = Teaching.voters * int(listing.worst("vote", ["vote"], {"brsh done": 0}))
        across = self.store.pages * (listing.path("crossed", ["read"], {}) + 1)
        return around + slots * each + votes + across
