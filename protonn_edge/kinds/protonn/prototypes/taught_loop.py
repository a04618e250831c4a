"""The assembly loop, in one statement, that compares a point with taught examples.

The first coordinates of all examples are in SRAM, and by these alone many examples are far. X
points past a slot's coordinate, r5 is the smallest one that may be near, and r4 and r2 are the
differences of the largest one and of the point's from it. r25:r24 is the EEPROM address of the
example's second coordinate. If the first one is near, r23:r22 is the address of the next one, Z
points past the point's, and r21:r20 is the squared distance minus the limit.
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
        some: lds r18, %[point]
            mov  r19, r18 ; the least coordinate that may be near, at least -128
            subi r19, {self.reach}
            brvc least
            ldi  r19, 128
        least: sub r18, r19
            mov  r2, r18
            subi r18, -{self.reach}
            movw r4, r18
            ldi  r24, lo8(%[second])
            ldi  r25, hi8(%[second])
            ldi  r26, lo8(%[slots])
            ldi  r27, hi8(%[slots])
        slot: ld r18, X+
            sub  r18, r5
            brlt far
            cp   r4, r18
            brsh example
        far: {_add(self.store.record, 24)}
            cpi  r26, lo8(%[slots] + {slots})
            brne slot
            rjmp done
        example: sub r18, r2
            muls r18, r18
            movw r20, r0
            {_add(-self.limit, 20)}
            movw r22, r24
            {"rjmp near" if dimension == 1 else ""}
            ldi  r30, lo8(%[point] + 1)
            ldi  r31, hi8(%[point] + 1)
        page: out %[eearh], r23
        coordinate: out %[eearl], r22
            sbi  %[eecr], 0
            ld   r19, Z+
            in   r18, %[eedr]
            sub  r18, r19
            brvs far
            muls r18, r18
            add  r20, r0
            adc  r21, r1
            brpl far
            cpi  r30, lo8(%[point] + {dimension})
            breq near
            inc  r22
            brne coordinate
        crossed: inc r23 ; the next coordinate is in the next 256 bytes
            rjmp page
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
        near: sbiw r24, 2 ; its class is before the first coordinate
            out  %[eearl], r24
            out  %[eearh], r25
            adiw r24, 2
            sbi  %[eecr], 0
            in   r22, %[eedr]
            cpi  r22, {stage.n_outputs}
            brsh far
        votes:
            {_add(self.limit, 20)}
            {repeated(range(2 - stage.distance_shift), "lsl r20", "rol r21")}
            ldi  r18, {Teaching.sharpness << min(6, 8 - stage.distance_shift)}
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
            mul  r22, r19
            movw r30, r0
            subi r30, lo8(-(%[scores]))
            sbci r31, hi8(-(%[scores]))
            ldi  r19, {self.teaching.vote}
            mul  r20, r19
            ldi  r19, 0
            {repeated(added, "ld r18, Z", "{0}", "st Z+, r18")}
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
        near = path("slot", ["coordinate", "near"], {"brsh example": 1})
        if self.stage.n_inputs > 1:
            near += (self.stage.n_inputs - 2) * coordinate
            near += path("coordinate", ["near"], {"breq near": 1})
        near += path("near", ["votes"], {})
        on = path("far", ["slot"], {"brne slot": 1})
        around = path(BEGIN, ["slot"], {"brne some": 1}) + path("far", [END], {}) - on
        votes = self.teaching.room * path("votes", ["far"], {"nearer": 0})
        return around + self.teaching.slots * (near + on) + votes + self.store.pages * across


def _add(number: int, low: int) -> str:
    """Return code that adds a number to a pair of registers, of which `low` is the lower one."""
    if number % 256 == 0:
        return f"subi r{low + 1}, {-number // 256}"
    if low >= 24 and 0 < number < 64:
        return f"adiw r{low}, {number}"
    return f"subi r{low}, lo8(-({number}))\nsbci r{low + 1}, hi8(-({number}))"
