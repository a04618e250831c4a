"""The assembly loops, in one statement, that let the nearest taught examples vote.

The first coordinates of all examples are in SRAM, the others in EEPROM. X points past a slot's
coordinate, r25:r24 is the EEPROM address of its second one, and Z is that of the last one read.
r21:r20 is the squared distance plus r7:r6, the complement of the distance of the farthest example
that still votes: the sum is negative while the new example is not farther. If it stays negative,
the example is inserted into the list of the nearest ones, in order of distance and then class. The
list begins with an entry of zeros, which no example precedes, and ends with one that does not vote.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from protonn_edge.codegen.kernels.compiled import bytes_of
from protonn_edge.codegen.kernels.kernel import Cost
from protonn_edge.codegen.kernels.listing import Facts, Listing, Passed, moved, repeated
from protonn_edge.extensions.teaching.examples import Store
from protonn_edge.extensions.teaching.protonn.votes import NearestExamples
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.kinds.protonn.prototypes.kernels import VotersKernel

_ENTRY_BYTES = bytes_of("uint8_t", "uint16_t")  # a class and a distance
_NO_CLASS = 255

# Registers with the point's first coordinates. Loops compare the others.
_COORDINATES = (22, 23, 8, 9)
_SAVED = (4, 5, 6, 7)  # other registers that a caller may use

# Flash and SRAM, and the maximum cycles of compiled code around the loop.
_CODE_BYTES, _STATE_BYTES = 1200, 3
_NONE_CYCLES = 20  # without examples


@dataclass(frozen=True)
class TaughtVoting(VotersKernel):
    """The statement that compares the point with taught examples and adds the nearest's votes."""

    template: ClassVar[str] = "teaching/examples.j2"

    stage: IntegerPrototypes  # a stage that can be taught

    @property
    def teaching(self) -> NearestExamples:
        """The model's limits for teaching."""
        assert isinstance(self.stage.voters, NearestExamples)
        return self.stage.voters

    @property
    def store(self) -> Store:
        """The layout of the examples."""
        return self.teaching.store(self.stage.n_inputs)

    @property
    def coordinates(self) -> dict[int, int]:
        """The registers of the point's first coordinates."""
        return dict(zip(range(self.stage.n_inputs), _COORDINATES, strict=False))

    @property
    def _end(self) -> int:
        """Where the voters end in the list."""
        return _ENTRY_BYTES * (1 + self.teaching.neighbours)

    @property
    def registers(self) -> list[int]:
        """Registers of the statement, except for its operands and r1."""
        own = {0, *range(18, 28), 30, 31, *_SAVED, *self.coordinates.values()}
        return sorted(own)

    @cached_property
    def comparing(self) -> Listing:
        """The instructions."""
        slots = self.teaching.slots
        limit = self.teaching.limit(self.stage.distance_shift)
        forward = "\n".join(moved(24, self.store.record))
        return Listing(
            f"""
            lds  r25, %[examples]
            tst  r25
            brne some
            rjmp done ; there are none
        some: ldi r30, lo8(%[nearest] + {_ENTRY_BYTES})
            ldi  r31, hi8(%[nearest] + {_ENTRY_BYTES})
            ldi  r19, {_NO_CLASS}
            ldi  r20, lo8({limit - 1})
            ldi  r21, hi8({limit - 1})
            ldi  r18, {self.teaching.neighbours}
        none: st Z+, r19
            st   Z+, r20
            st   Z+, r21
            dec  r18
            brne none
            com  r20
            com  r21
            movw r6, r20
            ldi  r26, lo8(%[point])
            ldi  r27, hi8(%[point])
            {repeated(self.coordinates.values(), "ld r{0}, X+")}
            ldi  r24, lo8(%[second] - {self.store.record})
            ldi  r25, hi8(%[second] - {self.store.record})
            ldi  r26, lo8(%[slots])
            ldi  r27, hi8(%[slots])
        far: {forward}
            cpi  r26, lo8(%[slots] + {slots})
            brne slot
            rjmp vote
        slot: ld r18, X+
            sub  r18, r{self.coordinates[0]}
            brvs far
            muls r18, r18
            movw r20, r0
            add  r20, r6
            adc  r21, r7
            brpl far
            movw r30, r24
            {"".join(self._compared())}
            {self._rest if self.stage.n_inputs > len(_COORDINATES) else ""}
            {self._inserted}
        {self._votes}
        done: clr __zero_reg__
            """
        )

    def _compared(self) -> Iterator[str]:
        """Yield the code that compares each coordinate in a register but the first."""
        for k, register in self.coordinates.items():
            if k:
                on = "adiw r30, 1\n" if k > 1 else ""
                yield f"{on}{_read(30, 18)}\nsub r18, r{register}\n{_ADDED.format('far')}"

    @property
    def _rest(self) -> str:
        """The loop that compares the other coordinates."""
        return f"""
        rest: movw r4, r26
            ldi  r26, lo8(%[point] + {len(_COORDINATES)})
            ldi  r27, hi8(%[point] + {len(_COORDINATES)})
            rjmp coordinate
        left: movw r26, r4
            rjmp far
        coordinate: adiw r30, 1
            ld   r19, X+
            {_read(30, 18)}
            sub  r18, r19
            {_ADDED.format("left")}
            cpi  r26, lo8(%[point] + {self.stage.n_inputs})
            brne coordinate
            movw r26, r4
        """

    @property
    def _inserted(self) -> str:
        """The code that inserts a near example into the list, if its slot holds a valid one."""
        return f"""
            sbiw r24, 2 ; its class is before the first coordinate
            {_read(24, 19)}
            adiw r24, 2
            cpi  r19, {self.stage.n_outputs}
            brsh other
        near: sub r20, r6
            sbc  r21, r7
            ldi  r30, lo8(%[nearest] + {self._end})
            ldi  r31, hi8(%[nearest] + {self._end})
        place: ld r1, -Z
            ld   r0, -Z
            ld   r18, -Z
            cp   r19, r18
            cpc  r20, r0
            cpc  r21, r1
            brsh here
            std  Z+{_ENTRY_BYTES}, r18
            std  Z+{_ENTRY_BYTES + 1}, r0
            std  Z+{_ENTRY_BYTES + 2}, r1
            rjmp place
        here: std Z+{_ENTRY_BYTES}, r19
            std  Z+{_ENTRY_BYTES + 1}, r20
            std  Z+{_ENTRY_BYTES + 2}, r21
            lds  r6, %[nearest] + {self._end - 2}
            lds  r7, %[nearest] + {self._end - 1}
            com  r6
            com  r7
        other: rjmp far
        """

    @property
    def _votes(self) -> str:
        """The code that adds the votes of the listed examples."""
        stage, score_bytes = self.stage, self.stage.output.bits // 8
        shift = self.teaching.shift(stage.distance_shift)
        larger = "cp %[largest], r20\nbrsh nearer\nmov %[largest], r20\nnearer:"
        added = ["add r18, r0", "adc r18, r1", *["adc r18, r21"] * (score_bytes - 2)]
        return f"""
        vote: ldi r30, lo8(%[nearest] + {_ENTRY_BYTES})
            ldi  r31, hi8(%[nearest] + {_ENTRY_BYTES})
            movw r26, r30
            ldi  r22, {self.teaching.vote}
            {self._agreement}
        agree: lsl r22
        voter: ld r19, X+
            ld   r20, X+
            ld   r21, X+
            cpi  r19, {stage.n_outputs}
            brsh done ; there are no more
            {repeated(range(2 - shift), "lsl r20", "rol r21")}
            ldi  r18, {1 << min(7, 9 - shift)}
            mul  r20, r18
            mov  r30, r1
            mul  r21, r18
            add  r30, r0 ; its place in the table
            ldi  r31, 0
            subi r30, lo8(-(%[table]))
            sbci r31, hi8(-(%[table]))
            lpm  r20, Z
            {larger if stage.gives_nearest else ""}
            ldi  r18, {score_bytes}
            mul  r19, r18
            movw r30, r0
            subi r30, lo8(-(%[scores]))
            sbci r31, hi8(-(%[scores]))
            mul  r20, r22
            {"ldi r21, 0" if score_bytes > 2 else ""}
            {repeated(added, "ld r18, Z", "{0}", "st Z+, r18")}
            cpi  r26, lo8(%[nearest] + {self._end})
            brne voter
        """

    @property
    def _agreement(self) -> str:
        """The code that leaves the vote as it is if the voters are not all of one class."""
        others = range(_ENTRY_BYTES, _ENTRY_BYTES * self.teaching.neighbours, _ENTRY_BYTES)
        none = f"cpi r19, {self.stage.n_outputs}"
        other = ("ldd r19, Z+{0}", none, "brsh agree", "cp r18, r19", "brne voter")
        return f"ld r18, Z\n{repeated(others, *other)}" if others else ""

    @property
    def facts(self) -> Facts:
        """How often labels are passed at most, for any content of the store."""
        each = Passed(self.teaching.slots)
        facts = {
            "none": Passed(self.teaching.neighbours),
            "slot": each,
            "near": each,
            "place": Passed(self.teaching.neighbours + 1, of="near"),
            "voter": Passed(self.teaching.neighbours),
        }
        rest = self.stage.n_inputs - len(_COORDINATES)
        if rest > 0:
            facts |= {"rest": each, "coordinate": Passed(rest, of="rest")}
        return facts

    @property
    def cost(self) -> Cost:
        """Its cost, from no examples to as many as there is room for."""
        state = self.teaching.slots + _STATE_BYTES
        state += _ENTRY_BYTES * (self.teaching.neighbours + 2)
        return Cost(_NONE_CYCLES, tables=0, code=_CODE_BYTES, state=state)


_ADDED = """
            brvs {0}
            muls r18, r18
            add  r20, r0
            adc  r21, r1
            brpl {0}
"""
"""Add the square of a difference, and leave if the example is too far."""


def _read(address: int, register: int) -> str:
    """Return code that reads a byte of the EEPROM; a pair of registers has its address."""
    return f"""
            out  %[eearl], r{address}
            out  %[eearh], r{address + 1}
            sbi  %[eecr], 0
            in   r{register}, %[eedr]
    """
