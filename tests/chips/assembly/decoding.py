"""The text of inline assembly as `Decoded` instructions, and operands that these do not take.

Instructions are words at 0, 2, 4, ...; operands of a statement are registers, as `Operand` numbers
them. The text may have numeric labels, but no macros.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chips.assembly.statements import Operand

from protonn_edge.chips.avr.instruction_set import CALLS, EFFECTS
from protonn_edge.chips.avr.instructions import Decoded, fields, registers_of, written_by

_CONDITIONS = ("cs cc lo sh", "eq ne", "mi pl", "vs vc", "lt ge", "hs hc", "ts tc", "ie id")
SYNONYMS = {"tst": "and", "clr": "eor", "lsl": "add", "rol": "adc", "ser": "ldi"}
"""What the assembler calls special cases of instructions."""
_FLAGS: dict[str, str] = {}  # that they name
for _flag, _letter in enumerate("cznvshti"):
    _ways = [f"br{each}" for each in _CONDITIONS[_flag].split()]
    SYNONYMS |= {f"se{_letter}": "bset", f"cl{_letter}": "bclr"}
    SYNONYMS |= {name: ("brbs", "brbc")[number % 2] for number, name in enumerate(_ways)}
    _FLAGS |= dict.fromkeys((*_ways, f"se{_letter}", f"cl{_letter}"), str(_flag))

_NAMED = {"__tmp_reg__": 0, "__zero_reg__": 1}
_POINTERS = {"X": 26, "Y": 28, "Z": 30}
_STORES = ("st", "std", "sts")


class Unknown(Exception):
    """An instruction or an operand that no rule is for."""


@dataclass(frozen=True)
class Line:
    """An instruction of a text, and what is wrong with its operands."""

    text: str
    here: Decoded
    faults: tuple[str, ...]

    @cached_property
    def reads(self) -> set[int]:
        """The registers that it reads, also those of its pointer."""
        bits = registers_of(self.here)[0] | (3 << self.here.pointer if self.here.pointer else 0)
        return {each for each in range(bits.bit_length()) if bits >> each & 1}

    @cached_property
    def writes(self) -> set[int]:
        """The registers that it writes, also those of a pointer that it moves."""
        return written_by(self.here)


def decoded(text: str, operands: Mapping[str, Operand]) -> list[Line]:
    """Return the instructions of a text."""
    texts: list[str] = []
    labels: list[tuple[str, int]] = []
    sections: list[bool] = []  # whether they are code
    for line in text.replace("%=", "").replace("%~", "").split("\n"):
        rest = line
        while match := re.match(r"\s*([.\w]+):", rest):
            if all(sections):
                labels.append((match[1], 2 * len(texts)))
            rest = rest[match.end() :]
        words = rest.split(None, 1)
        if not words:
            continue
        if words[0] in (".pushsection", ".section"):
            sections = [*sections, "x" in words[1].split(",")[1]] if words[0][1] == "p" else []
        elif words[0] == ".popsection":
            sections.pop()
        elif words[0] in (".macro", ".rept", ".irp", ".if", ".set"):
            raise Unknown(f"the directive {words[0]}")
        elif not words[0].startswith("."):
            texts.append(" ".join(words).strip())
    return [_Decoder(each, 2 * at, operands, labels).line for at, each in enumerate(texts)]


class _Decoder:
    """Reads an instruction."""

    def __init__(
        self,
        text: str,
        address: int,
        operands: Mapping[str, Operand],
        labels: list[tuple[str, int]],
    ) -> None:
        self._text, self._address = text, address
        self._operands, self._labels = operands, labels
        self._faults: list[str] = []
        mnemonic, _, rest = text.partition(" ")
        name = SYNONYMS.get(mnemonic, mnemonic)
        parts = [part.strip() for part in re.split(r",(?![^(]*\))", rest)] if rest else []
        if mnemonic in _FLAGS:
            parts = [_FLAGS[mnemonic], *parts]
        elif mnemonic in SYNONYMS:  # of a register and itself, or of all bits
            parts = [*parts, "255" if name == "ldi" else parts[0]]
        self.line = Line(text, self._decoded(name, parts), tuple(self._faults))

    def _decoded(self, name: str, parts: list[str]) -> Decoded:
        if name not in EFFECTS:
            raise Unknown(f"the instruction {name!r}")
        here, allowed = Decoded(name, self._address, 2, {}), fields(name)
        values: dict[str, Any] = {}
        parts = parts[::-1] if name in _STORES else parts
        letters = [letter for letter in "sdArKbk" if letter in allowed]
        for letter, part in zip(letters, parts, strict=False):
            if letter in "dr":
                pair = EFFECTS[name].operands[:1].isupper()
                values[letter] = self._register(part, allowed[letter], pair=pair)
            elif letter == "k":
                values[letter] = None if name in CALLS else self._target(part)
            else:  # whatever I/O register the compiler inserts, it is not SREG
                values[letter] = _number(part, 0 if letter == "A" else None)
        if name == "lpm" and not parts:
            values, here = {}, here._replace(pointer=_POINTERS["Z"])
        for part in parts[len(letters) :]:
            if name in ("lds", "sts"):
                values["k"] = _number(part)
            else:
                here = self._pointed(here, part)
        if values.get("b", 0) is None:
            raise Unknown(f"the bit of {self._text!r}")
        return here._replace(operands=values)

    def _register(self, part: str, takes: range, *, pair: bool) -> int:
        """Return the register of an operand, and note the faults of its constraint."""
        named = re.fullmatch(r"%([A-D]?)\[?(\w+)\]?", part)
        if named is None:
            return _NAMED[part] if part in _NAMED else int(part.removeprefix("r"))
        operand = self._operands.get(named[2])
        if operand is None:
            raise Unknown(f"the operand {part}")
        byte = "ABCD".index(named[1] or "A")
        if byte + pair >= operand.size:
            self._faults.append(f"{part} has {operand.size} B in {self._text!r}")
            byte = 0
        if not operand.in_register:
            self._faults.append(f"{part} is no register in {self._text!r}")
        elif not {first + byte for first in operand.choices} <= set(takes):
            self._faults.append(
                f"{part} may be another register than r{takes[0]}..r{takes[-1]} in {self._text!r}"
            )
        return operand.first + byte

    def _pointed(self, here: Decoded, part: str) -> Decoded:
        """Add an address through a pointer."""
        match = re.fullmatch(r"(-?)(?:([XYZ])|%a\[?(\w+)\]?)(?:(\+)(.*))?", part)
        if match is None:
            raise Unknown(f"the address {part}")
        if match[2]:
            pointer = _POINTERS[match[2]]
            choices = {pointer}
        else:
            operand = self._operands.get(match[3])
            if operand is None or not operand.in_register:
                raise Unknown(f"the operand {part}")
            pointer, choices = operand.first, set(operand.choices)
        is_moved, is_displaced = match[1] or (match[4] and not match[5]), bool(match[5])
        takes = {30} if here.name == "lpm" else {28, 30} if is_displaced else {26, 28, 30}
        if not choices <= takes:
            self._faults.append(f"{part} may be no pointer that {self._text!r} takes")
        moved = pointer if is_moved else None
        return here._replace(pointer=pointer, moved=moved, decrements=bool(match[1]))

    def _target(self, name: str) -> int:
        """Return the place of a label."""
        numeric = re.fullmatch(r"(\d+)([bf])", name)
        places = [at for label, at in self._labels if label == (numeric[1] if numeric else name)]
        if numeric and numeric[2] == "b":
            places = [at for at in places if at <= self._address][-1:]
        elif numeric:
            places = [at for at in places if at > self._address]
        if not places:
            raise Unknown(f"there is no label {name}")
        return places[0]


def _number(part: str, inserted: int | None = None) -> int | None:
    """Return a number, or what stands for one that the compiler or the linker inserts."""
    try:
        return int(part, 0)
    except ValueError:
        return inserted
