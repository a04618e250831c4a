"""The state behind paths that meet: what is equal on all of them, and values made of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from protonn_edge.extensions.proof.data_space import OFFSETS
from protonn_edge.extensions.proof.forms import same
from protonn_edge.extensions.proof.liveness import Live
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.state import ChipState, Flags


def merged(
    states: list[ChipState], live: Live, machine: Machine, choose: Any, pair: Any = None
) -> ChipState | None:
    """Return a state with the common values of some; None if one is lost that matters.

    `choose` makes them of values, and `pair`, if it can, of the values of two bytes.
    """
    held = [*zip(*(each.registers for each in states), strict=True)]
    registers: list[Any] = []
    for number, values in enumerate(held):
        alike, used = _are_one(values), live.used >> number & 1
        value = values[0] if alike else choose(values) if used else None
        registers.append(value)
        if value is None and used and None not in values:
            low = number & 30  # of a pair, whose bytes may be of different forms
            two = pair and pair(held[low], held[low + 1])
            if not two:
                return None
            registers[low:], held[low + 1] = two[: number - low + 1], (two[1],)
    memory, made = dict(states[0].memory), set[int]()
    for place in _differing([each.memory for each in states]):
        if place in made:
            continue
        values = tuple(machine.before(each, place) for each in states)
        two = pair and pair(values, [machine.before(each, place + 1) for each in states])
        if two:
            memory[place], memory[place + 1] = two
            made.add(place + 1)
            continue
        memory[place] = choose(values)
        if memory[place] is None and None not in values and place < OFFSETS:
            return None
    state = states[0].copy()
    state.registers, state.memory = registers, memory
    return state


def _differing(memories: list[dict[int, Any]]) -> list[int]:
    """Return the places where memories differ, in order."""
    first, *others = memories
    places: set[int] = set()
    for each in others:
        if each != first:  # of most states all of it is equal
            places.update(p for p, value in first.items() if each.get(p) is not value)
            places.update(p for p in each.keys() - first.keys() if each[p] is not None)
    return sorted(places)


def _are_one(values: Sequence[object]) -> bool:
    """Whether values are one object, or equal numbers."""
    return values.count(values[0]) == len(values)


def if_same(values: Sequence[object]) -> Any:
    """Return the value that all of some are; None if they differ."""
    return values[0] if all(same(each, values[0]) for each in values) else None


def equal_registers(one: ChipState, other: ChipState, live: Live) -> bool:
    """Whether the registers that matter are equal in two states."""
    pairs = zip(one.registers, other.registers, strict=True)
    return all(same(x, y) for n, (x, y) in enumerate(pairs) if live.used >> n & 1)


def equal_flags(one: ChipState, other: ChipState) -> Flags:
    """Return the flags that are equal in two states."""
    pairs = zip(one.flags, other.flags, strict=True)
    return [x if x is y or same(x, y) else None for x, y in pairs]
