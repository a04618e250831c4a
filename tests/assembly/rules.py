"""The rules for a statement of inline assembly: what the compiler may assume of it holds.

- An output that is written before the last input is read has an early clobber, or no register in
  common with the inputs: else the compiler may give both the same register.
- Registers that change are operands or clobbers, or hold again in the end what they held; so does
  r1, which may also be 0. r0 and the flags may change. Inputs do not.
- A register that a text changes and restores is none that an operand may have been given.
- No register is read whose content the statement does not fix, and no flag that nothing has set.
- What is pushed is popped; statements that touch memory say so; interrupts are left alone.
- An operand fits each instruction that takes it.
- Variables with a register of their own get their values right before the statement: a call or a
  division in between could use the register.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from assembly.instructions import (
    CALL_USED,
    CALLS,
    FLAGS,
    MEMORY,
    STORES,
    Instruction,
    Unknown,
    instructions_of,
)
from assembly.instructions import T as T_FLAG
from assembly.statements import Place, Statement

_ZERO = "zero"
_TEMPORARY, _ZERO_REGISTER = ("r", 0), ("r", 1)
_FRAME = {("r", 28), ("r", 29)}

Value = Place | str | None
"""What a byte holds: what a place held at first, 0, or something else."""


@cache  # many programs have the same statements
def faults_of(statement: Statement) -> Sequence[str]:
    """Return what is wrong with a statement, nothing if all rules hold."""
    try:
        code = instructions_of(statement.text, statement.operands)
    except Unknown as unknown:
        return (f"unknown: {unknown}",)
    declared = _declared(statement)
    faults = [fault for each in code for fault in each.faults]
    faults += _shared(statement, code)
    faults += _misplaced(statement, code, declared)
    faults += _Flow(code, declared, _known(statement)).faults
    faults += _unsaid(statement, code)
    faults += _late_variables(statement)
    return tuple(dict.fromkeys(faults))


def faults_of_text(text: str) -> list[str]:
    """Return what is wrong with a text outside of functions: a handler, or a part of the start."""
    try:
        code = instructions_of(text, {})
    except Unknown as unknown:
        return [f"unknown: {unknown}"]
    is_handler = any(each.mnemonic == "reti" for each in code)
    registers: set[Place] = {("r", number) for number in range(32)}
    free = set() if is_handler else CALL_USED | {FLAGS}
    return list(dict.fromkeys(_Flow(code, free, registers, is_handler=is_handler).faults))


def _declared(statement: Statement) -> set[Place]:
    """Return the bytes that may change."""
    clobbers = {("r", int(each[1:])) for each in statement.clobbers if each[1:].isdigit()}
    outputs = {each.place(byte) for each in statement.outputs for byte in range(each.size)}
    return clobbers | outputs | {_TEMPORARY, FLAGS, T_FLAG}


def _known(statement: Statement) -> set[Place]:
    """Return the bytes whose content is fixed at the beginning."""
    read = [each for each in statement.outputs if "+" in each.constraint]
    read += [each for each in statement.inputs if each.in_register]
    return {each.place(byte) for each in read for byte in range(each.size)} | {_ZERO_REGISTER}


def _shared(statement: Statement, code: list[Instruction]) -> list[str]:
    """Find outputs that are written while an input that may share their register is to be read."""
    inputs = [each for each in statement.inputs if each.in_register]
    later = _read_later(code)
    faults = []
    for output in statement.outputs:
        for other in inputs:
            if not output.may_share or not set(output.registers) & set(other.registers):
                continue
            bytes_of = [{one.place(b) for b in range(one.size)} for one in (output, other)]
            for number, each in enumerate(code):
                if each.writes & bytes_of[0] and later[number] & bytes_of[1]:
                    faults.append(
                        f"[{output.name}] is written in {each.text!r} before [{other.name}] is "
                        "read: early clobber"
                    )
                    break
    return faults


def _read_later(code: list[Instruction]) -> list[set[Place]]:
    """Return what is read behind each instruction, on any way."""
    later: list[set[Place]] = [set() for _ in code]
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(code))):
            ways = [each for each in code[number].followers if each < len(code)]
            found = set().union(*(later[way] | code[way].reads for way in ways))
            if found != later[number]:
                later[number], changed = found, True
    return later


def _misplaced(statement: Statement, code: list[Instruction], declared: set[Place]) -> list[str]:
    """Find operands that may be in a register that the text changes for its own use."""
    own = {place for each in code for place in each.writes if place[0] == "r"}
    own -= declared | {_ZERO_REGISTER}
    fixed = {each.place(0) for each in statement.inputs if each.in_register}
    return [
        f"[{operand.name}] may be in r{place[1]}, which the text changes"
        for operand in (*statement.outputs, *statement.inputs)
        if operand.in_register and operand.fixed is None
        for place in sorted(own - fixed)
        if place[1] in operand.registers
    ]


@dataclass(frozen=True)
class _State:
    """What bytes hold that have changed, and what was pushed."""

    values: dict[Place, Value]
    stack: tuple[Value, ...]

    def of(self, place: Place) -> Value:
        return self.values.get(place, place)

    def merged(self, other: _State) -> _State:
        places = self.values.keys() | other.values.keys()
        values = {p: self.of(p) if self.of(p) == other.of(p) else None for p in places}
        pairs = zip(self.stack, other.stack, strict=True)
        return _State(values, tuple(a if a == b else None for a, b in pairs))


class _Flow:
    """What bytes hold on all ways through a text."""

    def __init__(
        self,
        code: list[Instruction],
        free: set[Place],
        known: set[Place],
        *,
        is_handler: bool = False,
    ) -> None:
        self._code, self._free, self._known = code, free, known
        self._is_handler = is_handler
        self.faults: list[str] = []
        self._go()

    def _go(self) -> None:
        begin: dict[Place, Value] = {} if self._is_handler else {_ZERO_REGISTER: _ZERO}
        states = {0: _State(begin, ())}
        waiting = [0]
        while waiting:
            number = waiting.pop()
            if number >= len(self._code):
                continue
            after = self._after(self._code[number], states[number])
            for follower in self._code[number].followers:
                state = after
                if follower in states:
                    if len(states[follower].stack) != len(after.stack):
                        self.faults.append(f"the stack differs at {self._code[number].text!r}")
                        return
                    state = states[follower].merged(after)
                    if state == states[follower]:
                        continue
                states[follower] = state
                waiting.append(follower)
        ends = [states[len(self._code)]] if len(self._code) in states else []
        ends += [
            s for n, s in states.items() if n < len(self._code) and not self._code[n].followers
        ]
        for end in ends:
            self._check_end(end)

    def _after(self, each: Instruction, state: _State) -> _State:
        self._check(each, state)
        values, stack = dict(state.values), state.stack
        for place in each.writes:
            values[place] = None
        for to, by in each.copies:
            values[to] = state.of(by)
        name, _, rest = each.text.partition(" ")
        if name == "clr" or (name == "ldi" and rest.split(",")[1].strip() in ("0", "0x00")):
            values[next(place for place in each.writes if place != FLAGS)] = _ZERO
        if name == "push":
            stack = (*stack, state.of(next(iter(each.reads))))
        if name == "pop":
            if not stack:
                self.faults.append("more is popped than was pushed")
            else:
                values[next(iter(each.writes))] = stack[-1]
                stack = stack[:-1]
        return _State(values, stack)

    def _check(self, each: Instruction, state: _State) -> None:
        saves = each.mnemonic in ("push", "mov", "movw", "in")
        for place in each.reads:
            is_saved = saves and (self._is_handler or place in _FRAME)
            if state.of(place) == place and place not in self._known and not is_saved:
                self.faults.append(f"{each.text!r} reads {_said(place)}, which nothing has set")
        reads_zero = "__zero_reg__" in each.text and _ZERO_REGISTER in each.reads
        if reads_zero and state.of(_ZERO_REGISTER) != _ZERO:
            self.faults.append(f"r1 may not be 0 in {each.text!r}")

    def _check_end(self, end: _State) -> None:
        if end.stack:
            self.faults.append("more is pushed than popped")
        for place, value in sorted(end.values.items()):
            if place in self._free or value == place:
                continue
            if place == _ZERO_REGISTER and value == _ZERO and not self._is_handler:
                continue
            if place == T_FLAG and not self._is_handler:
                continue
            self.faults.append(f"{_said(place)} is changed and not declared")


def _unsaid(statement: Statement, code: list[Instruction]) -> list[str]:
    """Find effects that the compiler is not told of."""
    names = {each.mnemonic for each in code}
    faults = []
    if names & set(MEMORY) and "memory" not in statement.clobbers:
        faults.append("memory is touched and not declared")
    if names & set(STORES) and not statement.is_volatile:
        faults.append("what has an effect is not volatile")
    if names & {"ret", "reti"} or (names & {"cli", "sei"} and len(code) > 1):
        faults.append("interrupts and returns have no place here")
    if names & set(CALLS):
        faults.append("calls have no place here")
    return faults


def _late_variables(statement: Statement) -> list[str]:
    """Find variables with a register of their own whose values are not simply set in front."""
    first = re.search(r"\bregister\b", statement.before)
    if first is None:
        return []
    declared = statement.before[first.start() :].strip()
    form = r'(?:register [\w ]+?\*?\w+ __asm__\("r\d+"\)(?: = \w+)?;\s*)+'
    if re.fullmatch(form, declared) is None:
        return ["variables with registers are not set right in front of the statement"]
    return []


def _said(place: Place) -> str:
    return {"r": f"r{place[1]}", "flags": "a flag", "T": "T"}.get(place[0], f"[{place[0]}]")
