"""Programs for emulated chips of 32 bits: compiled, run in QEMU, their cycles counted.

`emulated` compiles a model for a chip and lets it classify points; other programs are made of
`compiled` sources by `linked`. A chip is missing if its compiler or emulator is; `HOW` says how to
install them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from protonn_edge.chips.cores import WORD_CORES
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.words import WordPlan, plan_for
from protonn_edge.model.integer_chain import IntegerChain

HERE = Path(__file__).parent
HOW = "needs compilers and emulators; to run: make chips"
STRICT = [
    *("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion"),
    "-Wdouble-promotion",
]
_DEADLINE_S = 300
_NO_UNWINDING = ["-fno-unwind-tables", "-fno-asynchronous-unwind-tables"]
_GC = ["-ffunction-sections", "-fdata-sections"]  # as Arduino's tools do
_FOR_LIBRARIES, _ANSWER_BYTES = 24 << 10, 128  # at most, of a chip's flash
_SECTION = re.compile(r"^\.(?:text|data) +(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Chip:
    """A core, and a machine of QEMU with it: (start, end) of its memories."""

    name: str
    core: str
    prefix: str  # of the programs of its compiler
    target: str  # its options
    emulator: str
    rom: tuple[int, int]
    ram: tuple[int, int]
    clang: str = ""  # the options of Zig's clang, which is another compiler for it

    @property
    def missing(self) -> bool:
        """Whether this machine lacks a program for it."""
        return None in (shutil.which(f"{self.prefix}-gcc"), shutil.which(self.emulator.split()[0]))

    def compiler(self, name: str = "gcc") -> list[str]:
        """Return the command of its compiler: "gcc" or "clang"."""
        if name == "clang":
            return [sys.executable, "-m", "ziglang", "cc", *self.clang.split(), *_NO_UNWINDING]
        return [f"{self.prefix}-gcc", *self.target.split()]


_ARM, _RISCV, _XTENSA = "arm-none-eabi", "riscv64-unknown-elf", "xtensa-lx106-elf"
_ON_ARM = "qemu-system-arm -semihosting -M"
_RAM = 0x2000_0000
CHIPS = {
    chip.name: chip
    for chip in (
        Chip(
            "m0",
            "cortex-m0",
            _ARM,
            "-mcpu=cortex-m0plus -mthumb",
            f"{_ON_ARM} microbit",
            (0, 0x4_0000),
            (_RAM, _RAM + 0x4000),
            "-target thumb-freestanding-eabi -mcpu=cortex_m0plus",
        ),
        Chip(
            "m4",
            "cortex-m4",
            _ARM,
            "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
            f"{_ON_ARM} mps2-an386",
            (0, 0x40_0000),
            (_RAM, _RAM + 0x40_0000),
            "-target thumb-freestanding-eabihf -mcpu=cortex_m4",
        ),
        Chip(
            "rv32",
            "rv32imc",
            _RISCV,
            "-march=rv32imac -mabi=ilp32",
            "qemu-system-riscv32 -semihosting -bios none -M virt",
            (0x8000_0000, 0x8040_0000),
            (0x8040_0000, 0x8080_0000),
            "-target riscv32-freestanding-none -mcpu=generic_rv32+m+a+c",
        ),
    )
}
LX106 = Chip(
    "lx106",
    "lx6",
    _XTENSA,
    "-mlongcalls",
    "qemu-system-xtensa -semihosting -M sim -cpu lx106",
    (0x5000_0000, 0x5400_0000),
    (0x6000_0000, 0x6400_0000),
)
"""The nearest to an ESP32 that can be emulated: another Xtensa core, that of an ESP8266."""


def lacks_clang() -> bool:
    """Whether Zig's clang is not installed."""
    return find_spec("ziglang") is None


@dataclass(frozen=True)
class Ran:
    """What a program printed, and the cycles of the function that was counted."""

    printed: str
    calls: int = 0
    total: int = 0
    most: int = 0


@dataclass(frozen=True)
class Program:
    """A linked program for a chip."""

    chip: Chip
    elf: Path

    @property
    def n_bytes(self) -> int:
        """The bytes of what it tests: code, constants, and the initial values of variables."""
        return sum(map(int, _SECTION.findall(_run([f"{self.chip.prefix}-size", "-A", self.elf]))))

    def run(self, count: str = "") -> Ran:
        """Let the emulator run it; `count` the cycles of a function."""
        command: list[str | Path] = [*self.chip.emulator.split(), "-nographic"]
        if count:
            symbols = _run([f"{self.chip.prefix}-nm", self.elf]).splitlines()
            place = next(line.split()[0] for line in symbols if line.endswith(f" {count}"))
            command += ["-plugin", f"{plugin()},function=0x{place},core={self.chip.name}"]
        said = _run([*command, "-kernel", self.elf], check=False)
        counted = re.search(r"calls (\d+) least \d+ most (\d+) total (\d+)\n", said)
        if counted is None:
            return Ran(said)
        calls, most, total = map(int, counted.groups())
        return Ran(said.replace(counted[0], ""), calls, total, most)


def compiled(
    chip: Chip, source: Path, optimize: str, *flags: str | Path, compiler: str = "gcc"
) -> Path:
    """Compile a source into an object file beside it."""
    command = [*chip.compiler(compiler), optimize, "-ffreestanding", *_GC, *flags]
    made = source.with_suffix(".o")
    _run([*command, "-c", source, "-o", made])
    return made


def linked(
    chip: Chip, folder: Path, main: Path, objects: Iterable[Path], *, library: bool = False
) -> Program:
    """Link object files with the program `main` into a folder; with C's library, if asked for."""
    flags = ["-std=gnu99", f"-I{folder}", f"-I{HERE}"]
    own = folder / "main.c"
    own.write_text(main.read_text())
    objects = [_start(chip, library=library), compiled(chip, own, "-O2", *flags), *objects]
    places = {"ROM": chip.rom[0], "RAM": chip.ram[0], "RAM_END": chip.ram[1]}
    defined = [f"-Wl,--defsym={name}={place:#x}" for name, place in places.items()]
    script = [*defined, f"-Wl,-T,{HERE / 'chip.ld'}", "-Wl,--gc-sections"]
    script += [] if chip.prefix == _XTENSA else ["-Wl,--no-warn-rwx-segments"]
    libraries = [*(["-lm", "-lc"] if library else []), "-lgcc"]
    elf = folder / "program.elf"
    command = [*chip.compiler(), "-nostdlib", *script, "-Wl,-e,start", *objects]
    _run([*command, "-Wl,--start-group", *libraries, "-Wl,--end-group", "-o", elf])
    return Program(chip, elf)


@dataclass(frozen=True)
class Done:
    """The number of points that differ from NumPy, and figures of the program."""

    points: int
    differing: int
    code_bytes: int  # of the model in the program, with its constants
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
    plan: WordPlan | None = None,
) -> Done:
    """Let an emulated chip classify points (n, features); `count` its cycles by tables.

    The plan is the fastest one if there is none.

    With `wrong`, the points are compared with other scores than NumPy's.
    """
    chosen = plan or plan_for(model, WORD_CORES[chip.core])
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in render_c(model, chosen).items():
            (folder / file).write_text(text)
        object_ = compiled(chip, folder / "pnn_model.c", optimize, *STRICT, "-Werror")
        runs, differing = [], 0
        for part in parts_of_points(chip, points, [object_]):
            write_points(folder, model, part, wrong=wrong)
            program = linked(chip, folder, HERE / "main.c", [object_])
            runs.append(program.run("pnn_predict" if count else ""))
            found = re.search(r"points (\d+) differing (\d+)", runs[-1].printed)
            assert found, f"the program printed no result: {runs[-1].printed[:500]!r}"
            assert int(found[1]) == len(part)
            differing += int(found[2])
        done = Done(len(points), differing, program.n_bytes)
    if not count:
        return done
    assert sum(run.calls for run in runs) == len(points)
    cycles = round(sum(run.total for run in runs) / len(points))
    return Done(*(done.points, differing, done.code_bytes), cycles, max(run.most for run in runs))


def parts_of_points(
    chip: Chip, points: np.ndarray, objects: Iterable[Path]
) -> Iterator[np.ndarray]:
    """Yield as many points (n, features) at a time as fit a chip's flash beside object files."""
    sizes = _run([f"{chip.prefix}-size", *objects]).splitlines()[1:]
    taken = sum(int(number) for line in sizes for number in line.split()[:2])
    each = (chip.rom[1] - chip.rom[0] - taken - _FOR_LIBRARIES) // (
        points.itemsize * points.shape[1] + _ANSWER_BYTES
    )
    for first in range(0, len(points) if each > 0 else 0, each):
        yield points[first : first + each]


def write_points(
    folder: Path, model: IntegerChain, points: np.ndarray, *, wrong: bool = False
) -> None:
    """Write points with NumPy's answers, or with `wrong` ones, as the program's header."""
    arrays = {
        "uint8_t points": points,
        "pnn_score_t scores": model.scores(points) ^ wrong,
        "uint8_t classes": model.predict(points),
    }
    text = f"#define POINTS {len(points)}u\n"
    for name, values in arrays.items():
        text += f"static const {name}[] = {{ {_listed(values.ravel().tolist())} }};\n"
    (folder / "points.h").write_text(text)


@cache
def plugin() -> Path:
    """Return the plugin that counts cycles, compiled once in a process."""
    made = _kept_folder() / "cycles.so"
    _run(["cc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", HERE / "cycles.c", "-o", made])
    return made


@cache
def _start(chip: Chip, *, library: bool) -> Path:
    copy = _kept_folder() / "start.c"
    copy.write_text((HERE / "start.c").read_text())
    flags = ["-std=gnu99", f"-I{HERE}", *(["-DHAS_LIBRARY"] if library else [])]
    return compiled(chip, copy, "-O2", *flags)


def _kept_folder() -> Path:
    _KEPT.append(TemporaryDirectory())
    return Path(_KEPT[-1].name)


_KEPT: list[TemporaryDirectory[str]] = []  # until the process ends


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _run(command: Iterable[str | Path], *, check: bool = True) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=_DEADLINE_S, check=False
    )
    assert not check or done.returncode == 0, f"{done.args[0]}: {done.stderr[:2000]}"
    return done.stdout + done.stderr
