"""Run a function from its call to its return, on all paths that inputs can take.

States that are behind go on first (`order`), so paths that part at a branch meet where they are in
the same pass of the same loops, and go on as one state if nothing that still matters is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from protonn_edge.chips.avr.flow import Code
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.chips.avr.semantics import INTERRUPTS
from protonn_edge.extensions.proof.choices import Parted
from protonn_edge.extensions.proof.facts import OrderFacts, before_parting, decided
from protonn_edge.extensions.proof.forms import Bit, Byte, Impossible, Root, Unproven
from protonn_edge.extensions.proof.liveness import AT_RETURN, Live, Liveness
from protonn_edge.extensions.proof.machine import RETURN, Fork, Machine
from protonn_edge.extensions.proof.merging import (
    equal_flags,
    equal_registers,
    if_same,
    merged,
)
from protonn_edge.extensions.proof.order import CallFrame, Flow, Position, flow_from
from protonn_edge.extensions.proof.progress import is_endless
from protonn_edge.extensions.proof.state import (
    ChipState,
    Meeting,
    over_way,
    same_mask,
    spanned,
    words_over_way,
)

MOST_STATES = 4_000
MOST_STEPS = 20_000_000
_BYTES = 256
_LOW = 0x55555555  # the lower registers of pairs
_CALLS = {"call", "rcall"}


class NewJump(Exception):
    """An indirect jump goes where no flow has it: start again with what is learnt."""


class Explorer:
    """Runs functions of a program.

    Attributes
    ----------
    steps, most_steps : int
        How many instructions were executed and pairs of paths compared, and may be.
    ways : list of Root
        Roots that number paths of several decisions, in their order.
    stops : set of int
        Where states are put into `stopped` instead of being run on.
    """

    def __init__(self, machine: Machine, most_steps: int = MOST_STEPS) -> None:
        self.machine, self.most_steps = machine, most_steps
        self.program: LinkedProgram = machine.program
        self._code = Code(machine.program)
        self.steps = 0
        self.ways: list[Root] = []
        self.stops: frozenset[int] = frozenset()
        self.stopped: list[ChipState] = []
        self._jumps = set[tuple[int, int]]()
        self._flows: dict[int, Flow] = {}
        self._liveness = Liveness(self.program, self._flow)

    def run(self, start: ChipState, *more: Callable[[ChipState], None]) -> list[ChipState]:
        """Return the states behind a function's return, from one in front of its first place.

        Each of `more` lets such a state call the next function.
        """
        while True:
            states = [start.copy()]
            self.ways, self.stopped = [], []
            try:
                for call in (lambda _: None, *more):
                    for state in states:
                        call(state)
                        state.frames, state.calls = [], []
                        self._enter(state)
                    states = self.go_on(states)
            except NewJump:
                self._flows.clear()
                self._liveness.forget()
            else:
                return states

    def go_on(self, states: list[ChipState]) -> list[ChipState]:
        """Return the states behind the outermost return."""
        waiting: dict[tuple[Position, ...], list[ChipState]] = {}
        for each in states:
            waiting.setdefault(_position(each), []).append(each)
        while waiting:
            position = min(waiting) if len(waiting) > 1 else next(iter(waiting))
            states = waiting.pop(position)
            if len(states) > 1:
                states = self._joined(states, every=not waiting)
            if states[0].place == RETURN:
                if waiting:
                    raise Unproven("some paths do not return")
                self.machine.algebra.forget()
                return states
            if len(states) > MOST_STATES:
                raise Unproven(f"{len(states):,} different states in one place")
            alone = not waiting and len(states) == 1
            for state in states:
                with suppress(Impossible):
                    for each in self._advance(state, alone=alone):
                        waiting.setdefault(_position(each), []).append(each)
        self.machine.algebra.forget()
        return []

    def _advance(self, state: ChipState, *, alone: bool) -> Iterator[ChipState]:
        """Go on to the next branch that inputs decide, or place where ways meet."""
        alone = alone and not state.facts and not state.masks
        while True:
            before = state.place
            fork = self.machine.step(state)
            self._count()
            if fork is not None:
                yield from self._parted(state, before, fork)
                return
            if state.place <= before and is_endless(state, self.machine.arithmetic):
                again = self.program.names.name_of(state.place)
                raise Unproven(
                    f"nothing has changed when it is at {again} again: a loop never ends"
                )
            state.spend(self._code.cycles(before, state.place))
            if not self._moved(state, before):
                yield state
                return
            if state.place in self.stops:
                self.stopped.append(state)
                return
            if not alone and state.place in state.frames[-1].flow.joins:
                yield state
                return

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self.most_steps:
            raise Unproven(f"there is no end after {self.most_steps:,} steps")

    def _moved(self, state: ChipState, before: int) -> bool:
        """Note calls, returns and passes of loops; return whether the state is not at the end."""
        here = self.program.reached(before)
        if here.name in _CALLS and state.place != here.end:
            state.calls.append(before)
            self._enter(state)
            return True
        if here.name == "ret":
            if state.place == RETURN:
                return False
            if not state.calls:
                raise Unproven("it returns elsewhere")
            state.frames.pop()
            before = state.calls.pop()
            if state.place != self.program.reached(before).end:
                raise Unproven("it returns elsewhere")
        elif here.name == "ijmp" and (before, state.place) not in self._jumps:
            self._jumps.add((before, state.place))
            raise NewJump
        state.frames[-1].arrive(before, state.place)
        return True

    def _parted(self, state: ChipState, before: int, fork: Fork) -> Iterator[ChipState]:
        """Yield the two states behind a branch."""
        for place, sense in ((fork.taken, True), (fork.other, False)):
            each = state.copy()
            each.place = place
            each.spend(self._code.cycles(before, place))
            if isinstance(fork.bit, Bit):
                each.narrow(fork.bit.root, fork.bit.mask if sense else ~fork.bit.mask)
            else:
                told = self.machine.algebra.sums.told(fork.bit, sense=sense)
                each.facts = (*state.facts, *told)
            each.frames[-1].arrive(before, place)
            if place in self.stops:
                self.stopped.append(each)
            else:
                yield each

    # ---- order ----

    def _enter(self, state: ChipState) -> None:
        state.frames.append(CallFrame(self._flow(state.place)))
        state.frames[-1].arrive(-1, state.place)

    def _flow(self, entry: int) -> Flow:
        if entry not in self._flows:
            self._flows[entry] = flow_from(entry, self._followers)
        return self._flows[entry]

    def _followers(self, place: int) -> Iterator[int]:
        if place == RETURN:
            return
        here = self.program.reached(place)
        if here.name == "ijmp":
            yield from sorted(target for origin, target in self._jumps if origin == place)
        elif here.name != "ret":
            yield from (there for there, _ in self._code.ways(here))

    def _live(self, state: ChipState) -> Live:
        """Return what matters in a state: at its place, and where its functions return to."""
        live = AT_RETURN
        for frame, place in zip(state.frames, (*state.calls, state.place), strict=True):
            entry = frame.entry
            at = self._liveness.at(entry, live)
            if place == state.place and frame is state.frames[-1]:
                return at.get(place, live)
            live = at.get(self.program.reached(place).end, live)
        return live

    # ---- meetings ----

    def _joined(self, states: list[ChipState], *, every: bool) -> list[ChipState]:
        """Join what can be joined, states that parted last first; these may be all that exist."""
        self.machine.algebra.forget()
        live = AT_RETURN if states[0].place == RETURN else self._live(states[0])
        groups: dict[Any, list[ChipState]] = {}
        for state in states:
            groups.setdefault(_pointers(self.machine, state, live), []).append(state)
        every &= len(groups) == 1
        joined: list[ChipState] = []
        for group in groups.values():
            joined += group if len(group) == 1 else self._joined_group(group, live, every=every)
        return joined

    def _joined_group(self, states: list[ChipState], live: Live, *, every: bool) -> list[ChipState]:
        """Join states whose addresses are equal."""
        roots = {root for each in states for root in each.masks}
        if len(roots) > 1 and not any(each.facts for each in states):
            way = self._way(states, live) if every else None
            if way is not None:
                return [way]
            if not any(root.of for root in roots):  # of a tree: all of its paths meet at once
                return states
        kept: list[ChipState] = []
        states = sorted(states, key=lambda each: len(each.facts) + len(each.masks))
        while states:
            last = states.pop()
            by_shared = sorted(range(len(states)), key=lambda k: -_shared(states[k], last))
            for k in by_shared:
                self._count()
                joined = self._pair(states[k], last, live)
                if joined is not None:
                    joined.cycles = spanned((states[k], last))
                    states[k] = joined
                    break
            else:
                kept.append(last)
        return kept

    def _pair(self, one: ChipState, other: ChipState, live: Live) -> ChipState | None:
        """Return the common state of two, if nothing that matters is lost."""
        differ = [
            root
            for root in one.masks.keys() | other.masks.keys()
            if not same_mask(one.masks.get(root), other.masks.get(root))
        ]
        algebra = self.machine.algebra
        if one.facts != other.facts:
            if differ:
                return None
            before = before_parting(one.facts, other.facts)
            if before is not None:
                return _chosen(one, other, live, self.machine, before)
            if not equal_registers(one, other, live):
                return None
            state = merged([one, other], live, self.machine, if_same)
            if state is not None:
                state.facts = algebra.sums.common(one.facts, other.facts)
                state.flags = equal_flags(one, other)
            return state
        if len(differ) != 1:
            return None
        root = differ[0]
        mask, rest = one.reached(root), other.reached(root)
        if (mask & rest).any():
            raise Unproven("paths overlap")
        meeting = Meeting(algebra, root, one, other)
        state = merged([one, other], live, self.machine, lambda values: meeting.value(*values))
        if state is not None:
            bit = self.machine.arithmetic.bit
            state.flags = [
                meeting.flag(x, y, bit) for x, y in zip(one.flags, other.flags, strict=True)
            ]
            state.masks[root] = mask | rest
            if state.masks[root].all():
                del state.masks[root]
        return state

    def _way(self, states: list[ChipState], live: Live) -> ChipState | None:
        """Return the common state of paths of several decisions, which are all that there are."""
        boxes = [each.masks for each in states]
        if not _are_apart(boxes):
            return None
        way = Root(f"way{len(self.ways)}", np.arange(len(states)), boxes=boxes)
        pair = partial(words_over_way, self.machine.algebra, way)
        state = merged(states, live, self.machine, partial(over_way, way), pair)
        if state is not None:
            interrupts = if_same([each.flags[INTERRUPTS] for each in states])
            state.masks, state.flags = {}, [None] * INTERRUPTS + [interrupts]
            state.cycles = spanned(states)
            self.ways.append(way)
        return state


def _pointers(machine: Machine, state: ChipState, live: Live) -> Any:
    """Return the addresses in registers: states with different ones cannot meet.

    If there are counters, a byte without another one is no address, but an index.
    """
    addresses = live.addresses
    if machine.kept:
        low = addresses & addresses >> 1 & _LOW
        addresses = low | low << 1
    held = [state.registers[number] if addresses >> number & 1 else 0 for number in range(32)]
    return tuple(_key(each) for each in (*held, *state.stack))


def _chosen(
    one: ChipState, other: ChipState, live: Live, machine: Machine, before: OrderFacts
) -> ChipState | None:
    """Return the common state of two that differ in the last comparison alone."""
    sums = machine.algebra.sums
    if not decided(one.facts)[-1].strict:
        one, other = other, one
    x, y = (sums.forms[number] for number in decided(one.facts)[-1][:2])
    parted = Parted(machine.algebra, x, y)
    value = parted.value if machine.chooses else parted.larger
    state = merged([one, other], live, machine, value)
    if state is not None:
        held = [each.form for each in state.registers if isinstance(each, Byte)]
        compared = {number for fact in (*one.facts, *other.facts) for number in fact[:2]}
        kept = {n for n in compared if any(sums.forms[n].equals(form) for form in held)}
        both = (fact for fact in one.facts if fact.follows and fact in other.facts)
        state.facts = (
            *before,
            *(fact for fact in both if kept.issuperset(fact[:2])),
            *sums.inherited(one.facts, other.facts, parted.named, kept),
        )
        state.flags = equal_flags(one, other)
    return state


def _key(value: object) -> Any:
    if isinstance(value, Byte):
        form = value.form
        return value.bit, form.constant, frozenset(form.tables.items())
    return value


def _position(state: ChipState) -> tuple[Position, ...]:
    """Return what is lower of a state that is behind."""
    if state.place == RETURN:
        return ((1 << 40,),)
    places = (*state.calls, state.place)
    return tuple(frame.position(at) for frame, at in zip(state.frames, places, strict=True))


def _shared(one: ChipState, other: ChipState) -> int:
    """Return how late two states have parted."""
    facts = 0
    for x, y in zip(one.facts, other.facts, strict=False):
        if x != y:
            break
        facts += 1
    return facts + sum(same_mask(mask, other.masks.get(root)) for root, mask in one.masks.items())


def _are_apart(boxes: list[dict[Root, Any]]) -> bool:
    """Whether boxes, which have all combinations of values, do not overlap: by their sizes."""
    total = Fraction(0)
    for box in boxes:
        share = Fraction(1)
        for root, mask in box.items():
            share *= Fraction(int(mask.sum()), root.size)
        total += share
    return total == 1
