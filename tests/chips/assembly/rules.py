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

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from chips.assembly.decoding import Line, Unknown, decoded
from chips.assembly.following import CALL_USED, Follower
from chips.assembly.statements import FLAGS, REGISTERS, Statement

from protonn_edge.chips.avr.instruction_set import CALLS, RETURNS

_LOADS = {"ld", "ldd", "lds"}
_STORES = {"st", "std", "sts"}
_WITH_EFFECTS = _STORES | {"out", "sbi", "cbi", "push", "wdr", "sleep"}


@cache  # many programs have the same statements
def faults_of(statement: Statement) -> Sequence[str]:
    """Return what is wrong with a statement, nothing if all rules hold."""
    try:
        code = decoded(statement.text, statement.operands)
    except Unknown as unknown:
        return (f"unknown: {unknown}",)
    free = _declared(statement)
    follower = Follower(code, statement.operands, _known(statement), free)
    faults = [fault for each in code for fault in each.faults]
    faults += _shared(statement, follower.overtaken)
    faults += _misplaced(statement, code, free)
    faults += follower.faults
    faults += _unsaid(statement, code)
    faults += _late_variables(statement)
    return tuple(dict.fromkeys(faults))


def faults_of_text(text: str) -> list[str]:
    """Return what is wrong with a text outside of functions: a handler, or a part of the start."""
    try:
        code = decoded(text, {})
    except Unknown as unknown:
        return [f"unknown: {unknown}"]
    is_handler = any(each.here.name == "reti" for each in code)
    free = frozenset[int]() if is_handler else CALL_USED | {*FLAGS}
    return list(dict.fromkeys(Follower(code, {}, {*range(REGISTERS)}, free).faults))


def _declared(statement: Statement) -> set[int]:
    """Return the registers that may change."""
    clobbers = {int(each[1:]) for each in statement.clobbers if each[1:].isdigit()}
    outputs = {place for each in statement.outputs for place in each.places}
    return outputs | clobbers | {0, *FLAGS}


def _known(statement: Statement) -> set[int]:
    """Return the registers whose content is fixed at the beginning."""
    read = [each for each in statement.outputs if "+" in each.constraint]
    read += [each for each in statement.inputs if each.in_register]
    return {place for each in read for place in each.places} | {1}


def _shared(statement: Statement, overtaken: Mapping[tuple[int, int], str]) -> Iterator[str]:
    """Find outputs that are written while an input that may share their register is to be read."""
    inputs = [each for each in statement.inputs if each.in_register]
    outputs = [each for each in statement.outputs if each.may_share]
    for output, other in itertools.product(outputs, inputs):
        pairs = itertools.product(output.places, other.places)
        texts = [overtaken[pair] for pair in pairs if pair in overtaken]
        if texts and set(output.registers) & set(other.registers):
            yield (
                f"[{output.name}] is written in {texts[0]!r} before [{other.name}] is read: "
                "early clobber"
            )


def _misplaced(statement: Statement, code: list[Line], declared: set[int]) -> list[str]:
    """Find operands that may be in a register that the text changes for its own use."""
    own = {place for each in code for place in each.writes if place < REGISTERS}
    own -= declared | {1}
    operands = (*statement.outputs, *statement.inputs)
    fixed = {each.first for each in statement.inputs if each.in_register}
    return [
        f"[{operand.name}] may be in r{place}, which the text changes"
        for operand in operands
        if operand.in_register and operand.first >= REGISTERS
        for place in sorted(own - fixed)
        if place in operand.registers
    ]


def _unsaid(statement: Statement, code: list[Line]) -> list[str]:
    """Find effects that the compiler is not told of."""
    names = {each.here.name for each in code}
    interrupts = [each for each in code if each.text in ("cli", "sei")]
    faults = []
    if names & (_LOADS | _STORES) and "memory" not in statement.clobbers:
        faults.append("memory is touched and not declared")
    if (names & _WITH_EFFECTS or interrupts) and not statement.is_volatile:
        faults.append("what has an effect is not volatile")
    if names & RETURNS or (interrupts and len(code) > 1):
        faults.append("interrupts and returns have no place here")
    if names & CALLS:
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
