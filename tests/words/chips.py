"""Generated C on emulated chips of 32 bits: compiled, run in QEMU, its cycles counted.

`emulated` compiles a model for a chip and lets it classify points. A chip is missing if its
compiler or emulator is; `HOW` says how to install them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.words import plan_for
from protonn_edge.cores import WORD_CORES
from protonn_edge.quantization import IntegerChain

HERE = Path(__file__).parent
HOW = "needs compilers and emulators; to run: make chips"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion"]
_DEADLINE_S = 300


@dataclass(frozen=True)
class Chip:
    """A core, and a machine of QEMU with it: (start, end) of its memories."""

    name: str
    core: str
    compiler: str
    target: str
    machine: str
    rom: int
    ram: tuple[int, int]

    @property
    def emulator(self) -> str:
        """The program that emulates it."""
        return f"qemu-system-{'riscv32' if 'riscv' in self.compiler else 'arm'}"

    @property
    def missing(self) -> bool:
        """Whether this machine lacks a program for it."""
        return None in (shutil.which(f"{self.compiler}-gcc"), shutil.which(self.emulator))


_ARM, _RISCV = "arm-none-eabi", "riscv64-unknown-elf"
_M0, _M4 = "-mcpu=cortex-m0plus -mthumb", "-mcpu=cortex-m4 -mthumb"
_RV32 = "-march=rv32imac -mabi=ilp32"
_RAM = 0x2000_0000
CHIPS = {
    chip.name: chip
    for chip in (
        Chip("m0", "cortex-m0", _ARM, _M0, "microbit", 0, (_RAM, _RAM + 0x4000)),
        Chip("m4", "cortex-m4", _ARM, _M4, "mps2-an386", 0, (_RAM, _RAM + 0x40_0000)),
        Chip("rv32", "rv32imc", _RISCV, _RV32, "virt", 0x8000_0000, (0x8040_0000, 0x8080_0000)),
    )
}


@dataclass(frozen=True)
class Done:
    """The number of points that differ from NumPy, and figures of the program."""

    points: int
    differing: int
    code_bytes: int  # of the object file of the model, with its constants
    cycles: int | None = None  # mean of a prediction, where they are counted
    most: int | None = None


def emulated(
    chip: Chip,
    model: IntegerChain,
    points: np.ndarray,
    optimize: str = "-O2",
    *,
    count: bool = False,
    wrong: bool = False,
) -> Done:
    """Let an emulated chip classify points (n, features); `count` its cycles by tables.

    With `wrong`, the points are compared with other scores than NumPy's.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_program(folder, chip, model, points, wrong=wrong)
        program, code = linked(folder, chip, optimize)
        command = [chip.emulator, "-M", chip.machine, "-nographic", "-semihosting"]
        command += ["-bios", "none"] if chip.compiler == _RISCV else []
        if count:
            place = _symbol(chip, program, "pnn_predict")
            command += ["-plugin", f"{plugin()},function={place},core={chip.name}"]
        said = _run([*command, "-kernel", program], check=False)
    found = re.search(r"points (\d+) differing (\d+)", said)
    assert found, f"the program printed no result: {said[:500]!r}"
    done = Done(int(found[1]), int(found[2]), code)
    if not count:
        return done
    counted = re.search(r"calls (\d+) least \d+ mean (\d+) most (\d+)", said)
    assert counted, said
    assert int(counted[1]) == done.points
    return Done(done.points, done.differing, code, int(counted[2]), int(counted[3]))


def write_program(
    folder: Path, chip: Chip, model: IntegerChain, points: np.ndarray, *, wrong: bool = False
) -> None:
    """Write the C of a model, and of points with NumPy's answers, or with `wrong` ones."""
    for name, text in render_c(model, plan_for(model, WORD_CORES[chip.core])).items():
        (folder / name).write_text(text)
    arrays = {
        "uint8_t points": points,
        "pnn_score_t scores": model.scores(points) ^ wrong,
        "uint8_t classes": model.predict(points),
    }
    text = f"#define POINTS {len(points)}u\n"
    for name, values in arrays.items():
        text += f"static const {name}[] = {{ {_listed(values.ravel().tolist())} }};\n"
    (folder / "points.h").write_text(text)


def linked(folder: Path, chip: Chip, optimize: str) -> tuple[Path, int]:
    """Return the program and the size of the model's object file, strictly compiled."""
    gcc = [f"{chip.compiler}-gcc", *chip.target.split(), optimize]
    compiler = [*gcc, "-ffreestanding", f"-I{folder}"]
    model, program = folder / "pnn_model.o", folder / "program.elf"
    _run([*compiler, *STRICT, "-Werror", "-c", folder / "pnn_model.c", "-o", model])
    sizes = _run([f"{chip.compiler}-size", model]).splitlines()[1].split()
    places = {"ROM": chip.rom, "RAM": chip.ram[0], "RAM_END": chip.ram[1]}
    defined = [f"-Wl,--defsym={name}={place:#x}" for name, place in places.items()]
    script = [*defined, f"-Wl,-T,{HERE / 'chip.ld'}", "-Wl,--no-warn-rwx-segments"]
    start = [HERE / "start.c", model, "-nostdlib", "-lgcc", "-o", program]
    _run([*compiler, "-std=gnu99", *script, *start])
    return program, int(sizes[0]) + int(sizes[1])


@cache
def plugin() -> Path:
    """Return the plugin that counts cycles, compiled once in a process."""
    folder = TemporaryDirectory()
    _KEPT.append(folder)
    made = Path(folder.name) / "cycles.so"
    _run(["cc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", HERE / "cycles.c", "-o", made])
    return made


_KEPT: list[TemporaryDirectory[str]] = []


def _symbol(chip: Chip, program: Path, name: str) -> str:
    lines = _run([f"{chip.compiler}-nm", program]).splitlines()
    return next(f"0x{line.split()[0]}" for line in lines if line.endswith(f" {name}"))


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _run(command: Iterable[str | Path], *, check: bool = True) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=_DEADLINE_S, check=False
    )
    assert not check or done.returncode == 0, f"{done.args[0]}: {done.stderr[:2000]}"
    return done.stdout + done.stderr
