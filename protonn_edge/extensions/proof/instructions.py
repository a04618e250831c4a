"""What each instruction does to a chip whose bytes are parts of sums of tables.

After the AVR Instruction Set Manual (DS40002198). With numbers alone it is an interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from protonn_edge.chips.avr.instruction_set import TAKEN_BRANCH
from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.extensions.proof import eeprom
from protonn_edge.extensions.proof.data_space import OFFSETS, any_bit
from protonn_edge.extensions.proof.forms import (
    Bit,
    Byte,
    Condition,
    Order,
    Root,
    Unproven,
    Value,
    byte_of,
    constant,
    minus,
    same,
    single,
)
from protonn_edge.extensions.proof.liveness import pointer_of
from protonn_edge.extensions.proof.machine import Action, Fork, Machine, Operands
from protonn_edge.extensions.proof.state import (
    CARRY,
    HALF,
    INTERRUPTS,
    NEGATIVE,
    OVERFLOW,
    SIGN,
    TRANSFER,
    ZERO,
    ChipState,
    Doubled,
    Flag,
    Status,
    Zeros,
)

STACK_LOW, STACK_HIGH, SREG = 0x3D, 0x3E, 0x3F


def _add(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    r = state.registers
    r[o["d"]] = machine.arithmetic.sum(state, r[o["d"]], r[o["r"]], 0, 1)


def _adc(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    r = state.registers
    r[o["d"]] = machine.arithmetic.sum(state, r[o["d"]], r[o["r"]], state.flags[CARRY], 1)


def _difference(machine: Machine, state: ChipState, o: Operands, name: str) -> Any:
    r, chain = state.registers, name.startswith(("sbc", "cpc"))
    a, b = r[o["d"]], r[o["r"]] if "r" in o else o["K"]
    if o.get("r") == o["d"]:
        a = b = 0
    return machine.arithmetic.sum(state, a, b, state.flags[CARRY] if chain else 0, -1, chain=chain)


def _subtract(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    state.registers[o["d"]] = _difference(machine, state, o, here.name)


def _compare(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    _difference(machine, state, o, here.name)


def _neg(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    r = state.registers
    r[o["d"]] = machine.arithmetic.sum(state, 0, r[o["d"]], 0, -1)


def _com(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    value = state.registers[o["d"]]
    if isinstance(value, Byte):
        value = Byte(minus(constant(-1), value.form), value.bit)
    elif isinstance(value, Doubled):
        value = Doubled(minus(constant(-1), value.form), value.bit, value.times)
    else:
        value = 255 - value if isinstance(value, int) else None
    _logic(machine, state, o["d"], value)
    state.flags[CARRY] = 1


def _increment(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    value, carry, half = state.registers[o["d"]], state.flags[CARRY], state.flags[HALF]
    result = machine.arithmetic.sum(state, value, 1, 0, 1 if here.name == "inc" else -1)
    state.registers[o["d"]], state.flags[CARRY], state.flags[HALF] = result, carry, half


def _pair(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    r, low, half = state.registers, o["d"], state.flags[HALF]
    sign = 1 if here.name == "adiw" else -1
    r[low] = machine.arithmetic.sum(state, r[low], o["K"], 0, sign)
    r[low + 1] = machine.arithmetic.sum(state, r[low + 1], 0, state.flags[CARRY], sign, chain=True)
    if sign > 0 and r[low + 1] is not None:
        state.flags[ZERO] = Zeros(machine.algebra, [r[low], r[low + 1]])
    state.flags[HALF] = half


def _logic(machine: Machine, state: ChipState, register: int, result: Value) -> None:
    state.registers[register] = result
    if result is None:
        state.flags[ZERO:HALF] = [None] * 4
    else:
        machine.arithmetic.set_signs(state, result, 0)


def _bitwise(operation: str) -> Action:
    """Return the action of AND or OR: the method of `Arithmetic` with this name, and the flags."""

    def act(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
        r = state.registers
        compute = getattr(machine.arithmetic, operation)
        _logic(machine, state, o["d"], compute(r[o["d"]], r[o["r"]] if "r" in o else o["K"]))

    return act


_both, _either = _bitwise("both"), _bitwise("either")


def _eor(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    a, b = state.registers[o["d"]], state.registers[o["r"]]
    if o["d"] == o["r"]:
        result: Value = 0
    elif isinstance(a, int) and a == 0:
        result = b
    elif isinstance(b, int) and b == 0:
        result = a
    elif a is None or b is None:
        result = None
    else:
        result = machine.algebra.byte(lambda x, y: x ^ y, a, b)
    _logic(machine, state, o["d"], result)


def _shift(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    value, flags = state.registers[o["d"]], state.flags
    arithmetic, algebra = machine.arithmetic, machine.algebra
    if value is None:
        state.registers[o["d"]] = None
        flags[:HALF] = [None] * 5
        return
    signed, above = here.name == "asr", flags[CARRY] if here.name == "ror" else 0
    result: Value = None
    if isinstance(value, Byte):
        result = arithmetic.halved(value, above, signed=signed)
    if result is None:
        top = algebra.top_bit(value) if signed else arithmetic.bit(above)
        if isinstance(top, Order):
            root, array = algebra.cut(minus(top.x, top.y))
            top = Bit(root, array == 0 if top.equal else array < 0)
        result = algebra.byte(lambda x, t: x >> 1 | t << 7, value, top)
    state.registers[o["d"]] = result
    carry = flags[CARRY] = flags[SIGN] = arithmetic.lowest_bit(value)
    flags[NEGATIVE] = Flag(lambda: algebra.top_bit(result))
    flags[OVERFLOW] = Flag(
        lambda: arithmetic.exclusive(algebra.top_bit(result), arithmetic.bit(carry))
    )
    flags[ZERO] = Zeros(algebra, [result])


def _swap(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    value = state.registers[o["d"]]
    if value is not None:
        state.registers[o["d"]] = machine.algebra.byte(lambda x: x << 4 & 240 | x >> 4, value)


def _bst(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    value, number = state.registers[o["d"]], o["b"]
    bit = Flag(partial(machine.arithmetic.bit_of, value, number))
    state.flags[TRANSFER] = None if value is None else bit


def _bld(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    bit, number = machine.arithmetic.bit(state.flags[TRANSFER]), o["b"]
    if isinstance(bit, Order):
        raise Unproven("a comparison of sums is used as a number")
    kept = machine.arithmetic.both(state.registers[o["d"]], 255 ^ 1 << number)
    moved = machine.algebra.byte(lambda x: x << number, bit)
    state.registers[o["d"]] = machine.arithmetic.either(kept, moved)


def _set_flag(_machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    state.flags[o["s"]] = int(here.name == "bset")


def _mul(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    r, algebra = state.registers, machine.algebra
    a = algebra.number(r[o["d"]], signed=here.name != "mul")
    b = algebra.number(r[o["r"]], signed=here.name == "muls")
    product = algebra.product(a, b)
    low, high = r[:2] = byte_of(product, 0), byte_of(product, 1)
    state.flags[CARRY] = Flag(lambda: algebra.top_bit(high))
    state.flags[ZERO] = Zeros(algebra, [low, high])


def _mov(_machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    state.registers[o["d"]] = state.registers[o["r"]]


def _movw(_machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    r = state.registers
    r[o["d"] : o["d"] + 2] = r[o["r"] : o["r"] + 2]


def _ldi(_machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    state.registers[o["d"]] = o["K"]


def _address(machine: Machine, state: ChipState, here: Decoded) -> int | tuple[Root, Any]:
    """Return the address of a load or store, and move its pointer."""
    if here.name in ("lds", "sts"):
        return here.operands["k"]
    pointer = pointer_of(machine.code, here)
    assert pointer is not None
    r = state.registers
    if here.moved is None:
        return machine.place(r[pointer], r[pointer + 1], here.operands.get("q", 0))
    if here.operands["d"] & ~1 == pointer:
        raise Unproven("a pointer that moves is read or written itself, which is undefined")
    before = r[pointer], r[pointer + 1]
    r[pointer : pointer + 2] = machine.moved(*before, -1 if here.decrements else 1)
    return machine.place(*(r[pointer : pointer + 2] if here.decrements else before))


def _load(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    place = _address(machine, state, here)
    if isinstance(place, int):
        state.registers[o["d"]] = machine.read(state, place)
    else:
        state.registers[o["d"]] = machine.read_one_of(state, *place)


def _store(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    place, value = _address(machine, state, here), state.registers[o["d"]]
    if isinstance(place, int):
        machine.write(state, place, value)
    else:
        machine.write_one_of(state, *place, value)


def _lpm(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    r, code = state.registers, machine.code
    place = _address(machine, state, here) if "d" in o else machine.place(r[30], r[31])
    register = o.get("d", 0)
    if isinstance(place, int):
        if place >= len(code):
            raise Unproven("it reads flash behind the program")
        r[register] = machine.tables.get(place, code[place])
        machine.flash_read.add(place)
        return
    root, addresses = place
    mask, inside = state.reached(root), addresses < len(code)
    if not inside[mask].all():
        raise Unproven("it reads flash behind the program")
    values = np.frombuffer(code, np.uint8)[np.where(inside, addresses, 0)]
    machine.flash_read.update(addresses[inside & mask].tolist())
    values = np.where(mask, values, values[np.argmax(mask)])
    r[register] = byte_of(single(root, values), 0)


def _push(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    machine.push(state, state.registers[o["d"]])


def _pop(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    state.registers[o["d"]] = machine.pop(state)


def _in(_machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    if o["A"] in (STACK_LOW, STACK_HIGH):
        state.registers[o["d"]] = state.stack[o["A"] - STACK_LOW]
    elif o["A"] == SREG:
        state.registers[o["d"]] = Status([*state.flags])
    elif o["A"] == eeprom.DATA:
        state.registers[o["d"]] = eeprom.taken(state)
    else:
        raise Unproven(f"it reads I/O 0x{o['A']:x}")


def _out(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    value = state.registers[o["r"]]
    if o["A"] in (STACK_LOW, STACK_HIGH):
        state.stack[o["A"] - STACK_LOW] = value
        if o["A"] == STACK_LOW:
            machine.clear_below(state)
        elif state.flags[INTERRUPTS] != 0 or not _is_low_next(machine, here):
            raise Unproven("an interrupt may occur between the bytes of the stack pointer")
    elif o["A"] == SREG and isinstance(value, Status):
        state.flags = [*value.flags]
    elif o["A"] == SREG and value is not None:
        for number in range(INTERRUPTS + 1):
            state.flags[number] = Flag(partial(machine.arithmetic.bit_of, value, number))
    elif machine.eeprom and o["A"] in eeprom.ADDRESS:
        eeprom.write(state, o["A"], value)
    else:
        raise Unproven(f"it writes I/O 0x{o['A']:x}")


def _sbi(machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    if (o["A"], o["b"]) != (eeprom.CONTROL, eeprom.READ):
        raise Unproven(f"it writes I/O 0x{o['A']:x}")
    eeprom.read(machine, state)


def _waiting(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    if not machine.eeprom or (o["A"], o["b"]) != (eeprom.CONTROL, eeprom.WRITING):
        raise Unproven(f"it reads I/O 0x{o['A']:x}")
    if here.name == "sbic":  # no byte is being written
        state.place = machine.program.reached(here.end).end


def _is_low_next(machine: Machine, here: Decoded) -> bool:
    """Whether the lower byte of the stack pointer is written before an interrupt can occur."""
    behind = machine.program.reached(here.end)
    if behind.name == "out" and behind.operands["A"] == SREG:  # the next one is still undisturbed
        behind = machine.program.reached(behind.end)
    return behind.name == "out" and behind.operands["A"] == STACK_LOW


def _jump(_machine: Machine, state: ChipState, o: Operands, _: Decoded) -> None:
    state.place = o["k"]


def _call(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> None:
    machine.enter(state, o["k"], here.end)


def _ret(machine: Machine, state: ChipState, _: Operands, __: Decoded) -> None:
    state.place = machine.left(state)


def _ijmp(machine: Machine, state: ChipState, _: Operands, __: Decoded) -> None:
    place = machine.place(*state.registers[30:32])
    if not isinstance(place, int) or place >= OFFSETS:
        raise Unproven("it jumps to an unknown place")
    state.place = 2 * place


def _branch(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> Fork | None:
    if o["k"] == here.end:  # whether it is taken cannot be seen by its place
        state.cycles = state.cycles[0], state.cycles[1] + TAKEN_BRANCH
    bit = _condition(machine, lambda: machine.arithmetic.bit(state.flags[o["s"]]))
    ways = (o["k"], here.end) if here.name == "brbs" else (here.end, o["k"])
    return _fork(machine, state, bit, *ways)


def _skip(machine: Machine, state: ChipState, o: Operands, here: Decoded) -> Fork | None:
    value, after = state.registers[o["d"]], machine.program.reached(here.end).end
    if value is None:
        raise Unproven("an undefined value is used")
    if here.name == "cpse":
        other = state.registers[o["r"]]
        if same(value, other):
            bit: Condition = 1
        else:
            bit = machine.algebra.equal(
                machine.algebra.number(value), machine.algebra.number(other)
            )
        return _fork(machine, state, bit, after, here.end)
    bit = _condition(machine, lambda: machine.arithmetic.bit_of(value, o["b"]))
    ways = (after, here.end) if here.name == "sbrs" else (here.end, after)
    return _fork(machine, state, bit, *ways)


def _condition(machine: Machine, compute: Callable[[], Condition]) -> Condition:
    """Return a bit; in programs that count something, any bit if it is not computed.

    Counters decide only what is counted, so both ways are right, or neither of the answers is.
    """
    try:
        return compute()
    except Unproven:
        if not machine.kept:
            raise
        return any_bit()


def _fork(
    machine: Machine, state: ChipState, bit: Condition, taken: int, other: int
) -> Fork | None:
    """Go one way, if what is known decides that; else return both."""
    if isinstance(bit, Bit):
        reached = bit.mask[state.reached(bit.root)]
        if reached.all() or not reached.any():
            bit = int(reached.any())
    elif isinstance(bit, Order):
        known = machine.algebra.sums.known(state.facts, bit)
        bit = bit if known is None else int(known)
    if isinstance(bit, int):
        state.place = taken if bit else other
        return None
    return Fork(bit, taken, other)


def _nop(machine: Machine, *_: object) -> None:
    pass


_NAMES = {
    "subtract": "sub sbc subi sbci",
    "compare": "cp cpc cpi",
    "both": "and andi",
    "either": "or ori",
    "increment": "inc dec",
    "pair": "adiw sbiw",
    "shift": "lsr ror asr",
    "set_flag": "bset bclr",
    "mul": "mul muls mulsu",
    "load": "ld ldd lds",
    "store": "st std sts",
    "skip": "sbrc sbrs cpse",
    "branch": "brbs brbc",
    "waiting": "sbic sbis",
    "jump": "rjmp jmp",
    "call": "call rcall",
    "": "add adc com neg eor swap bst bld mov movw ldi lpm push pop in out sbi ret ijmp nop",
}
ACTIONS: dict[str, Action] = {
    name: globals()[f"_{action or name}"]
    for action, names in _NAMES.items()
    for name in names.split()
}
