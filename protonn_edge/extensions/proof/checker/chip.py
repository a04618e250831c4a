"""A chip that executes a program on bytes of sums, to where inputs decide.

It needs the meaning of an instruction for numbers only. Otherwise it has to know which bytes the
instruction reads, and that carries continue sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.extensions.proof.checker.sums import Less, One, SumCarry, SumPart, SumTable

CARRY, ZERO, SIGN, INTERRUPTS = 0, 1, 4, 7
STACK, FEATURES, RETURN = "stack", "features", "return"
"""What addresses are relative to; a program must not depend on where these are."""
END = -1
"""The place behind the outermost call."""
_STACK_POINTER, _STATUS = 0x3D, 0x3F
_SUMS = {"add": 1, "adc": 1, "sub": -1, "sbc": -1, "cp": -1, "cpc": -1, "neg": -1}
_CONTINUED = {"adc", "sbc", "cpc", "ror"}
_KEEPING_CARRY = {"and", "or", "eor", "inc", "dec"}
_WITH_NUMBER = {"subi": "sub", "sbci": "sbc", "cpi": "cp", "andi": "and", "ori": "or"}
_SIGNED = {"mul": (0, 0), "muls": (1, 1), "mulsu": (1, 0)}
_ACTIONS = {
    "compute": {*_SUMS, *_KEEPING_CARRY, *_WITH_NUMBER, "com", "lsr", "asr", "ror"},
    "multiply": {*_SIGNED}, "count": {"adiw", "sbiw"}, "jump": {"jmp", "rjmp"},
    "branch": {"brbs", "brbc", "sbrc", "sbrs", "cpse"}, "call": {"call", "rcall"},
    "load": {"ld", "ldd", "lds"}, "store": {"st", "std", "sts"}, "set": {"bset", "bclr"},
    "move": {"mov", "movw"},
}  # fmt: skip
_NAMES = {name: action for action, names in _ACTIONS.items() for name in names}


class NotSeparable(Exception):
    """Why a program is not shown to be a sum of functions of one input each."""


class Address(NamedTuple):
    """A byte of an address: of an unknown one and an offset, modulo ``2**16``."""

    base: str
    offset: int
    byte: int


class AddressCarry(NamedTuple):
    """The carry or borrow of the lower bytes of addresses, or of one and a number."""

    x: int | Address
    y: int | Address
    sign: int


Place = tuple[str | None, int]
"""An address, and what it is relative to."""


def _bytes(base: str | None, offset: int) -> list[Any]:
    if base is None:
        return [offset & 255, offset >> 8 & 255]
    offset = (offset + 0x8000 & 0xFFFF) - 0x8000
    return [Address(base, offset, 0), Address(base, offset, 1)]


def _whole(low: Any, high: Any) -> Place:
    """Return the address with these bytes."""
    if isinstance(low, int) and isinstance(high, int):
        return None, low | high << 8
    if not isinstance(low, Address) or not isinstance(high, Address) or low.base != high.base:
        raise NotSeparable("an address depends on inputs")
    if (low.byte, high.byte) != (0, 1) or (low.offset - high.offset) % 256:
        raise NotSeparable("an address of bytes of two others")
    return high.base, high.offset


def _above(byte: Any) -> Any:
    return byte._replace(byte=1) if isinstance(byte, Address) else 0


class CheckedChip:
    """A chip in front of an instruction."""

    def __init__(self) -> None:
        self.place = 0
        self.stack = _bytes(STACK, 0)
        self.registers: list[Any] = [None] * 32
        self.flags: list[Any] = [None] * 8
        self.memory: dict[Place, Any] = {}
        self.facts: frozenset[Any] = frozenset()
        # where inputs decide: the bit, and where the program goes on if it is set, or not
        self.fork: tuple[One | Less, int, int] | None = None

    def copy(self) -> CheckedChip:
        """Return a copy."""
        other = CheckedChip()
        vars(other).update(vars(self))
        other.registers, other.flags = [*self.registers], [*self.flags]
        other.memory, other.stack = dict(self.memory), [*self.stack]
        return other

    @property
    def top(self) -> int:
        """Where the next byte on the stack goes."""
        base, offset = _whole(*self.stack)
        if base != STACK:
            raise NotSeparable("the stack is elsewhere than before the call")
        return offset


def _computed(name: str, a: int, b: int, c: int) -> tuple[int, ...]:
    """Return a byte and its flags, of two bytes and a carry."""
    over = 0
    if name in _SUMS:
        r = a + b + c if _SUMS[name] > 0 else a - b - c
        over = ((a ^ r) & (b ^ (r if _SUMS[name] > 0 else a))) >> 7 & 1
        c, r = r >> 8 & 1, r & 255
    elif name in {"lsr", "asr", "ror"}:
        r = a >> 1 | {"lsr": 0, "asr": a & 128, "ror": c << 7}[name]
        c, over = a & 1, r >> 7 ^ a & 1
    elif name in {"inc", "dec"}:
        r = a + (1 if name == "inc" else -1) & 255
        over = int(r == (128 if name == "inc" else 127))
    else:
        r, c = {"and": a & b, "or": a | b, "eor": a ^ b, "com": 255 - a}[name], 1
    return r, c, int(r == 0), r >> 7, over, r >> 7 ^ over


def _product(name: str, x: int, y: int) -> tuple[int, ...]:
    x, y = (v - (v >> 7 << 8) * signed for v, signed in zip((x, y), _SIGNED[name], strict=True))
    product = x * y & 0xFFFF
    return product & 255, product >> 8, product >> 15, int(product == 0)


class Computing:
    """The instructions that compute."""

    def __init__(self) -> None:
        self.sums = SumTable()
        self._features: dict[Place, One] = {}

    def _over(self, name: str, function: Callable[..., Any], n: int, *values: Any) -> list[Any]:
        """Return a function's n values for numbers, or for functions of one root; else None."""
        roots = {each.root for each in values if isinstance(each, One)}
        if len(roots) > 1 or not all(isinstance(each, int | One) for each in values):
            return [None] * n
        if not roots:
            return list(function(*values))
        return [self.sums.one(*roots, name, *values, k) for k in range(n)]

    def _compute(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        name, flags = _WITH_NUMBER.get(here.name, here.name), chip.flags
        x, y = chip.registers[o["d"]], chip.registers[o["r"]] if "r" in o else o.get("K", 0)
        carry, zero = flags[CARRY] if name in _CONTINUED else 0, flags[ZERO]
        if o["d"] == o.get("r") and name in {"eor", "sub", "sbc"}:
            x = y = 0
        if name == "neg":
            x, y = 0, x
        if isinstance(x, Address) or isinstance(y, Address) or isinstance(carry, AddressCarry):
            self._compute_address(chip, o, name, x, y, carry)
            return
        result, *bits = self._over(name, partial(_computed, name), 6, x, y, carry)
        if name in {"sbc", "cpc"}:
            (bits[ZERO],) = self._over("both", lambda v, w: (v & w,), 1, bits[ZERO], zero)
        if name in _KEEPING_CARRY:
            bits[CARRY] = flags[CARRY]
        flags[:6] = [*bits, None]
        if result is None and name == "com" and isinstance(x, SumPart):
            result = x._replace(sign=-x.sign, more=255 - x.more)
        elif result is None and name in _SUMS:
            result = self._sum(chip, x, y, _SUMS[name], carry)
        if name not in {"cp", "cpc"}:
            chip.registers[o["d"]] = result

    def _compute_address(
        self, chip: CheckedChip, o: Any, name: str, x: Any, y: Any, carry: Any
    ) -> None:
        """Add a number to an address, or subtract; first the lower byte, then the higher."""
        sign, flags, below, after = _SUMS.get(name, 0), chip.flags, None, None
        if isinstance(carry, AddressCarry):
            below = carry
        if sign != (below.sign if below else sign) or not sign or (carry != 0 and not below):
            raise NotSeparable(f"the instruction {name} computes with an address")
        rows = ((below.x, x), (below.y, y)) if below else ((x, _above(x)), (y, _above(y)))
        (base, first), (other, second) = (_whole(*row) for row in rows)
        if base is not None and other is not None:
            if sign > 0 or base != other:
                raise NotSeparable("a sum of two addresses")
            inside = base == FEATURES and min(first, second) >= 0
            inside &= max(first, second) <= len(self._features)
            after, base, other = int(first < second) if inside else None, None, None
        elif sign < 0 and other is not None:
            raise NotSeparable("an address is subtracted from a number")
        result, equal = _bytes(base or other, first + sign * second)[bool(below)], flags[ZERO]
        flags[:6] = [after if below else AddressCarry(x, y, sign), *[None] * 5]
        if isinstance(result, int) and (not below or isinstance(equal, int)):
            flags[ZERO] = int(result == 0) & (equal if below else 1)
        if name not in {"cp", "cpc"}:
            chip.registers[o["d"]] = result

    def _sum(self, chip: CheckedChip, x: Any, y: Any, sign: int, carry: Any) -> Any:
        """Return a byte of a sum of bytes; a carry or borrow continues the sum below."""
        below = carry if isinstance(carry, SumCarry) else None
        if below and below.is_sign and x == y == 0 and sign < 0:
            return self.sums.extension(below.xs[0])
        if (below and below.sign != sign) or not isinstance(carry, int | One | SumCarry):
            return None
        chip.flags[CARRY] = after = self.sums.extended(below, x, y, sign, 0 if below else carry)
        known = (isinstance(each, int | One | SumPart) for each in (*after.xs, *after.ys))
        if sign < 0 and after.first == 0 and all(known):
            chip.flags[SIGN] = Less(after.xs, after.ys)
        return self.sums.top(after)

    def _multiply(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        factors = chip.registers[o["d"]], chip.registers[o["r"]]
        made = self._over(here.name, partial(_product, here.name), 4, *factors)
        chip.registers[:2], chip.flags[:2] = made[:2], made[2:]

    def _count(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        base, before = _pointer(chip, o["d"])
        after = before + (o["K"] if here.name == "adiw" else -o["K"])
        chip.registers[o["d"] : o["d"] + 2] = _bytes(base, after)
        known = int(not 0 <= after <= 0xFFFF), int(after & 0xFFFF == 0)
        chip.flags[:5] = [*((None, None) if base else known), None, None, None]


class Moves(Computing):
    """The instructions that move bytes."""

    def __init__(self, program: LinkedProgram, writable: frozenset[int]) -> None:
        super().__init__()
        self.program, self._writable = program, writable

    def give(self, chip: CheckedChip, first: int, count: int) -> None:
        """Give a function the address of some features, as its first argument, if any."""
        self._features = {(FEATURES, i): self.sums.one(first + i, "input") for i in range(count)}
        if count:
            chip.registers[24:26] = _bytes(FEATURES, 0)

    def _onto(self, chip: CheckedChip, value: Any) -> None:
        top = chip.top
        chip.memory[STACK, top] = value
        chip.stack = _bytes(STACK, top - 1)

    def _off(self, chip: CheckedChip) -> Any:
        top = chip.top + 1
        chip.stack = _bytes(STACK, top)
        return chip.memory.pop((STACK, top), None)

    def _push(self, chip: CheckedChip, o: Any, _: Decoded) -> None:
        self._onto(chip, chip.registers[o["d"]])

    def _pop(self, chip: CheckedChip, o: Any, _: Decoded) -> None:
        chip.registers[o["d"]] = self._off(chip)

    def _move(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        n = 2 if here.name == "movw" else 1
        chip.registers[o["d"] : o["d"] + n] = chip.registers[o["r"] : o["r"] + n]

    def _ldi(self, chip: CheckedChip, o: Any, _: Decoded) -> None:
        chip.registers[o["d"]] = o["K"]

    def _set(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        chip.flags[o["s"]] = int(here.name == "bset")

    def _in(self, chip: CheckedChip, o: Any, _: Decoded) -> None:
        known = *chip.stack, tuple(chip.flags)
        chip.registers[o["d"]] = dict(enumerate(known, _STACK_POINTER)).get(o["A"])

    def _out(self, chip: CheckedChip, o: Any, _: Decoded) -> None:
        value, byte = chip.registers[o["r"]], o["A"] - _STACK_POINTER
        if o["A"] == _STATUS and isinstance(value, tuple) and len(value) == len(chip.flags):
            chip.flags = [*value]
        elif byte in {0, 1} and (byte == 0 or chip.flags[INTERRUPTS] == 0):
            chip.stack[byte] = value
            if byte == 0:  # an interrupt may change what is below
                top = chip.top
                chip.memory = {
                    at: v for at, v in chip.memory.items() if at[0] != STACK or at[1] > top
                }
        else:
            raise NotSeparable("it writes to a register of the chip")

    def _lpm(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        table, low = self.program.code, chip.registers[30:]
        made = self._over("lpm", lambda low, high: (table[low | high << 8],), 1, *low)
        if here.moved:
            self._place(chip, o, here)
        (chip.registers[o.get("d", 0)],) = made

    def _load(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        place = self._place(chip, o, here)
        if place[0] == STACK and place[1] <= chip.top:
            raise NotSeparable("it reads what an interrupt may change")
        chip.registers[o["d"]] = self._features.get(place, chip.memory.get(place))

    def _store(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        base, offset = place = self._place(chip, o, here)
        own = chip.top < offset <= 0 if base == STACK else not base and offset in self._writable
        if not own:
            raise NotSeparable(f"it writes to 0x{offset:x}, which is none of the model's variables")
        chip.memory[place] = chip.registers[o["d"]]

    def _place(self, chip: CheckedChip, o: Any, here: Decoded) -> Place:
        """Return the address of an access to memory."""
        if "k" in o:
            return None, int(o["k"])
        number = here.moved or (26 if "q" not in o else 28 if o["y"] else 30)
        if here.moved and o["d"] & ~1 == number:
            raise NotSeparable("a pointer that moves is read or written itself")
        base, offset = _pointer(chip, number)
        offset -= int(here.decrements)
        if here.moved:
            chip.registers[number : number + 2] = _bytes(base, offset + (not here.decrements))
        return _whole(*_bytes(base, offset + o.get("q", 0)))


def _pointer(chip: CheckedChip, number: int) -> Place:
    return _whole(*chip.registers[number : number + 2])


class Execution(Moves):
    """Executes single instructions of a program."""

    def step(self, chip: CheckedChip) -> None:
        """Execute an instruction; set the fork instead if inputs decide where it leads."""
        here = self.program.reached(chip.place)
        chip.place = here.end
        action = getattr(self, f"_{_NAMES.get(here.name, here.name)}", None)
        if action is None:
            raise NotSeparable(f"the instruction {here.name}")
        action(chip, here.operands, here)

    def _branch(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        ways = [o["k"] if "k" in o else self.program.reached(here.end).end, here.end]
        if "s" in o:
            bit = chip.flags[o["s"]]
        elif "b" in o:
            function = partial(lambda b, x: (x >> b & 1,), o["b"])
            (bit,) = self._over(f"bit {o['b']}", function, 1, chip.registers[o["d"]])
        else:
            values = chip.registers[o["d"]], chip.registers[o["r"]]
            (bit,) = self._over("equal", lambda x, y: (int(x == y),), 1, *values)
        if here.name in {"brbc", "sbrc"}:
            ways.reverse()
        if isinstance(bit, int):
            chip.place = ways[1 - bit]
        elif isinstance(bit, One | Less):
            chip.place, chip.fork = here.address, (bit, ways[0], ways[1])
        else:
            raise NotSeparable("a branch depends on several inputs")

    def _jump(self, chip: CheckedChip, o: Any, _: Decoded) -> None:
        chip.place = o["k"]

    def _ijmp(self, chip: CheckedChip, _: Any, __: Decoded) -> None:
        base, place = _pointer(chip, 30)
        if base:
            raise NotSeparable("it jumps to an unknown place")
        chip.place = 2 * place

    def _call(self, chip: CheckedChip, o: Any, here: Decoded) -> None:
        self.enter(chip, o["k"], here.end)

    def enter(self, chip: CheckedChip, function: int, back: int | None = None) -> None:
        """Call a function, which returns to an address, or to `END`."""
        for k, byte in enumerate(self._back):
            self._onto(chip, byte if back is None else back >> 8 * k + 1 & 255)
        chip.place = function

    def _ret(self, chip: CheckedChip, _: Any, __: Decoded) -> None:
        popped = [self._off(chip) for _ in self._back][::-1]
        if popped == self._back:
            chip.place = END
            return
        if not all(isinstance(each, int) for each in popped):
            raise NotSeparable("the return address is lost")
        chip.place = sum(byte << 8 * k + 1 for k, byte in enumerate(popped))

    @property
    def _back(self) -> list[Address]:
        return [Address(RETURN, 0, k) for k in range(self.program.core.return_bytes)]
