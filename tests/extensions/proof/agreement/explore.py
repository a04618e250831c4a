"""Run a function from its call to its return, along all ways that its values allow."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Protocol

from extensions.proof.agreement.actions import step
from extensions.proof.agreement.machine import Machine, State, instruction_of
from extensions.proof.agreement.values import Value

from protonn_edge.chips.avr.instruction_set import BRANCHES, JUMPS, SKIPS
from protonn_edge.extensions.proof.order import CallFrame, Flow, Position, flow_from

RETURN = 0x1FFFE
"""Where a function that is called by nobody returns to."""

_CALLS = ("call", "rcall", "icall")
_LIMIT = 5_000_000


class World(Protocol):
    """What becomes of states whose values decide on a branch."""

    def split(self, state: State, bit: Value) -> tuple[State | None, State | None]:
        """Return the state where the bit is set, and where it is clear, if that can be."""

    def join(self, one: State, other: State) -> State:
        """Return what stands for two states in one place."""

    def shared(self, one: State, other: State) -> int:
        """Return how late two states have parted."""


class Explorer:
    """Runs functions of a program."""

    def __init__(self, machine: Machine, world: World) -> None:
        self.machine, self.world = machine, world
        self._jumps = frozenset[tuple[int, int]]()
        self.steps = 0
        self.executed: set[int] = set()

    def run(self, state: State) -> State:
        """Return the state behind a function's return."""
        self._enter(state)
        waiting = {_position(state): [state]}
        while True:
            position = min(waiting)
            state = self._joined(waiting.pop(position))
            if state.place == RETURN:
                assert not waiting
                return state
            for each in self._advance(state):
                waiting.setdefault(_position(each), []).append(each)

    def _joined(self, states: list[State]) -> State:
        """Return what stands for all states in one place: those that parted last meet first."""
        shared = self.world.shared
        while len(states) > 1:
            states.sort(key=lambda each: shared(each, each))
            last = states.pop()
            place = max(range(len(states)), key=lambda place: shared(states[place], last))
            states[place] = self.world.join(states[place], last)
        return states[0]

    def _advance(self, state: State) -> Iterator[State]:
        """Go on to the next branch that values decide, or place where ways meet."""
        while True:
            before = state.place
            each = self.machine.instruction(before)
            self.executed.add(before)
            self.steps += 1
            assert self.steps < _LIMIT, "there is no end"
            fork = step(self.machine, state)
            if fork is not None:
                for to, part in zip(
                    (fork.taken, fork.other), self.world.split(state, fork.bit), strict=True
                ):
                    if part is not None:
                        part.place = to
                        part.frames[-1].arrive(before, to)
                        yield part
                return
            if each.name in _CALLS:
                state.calls.append(before)
                self._enter(state)
                continue
            if each.name == "ret":
                if state.place == RETURN:
                    yield state
                    return
                state.frames.pop()
                before = state.calls.pop()
                assert state.place == self.machine.instruction(before).end
            if each.name == "ijmp" and (before, state.place) not in self._jumps:
                raise NewJump(before, state.place)
            state.frames[-1].arrive(before, state.place)
            if state.place in state.frames[-1].flow.joins:
                yield state
                return

    def _enter(self, state: State) -> None:
        state.frames.append(CallFrame(_flow(self.machine.code, state.place, self._jumps)))
        state.frames[-1].arrive(-1, state.place)

    def learn(self, jump: NewJump) -> None:
        """Know of another target of a jump."""
        self._jumps |= {(jump.place, jump.target)}


@cache  # a function is called in many ways
def _flow(code: bytes, entry: int, jumps: frozenset[tuple[int, int]]) -> Flow:
    """Return the flow of a function, with what is known of its indirect jumps."""

    def followers(place: int) -> Iterator[int]:
        if place == RETURN:
            return
        each = instruction_of(code, place)
        if each.name in JUMPS:
            yield each.operands["k"]
        elif each.name == "ijmp":
            yield from sorted(target for origin, target in jumps if origin == place)
        elif each.name != "ret":
            yield each.end
            if each.name in BRANCHES:
                yield each.operands["k"]
            elif each.name in SKIPS:
                yield instruction_of(code, each.end).end

    return flow_from(entry, followers)


def _position(state: State) -> tuple[Position, ...]:
    """Return what is lower of a state that is behind."""
    if state.place == RETURN:
        return ((1 << 40,),)
    places = (*state.calls, state.place)
    return tuple(frame.position(at) for frame, at in zip(state.frames, places, strict=True))


class NewJump(Exception):
    """An indirect jump goes where no flow has it: start again with what is learnt."""

    def __init__(self, place: int, target: int) -> None:
        self.place, self.target = place, target
