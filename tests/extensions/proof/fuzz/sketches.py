"""Claims about functions of random sketches, compared with a measuring program of their own.

Models of several kinds are compiled for five chips with five sets of flags, and sketches predict
with them in every order of calls. What a certificate calls proven of some of a sketch's functions
must hold for each of their calls, if the sketch keeps the conditions that the claim states.
"""

from __future__ import annotations

import atexit
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from avr_tools import EMULATED_AVR, skip_without
from call_meter import Run, functions_of, measured_calls
from chains import replace as with_numbers
from generated_programs import write_c
from model_factory import random_model
from random_chains import random_chain
from random_sketches import Sketch, random_sketch

from protonn_edge.chips.avr.program import LinkedProgram, read_program
from protonn_edge.chips.cores import CORES
from protonn_edge.codegen.families.avr.code import AVRCode
from protonn_edge.codegen.kernels.kernel import kernels_of
from protonn_edge.codegen.plan import plan_with
from protonn_edge.extensions.proof.certificate.claims import PROVEN, Claim
from protonn_edge.extensions.proof.certificate.program import program_claims
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

BRIEF_CASES = 5  # a chip and flags each
DEADLINE_S = 120.0

LIBRARIES = 100
"""How many models are compiled; each is in one of so many cases."""

CHIPS = {  # their cores, flash and SRAM
    "atmega328p": ("avr5", 32_000, 2_048),
    "atmega2560": ("avr6", 60_000, 8_192),
    "atmega32u4": ("avr5", 28_000, 2_560),
    "attiny85": ("avr25", 8_000, 512),
    "atmega1284p": ("avr51", 60_000, 16_384),
}
FLAGS = ("-O2", "-Os", "-O3", "-O2 -flto", "-Os -mcall-prologues")
_API = ("predict", "begin", "push", "push_many", "finish", "quantize")

_CYCLES = 600_000  # of a run
_SKETCH_BYTES = 3_500  # of flash, and below of SRAM
_SKETCH_SRAM = 260
_DEADLINE_S = 60
_DRAWS = 500

_FOLDER = TemporaryDirectory(prefix="protonn-edge-sketches-")
atexit.register(_FOLDER.cleanup)


@dataclass(frozen=True)
class Library:
    """A model's generated C, compiled."""

    folder: Path
    chip: str
    flags: str
    teachable: bool

    def link(self, text: str, elf: Path) -> None:
        """Link a sketch with it."""
        source = elf.with_suffix(".c")
        source.write_text(text, encoding="utf-8")
        include = f"-I{self.folder}"
        _compile(self.chip, self.flags, include, source, self.folder / "pnn_model.o", "-o", elf)


@dataclass(frozen=True)
class Checked:
    """A claim, and whether it was compared with calls."""

    entry: str
    claim: Claim
    compared: bool


def run_case(seed: int, folder: Path) -> None:
    """Check the claims about one sketch; raise AssertionError with one line for a false one."""
    check_case(seed, folder)


def check_case(seed: int, folder: Path) -> list[Checked]:
    """Check the claims about some functions of one random sketch, and return them."""
    skip_without(*EMULATED_AVR)
    library = _library(seed % LIBRARIES)
    rng = np.random.default_rng(seed)
    sketch = random_sketch(rng, seed, teachable=library.teachable)
    elf = folder / "sketch.elf"
    library.link(sketch.text, elf)
    program = read_program(elf)
    there = [name for name in functions_of(elf) if program.names.copies_of(name)]
    run = measured_calls(elf, library.chip, there, _CYCLES)
    entries = _entries(rng, sketch, run)
    where = f"library {seed % LIBRARIES} for {library.chip}, {library.flags}"
    return [
        Checked(entry, claim, _compare(f"{where}: {entry}", claim, entry, sketch, run))
        for entry in entries
        for claim in _claims(program, entry)
    ]


def _claims(program: LinkedProgram, entry: str) -> Iterator[Claim]:
    with suppress(CheckFailed):  # it is refused: nothing is claimed
        yield from program_claims(program, AVRCode(program), entry)


def _entries(rng: np.random.Generator, sketch: Sketch, run: Run) -> list[str]:
    """Return functions of the sketch and of the library, and any others, all of them called."""
    there = [name for name, calls in run.calls.items() if calls.count]
    own = [each.name for each in sketch.functions if each.name in there]
    api = [f"pnn_{name}" for name in _API if f"pnn_{name}" in there]
    others = sorted(name for name in there if "." not in name and name not in {"main", *own, *api})
    chosen = [(own, 2), (api, 2), (others, 1)]
    return [
        str(name)
        for names, count in chosen
        for name in rng.choice(names, min(count, len(names)), replace=False)
    ]


def _compare(where: str, claim: Claim, entry: str, sketch: Sketch, run: Run) -> bool:
    """Compare a claim with a run; return whether both say something."""
    _, _, conditions = claim.statement.partition(", if ")
    listed = conditions.replace(" and ", ", ").split(", ") if conditions else []
    calls = run.calls[entry]
    if claim.status != PROVEN or claim.value is None:
        return False
    if not all(sketch.keeps(condition, entry) for condition in listed if "table" not in condition):
        return False
    if claim.name == "stack":
        assert run.stack <= claim.value, f"{where}: {run.stack} B of stack, {claim.statement}"
        return True
    match claim.name:
        case "stack-entry":
            holds, number = calls.stack <= claim.value, calls.stack
        case "cycles-most":
            holds, number = calls.most <= claim.value, calls.most
        case "cycles-least":
            holds, number = calls.least >= claim.value, calls.least
        case _:
            return False
    assert holds, f"{where}: measured {number}, but {claim.statement}"
    return True


# ---- libraries ---------------------------------------------------------------------------------


@cache
def _library(number: int) -> Library:
    """Return one of the compiled libraries: each chip with each set of flags has four."""
    chip, flags = [*CHIPS][number % 5], FLAGS[number // 5 % 5]
    core, flash, sram = CHIPS[chip]
    rng = np.random.default_rng(number)
    folder = Path(_FOLDER.name) / str(number)
    for _ in range(_DRAWS):
        teachable = bool(rng.random() < 0.2)
        chain = _teachable(rng) if teachable else random_chain(rng)[0]
        able = [kernels_of(stage, CORES[core]) for stage in chain.stages]
        kernels = [each[int(rng.integers(len(each)))] for each in able]
        plan = plan_with(kernels)
        if (
            plan.flash_bytes < flash - _SKETCH_BYTES
            and plan.state_bytes + chain.n_features < sram - _SKETCH_SRAM
        ):
            break
    folder.mkdir()
    write_c(chain, folder, plan)
    source = folder / "pnn_model.c"
    _compile(chip, flags, "-c", source, "-o", folder / "pnn_model.o")
    return Library(folder, chip, flags, teachable)


def _teachable(rng: np.random.Generator) -> IntegerChain:
    model = random_model(
        int(rng.integers(1000)),
        features=int(rng.integers(2, 30)),
        projections=int(rng.integers(2, 8)),
        prototypes=int(rng.integers(3, 20)),
    )
    return quantize(with_numbers(model, teachable=int(rng.integers(2, 6))))


def _compile(chip: str, flags: str, *arguments: object) -> None:
    words: Sequence[str] = [str(each) for each in arguments]
    command = [
        "avr-gcc",
        f"-mmcu={chip}",
        "-std=gnu99",
        "-DF_CPU=16000000L",
        *flags.split(),
        *words,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
