"""Instructions of a text: the bytes that they read and write, and the registers that they take.

Their effects are in `protonn_edge.chips.avr.instruction_set`. The text of a statement may have
numeric labels, but no macros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from assembly.statements import CLASSES, Operand, Place

from protonn_edge.chips.avr.instruction_set import CALLS, EFFECTS, JUMPS, PRODUCTS, RETURNS, SKIPS

FLAGS: Place = ("flags", 0)
T: Place = ("T", 0)
SREG = "0x3f"
CALL_USED: set[Place] = {("r", number) for number in (0, *range(18, 28), 30, 31)}

_UPPER, _MIDDLE, _WORDS = CLASSES["d"], CLASSES["a"], CLASSES["w"]
_POINTERS, _DISPLACED = CLASSES["e"], CLASSES["b"]
_NAMED = {"__tmp_reg__": 0, "__zero_reg__": 1}
_POINTED = {"X": 26, "Y": 28, "Z": 30}

_TAKES = {
    **dict.fromkeys(("subi", "sbci", "andi", "ori", "cpi", "ldi", "ser", "muls"), _UPPER),
    **dict.fromkeys(("adiw", "sbiw"), _WORDS),
    "mulsu": _MIDDLE,
}
_OF_ITSELF = ("sub", "sbc", "eor")  # of a register and itself they do not depend on it
MEMORY = ("ld", "ldd", "lds", "st", "std", "sts")
STORES = ("st", "std", "sts", "out", "sbi", "cbi", "push", "wdr", "cli", "sei", "sleep")


class Unknown(Exception):
    """An instruction or an operand that no rule is for."""


@dataclass
class Instruction:
    """An instruction, with the instructions that may follow it, by number."""

    text: str
    mnemonic: str
    reads: set[Place] = field(default_factory=set)
    writes: set[Place] = field(default_factory=set)
    copies: list[tuple[Place, Place]] = field(default_factory=list)
    named: set[int] = field(default_factory=set)
    """Registers by number that the text names."""
    faults: list[str] = field(default_factory=list)
    followers: list[int] = field(default_factory=list)


def instructions_of(text: str, operands: dict[str, Operand]) -> list[Instruction]:
    """Return the instructions of a text; the number behind the last one is its end."""
    found: list[Instruction] = []
    labels: list[tuple[str, int]] = []
    sections: list[bool] = []  # whether they are code
    for line in text.replace("%=", "").replace("%~", "").split("\n"):
        rest = line
        while match := re.match(r"\s*([.\w]+):", rest):
            if all(sections):
                labels.append((match[1], len(found)))
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
            found.append(_decoded(words[0], words[1].strip() if words[1:] else "", operands))
    for number, each in enumerate(found):
        each.followers = list(_followers(number, each, labels))
    return found


def _followers(number: int, each: Instruction, labels: list[tuple[str, int]]) -> Iterator[int]:
    name, _, target = each.text.partition(" ")
    if name in JUMPS or name.startswith("br"):
        yield _target(target.strip(), number, labels)
    if name in SKIPS:
        yield number + 2
    if name not in (*JUMPS, *RETURNS):
        yield number + 1


def _target(name: str, number: int, labels: list[tuple[str, int]]) -> int:
    numeric = re.fullmatch(r"(\d+)([bf])", name)
    if numeric is None:
        places = [place for label, place in labels if label == name]
    elif numeric[2] == "b":
        places = [place for label, place in labels if label == numeric[1] and place <= number][-1:]
        places = (
            places or [p for label, p in labels if label == numeric[1] and p <= number + 1][-1:]
        )
    else:
        places = [place for label, place in labels if label == numeric[1] and place > number]
    if not places:
        raise Unknown(f"there is no label {name}")
    return places[0]


def _decoded(mnemonic: str, rest: str, operands: dict[str, Operand]) -> Instruction:
    each = Instruction(f"{mnemonic} {rest}".strip(), mnemonic)
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", rest)] if rest else []
    if mnemonic in JUMPS or re.fullmatch(r"br\w\w", mnemonic):
        if mnemonic.startswith("br"):
            each.reads.add(T if mnemonic in ("brts", "brtc") else FLAGS)
        return each
    if mnemonic in CALLS:
        each.writes |= {*CALL_USED, FLAGS, T}
        return each
    if mnemonic not in EFFECTS:
        raise Unknown(f"the instruction {mnemonic!r}")
    takes = _TAKES.get(mnemonic)
    for role, part in zip(EFFECTS[mnemonic].operands, parts, strict=False):
        if role == "p":
            _point(each, part, operands)
            continue
        if role == "-":
            continue
        places = _places(each, part, operands, takes, pair=role.isupper())
        each.reads |= set(places) if role in "urUR" else set()
        each.writes |= set(places) if role in "uwUW" else set()
    _add_effects(each, parts, operands)
    return each


def _add_effects(each: Instruction, parts: list[str], operands: dict[str, Operand]) -> None:
    """Add what an instruction does beside its operands."""
    name = each.mnemonic
    if name in _OF_ITSELF and parts[0] == parts[1]:
        each.reads.clear()
    if name in ("mov", "movw"):
        pair = name == "movw"
        to, by = (_places(each, part, operands, None, pair=pair) for part in parts)
        each.copies = list(zip(to, by, strict=True))
    if name in PRODUCTS:
        each.writes |= {("r", 0), ("r", 1)}
    if name == "lpm" and not parts:
        each.writes.add(("r", 0))
        each.reads |= {("r", 30), ("r", 31)}
    each.reads |= {FLAGS} if EFFECTS[name].reads_flags else set()
    each.writes |= {FLAGS} if EFFECTS[name].sets_flags else set()
    each.reads |= {T} if name == "bld" else set()
    each.writes |= {T} if name in ("bst", "set", "clt") else set()
    if name == "in" and parts[1].lower() == SREG:
        each.copies = [(next(iter(each.writes)), FLAGS)]
    if name == "out" and parts[0].lower() == SREG:
        each.copies = [(FLAGS, next(iter(each.reads)))]
        each.writes.add(FLAGS)


def _places(
    each: Instruction,
    part: str,
    operands: dict[str, Operand],
    takes: range | None,
    *,
    pair: bool,
) -> list[Place]:
    """Return the bytes of a register operand, and note the faults of its constraint."""
    named = re.fullmatch(r"%([A-D]?)\[?(\w+)\]?", part)
    if named is None:
        number = _NAMED[part] if part in _NAMED else int(part.removeprefix("r"))
        if part not in _NAMED:
            each.named |= {number, number + 1} if pair else {number}
        return [("r", number + byte) for byte in range(1 + pair)]
    operand = operands.get(named[2])
    if operand is None:
        raise Unknown(f"the operand {part}")
    byte = "ABCD".index(named[1] or "A")
    if byte + pair >= operand.size:
        each.faults.append(f"{part} has {operand.size} B in {each.text!r}")
    if not operand.in_register:
        each.faults.append(f"{part} is no register in {each.text!r}")
        return [(operand.name, byte)]
    if takes is not None and not set(operand.registers) <= set(takes):
        each.faults.append(
            f"{part} may be another register than r{takes[0]}..r{takes[-1]} in {each.text!r}"
        )
    return [operand.place(byte + more) for more in range(1 + pair)]


def _point(each: Instruction, part: str, operands: dict[str, Operand]) -> None:
    """Add what an address through a pointer reads and writes."""
    match = re.fullmatch(r"(-?)(?:([XYZ])|%a\[?(\w+)\]?)(?:(\+)(.*))?", part)
    if match is None:
        raise Unknown(f"the address {part}")
    moves, displaced = match[1] or (match[4] and not match[5]), bool(match[5])
    if match[2]:
        first = _POINTED[match[2]]
        places = [("r", first), ("r", first + 1)]
        each.named |= {first, first + 1}
        possible = range(first, first + 2)
    else:
        operand = operands.get(match[3])
        if operand is None or not operand.in_register:
            raise Unknown(f"the operand {part}")
        places = [operand.place(0), operand.place(1)]
        possible = operand.registers
    allowed = _DISPLACED if displaced else _POINTERS
    allowed = CLASSES["z"] if each.mnemonic == "lpm" else allowed
    if not set(possible) <= set(allowed):
        each.faults.append(f"{part} may be no pointer that {each.text!r} takes")
    each.reads |= set(places)
    each.writes |= set(places) if moves else set()
