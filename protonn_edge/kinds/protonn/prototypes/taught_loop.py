"""The assembly loop, in one statement, that compares a point with taught examples.

The first coordinates of all examples are in SRAM, and by these alone most examples are far. For any
other example, r23:r22 is the EEPROM address of its coordinates, r24 the lower byte of the next
record's address, and r21:r20 a squared distance minus the limit. Z points past the slot's first
coordinate, and r25 is the smallest first coordinate that is near.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from protonn_edge.kernels.listing import BEGIN, END, Facts, Listing, Passed, repeated
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.kinds.protonn.prototypes.teaching import Store, Teaching


@dataclass(frozen=True)
class TaughtVoting:
    """The statement that compares the point with taught examples and adds near ones' votes."""

    stage: IntegerPrototypes  # a stage that can be taught

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
        """The squared distance at and beyond which examples are far."""
        return self.teaching.far_from(self.stage.distance_limit)

    @property
    def reach(self) -> int:
        """The largest difference in a coordinate at which an example may be near, 0..73."""
        return math.isqrt(self.limit - 1)

    @cached_property
    def comparing(self) -> Listing:
        """The instructions."""
        slots, dimension = self.teaching.slots, self.stage.n_inputs
        return Listing(
            f"""
            lds  r25, %[examples]
            tst  r25
            brne some
            rjmp done ; there are none
        some: lds r25, %[point]
            ldi  r30, lo8(%[slots])
            ldi  r31, hi8(%[slots])
        slot: ld r18, Z+
            sub  r18, r25
            brvs far
            subi r18, -{self.reach}
            cpi  r18, {2 * self.reach + 1}
            brlo example
        far: cpi r30, lo8(%[slots] + {slots})
            brne slot
            rjmp done
        example: subi r18, {self.reach}
            muls r18, r18
            movw r20, r0
            subi r20, lo8({self.limit})
            sbci r21, hi8({self.limit})
            mov  r24, r30
            subi r24, lo8(%[slots] + 1)
            ldi  r19, {self.store.record}
            mul  r24, r19
            movw r22, r0
            subi r22, lo8(-(%[second]))
            sbci r23, hi8(-(%[second]))
            {"rjmp near" if dimension == 1 else ""}
            ldi  r26, lo8(%[point] + 1)
            ldi  r27, hi8(%[point] + 1)
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
            cpi  r26, lo8(%[point] + {dimension})
            breq near
            inc  r24
            brne coordinate
        crossed: mov r18, r23 ; the next coordinate is in the next 256 bytes
            inc  r18
            out  %[eearh], r18
            rjmp coordinate
        {self._votes}
        done: clr __zero_reg__
            """
        )

    @property
    def _votes(self) -> str:
        """The code that adds the vote of a near example, if its slot holds a valid one."""
        stage, score_bytes = self.stage, self.stage.output_bits // 8
        larger = "cp %[largest], r20\nbrsh nearer\nmov %[largest], r20\nnearer:"
        added = ["add r18, r0", "adc r18, r1", *["adc r18, r19"] * (score_bytes - 2)]
        return f"""
        near: subi r22, 2 ; its class is before the first coordinate
            sbci r23, 0
            out  %[eearl], r22
            out  %[eearh], r23
            sbi  %[eecr], 0
            in   r22, %[eedr]
            cpi  r22, {stage.n_outputs}
            brsh far
        votes: subi r20, lo8(-({self.limit}))
            sbci r21, hi8(-({self.limit}))
            {repeated(range(2 - stage.distance_shift), "lsl r20", "rol r21")}
            ldi  r18, {Teaching.sharpness << min(6, 8 - stage.distance_shift)}
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
            {larger if stage.gives_nearest else ""}
            ldi  r19, {score_bytes}
            mul  r22, r19
            movw r26, r0
            subi r26, lo8(-(%[scores]))
            sbci r27, hi8(-(%[scores]))
            ldi  r19, {self.teaching.vote}
            mul  r20, r19
            ldi  r19, 0
            {repeated(added, "ld r18, X", "{0}", "st X+, r18")}
            rjmp far
        """

    @property
    def facts(self) -> Facts:
        """How often labels are passed at most, for any content and any address of the store."""
        return {
            "slot": Passed(self.teaching.slots),
            "example": Passed(self.teaching.slots),
            "votes": Passed(self.teaching.room),
            "coordinate": Passed(self.stage.n_inputs - 1, of="example"),
            "crossed": Passed(self.store.pages),
        }

    @property
    def none(self) -> int:
        """Cycles without examples."""
        return self.comparing.path(BEGIN, [END], {})

    @property
    def worst(self) -> int:
        """Cycles if all slots are near and cross as many multiples of 256 bytes as possible."""
        path = self.comparing.path
        coordinate = path("coordinate", ["coordinate"], {"brne coordinate": 1})
        across = path("coordinate", ["coordinate"], {}) - coordinate
        near = path("slot", ["coordinate", "near"], {"brlo example": 1})
        if self.stage.n_inputs > 1:
            near += (self.stage.n_inputs - 2) * coordinate
            near += path("coordinate", ["near"], {"breq near": 1})
        near += path("near", ["votes"], {})
        on = path("far", ["slot"], {"brne slot": 1})
        around = path(BEGIN, ["slot"], {"brne some": 1}) + path("far", [END], {}) - on
        votes = self.teaching.room * path("votes", ["far"], {"nearer": 0})
        return around + self.teaching.slots * (near + on) + votes + self.store.pages * across
