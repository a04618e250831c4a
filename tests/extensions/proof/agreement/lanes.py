"""Thousands of states at once: each lane has registers and variables of its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from extensions.proof.agreement.linked import Linked
from extensions.proof.agreement.machine import Carried, State
from extensions.proof.agreement.values import Value

END = 0x2000
UNTOUCHED = -1
"""What a byte holds that is no variable's and was not written."""


class Store:
    """The data space and the flash of all lanes."""

    def __init__(self, linked: Linked, data: np.ndarray, tables: Mapping[int, np.ndarray]) -> None:
        self.data, self.tables = data, tables
        self.flash = np.frombuffer(linked.code, np.uint8).astype(np.int64)
        self.own = (data[:, 0] != UNTOUCHED) | (np.arange(END) >= linked.end_of_variables)


class LaneMemory:
    """What the lanes of a state have in a store."""

    def __init__(self, all_lanes: Store, lanes: np.ndarray) -> None:
        self.all_lanes, self.lanes = all_lanes, lanes

    def load(self, address: Value) -> Value:
        loaded = self.all_lanes.data[address, self.lanes]
        assert (loaded != UNTOUCHED).all(), f"read of what is no variable's, at {address}"
        return _number(loaded.astype(np.int64))

    def store(self, address: Value, value: Value) -> None:
        assert self.all_lanes.own[address].all(), f"write to no variable, at {address}"
        self.all_lanes.data[address, self.lanes] = value

    def flash(self, address: Value) -> Value:
        first = address if isinstance(address, int) else int(address[0])
        for start, content in self.all_lanes.tables.items():
            if start <= first < start + len(content):
                at = address - start
                assert np.all((at >= 0) & (at < len(content))), "read beyond a table"
                return _number(content[at, self.lanes])
        found = self.all_lanes.flash[address]
        return int(found) if isinstance(address, int) else found

    def left(self, address: int) -> np.ndarray:
        """Return what all lanes have in a byte."""
        return self.all_lanes.data[address]


def lane_memory(linked: Linked, data: np.ndarray, tables: Mapping[int, np.ndarray]) -> LaneMemory:
    """Return the memory of all lanes: `data` (END, lanes), and tables by their addresses."""
    return LaneMemory(Store(linked, data, tables), np.arange(data.shape[1]))


def _number(values: np.ndarray) -> Value:
    """Return the number that all lanes have in common, if there is one."""
    first = values[0]
    return int(first) if values[-1] == first and (values == first).all() else values


class LaneWorld:
    """Lanes part at branches, and meet again."""

    def split(self, state: State, bit: Value) -> tuple[State | None, State | None]:
        chosen = bit != 0
        if chosen.all():
            return state, None
        if not chosen.any():
            return None, state
        return _some(state, np.flatnonzero(chosen)), _some(state, np.flatnonzero(~chosen))

    def join(self, one: State, other: State) -> State:
        count = len(one.memory.lanes)
        lanes = np.concatenate([one.memory.lanes, other.memory.lanes])
        both = lambda a, b: _joined(a, b, count, len(lanes) - count)  # noqa: E731
        registers = [both(a, b) for a, b in zip(one.registers, other.registers, strict=True)]
        assert one.stack == other.stack
        state = one.copy(registers, LaneMemory(one.memory.all_lanes, lanes))
        state.carry(one, other, both)
        return state

    def shared(self, one: State, other: State) -> int:  # noqa: ARG002
        return 0  # all lanes are equal


def _some(state: State, chosen: np.ndarray) -> State:
    pick = lambda value: value if isinstance(value, int) else value.take(chosen)  # noqa: E731
    memory = LaneMemory(state.memory.all_lanes, state.memory.lanes.take(chosen))
    part = state.copy([pick(each) for each in state.registers], memory)
    for name, flag in state.flags.items():
        bit = lambda n=name: pick(state.flag(n))  # noqa: E731
        part.flags[name] = Carried(bit) if isinstance(flag, Carried) else bit
    return part


def _joined(one: Value, other: Value, *counts: int) -> Value:
    if isinstance(one, int) and isinstance(other, int) and one == other:
        return one
    both = np.empty(sum(counts), np.int64)
    both[: counts[0]], both[counts[0] :] = one, other
    return both
