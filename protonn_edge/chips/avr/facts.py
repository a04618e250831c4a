"""Facts about a program that its code does not show, read from its labels.

A code generator knows how often code loops, and marks these places with labels. They take no
memory: a label is an entry of the ELF file's symbol table. The linker keeps and moves it with its
code, and the compiler copies it with the code that it inlines or unrolls. Names are

| name | meaning |
|---|---|
| ``P_passed.NAME.MOST.LEAST.N`` | in a prediction all places of this name are passed at most and at least so often together |
| ``P_passed.NAME.MOST.LEAST.W.N`` | the same, where a pass of this place counts W times |
| ``P_each.NAME.OTHER.MOST.LEAST.N`` | the same, for each time that a place named ``OTHER`` is passed |
| ``P_each.NAME.OTHER.MOST.0.B.N`` | the same, and B times more in all, also without the other place |
| ``P_given.CONDITION.N`` | these places are never passed if a condition holds, which the claims state |
| ``P_span.NAME.N`` | a part of a prediction begins, which the program measures |

where P is the prefix of the model's functions, and N makes labels unique. Each model in a program
has its own names. A prediction is a call of ``P_predict``, or a call of ``P_begin``, the pushes of
all features, and a call of ``P_finish``. If it is abandoned, no place is passed more often than
that; there is no least number then, nor in a function that makes only a part of a prediction.
"""  # noqa: E501  (a table)

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from protonn_edge.chips.avr.bounded import AGAIN
from protonn_edge.chips.avr.names import MARK
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.system.errors import InvalidValue

_LIMITING = ("passed", "each")


@dataclass(frozen=True)
class Fact:
    """How often places are passed together."""

    name: str
    places: Mapping[int, int]  # addresses of instructions, and how often a pass of each counts
    # how often: in a prediction, or each time that one of the others is passed
    most: int
    least: int
    others: Mapping[int, int] = field(default_factory=dict)
    base: int = 0  # how often more, if there are others
    is_condition: bool = False  # whether it holds only in proper use, which its name describes

    def of_a_part(self, early: int) -> Fact:
        """Return the fact for parts of a prediction, which may be abandoned or begun before.

        `early` of them can pass the places after a pass of one of the others before them.
        """
        before = self.most * max(self.others.values(), default=0)
        return replace(self, least=0, base=self.base + early * before)


def span_labels(program: LinkedProgram) -> Mapping[str, list[int]]:
    """Return the addresses of the labels of spans, by name."""
    labels = defaultdict[str, list[int]](list)
    for mark in program.marks:
        match = MARK.fullmatch(mark.name)
        if match is not None and match[2] == "span":
            labels[match[3]].append(mark.address)
    return labels


def predictions_of(program: LinkedProgram) -> set[str]:
    """Return each function that makes a whole prediction in one call, for models with labels."""
    matches = (MARK.fullmatch(mark.name) for mark in program.marks)
    return {f"{match[1]}_predict" for match in matches if match is not None}


def facts_of(program: LinkedProgram) -> tuple[Fact, ...]:
    """Return the facts that a program's labels state; `InputError` if labels differ."""
    # by prefix, kind and name
    places: dict[tuple[str, str, str], dict[int, int]] = defaultdict(dict)
    limits: dict[tuple[str, str, str], list[str]] = {}
    for mark in program.marks:
        match = MARK.fullmatch(mark.name)
        assert match is not None
        prefix, kind, name, *rest, weight = match.groups(default="")
        if kind in _LIMITING and not rest[1]:
            raise InvalidValue(program.path, f"the label {mark.name} has no limit", AGAIN)
        if kind == "each":
            rest, weight = [*rest, weight], "1"
        # Copies of a place may share an address, if the compiler removed all code between them.
        own = places[prefix, kind, name]
        own[mark.address] = own.get(mark.address, 0) + int(weight or 1)
        if limits.setdefault((prefix, kind, name), rest) != rest:
            raise InvalidValue(
                program.path,
                f"two limits for {name}",
                "build its models again, each with a prefix of its own",
            )
    named: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for (prefix, _, name), addresses in places.items():
        named[prefix, name] |= addresses
    facts = (
        _fact(kind, name, places[prefix, kind, name], named[prefix, numbers[0]], numbers[1:])
        for (prefix, kind, name), numbers in limits.items()
        if kind == "given" or kind in _LIMITING
    )
    return tuple(filter(None, facts))


def _fact(
    kind: str, name: str, places: Mapping[int, int], others: Mapping[int, int], limits: list[str]
) -> Fact | None:
    """Return the fact of places of one kind and name; None if it has no limit in this program."""
    if kind == "given":
        return Fact(name.replace("_", " "), places, 0, 0, is_condition=True)
    most, least = int(limits[0]), int(limits[1])
    base = limits[2] if kind == "each" else ""  # empty if it is not stated
    if others or kind != "each":
        return Fact(name, places, most, least, others, int(base or 0))
    return Fact(name, places, int(base), 0) if base else None  # the other place was not linked
