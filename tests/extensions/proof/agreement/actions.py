"""What each instruction of an AVR does to a state whose registers hold any kind of values.

After the AVR Instruction Set Manual (DS40002198). `test_machine` compares it with simavr.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from extensions.proof.agreement.machine import FLAGS, Machine, State
from extensions.proof.agreement.values import Value

from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.extensions.proof.liveness import pointer_of

SREG, STACK_LOW, STACK_HIGH = 0x3F, 0x3D, 0x3E
_Z = 30


class Fork(NamedTuple):
    """Where a machine goes on: by a bit, here or there; or, without it, to any value of a word."""

    bit: Value
    taken: int
    other: int


def step(machine: Machine, state: State) -> Fork | None:
    """Execute an instruction; return the ways on if its values decide between two."""
    each = machine.instruction(state.place)
    state.place = each.end
    return ACTIONS[each.name](machine, state, each.operands, each)


# ---- one register and one or two operands ----


def add(machine: Machine, state: State, o: Any, _: Decoded, *, on: bool = False) -> None:
    r = state.registers
    r[o["d"]] = machine.added(state, r[o["d"]], r[o["r"]], machine.carry(state) if on else 0)


def adc(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    add(machine, state, o, each, on=True)


def _difference(machine: Machine, state: State, o: Any, on: bool) -> Value:
    r = state.registers
    other = r[o["r"]] if "r" in o else o["K"]
    carry = machine.carry(state) if on else 0
    if o.get("r") == o["d"] and not on:
        return machine.subtracted(state, 0, 0, 0, on=False)
    if o.get("r") == o["d"]:
        before = state.flag("Z")
        result = machine.values.choose(carry, 255, 0)
        machine.subtracted(state, 0, 0, carry, on=False)
        state.flags["C"] = lambda: carry
        state.flags["Z"] = lambda: machine.both(machine.values.equal(result, 0), before)
        return result
    if isinstance(other, int) and other == 0 and not on:  # nothing to borrow
        machine.subtracted(state, r[o["d"]], 0, 0, on=False)
        state.flags["C"] = lambda: 0
        return r[o["d"]]
    return machine.subtracted(state, r[o["d"]], other, carry, on=on)


def sub(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    state.registers[o["d"]] = _difference(machine, state, o, on=False)


def sbc(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    state.registers[o["d"]] = _difference(machine, state, o, on=True)


def cp(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    _difference(machine, state, o, on=False)


def cpc(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    _difference(machine, state, o, on=True)


def _logic(machine: Machine, state: State, o: Any, result: Value) -> None:
    state.registers[o["d"]] = result
    state.flags["V"] = lambda: 0
    machine.signs(state, result)


def and_(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    r = state.registers
    _logic(machine, state, o, machine.both(r[o["d"]], r[o["r"]] if "r" in o else o["K"]))


def or_(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    r = state.registers
    a, b = r[o["d"]], r[o["r"]] if "r" in o else o["K"]
    for one, other in ((a, b), (b, a)):
        if one is other or (isinstance(one, int) and one == 0):
            _logic(machine, state, o, other)
            return
    _logic(machine, state, o, a | b)


def eor(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    r = state.registers
    _logic(machine, state, o, 0 if o["d"] == o["r"] else machine.xor(r[o["d"]], r[o["r"]]))


def com(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    _logic(machine, state, o, machine.values.part(state.registers[o["d"]] ^ 255, 0, 8))
    state.flags["C"] = lambda: 1


def neg(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    r = state.registers
    r[o["d"]] = machine.subtracted(state, 0, r[o["d"]], 0, on=False)


def inc(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    by, at = (1, 0x80) if each.name == "inc" else (-1, 0x7F)
    result = machine.values.plus(state.registers[o["d"]], by, 8)
    state.registers[o["d"]] = result
    state.flags["V"] = lambda: machine.values.equal(result, at)
    machine.signs(state, result)


def shift(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    v, before = machine.values, state.registers[o["d"]]
    upper = v.part(before, 1, 7)
    if each.name == "lsr":
        top: Value = 0
    else:
        top = machine.carry(state) if each.name == "ror" else v.part(before, 7, 1)
    result = v.shifted(machine.set_bit(v.zext(upper, 8), 7, top), before, top)
    state.registers[o["d"]] = result
    machine.signs(state, result)
    state.flags["C"] = lambda: v.part(before, 0, 1)
    state.flags["V"] = lambda: machine.xor(state.flag("N"), state.flag("C"))


def swap(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    v, before = machine.values, state.registers[o["d"]]
    upper = v.part(v.zext(before, 16) << 4, 0, 8)
    state.registers[o["d"]] = upper | v.zext(v.part(before, 4, 4), 8)


def mul(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    """Multiply; a sign takes the other factor off the upper byte."""
    v, (a, b) = machine.values, (state.registers[o["d"]], state.registers[o["r"]])
    product = v.product(a, b)
    low, high = v.part(product, 0, 8), v.part(product, 8, 8)
    signs = each.name != "mul", each.name == "muls"
    for signed, one, other in zip(signs, (a, b), (b, a), strict=True):
        if signed:
            high = v.part(high - v.choose(v.part(one, 7, 1), other, 0), 0, 8)
    low, high = state.registers[:2] = v.bytes_of_product((low, high), (a, b), signs)
    state.flags["C"] = lambda: v.part(high, 7, 1)
    state.flags["Z"] = lambda: v.equal(v.joined(high, low), 0)


# ---- pairs ----


def adiw(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    v, before = machine.values, machine.pair(state, o["d"])
    down = each.name == "sbiw"
    after = v.plus(before, -o["K"] if down else o["K"], 16)
    machine.set_pair(state, o["d"], after)
    old, new = lambda: v.part(before, 15, 1), lambda: v.part(after, 15, 1)
    fell = lambda: machine.both(old(), new() ^ 1)  # noqa: E731
    rose = lambda: machine.both(new(), old() ^ 1)  # noqa: E731
    state.flags |= {"C": rose if down else fell, "V": fell if down else rose}
    machine.signs(state, after, 16)


def movw(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    r = state.registers
    r[o["d"] : o["d"] + 2] = r[o["r"] : o["r"] + 2]


def mov(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    state.registers[o["d"]] = state.registers[o["r"]]


def ldi(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    state.registers[o["d"]] = o["K"]


# ---- bits ----


def bst(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    bit = machine.values.part(state.registers[o["d"]], o["b"], 1)
    state.flags["T"] = lambda: bit


def bld(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    before = machine.both(state.registers[o["d"]], 255 ^ 1 << o["b"])
    state.registers[o["d"]] = machine.set_bit(before, o["b"], state.flag("T"))


def bset(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    state.flags[FLAGS[o["s"]]] = (lambda: 1) if each.name == "bset" else lambda: 0


# ---- memory ----


def _address(machine: Machine, state: State, each: Decoded) -> Value:
    """Return the address of a load or store, and move its pointer."""
    if each.name in ("lds", "sts"):
        return each.operands["k"]
    pointer = pointer_of(machine.code, each)
    assert pointer is not None
    before, offset = machine.pair(state, pointer), each.operands.get("q", 0)
    if each.moved is None:
        return machine.values.part(before + offset, 0, 16) if offset else before
    after = machine.values.part(before + (-1 if each.decrements else 1), 0, 16)
    machine.set_pair(state, pointer, after)
    return after if each.decrements else before


def load(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    state.registers[o["d"]] = state.memory.load(_address(machine, state, each))


def store(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    value = state.registers[o["d"]]
    state.memory.store(_address(machine, state, each), value)


def lpm(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    address = machine.pair(state, _Z) if "d" not in o else _address(machine, state, each)
    state.registers[o.get("d", 0)] = state.memory.flash(address)


def push(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    _push(machine, state, state.registers[o["d"]])


def pop(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    state.registers[o["d"]] = _pop(machine, state)


def _push(machine: Machine, state: State, value: Value) -> None:
    state.memory.store(state.stack, value)
    state.stack -= 1


def _pop(machine: Machine, state: State) -> Value:
    state.stack += 1
    return state.memory.load(state.stack)


def in_(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    if o["A"] in (STACK_LOW, STACK_HIGH):
        state.registers[o["d"]] = state.stack >> 8 * (o["A"] - STACK_LOW) & 255
    elif o["A"] == SREG:
        state.registers[o["d"]] = status(machine, state)
    else:
        state.registers[o["d"]] = state.memory.load(0x20 + o["A"])


def status(machine: Machine, state: State) -> Value:
    """Return the byte of the flags; one that was never set is 0."""
    status: Value = 0
    for number, name in enumerate(FLAGS):
        if name in state.flags:
            bit = state.flag(name)
            status = status | (
                bit << number if isinstance(bit, int) else machine.values.zext(bit, 8) << number
            )
    return status


def out(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    value = state.registers[o["r"]]
    if o["A"] in (STACK_LOW, STACK_HIGH):
        assert isinstance(value, int), "the stack pointer is no number"
        shift = 8 * (o["A"] - STACK_LOW)
        state.stack = state.stack & ~(255 << shift) | value << shift
    elif o["A"] == SREG:
        for number, name in enumerate(FLAGS):
            bit = machine.values.part(value, number, 1)
            state.flags[name] = lambda bit=bit: bit
    else:
        state.memory.store(0x20 + o["A"], value)


# ---- control flow ----


def branch(machine: Machine, state: State, o: Any, each: Decoded) -> Fork | None:
    bit = state.flag(FLAGS[o["s"]])
    ways = (o["k"], each.end) if each.name == "brbs" else (each.end, o["k"])
    return _fork(machine, state, bit, *ways)


def _fork(machine: Machine, state: State, bit: Value, taken: int, other: int) -> Fork | None:
    if isinstance(bit, int):
        state.place = taken if bit else other
        return None
    return Fork(bit, taken, other)


def skip(machine: Machine, state: State, o: Any, each: Decoded) -> Fork | None:
    after = machine.instruction(each.end).end
    if each.name == "cpse":
        bit = machine.values.equal(*(state.registers[o[name]] for name in "dr"))
        return _fork(machine, state, bit, after, each.end)
    bit = machine.values.part(state.registers[o["d"]], o["b"], 1)
    ways = (after, each.end) if each.name == "sbrs" else (each.end, after)
    return _fork(machine, state, bit, *ways)


def jump(machine: Machine, state: State, o: Any, _: Decoded) -> None:
    state.place = o["k"]


def call(machine: Machine, state: State, o: Any, each: Decoded) -> None:
    _push(machine, state, each.end >> 1 & 255)
    _push(machine, state, each.end >> 9)
    state.place = o["k"]


def ijmp(machine: Machine, state: State, _: Any, __: Decoded) -> None:
    target = machine.pair(state, _Z)
    assert isinstance(target, int), "a jump whose target is no number"
    state.place = 2 * target


def ret(machine: Machine, state: State, _: Any, __: Decoded) -> None:
    high, low = _pop(machine, state), _pop(machine, state)
    assert isinstance(high, int), "the return address is lost"
    assert isinstance(low, int), "the return address is lost"
    state.place = 2 * (high << 8 | low)


def nop(*_: Any) -> None:
    """Do nothing."""


_Action = Callable[[Machine, State, Any, Decoded], Fork | None]
ACTIONS: dict[str, _Action] = {
    **{name: globals()[name] for name in (
        "add", "adc", "sub", "sbc", "cp", "cpc", "eor", "com", "neg", "inc", "swap", "mul", "adiw",
        "movw", "mov", "ldi", "bst", "bld", "bset", "lpm", "push", "pop", "out", "call", "ijmp",
        "ret", "nop",
    )},
    **dict.fromkeys(("subi",), sub),
    **dict.fromkeys(("sbci",), sbc),
    **dict.fromkeys(("cpi",), cp),
    **dict.fromkeys(("and", "andi"), and_),
    **dict.fromkeys(("or", "ori"), or_),
    **dict.fromkeys(("lsr", "ror", "asr"), shift),
    **dict.fromkeys(("muls", "mulsu"), mul),
    **dict.fromkeys(("ld", "ldd", "lds"), load),
    **dict.fromkeys(("st", "std", "sts"), store),
    **dict.fromkeys(("sbrc", "sbrs", "cpse"), skip),
    **dict.fromkeys(("brbs", "brbc"), branch),
    **dict.fromkeys(("rjmp", "jmp"), jump),
    "dec": inc, "sbiw": adiw, "bclr": bset, "in": in_,
    "rcall": call,
}  # fmt: skip
