"""The assembly loops that compare a point with prototypes and add the votes of near ones.

One statement contains all loops, so that no register changes hands and every cycle is known. In
comparisons, the point's first coordinates are in registers, the others in SRAM. r21:r20 is a
squared distance minus the limit, which is negative while the prototype is near; r23:r22 is the
prototype's address, and the list of near prototypes grows at X. When the list is full or no
prototype is left, the listed ones vote, one block of scores after the other. r25:r24 is then the
next prototype, r28 the lower byte of the list's end (the list has fewer than 256 bytes), and r29
the largest RBF.

Where flash allows, coordinates of prototypes are instructions. Nothing then points to prototypes,
which follow one another, and the list has room for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from protonn_edge.chips.avr.instruction_set import KEPT_BY_CALLEE
from protonn_edge.codegen.kernels.listing import Listing, moved, repeated
from protonn_edge.codegen.kernels.matvec.loops import Block
from protonn_edge.codegen.kernels.matvec.products import multiplied

# Registers for the point's first coordinates. Loading another coordinate takes two cycles.
_COORDINATE_REGISTERS = (*range(2, 18), 24, 25)

# The reach of branches, with a margin, and the code before the first coordinate, in words.
_BRANCH, _REACH = 63, 60
_NEXT_WORDS = 5
_ISLAND = "island"


@dataclass(frozen=True)
class Compared:
    """The comparison of one coordinate of a point with a prototype's."""

    number: int  # the coordinate, from 0
    register: int | None  # the register with the point's coordinate; None if in SRAM
    overflows: bool  # whether the difference may exceed a byte and look small if truncated
    checked: bool  # whether the loop leaves the prototype here if it is far
    # whether a jump to the next prototype precedes it, for branches that cannot reach it
    island: bool = False
    far: str = "far"  # the label to branch to: "far", or a jump to it before or after

    def code(self, limit: int, *, last: bool = False) -> Listing:
        """Return its instructions, preceded by its island, for this upper byte of the limit."""
        leaves = f"brpl {self.far}" if self.checked else ""
        if last and self.far != "far":
            leaves = "brmi near"
        island = f"rjmp step{self.number}\n{_ISLAND}{self.number}: rjmp far\n" * self.island
        fetched = f"lds r19, %[point] + {self.number}" if self.register is None else ""
        return Listing(
            f"""
        {island}step{self.number}: lpm r18, Z+
            {fetched}
            sub  r18, r{19 if self.register is None else self.register}
            {f"brvs {self.far}" if self.overflows else ""}
            {self._summed(limit)}
            {leaves}
            """
        )

    def _summed(self, limit: int) -> str:
        """Return the instructions that add the square of r18."""
        summed = (
            f"movw r20, r0\nsubi r21, {limit}" if self.number == 0 else "add r20, r0\nadc r21, r1"
        )
        return f"muls r18, r18\n{summed}"

    def unrolled(self, value: int, limit: int, prototype: int, behind: int) -> str:
        """Return its instructions for a prototype's coordinate, and words `behind` them."""
        fetched = f"mov r18, r{self.register}"
        if self.register is None:
            fetched = f"lds r18, %[point] + {self.number}"
        name, target = f"{prototype}_{self.number}", f"step{prototype + 1}"
        leaves = _leaves("brpl", "brmi", f"near{name}", target, behind) * self.checked
        summed = self._summed(limit)
        behind += Listing(f"{summed}\n{leaves}").code_bytes // 2
        overflow = _leaves("brvs", "brvc", f"inside{name}", target, behind) * self.overflows
        return f"{fetched}\nsubi r18, {value & 0xFF}\n{overflow}{summed}\n{leaves}"

    @property
    def words(self) -> int:
        """Flash words of its code, without an island."""
        return self.code(0).code_bytes // 2


@dataclass(frozen=True)
class Voting:
    """The statement, and its cycles."""

    steps: tuple[Compared, ...]  # one for each coordinate
    blocks: tuple[Block, ...]  # the passes of the scores over the near prototypes
    stride: int  # bytes of a prototype and its labels
    shift: int  # right shift from a squared distance to its index in the table, 0..6
    limit: int  # the upper byte of the squared distance from which prototypes are far
    nearest: bool  # whether the largest RBF is returned
    # (m, d): the coordinates of prototypes, if they are instructions; else none
    prototypes: Sequence[Sequence[int]]

    @property
    def saved_registers(self) -> tuple[int, ...]:
        """Registers of the caller that the statement uses."""
        compared = {step.register for step in self.steps if step.register is not None}
        summed = range(2, 2 + max(block.bytes for block in self.blocks))
        return tuple(sorted((compared | {*summed}) & {*KEPT_BY_CALLEE}))

    @property
    def _begin(self) -> str:
        return f"push r28\npush r29\n{'ldi r29, 0' if self.nearest else ''}"

    @property
    def _loaded(self) -> str:
        """The code that loads the point, and the begin of the list."""
        loaded = [step for step in self.steps if step.register is not None]
        return f"""
            {repeated(loaded, "lds r{0.register}, %[point] + {0.number}")}
            ldi  r26, lo8(%[list])
            ldi  r27, hi8(%[list])
        """

    @cached_property
    def listing(self) -> Listing:
        """The instructions."""
        return self._unrolled if self.prototypes else self._looped

    @property
    def _unrolled(self) -> Listing:
        prototypes = map(self._compared, range(len(self.prototypes)))
        return Listing(
            f"""
            {self._begin}
            {self._loaded}
            {"".join(prototypes)}
        step{len(self.prototypes)}: {self._vote("done")}
        {self._done}
            """
        )

    def _compared(self, number: int) -> str:
        """Return the instructions that list a prototype if it is near."""
        labels = f"%[first] + {number * self.stride + len(self.steps)}"
        code = f"""
            {_read_rbf(self.shift)}
            st   X+, r20
            ldi  r18, lo8({labels})
            st   X+, r18
            ldi  r18, hi8({labels})
            st   X+, r18
        """
        behind = Listing(code).code_bytes // 2
        values = self.prototypes[number]
        for step, value in zip(reversed(self.steps), reversed(values), strict=True):
            before = step.unrolled(value, self.limit, number, behind)
            code, behind = f"{before}{code}", behind + Listing(before).code_bytes // 2
        return f"step{number}: ; prototype {number}\n{code}"

    @property
    def _looped(self) -> Listing:
        steps = [step.code(self.limit, last=step is self.steps[-1]) for step in self.steps]
        distant = self.steps[-1].far != "far"
        return Listing(
            f"""
            {self._begin}
            ldi  r22, lo8(%[first])
            ldi  r23, hi8(%[first])
        again:
            {self._loaded}
            movw r30, r22
            rjmp compare
        accident: cpi r23, hi8(%[last])
            brne compare
            rjmp vote
        far: subi r22, lo8(-({self.stride})) ; this prototype is far: the next one
            sbci r23, hi8(-({self.stride}))
            movw r30, r22
            cpi  r22, lo8(%[last])
            breq accident
        compare:
            {repeated(steps, "{0.source}")}
            {f"{_ISLAND}{len(self.steps)}: rjmp far" if distant else ""}
            {"near:" if distant else ""}
            {_listed(self.shift, self.stride)}
            {self._voted}
            """
        )

    @property
    def _voted(self) -> str:
        """The code in which the listed prototypes vote, and that continues with the next ones."""
        return f"""
        vote: movw r24, r22
            {self._vote("voted")}
        voted: cpi r24, lo8(%[last])
            brne on
            cpi  r25, hi8(%[last])
            breq done
        on: movw r22, r24
            jmp  again
        {self._done}
            """

    def _vote(self, behind: str) -> str:
        """Return the code in which the listed prototypes vote, up to a label."""
        return f"""
            cpi  r26, lo8(%[list])
            brne some
            jmp  {behind} ; the list is empty
        some: mov r28, r26
            {"".join(self._votes(block) for block in self.blocks)}
        """

    @property
    def _done(self) -> str:
        nearest = "mov r24, r29" if self.nearest else ""
        return f"done: clr __zero_reg__\n{nearest}\npop r29\npop r28"

    def _votes(self, block: Block) -> str:
        place = block.first * block.width
        behind = "\n".join(moved(30, block.first))
        if self.nearest and not block.first:
            behind = "cp r29, r23\nbrsh nearer\nmov r29, r23\nnearer:"
        registers, products = range(2, 2 + block.bytes), "\n".join(multiplied(block.registers))
        scores = f"ldi r30, lo8(%[scores] + {place})\nldi r31, hi8(%[scores] + {place})"
        return f"""
            ldi  r26, lo8(%[list]) ; scores {block.first}..{block.last}
            ldi  r27, hi8(%[list])
            {scores}
            {repeated(registers, "ld r{0}, Z+")}
        voter{block.number}: ld r23, X+
            ld   r30, X+
            ld   r31, X+
            {behind}
            {products}
            cp   r26, r28
            brne voter{block.number}
            {scores}
            {repeated(registers, "st Z+, r{0}")}
        """


def _leaves(branch: str, opposite: str, on: str, target: str, words: int) -> str:
    """Return the branch to a target behind some words, or else a jump that the opposite avoids."""
    if words <= _BRANCH:
        return f"{branch} {target}\n"
    return f"{opposite} {on}\nrjmp {target}\n{on}:\n"


def _read_rbf(shift: int) -> str:
    """Return code that reads the RBF of a squared distance."""
    return f"""
            {_shifted(shift)}
            mov  r30, r{21 if shift > 4 else 20}
            ldi  r31, 0
            subi r30, lo8(-(%[table]))
            sbci r31, hi8(-(%[table]))
            lpm  r20, Z
    """


def _listed(shift: int, stride: int) -> str:
    """Return code that lists a near prototype, with its RBF."""
    return f"""
        listed: movw r18, r30 ; this prototype is near: its labels follow its coordinates
            {_read_rbf(shift)}
            st   X+, r20
            st   X+, r18
            st   X+, r19
            cpi  r26, lo8(%[full])
            breq full
            rjmp far
        full: subi r22, lo8(-({stride}))
            sbci r23, hi8(-({stride}))
    """


def _shifted(shift: int) -> str:
    """Return code that moves the byte that begins at bit 0..6 of r21:r20 to r20 or r21."""
    if shift == 4:
        return "swap r20\nandi r20, 0x0f\nswap r21\nandi r21, 0xf0\nor r20, r21"
    if shift > 4:
        return repeated(range(8 - shift), "lsl r20", "rol r21")
    return repeated(range(shift), "lsr r21", "ror r20")


def clearing(score_bytes: int) -> Listing:
    """Return the loop that sets all scores to 0."""
    return Listing(
        f"""
        score:
            {repeated(range(score_bytes), "st %a[next]+, __zero_reg__")}
            dec  %[left]
            brne score
        """
    )


def compared_steps(overflows: Sequence[bool], checked: Sequence[bool]) -> tuple[Compared, ...]:
    """Return the comparisons, given which coordinates may overflow a byte and are checked."""
    registers = (*_COORDINATE_REGISTERS, *([None] * len(overflows)))
    each = zip(range(len(overflows)), registers[: len(overflows)], overflows, checked, strict=True)
    return tuple(_with_islands([Compared(*step) for step in each]))


def _with_islands(steps: Sequence[Compared]) -> Iterator[Compared]:
    """Yield the steps with the labels that their branches reach."""
    place, island, last = _NEXT_WORDS, -_REACH - 1, _ISLAND
    placed: list[Compared] = []
    waiting: int | None = None  # the first branch that still needs an island after it
    for step in steps:
        needs_island = waiting is not None and place + step.words + 2 - waiting > _REACH
        if needs_island:
            island, waiting, place, last = place + 1, None, place + 2, f"{_ISLAND}{step.number}"
            placed = [replace(one, far=last) if one.far == "" else one for one in placed]
        end = place + step.words
        far = "far" if end <= _REACH else last if end - island <= _REACH else ""
        if not far and waiting is None:
            waiting = place
        placed.append(replace(step, island=needs_island, far=far))
        place = end
    behind = f"{_ISLAND}{len(steps)}"
    yield from (replace(one, far=behind) if one.far == "" else one for one in placed)
