"""States whose values are terms: one stands for all that the function could be called with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from extensions.proof.agreement.linked import Linked
from extensions.proof.agreement.machine import State
from extensions.proof.agreement.values import Terms, Value, term, truth, z3, zero_of

_MOST_ADDRESSES = 600
_MOST_EXAMPLES = 4
# The solver's unit of effort, some microseconds: the same on every machine, unlike time.
_QUESTION_EFFORT = 10_000_000


class GaveUp(Exception):
    """The solver has found neither a proof nor a difference."""


class Knowledge:
    """What holds of the variables: the solver, and what was assumed."""

    def __init__(self, assumed: Sequence[Any] = ()) -> None:
        self.solver = z3.Solver()
        self.solver.set(rlimit=_QUESTION_EFFORT)
        self.solver.add(*assumed)
        self.assumed = assumed
        self.questions = 0
        self._examples: list[Any] = []

    def can_be(self, *conditions: Any) -> bool:
        """Return whether all conditions can hold at once.

        A path that is known to be possible has an example, which decides one of the two ways on.
        """
        self.questions += 1
        both = z3.And(*conditions)
        if any(z3.is_true(each.eval(both, True)) for each in reversed(self._examples)):
            return True
        self.solver.push()
        self.solver.add(*conditions)
        answer = self.solver.check()
        if answer == z3.sat:
            self._examples = [*self._examples[1 - _MOST_EXAMPLES :], self.solver.model()]
        self.solver.pop()
        if answer == z3.unknown:
            raise GaveUp("the solver gives up on a branch")
        return bool(answer == z3.sat)

    def example(self, conditions: list[Any], effort: int) -> Any:
        """Return values for which one of the conditions holds, or None if there are none.

        Some are refuted only together, others only one by one, each with the help of those before.

        Raises
        ------
        GaveUp
            If the solver does not find out with so much effort for each question.
        """
        if not conditions:
            return None
        try:
            return self._answer(effort, z3.Or(conditions))
        except GaveUp:
            if len(conditions) == 1:
                raise
        refuted: list[Any] = []
        for each in conditions:
            example = self._answer(effort, *refuted, each)
            if example is not None:
                return example
            refuted.append(z3.Not(each))
        return None

    def _answer(self, effort: int, *conditions: Any) -> Any:
        """Return values for which all conditions hold, or None."""
        solver = z3.SolverFor("QF_UFBV")
        solver.set(rlimit=effort)
        solver.add(*self.assumed, *conditions)
        answer = solver.check()
        if answer == z3.unknown:
            raise GaveUp("the solver gives up")
        return solver.model() if answer == z3.sat else None

    def values_of(self, value: Any, path: Collection[Any]) -> list[int]:
        """Return all numbers that a term can be."""
        self.questions += 1
        self.solver.push()
        self.solver.add(*path)
        numbers: list[int] = []
        while (answer := self.solver.check()) == z3.sat:
            numbers.append(self.solver.model().eval(value, model_completion=True).as_long())
            assert len(numbers) <= _MOST_ADDRESSES, "an address may be anything"
            self.solver.add(value != numbers[-1])
        self.solver.pop()
        if answer == z3.unknown:
            raise GaveUp("the solver gives up on an address")
        return numbers


class TermTable(NamedTuple):
    """A table in flash: where it is, what is known of it, and the terms of what is not."""

    address: int
    content: Sequence[int | None]
    any_byte: Callable[[Value], Value]

    def read(self, at: int) -> Value:
        """Return a byte."""
        known = self.content[at]
        return self.any_byte(at) if known is None else known


class TermMemory:
    """The data space, as far as it was written, and what is known of it and of flash before."""

    def __init__(
        self,
        linked: Linked,
        given: Mapping[int, Value],
        tables: Sequence[TermTable],
        knowledge: Knowledge,
    ) -> None:
        self.linked, self.tables, self.knowledge = linked, tables, knowledge
        self.given = given
        self.written: dict[int, Value] = {}
        self.path: list[Any] = []

    def copy(self) -> TermMemory:
        """Return a copy."""
        memory = TermMemory(self.linked, self.given, self.tables, self.knowledge)
        memory.written, memory.path = dict(self.written), list(self.path)
        return memory

    def load(self, address: Value) -> Value:
        if isinstance(address, int):
            if address in self.written:
                return self.written[address]
            assert address in self.given, f"read of what is no variable's, at 0x{address:x}"
            return self.given[address]
        places = self.knowledge.values_of(address, self.path)
        value = self.load(places[0])
        for place in places[1:]:
            value = z3.If(address == place, term(self.load(place), 8), term(value, 8))
        return value

    def store(self, address: Value, value: Value) -> None:
        if isinstance(address, int):
            assert address in self.given or address in self.written or self._is_stack(address), (
                f"write to what is no variable's, at 0x{address:x}"
            )
            self.written[address] = value
            return
        for place in self.knowledge.values_of(address, self.path):
            before = term(self.load(place), 8)
            self.written[place] = z3.If(address == place, term(value, 8), before)

    def _is_stack(self, address: int) -> bool:
        return address >= self.linked.end_of_variables

    def flash(self, address: Value) -> Value:
        if isinstance(address, int):
            for table in self.tables:
                if 0 <= address - table.address < len(table.content):
                    return table.read(address - table.address)
            return self.linked.code[address]
        for table in self.tables:
            if any(byte is not None for byte in table.content):
                continue
            inside = z3.ULT(address - table.address, len(table.content))
            if self.knowledge.can_be(*self.path, inside):
                assert not self.knowledge.can_be(*self.path, z3.Not(inside)), "beyond a table"
                return table.any_byte(z3.simplify(address - table.address))
        places = self.knowledge.values_of(address, self.path)
        value = term(self.flash(places[0]), 8)
        for place in places[1:]:
            value = z3.If(address == place, term(self.flash(place), 8), value)
        return value

    def left(self, address: int) -> Value:
        """Return what is in a byte in the end."""
        return self.written.get(address, self.given.get(address))


class Decision(NamedTuple):
    """A condition of a path: a bit is set, or clear."""

    condition: Any  # kept, as the number of a term that is gone is given to another
    bit: Value
    is_set: bool


class TermWorld:
    """Paths part where both ways can be gone, and meet as a choice between values."""

    def __init__(self, values: Terms, knowledge: Knowledge) -> None:
        self.values, self.knowledge = values, knowledge
        self._decisions: dict[int, Decision] = {}

    def split(self, state: State, bit: Value) -> tuple[State | None, State | None]:
        condition = z3.simplify(truth(bit))
        if z3.is_true(condition):
            return state, None
        if z3.is_false(condition):
            return None, state
        path = state.memory.path
        if not self.knowledge.can_be(*path, condition):
            return None, state
        other = z3.Not(condition) if not z3.is_not(condition) else condition.children()[0]
        if not self.knowledge.can_be(*path, other):
            return state, None
        for each, is_set in ((condition, True), (other, False)):
            self._decisions[each.get_id()] = Decision(each, bit, is_set)
        second = state.copy([*state.registers], state.memory.copy())
        second.flags = dict(state.flags)
        state.memory.path.append(condition)
        second.memory.path.append(other)
        return state, second

    def join(self, one: State, other: State) -> State:
        assert one.stack == other.stack
        shared, (a, b) = _parted(one.memory.path, other.memory.path)
        zeros = [list(self._zeros(path)) for path in (a, b)]
        decision = self._decisions.get(a[0].get_id()) if len(a) == 1 else None
        whole = z3.If(z3.And(a), z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))
        guard, is_set = (decision.bit, decision.is_set) if decision else (whole, True)

        def choose(x: Value, y: Value, bits: int = 8) -> Value:
            if x is y:
                return x
            for zero, same, result in ((zeros[0], x, y), (zeros[1], y, x)):
                if self.values.same_where_zero(zero, same, result):
                    return result
            return self.values.choose(guard, *((x, y) if is_set else (y, x)), bits)

        registers = [choose(x, y) for x, y in zip(one.registers, other.registers, strict=True)]
        memory = one.memory.copy()
        memory.path = [*shared, *_either(a, b)]
        for place in one.memory.written.keys() | other.memory.written.keys():
            values = [each.memory.left(place) for each in (one, other)]
            if any(value is None for value in values):
                memory.written.pop(place, None)  # of a call that one of them has not made
            else:
                memory.written[place] = choose(*values)
        state = one.copy(registers, memory)
        state.carry(one, other, lambda a, b: choose(a, b, 1))
        return state

    def shared(self, one: State, other: State) -> int:
        return len(_parted(one.memory.path, other.memory.path)[0])

    def _zeros(self, path: list[Any]) -> Iterator[Any]:
        """Yield terms that are 0 on a path."""
        for each in path:
            decision = self._decisions.get(each.get_id())
            zero = zero_of(truth(decision.bit)) if decision and decision.is_set else None
            if zero is not None:
                yield zero


def _parted(one: list[Any], other: list[Any]) -> tuple[list[Any], tuple[list[Any], list[Any]]]:
    """Return the conditions that two paths share, and those of each alone."""
    count = 0
    while count < min(len(one), len(other)) and one[count].eq(other[count]):
        count += 1
    return one[:count], (one[count:], other[count:])


def _either(one: list[Any], other: list[Any]) -> list[Any]:
    """Return what holds where either list does."""
    if len(one) == len(other) == 1 and (z3.Not(one[0]).eq(other[0]) or one[0].eq(z3.Not(other[0]))):
        return []
    either = z3.simplify(z3.Or(z3.And(one), z3.And(other)))
    return [] if z3.is_true(either) else [either]
