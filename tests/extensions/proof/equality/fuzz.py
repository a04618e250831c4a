"""Random programs of which a symbolic execution says something: it must hold for every input.

    PYTHONPATH=tests python -m extensions.proof.equality.fuzz [PROGRAMS [FIRST SEED]]

The programs have chains of carries, products, signs, shifts, skips and branches, on registers that
depend on two inputs, or on none. The machine with numbers alone, which `instructions` compares with
simavr, says what is true.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
from extensions.proof.equality.values import Inputs, bit_of, byte_of, holds

from protonn_edge.chips.avr.instructions import _REGISTERS, _TABLE
from protonn_edge.chips.avr.program import LinkedProgram, Sections
from protonn_edge.chips.cores import UNO_CORE
from protonn_edge.extensions.proof.exploration import Explorer
from protonn_edge.extensions.proof.forms import Byte, Root, Unproven, single
from protonn_edge.extensions.proof.machine import Machine
from protonn_edge.extensions.proof.state import ChipState

MOST_INPUTS = 40  # tried of each program


def encoded(name: str, **operands: int) -> bytes:
    """Return an instruction of one word."""
    line = next(each for each in _TABLE if each.name == name)
    scale, start = _REGISTERS.get(name, (1, 0))
    values = {k: (v - start) // scale if k in "dr" else v for k, v in operands.items()}
    bits = []
    for letter in reversed(line.pattern):
        if letter in "01":
            bits.append(letter)
        else:
            bits.append(str(values[letter] & 1))
            values[letter] >>= 1
    return int("".join(reversed(bits)), 2).to_bytes(2, "little")


def program_of(code: bytes) -> LinkedProgram:
    """Return a program that is only code."""
    return LinkedProgram(
        Path("random"), Sections(len(code), 0, 0), code, (), (), 0x100, UNO_CORE, (), ()
    )


CHAINS = [("add", "adc"), ("sub", "sbc"), ("cp", "cpc"), ("subi", "sbci")]
TWO = ["add", "adc", "sub", "sbc", "cp", "cpc", "and", "or", "eor", "mul", "muls", "mulsu", "mov"]
ONE = ["com", "neg", "inc", "dec", "lsr", "ror", "asr", "swap"]
NUMBERS = ["subi", "sbci", "cpi", "andi", "ori", "ldi"]


def _chain(rng: random.Random) -> Iterator[bytes]:
    """Yield sums or comparisons of several bytes."""
    first, other = rng.choice(CHAINS)
    d, r = rng.choice([16, 20, 24]), rng.choice([2, 16, 20, 24])
    number = rng.choice([rng.randrange(-40_000, 40_000), 1, -1])
    for at in range(rng.choice([2, 3])):
        operand = {"K": number >> 8 * at & 255} if first == "subi" else {"r": r + at}
        yield encoded(other if at else first, d=d + at, **operand)


def _single(rng: random.Random) -> Iterator[bytes]:
    """Yield one instruction."""
    kind, d = rng.randrange(6), rng.randrange(16, 24)
    if kind < 2:
        yield encoded(rng.choice(TWO), d=d, r=rng.randrange(16, 24))
    elif kind == 2:
        yield encoded(rng.choice(ONE), d=rng.randrange(2, 32))
    elif kind == 3:
        yield encoded(rng.choice(NUMBERS), d=rng.randrange(16, 32), K=rng.randrange(256))
    elif kind == 4:
        pair, number = rng.choice([24, 26, 28, 30]), rng.randrange(64)
        yield encoded(rng.choice(["adiw", "sbiw"]), d=pair, K=number)
    else:
        yield encoded("sbc", d=d, r=d)


def _skipped(rng: random.Random) -> Iterator[bytes]:
    """Yield a skip or a branch, and what it leaves out."""
    left_out = lambda: encoded(  # noqa: E731
        rng.choice(["mov", "add", "sub"]), d=rng.randrange(16, 24), r=rng.randrange(16, 24)
    )
    how = rng.choice(["sbrc", "sbrs", "cpse", "brbs", "brbc"])
    if how == "cpse":
        yield encoded(how, d=rng.randrange(16, 24), r=rng.randrange(16, 24))
    elif how in ("sbrc", "sbrs"):
        yield encoded(how, d=rng.randrange(16, 24), b=rng.choice([0, 3, 7, 7]))
    else:
        yield encoded(how, s=rng.choice([0, 0, 1, 2, 4]), k=2)
        yield left_out()
    yield left_out()


def _product(rng: random.Random) -> Iterator[bytes]:
    """Yield a product that is added to a sum."""
    a = rng.choice([16, 20])
    yield encoded("mulsu", d=rng.randrange(16, 24), r=rng.randrange(16, 24))
    yield encoded("sbc", d=15, r=15)
    yield encoded("add", d=a, r=0) + encoded("adc", d=a + 1, r=1) + encoded("adc", d=a + 2, r=15)


def _halved(rng: random.Random) -> Iterator[bytes]:
    """Yield a sign that is extended, and a sum that is halved."""
    d = rng.choice([17, 21, 25])
    yield encoded("mov", d=14, r=d) + encoded("add", d=14, r=14) + encoded("sbc", d=14, r=14)
    yield encoded("asr", d=d) + encoded("ror", d=d - 1)


def _rounded(rng: random.Random) -> Iterator[bytes]:
    """Yield a sum of three bytes that is doubled or halved, and rounded by the bit that is lost."""
    d, add = rng.choice([16, 20, 24]), rng.choice(["adc", "sbc"])
    if rng.random() < 0.3:
        yield encoded("com", d=d) * rng.randrange(2) + encoded("add", d=d, r=d)
        yield encoded("adc", d=d + 1, r=d + 1) * rng.randrange(2)
        d += 1
    else:
        for _ in range(rng.randrange(1, 4)):
            yield encoded(rng.choice(["asr", "lsr"]), d=d + 2)
            yield encoded("ror", d=d + 1) + encoded("ror", d=d)
    yield encoded("eor", d=15, r=15) + encoded(add, d=d, r=15) + encoded(add, d=d + 1, r=15)


def _larger(rng: random.Random) -> Iterator[bytes]:
    """Yield the larger of two values."""
    d, r = rng.sample(range(16, 24), 2)
    yield encoded("cp", d=d, r=r) + encoded("brbc", s=0, k=1) + encoded("mov", d=d, r=r)


PIECES = [_chain] * 6 + [_single] * 6 + [_skipped, _product, _halved, _rounded, _rounded, _larger]


class Example:
    """A random program and its start."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        code = b"".join(b"".join(rng.choice(PIECES)(rng)) for _ in range(rng.randrange(3, 14)))
        self.program = program_of(code + encoded("ret"))
        self.roots = [
            Root("a", np.arange(rng.choice([3, 16, 64, 256]))),
            Root("b", np.arange(rng.choice([2, 16, 200]))),
        ]
        self.registers: list[int | Byte] = [rng.randrange(256) for _ in range(32)]
        for number in range(2, 32):
            if rng.random() < 0.45:
                root = rng.choice(self.roots)
                drawn = [rng.randrange(256) for _ in root.values]
                form = single(root, root.values if rng.random() < 0.6 else drawn)
                if form.tables:
                    self.registers[number] = Byte(form, 0)
        every = list(itertools.product(*(range(each.size) for each in self.roots)))
        self.inputs = [
            dict(zip(self.roots, each, strict=True))
            for each in rng.sample(every, min(MOST_INPUTS, len(every)))
        ]

    def start(self, machine: Machine, registers: list[int | Byte]) -> ChipState:
        """Return the state in front of the program."""
        state = ChipState(0)
        state.registers, state.flags = [*registers], [0] * 8
        state.stack = machine.stack()
        machine.enter(state, 0)
        return state

    def wrong(self, tally: Counter[str]) -> list[str]:
        """Return what a symbolic execution says that is not true."""
        machine = Machine(self.program)
        machine.algebra.MOST_VALUES = 1 << 14
        try:
            ends = Explorer(machine, 2_000).run(self.start(machine, self.registers))
        except Unproven:
            tally["refused"] += 1
            return []
        tally["programs"] += 1
        tally["with several endings"] += len(ends) > 1
        found = []
        for inputs in self.inputs:
            numbers = [byte_of(each, inputs) for each in self.registers]
            plain = Machine(self.program)
            (true,) = Explorer(plain).run(self.start(plain, numbers))
            here = [each for each in ends if holds(machine, each, inputs)]
            # Paths on which sums are unequal may hold others, too.
            different = [
                [*self._different(machine, each, plain, true, inputs, tally)] for each in here
            ]
            found += min(different, key=len, default=["no ending"])
        return found

    def _different(
        self, machine: Machine, end: ChipState, plain: Machine, true: ChipState, inputs: Inputs,
        tally: Counter[str],
    ) -> Iterator[str]:  # fmt: skip
        machine.algebra.facts, machine.algebra.masks = end.facts, end.masks
        for number, (value, wanted) in enumerate(zip(end.registers, true.registers, strict=True)):
            if isinstance(value, int | Byte):
                tally["bytes"] += 1
                tally["bytes of several inputs"] += isinstance(value, Byte) and not value.form.root
                if byte_of(value, inputs) != wanted:
                    yield f"r{number}: {value} is {byte_of(value, inputs)}, not {wanted}"
        for number, flag in enumerate(end.flags[:7]):
            try:
                bit = machine.arithmetic.bit(flag)
            except Unproven:
                continue
            tally["flags"] += 1
            if bit_of(bit, inputs) != plain.arithmetic.bit(true.flags[number]):
                yield f"flag {number}"


def fuzz(seeds: range) -> Counter[str]:
    """Try programs; raise `AssertionError` at the first one that is wrong."""
    tally: Counter[str] = Counter()
    for seed in seeds:
        wrong = Example(seed).wrong(tally)
        assert not wrong, (seed, wrong[:5])
    return tally


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    total: Counter[str] = Counter()
    for begin in range(first, first + count, 1_000):
        total += fuzz(range(begin, min(begin + 1_000, first + count)))
        click.echo(dict(total))
