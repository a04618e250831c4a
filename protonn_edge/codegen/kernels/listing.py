"""Assembly as a list of instructions, to print it, and to know its bytes and the cycles of paths.

Cycles are those of `protonn_edge.chips.avr.instruction_set`; facts about passes need them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from protonn_edge.chips.avr.instruction_set import EEPROM_CYCLES, EFFECTS, JUMPS, SKIPS

_PRINTED = {"jmp": "%~jmp"}  # the compiler prints RJMP for chips without JMP


def cycles_of(mnemonic: str) -> int:
    """Return the cycles of an instruction; macros and synonyms stand only for those that take one.

    SBI occurs only to start an EEPROM read, for which the CPU stops.
    """
    cycles = EFFECTS[mnemonic].cycles if mnemonic in EFFECTS else 1
    return cycles + EEPROM_CYCLES[0] * (mnemonic == "sbi")


def bytes_of(mnemonic: str) -> int:
    """Return the bytes of an instruction."""
    return 2 * EFFECTS[mnemonic].words if mnemonic in EFFECTS else 2


BEGIN, END = "begin", "end"
"""Implicit labels at a listing's first instruction and after its last one."""


@dataclass(frozen=True)
class Instruction:
    """One instruction."""

    text: str  # in the assembler's syntax, with label names
    comment: str  # for readers of the generated code
    label: str  # the label on its line, if any

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return self.text.split()[0]

    @property
    def target(self) -> str | None:
        """The label that it may branch to."""
        branches = self.text.startswith(("br", *JUMPS))
        return self.text.split()[1] if branches else None

    @property
    def conditional(self) -> bool:
        """Whether it is a branch or a skip."""
        return self.target is not None or self.mnemonic in SKIPS

    @property
    def keys(self) -> tuple[str, str]:
        """The keys under which `Listing.path` looks up a branch or skip."""
        where = self.target or self.text.partition(" ")[2].strip()
        return f"{self.mnemonic} {where}", where


class Passed(NamedTuple):
    """How often a prediction passes a label at most; the program's code does not show it.

    Passes are counted per prediction or, with `of`, per pass of another label.
    """

    most: int
    least: int = 0
    of: str = ""  # the other label
    base: int = 0  # additional passes then
    name: str = ""  # shared by labels whose passes are limited together
    weight: int = 1  # how much a pass of this label counts then


Facts = Mapping[str, Passed | list[Passed]]  # facts about labels, by label


@dataclass(frozen=True)
class Listing:
    """A piece of assembly: lines with a ``label:``, an instruction, or both, and ``; comments``.

    When the compiler decides on inlining, it counts each printed line as an instruction.
    """

    source: str  # the lines
    marks: tuple[tuple[str, str], ...] = ()  # labels, and the text printed with each

    def noting(self, name: str, facts: Facts) -> Listing:
        """Return the listing with facts about its labels, prefixed by `name` in the program."""
        marks = (
            (label, _mark(name, label, fact))
            for label, of_label in facts.items()
            for fact in (of_label if isinstance(of_label, list) else [of_label])
        )
        return replace(self, marks=tuple(marks))

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of instructions before each label."""
        instructions, labels = _parse(self.source)
        return {BEGIN: 0, END: len(instructions), **labels}

    @cached_property
    def code_bytes(self) -> int:
        """Its flash in bytes."""
        return sum(bytes_of(each.mnemonic) for each in _parse(self.source)[0])

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of a C string for inline assembly, with local labels."""
        instructions, labels = _parse(self.source)
        lines, names = [], defaultdict[int, list[str]](list)
        for name, at in labels.items():
            names[at].append(name)
        marks = defaultdict[int, str](str)
        for label, mark in self.marks:
            marks[self.places[label]] += f" {mark}"
        for place, each in enumerate((*instructions, None)):
            own = each.label if each else ""
            lines += [f'"{_local(name)}:\\n"' for name in names[place] if name != own]
            if each is not None:
                mnemonic, _, operands = each.text.partition(" ")
                operands = operands.strip()
                if each.target is not None:
                    operands = _local(each.target)
                comment = f" /* {each.comment} */" if each.comment else ""
                mnemonic = _PRINTED.get(mnemonic, mnemonic)
                label = f"{_local(own)}: " if own else "    "
                label += f'"{marks[place]} "' if place in marks else ""
                lines.append(f'"{label}{mnemonic:<5} {operands}'.rstrip() + f'\\n"{comment}')
            elif place in marks:
                lines.append(f'"    "{marks[place]} "\\n"')
        return tuple(lines)

    def __str__(self) -> str:
        """Return the lines as a template prints them in a statement of inline assembly."""
        return "\n".join(f"        {line}" for line in self.lines)

    def path(self, start: str, ends: Collection[str], taken: Mapping[str, int]) -> int:
        """Return the cycles of a path from a label to any of the ends.

        - `ends`: labels at which a path ends, after its first instruction.
        - `taken`: whether branches to a label are taken, or skips by ``sbrc rN, b`` (by its
          operands); or all of one mnemonic in front of that. Others are not.

        Raises `ValueError` if the path has a loop.
        """
        instructions, nowhere = _parse(self.source)[0], self.places[END] + 1
        stops, passed = {self.places[end] for end in ends}, set[int]()
        total, place = 0, self.places[start]
        while not passed or place not in stops:
            if place in passed:
                raise ValueError(f"the path from {start} has a loop without an end")
            passed.add(place)
            each = instructions[place]
            one, other = each.keys
            target = self.places.get(_name(each.target), nowhere) if each.target else place + 2
            if each.mnemonic in JUMPS:
                total, place = total + cycles_of(each.mnemonic), target
            elif each.conditional and taken.get(one, taken.get(other, 0)):
                total, place = total + 2, target
            else:
                total, place = total + cycles_of(each.mnemonic), place + 1
        return total


@lru_cache(maxsize=1 << 12)  # the plans that are compared consist of few pieces
def _parse(source: str) -> tuple[tuple[Instruction, ...], Mapping[str, int]]:
    """Return the instructions of a source, and the number of them before each label."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for line in source.splitlines():
        code, _, comment = (part.strip() for part in line.partition(";"))
        label, colon, after = code.rpartition(":")
        if colon:
            labels[label] = len(instructions)
        if after:
            instructions.append(Instruction(after.strip(), comment, label))
    return tuple(instructions), labels


def repeated(over: Iterable[object], *lines: str) -> str:
    """Return the lines once for each item, which replaces ``{0}`` in them."""
    return "".join(f"{line.format(each)}\n" for each in over for line in lines)


def moved(pointer: int, by: int) -> list[str]:
    """Return the instructions that move a pointer, of which the lower register is r24 or above."""
    if abs(by) < 64:  # which adiw adds
        return [f"{'adiw' if by > 0 else 'sbiw'} r{pointer}, {abs(by)}"] * (by != 0)
    return [f"subi r{pointer}, lo8(-({by}))", f"sbci r{pointer + 1}, hi8(-({by}))"]


def _mark(name: str, label: str, fact: Passed) -> str:
    """Return the macro call of the generated C that attaches a fact to a label."""
    limits, own = f"{fact.most}, {fact.least}", f"{name}_{fact.name or label}"
    if fact.base:
        return f"PNN_EACH_AND({own}, {name}_{fact.of}, {fact.most}, {fact.base})"
    if fact.of:
        return f"PNN_EACH({own}, {name}_{fact.of}, {limits})"
    if fact.name:
        return f"PNN_SHARED({own}, {limits}, {fact.weight}, {label})"
    return f"PNN_PASSED({own}, {limits})"


def _local(label: str) -> str:
    """Return a label that stays unique even if code is inlined repeatedly, as ``2f`` does."""
    return label if label[0].isdigit() else f".L{label}_%="


def _name(target: str) -> str:
    """Return the label that a branch names."""
    return target[:-1] if target[0].isdigit() else target
