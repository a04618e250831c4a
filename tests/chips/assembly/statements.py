"""Statements of inline assembly in preprocessed C, and the registers of their operands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

CLASSES = {
    "r": range(32),
    "l": range(16),
    "a": range(16, 24),
    "d": range(16, 32),
    "w": range(24, 32),
    "e": range(26, 32),
    "b": range(28, 32),
    "x": range(26, 28),
    "y": range(28, 30),
    "z": range(30, 32),
}
"""The registers that a constraint allows."""

_ONE_PAIR = ("x", "y", "z")
_SIZES = {"char": 1, "float": 4}
_MOST_BYTES = 8
REGISTERS = 32
"""Registers of a chip; those from here on stand for those that the compiler chooses."""
FLAGS = range(-8, 0)
"""Flags, where registers are numbered."""


@dataclass(frozen=True)
class Operand:
    """An operand: its name in the text, its constraint, its bytes, and their first register."""

    name: str
    constraint: str
    size: int
    first: int

    @property
    def letter(self) -> str:
        """The constraint without modifiers."""
        return self.constraint.lstrip("=+&")

    @property
    def in_register(self) -> bool:
        """Whether it is not a constant."""
        return self.letter in CLASSES

    @property
    def may_share(self) -> bool:
        """Whether inputs may be in its registers, if it is an output."""
        return "&" not in self.constraint

    @property
    def registers(self) -> range:
        """The registers that the compiler may choose from."""
        return CLASSES[self.letter] if self.first >= REGISTERS else self.places

    @property
    def choices(self) -> range:
        """The registers in which it may begin: a pair begins in an even one."""
        return self.registers[: len(self.registers) - self.size + 1 : 1 if self.size == 1 else 2]

    @property
    def places(self) -> range:
        """Its registers."""
        return range(self.first, self.first + self.size)


@dataclass(frozen=True)
class Statement:
    """A statement with operands; outputs include in-out operands, which inputs do not."""

    text: str
    outputs: tuple[Operand, ...]
    inputs: tuple[Operand, ...]
    clobbers: frozenset[str]
    is_volatile: bool
    before: str

    @cached_property
    def operands(self) -> dict[str, Operand]:
        """Operands by name and number."""
        operands = (*self.outputs, *self.inputs)
        numbered = {str(number): each for number, each in enumerate(operands)}
        return {**numbered, **{each.name: each for each in operands}}


_STRING = r'"(?:\\.|[^"\\])*"'
_TOKEN = re.compile(rf"{_STRING}|[()\[\]]|[^\s\"()\[\],:]+|\s+|.")
_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}
_BEGIN = re.compile(r"\b(?:__asm__|asm)\s*((?:__volatile__|volatile)?)\s*\(")
_OF_A_VARIABLE = re.compile(r"\bregister\b[^;]*$")
# labels that only say something of their places
_FACT = re.compile(r"\b\w+_(?:passed|whole|each|jump|target|span)\.[^:\n]*: ?")
_ESCAPES = {"n": "\n", "t": "\t"}


def statements_in(code: str) -> Iterator[Statement | str]:
    """Yield the statements of preprocessed C: the mere text of those without operands."""
    for match in _BEGIN.finditer(code):
        before = code[: match.start()]
        if _OF_A_VARIABLE.search(before[-200:]):
            continue
        parts = _split(_inside(code, match.end()), ":")
        if len(parts) == 1:
            yield _text(parts[0])
            continue
        function = before[before.rfind("\n}") + 1 :]
        is_volatile = bool(match[1]) or not parts[1].strip()
        yield _statement(parts, _Variables(function, code), is_volatile)


def _statement(parts: list[str], variables: _Variables, is_volatile: bool) -> Statement:
    text, outs, ins, clobbers = (*parts, "", "")[:4]
    listed = [variables.operand(*each) for each in enumerate(_listed(outs))]
    free = []
    for each in (variables.operand(*part) for part in enumerate(_listed(ins), len(listed))):
        if each.letter.isdigit():  # it is tied to an output
            tied = listed[int(each.letter)]
            listed[int(each.letter)] = replace(tied, constraint="+" + tied.constraint[1:])
        else:
            free.append(each)
    return Statement(
        _text(text),
        tuple(listed),
        tuple(free),
        frozenset(re.findall(r'"(\w+)"', clobbers)),
        is_volatile,
        variables.function,
    )


@dataclass(frozen=True)
class _Variables:
    """The variables of a function up to a statement, and the types of a file."""

    function: str
    code: str

    def operand(self, number: int, part: str) -> Operand:
        match = re.fullmatch(r'\s*(?:\[(\w+)\])?\s*"([^"]*)"\s*\((.*)\)\s*', part, re.DOTALL)
        assert match is not None, part
        constraint, value = match[2], match[3].strip()
        letter = constraint.lstrip("=+&")
        if letter not in CLASSES:
            return Operand(match[1] or value, constraint, 0, 0)
        size = 2 if letter in _ONE_PAIR else self._size(value)
        variable = re.search(
            rf'\bregister\b[^;]*\b{re.escape(value)} __asm__\("r(\d+)"\)', self.function
        )
        first = int(variable[1]) if variable else REGISTERS + _MOST_BYTES * number
        if letter in _ONE_PAIR:
            first = CLASSES[letter][0]
        return Operand(match[1] or value, constraint, size, first)

    def _size(self, value: str) -> int:
        cast = re.match(r"\(([\w ]+?)\s*(\*?)\)", value)
        if cast is not None:
            return self._bytes(cast[1], cast[2])
        if re.fullmatch(r"\w+", value) is None:
            return 2  # an address
        declared = [each for each in self._declared if each[0] == value]
        return self._bytes(*declared[-1][1:]) if declared else 2  # an array

    @cached_property
    def _declared(self) -> list[tuple[str, str, str]]:
        """The variables: name, type, and a star if it is a pointer."""
        header, _, body = self.function.partition("\n{")
        parameters = re.search(r"\(([^()]*)\)\s*$", header)
        lists = parameters[1].split(",") if parameters else []
        found = []
        for each in (*lists, *re.split(r"[;{}]", body)):
            flat, depth = "", 0
            for token in _TOKEN.findall(each):
                depth += _DEPTH.get(token, 0)
                flat += token if depth <= 0 else ""
            match = re.match(
                r"[\s(]*((?:(?:register|const|volatile|static|struct)\s+)*)(\w+)\s+(.*)",
                flat,
                re.DOTALL,
            )
            if match is None or match[2] in ("return", "else"):
                continue
            for declarator in match[3].split(","):
                name = re.match(r"\s*(\**)\s*(?:const\s+)?(\w+)", declarator)
                if name is not None:
                    found.append((name[2], match[2], name[1][:1]))
        return found

    def _bytes(self, name: str, star: str) -> int:
        if star:
            return 2
        name = name.removeprefix("const ").strip()
        bits = re.fullmatch(r"(?:u?int|__int)(\d+)(?:_t)?", name)
        if bits is not None:
            return int(bits[1]) // 8
        if name in _SIZES:
            return _SIZES[name]
        defined = re.findall(rf"\btypedef\s+([^;]*?)\s*\b{name};", self.code)
        return self._bytes(defined[-1].split()[-1], "") if defined else 2


def _inside(code: str, start: int) -> str:
    """Return what is between a parenthesis and the one that closes it."""
    place, depth = start, 1
    while depth:
        token = _TOKEN.match(code, place)
        assert token is not None
        depth += _DEPTH.get(token[0], 0)
        place = token.end()
    return code[start : place - 1]


def _split(inside: str, separator: str) -> list[str]:
    """Split at a separator that is neither in a string nor in brackets."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(inside):
        depth += _DEPTH.get(token, 0)
        if token == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def _listed(operands: str) -> list[str]:
    return [each for each in _split(operands, ",") if each.strip()]


def _text(part: str) -> str:
    literals = "".join(literal[1:-1] for literal in re.findall(_STRING, part))
    text = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), literals)
    return _FACT.sub("", text)
