"""Put faults into linked programs: none may be proven, unless no answer changes.

    PYTHONPATH=tests python -m extensions.proof.equality.faults [--count FAULTS] [--seed SEED]
        [--flags FLAGS] [KIND NUMBER]...

A fault is in the code that a prediction executes (a bit, an immediate, a register, a branch by one
instruction or with the opposite condition, an instruction that is left out, repeated, random, one
from elsewhere, or behind its follower), in a table (a bit, or two entries in the other order), or
in the model, of which another one of the same size is wanted. A program that is proven nevertheless
runs on the emulated Uno, on points that it draws itself, of which it learns some if it can; all of
its scores and classes must be the model's. A tenth of the others run there on fewer points.
"""

from __future__ import annotations

import copy
import dataclasses
import random
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
from avr_programs import compile_text
from elftools.elf.elffile import ELFFile
from extensions.proof.equality.fuzz import encoded
from generated_programs import answers_in_bytes, write_c
from laws.conformance.instances import programs_of

from protonn_edge.chips.avr.instructions import Decoded
from protonn_edge.chips.avr.program import LinkedProgram, read_program
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.plan import Plan
from protonn_edge.extensions.proof.difference import PredictionProof
from protonn_edge.extensions.proof.forms import Unproven
from protonn_edge.extensions.teaching.board import after_teaching
from protonn_edge.model.integer_chain import IntegerChain

POINTS = 1_000
SIMILAR, CHANGED = 25, 15  # points around each that is taught, and the bits that change there
OUTPUT = Path(__file__).parents[3] / "codegen/output.h"
EXAMPLES = [
    ("linear", 9), ("forest", 4), ("prototypes", 0), ("linear", 1), ("forest", 15), ("linear", 8),
    ("dense", 6), ("forest", 8), ("linear", 7), ("convolution", 6),
]  # fmt: skip
SETTINGS = {"output": OUTPUT, "points": POINTS, "similar": SIMILAR, "changed": CHANGED}
_PATIENCE_S = 60  # for the next byte of an emulated program
_WAIT_S, _MOST_WAITS = 0.2, 100  # it waits longer only if the emulated program has slept
_OWN = ["own_stages"]
PROGRAM = """
#include "pnn_model.h"
#include "{output}"
#ifdef PNN_TEACHABLE
#define TAUGHT 1
#else
#define TAUGHT 0
#endif
static uint32_t state = 1;
static uint8_t drawn(void)
{{
    state = state * 1664525u + 1013904223u;
    return (uint8_t)(state >> 24);
}}
static pnn_input_t features[PNN_FEATURES];
int main(void)
{{
    begin();
#if TAUGHT
    pnn_recall(); /* of the program before a reset */
    pnn_forget_all();
#endif
    for (uint16_t point = 0; point < {points}; ++point) {{
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {{
            const uint8_t value = drawn();
            if (TAUGHT && point % {similar} != 0) {{
                features[i] ^= value & {changed};
                continue;
            }}
            const uint16_t most = PNN_INPUT_MAXIMUM + 1u;
            const pnn_input_t extreme = value & 1 ? PNN_INPUT_MAXIMUM : 0;
            features[i] = point % 4 == 3 && value < 160 ? 0
                : point % 4 == 2 ? extreme : (pnn_input_t)(value * most >> 8);
        }}
        const uint8_t label = pnn_predict(features);
        send(label, pnn_scores(), PNN_CLASSES * sizeof(pnn_score_t));
#if TAUGHT
        if (point % {similar} == 0) {{
            pnn_learn(point / {similar} % PNN_CLASSES);
        }}
#endif
    }}
    end();
}}
"""


def is_taught(model: IntegerChain) -> bool:
    """Return whether a model is taught examples on the way."""
    return getattr(model.own_stages[-1], "voters", None) is not None


def answers_to(model: IntegerChain, points: np.ndarray) -> list[bytes]:
    """Return what the program sends for each point; it teaches some of them."""
    if not is_taught(model):
        return answers_in_bytes(model, points)
    answers = []
    for begin in range(0, len(points), SIMILAR):
        some, label = points[begin : begin + SIMILAR], begin // SIMILAR % len(model.classes)
        answers += answers_in_bytes(model, some[:1])
        model = after_teaching(model, some[:1], np.array([label]))
        answers += answers_in_bytes(model, some[1:]) if len(some) > 1 else []
    return answers


def points_of(model: IntegerChain) -> np.ndarray:
    """Return the points that the program draws."""
    state, most = 1, model.quantizer.maximum + 1
    points = np.zeros((POINTS, model.n_features), np.uint8)
    for point in range(POINTS):
        for i in range(model.n_features):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            value = state >> 24
            if is_taught(model) and point % SIMILAR:
                points[point, i] = points[point - 1, i] ^ value & CHANGED
                continue
            extreme = most - 1 if value & 1 else 0
            if point % 4 == 3 and value < 160:
                continue
            points[point, i] = extreme if point % 4 == 2 else value * most >> 8
    return points


Fault = tuple[int, bytes]
"""An address of flash, and the bytes that are put there."""


def _flipped(program: LinkedProgram, address: int, rng: random.Random) -> Fault:
    """Change a bit of a table, or of an instruction."""
    return address, bytes([program.code[address] ^ 1 << rng.randrange(8)])


def _exchanged(program: LinkedProgram, address: int, _: random.Random) -> Fault:
    """Exchange two entries of a table."""
    return address, program.code[address : address + 2][::-1]


def _bit(program: LinkedProgram, here: Decoded, _: Decoded, rng: random.Random) -> Fault:
    return _flipped(program, rng.randrange(here.address, here.end), rng)


def _order(program: LinkedProgram, here: Decoded, _: Decoded, __: random.Random) -> Fault:
    """Exchange an instruction and its follower."""
    code, behind = program.code, program.reached(here.end)
    return here.address, code[behind.address : behind.end] + code[here.address : here.end]


def _number(program: LinkedProgram, here: Decoded, _: Decoded, rng: random.Random) -> Fault:
    """Change a number in an instruction by one: a limit of a loop, a shift, a bias."""
    o = here.operands
    if "K" not in o:
        return _bit(program, here, here, rng)
    most = 63 if here.name in {"adiw", "sbiw"} else 255
    return here.address, encoded(here.name, **{**o, "K": (o["K"] + rng.choice([-1, 1])) & most})


def _target(program: LinkedProgram, here: Decoded, _: Decoded, rng: random.Random) -> Fault:
    """Let a branch lead to the next or the last instruction."""
    if here.name not in {"brbs", "brbc", "rjmp"}:
        return _bit(program, here, here, rng)
    word = int.from_bytes(program.code[here.address : here.end], "little")
    word += rng.choice([-1, 1]) * (1 if here.name == "rjmp" else 8)
    return here.address, (word & 0xFFFF).to_bytes(2, "little")


def _condition(program: LinkedProgram, here: Decoded, _: Decoded, rng: random.Random) -> Fault:
    """Turn a condition: one of the largest score decides ties."""
    if here.name not in {"brbs", "brbc", "sbrc", "sbrs"}:
        return _bit(program, here, here, rng)
    high = program.code[here.address + 1] ^ (4 if here.name.startswith("br") else 2)
    return here.address + 1, bytes([high])


def _register(program: LinkedProgram, here: Decoded, _: Decoded, rng: random.Random) -> Fault:
    o = here.operands
    if "r" not in o or here.size != 2 or here.name == "movw":
        return _bit(program, here, here, rng)
    wanted = {**o, "r": min(o["r"] ^ 1, 23 if here.name == "mulsu" else 31)}
    return here.address, encoded(here.name, **wanted)


def _left_out(_: LinkedProgram, here: Decoded, __: Decoded, ___: random.Random) -> Fault:
    return here.address, bytes(here.size)


def _repeated(program: LinkedProgram, here: Decoded, _: Decoded, __: random.Random) -> Fault:
    return here.end, program.code[here.address : here.end]


def _any(_: LinkedProgram, here: Decoded, __: Decoded, rng: random.Random) -> Fault:
    return here.address, rng.randbytes(2)


def _elsewhere(program: LinkedProgram, here: Decoded, other: Decoded, _: random.Random) -> Fault:
    """Put another instruction of the program there."""
    return here.address, program.code[other.address : other.end]


_FAULTS = [
    _bit, _bit, _order, _number, _number, _target, _condition, _register, _left_out, _repeated,
    _any, _elsewhere,
]  # fmt: skip


class Subject:
    """A linked program, into which faults are put; one in `sampled` that is not proven runs."""

    sampled, tried = 10, 20  # points on which a difference is searched

    def __init__(
        self, model: IntegerChain, plan: Plan | None, text: str, folder: Path, flags: str = "-O2"
    ) -> None:
        self.model, self.folder = model, folder
        write_c(self.model, folder, plan)
        self.elf = compile_text(text, folder / "program.elf", *flags.split(), "pnn_model.c")
        source = (folder / "pnn_model.c").read_text()
        self.program = read_program(self.elf).attributed("pnn_model.c", source)
        self.points = points_of(self.model)
        self.answers = self.expected()
        self.most_cycles = 2 * self.run()[1]
        proof = PredictionProof(self.program, self.model)
        self.steps = proof.proof().steps
        self.executed = sorted(proof.machine.executed)
        self.tables = sorted(proof.machine.flash_read)

    def expected(self) -> list[bytes]:
        """Return what the program sends for each point."""
        return answers_to(self.model, self.points)

    def faults(self, rng: random.Random) -> Iterator[tuple[int, bytes]]:
        """Yield addresses with the bytes that are put there."""
        while True:
            if self.tables and rng.random() < 0.25:
                yield rng.choice([_flipped, _exchanged])(self.program, rng.choice(self.tables), rng)
                continue
            here = self.program.reached(rng.choice(self.executed))
            other = self.program.reached(rng.choice(self.executed))
            yield rng.choice(_FAULTS)(self.program, here, other, rng)

    def judged(self, address: int, new: bytes, number: int) -> str:
        """Return what becomes of a fault."""
        if self.program.code[address : address + len(new)] == new:
            return "no fault"
        elf, code = self.folder / f"fault{number % 2}.elf", self.program.code
        program = dataclasses.replace(
            self.program, code=code[:address] + new + code[address + len(new) :]
        )
        proof = PredictionProof(program, self.model, most_steps=4 * self.steps + 10_000)
        try:
            proof.proof()
        except Unproven:
            if number % self.sampled:
                return "not proven"
            elf.write_bytes(patched(self.elf, address, new))
            right = self.is_right(elf, self.tried)
            return f"not proven: the emulated Uno {'is right' if right else 'differs'}"
        except Exception as crash:  # noqa: BLE001 - to be mended, but no proof
            return f"not proven: {type(crash).__name__}"
        elf.write_bytes(patched(self.elf, address, new))
        return "proven, all points are equal" if self.is_right(elf, POINTS) else "MISSED"

    def is_right(self, elf: Path, count: int) -> bool:
        """Whether the emulated Uno gives the model's answers to the first points."""
        expected, received = b"".join(self.answers[:count]), b""
        with EmulatedUno(elf) as uno, socket.create_connection(("127.0.0.1", uno.port)) as line:
            line.settimeout(_WAIT_S)
            waits, crashed = 0, False
            while len(received) < len(expected) and expected.startswith(received):
                try:
                    chunk = line.recv(65_536)
                except TimeoutError:
                    if crashed:
                        break
                    waits += 1
                    stats = uno.stats()
                    if waits > _MOST_WAITS or stats.cycles > self.most_cycles:
                        break
                    # What it sent before may still be on its way, but no more follows.
                    crashed = stats.state == "crashed"
                    continue
                if not chunk:
                    break
                received += chunk
        return received[: len(expected)] == expected

    def run(self, size: int | None = None) -> tuple[bytes, int]:
        """Return all that the emulated Uno sends, and how long it computes."""
        received = b""
        with (
            EmulatedUno(self.elf) as uno,
            socket.create_connection(("127.0.0.1", uno.port)) as line,
        ):
            line.settimeout(_PATIENCE_S)
            size = size or sum(map(len, self.answers))
            while len(received) < size:
                chunk = line.recv(65_536)
                assert chunk, "the emulated board ended"
                received += chunk
            return received, uno.stats().cycles

    def judged_model(self, rng: random.Random) -> str:
        """Return whether the program is taken for one of a model with another number."""
        other = self.other_model(rng)
        return "no fault" if other is None else self.judged_other(other)

    def judged_other(self, other: IntegerChain) -> str:
        """Return whether the program is taken for one of this other model."""
        try:
            PredictionProof(self.program, other).proof()
        except Unproven:
            return "another model is not proven"
        except Exception as crash:  # noqa: BLE001 - to be mended, but no proof
            return f"another model is not proven: {type(crash).__name__}"
        answers = answers_to(other, self.points)
        return "proven, all points are equal" if answers == self.answers else "MISSED"

    def other_model(self, rng: random.Random) -> IntegerChain | None:
        """Return a model with another number; None if a stage refuses it."""
        which = rng.choice(["own_stages", "feature_stages"] if self.model.features else _OWN)
        stages = [*getattr(self.model, which)]
        at = rng.randrange(len(stages))
        names = [
            each.name
            for each in dataclasses.fields(stages[at])
            if each.init and isinstance(getattr(stages[at], each.name), int | np.ndarray)
        ]
        name = rng.choice(names)
        number = getattr(stages[at], name)
        if isinstance(number, np.ndarray):
            number = number.copy()
            place = tuple(rng.randrange(size) for size in number.shape)
            number[place] = int(number[place]) + (-1 if number[place] > 100 else 1)
        else:
            number = type(number)(number + rng.choice([-1, 1]))
        try:
            stages[at] = dataclasses.replace(stages[at], **{name: number})
            other = copy.copy(self.model)
            vars(other).pop("stages", None)
            object.__setattr__(other, which, tuple(stages))
            answers_in_bytes(other, self.points)
        except Exception:  # noqa: BLE001 - numbers that a stage refuses
            return None
        return other


def patched(elf: Path, address: int, new: bytes) -> bytes:
    """Return a file with other bytes at an address of flash."""
    contents = bytearray(elf.read_bytes())
    with elf.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            start = segment["p_paddr"]
            if start <= address < start + segment["p_filesz"]:
                offset = segment["p_offset"] + address - start
                contents[offset : offset + len(new)] = new
                return bytes(contents)
    raise AssertionError(address)


def run(kind: str, number: int, count: int, seed: int = 0, flags: str = "-O2") -> Counter[str]:
    """Put faults into a program; return how many had which end."""
    program = programs_of(kind)[number]
    with TemporaryDirectory() as folder:
        text = PROGRAM.format(**SETTINGS)
        subject = Subject(program.instance.model, program.plan, text, Path(folder), flags)
        return tallied(subject, random.Random(f"{kind} {number} {seed}"), count)


def tallied(subject: Subject, rng: random.Random, count: int) -> Counter[str]:
    """Return what becomes of faults; one in ten is another model."""
    tally, faults = Counter[str](), subject.faults(rng)
    for index in range(count):
        if index % 10 == 9:
            tally[subject.judged_model(rng)] += 1
        else:
            tally[subject.judged(*next(faults), index)] += 1
    return tally


@click.command()
@click.option("--count", default=500, show_default=True, help="Faults of each program.")
@click.option("--seed", default=0, show_default=True)
@click.option("--flags", default="-O2", show_default=True, help="Of avr-gcc.")
@click.argument("programs", nargs=-1)
def main(count: int, seed: int, flags: str, programs: tuple[str, ...]) -> None:
    """Print what becomes of faults."""
    named = list(zip(programs[::2], map(int, programs[1::2]), strict=True)) or EXAMPLES
    total: Counter[str] = Counter()
    for kind, number in named:
        tally = run(kind, number, count, seed, flags)
        total += tally
        click.echo(f"{kind} {number}: {dict(tally)}")
    click.echo(f"all {total.total():,}: {dict(total)}")


if __name__ == "__main__":
    main()
