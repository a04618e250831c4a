"""The self-test of an exported library: its test vectors, and a run before it is written.

Test vectors are points and the integer model's answers. Without data, they are made from the model
(see `tryout`). Runs of zeros, as in images' background, are shortened in flash.

Its sources are compiled with the flags of the Arduino IDE and run on the emulated board, with the
program of the example BareSelfTest, which needs no framework; plain C runs on this computer.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator import EmulatedBoard
from protonn_edge.chips.toolchain.platformio import avr_gcc
from protonn_edge.chips.toolchain.process import build_host_executable, compile_sources, run_within
from protonn_edge.codegen.families import read_program
from protonn_edge.codegen.verification.tryout import Tried, WrongAnswers, ends, examples
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import write_plainly
from protonn_edge.system.folders import scratch_folder

N_VECTORS = 20
_LONGEST_RUN = 255

# The Arduino IDE's, and PlatformIO's unless a platformio.ini changes them.
_FLAGS = (
    *("-Os", "-flto", "-std=gnu11", "-ffunction-sections", "-fdata-sections"),
    # Link programs that are too large, too, so that their size can be compared with the board's.
    *("-Wl,--gc-sections", "-Wl,--defsym=__TEXT_REGION_LENGTH__=0x80000"),
    "-Wl,--defsym=__DATA_REGION_LENGTH__=0x8000",
)
_COMPILER_DEADLINE_S, _DEADLINE_S = 120.0, 60.0
_BAUD = 115_200  # of the example
_POLL_S = 0.2
_LONGEST_LINE = 4096
_STACK_BYTES = 128  # of the self-test, generously
_PRINTED = re.compile(r"(?:FAIL: (\d+) of|PASS:) (\d+) test vectors(?:; (.*))?\s*")
_MAIN = "main.c"


@dataclass(frozen=True, eq=False)
class KnownAnswers:
    """Test vectors: quantized points and the integer model's answers."""

    inputs: NDArray[np.uint8]  # (n, features): the device's inputs
    scores: NDArray[np.int64]  # (n, L): its exact answers
    classes: NDArray[np.int64]  # (n,): the classes, each the first with the largest score
    score_bytes: int  # bytes of a score in flash

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def encoded(self) -> tuple[tuple[int, ...], ...]:
        """The bytes of each point in flash: a 0 is followed by the number of zeros."""
        return tuple(_without_runs(row) for row in self.inputs.tolist())

    def within(self, flash_bytes: int) -> KnownAnswers:
        """Return as many of the first vectors as this number of bytes holds, at least one."""
        n = max(1, int(np.count_nonzero(np.cumsum(self._each_bytes) <= flash_bytes)))
        return KnownAnswers(self.inputs[:n], self.scores[:n], self.classes[:n], self.score_bytes)

    @property
    def flash_bytes(self) -> int:
        """Bytes of flash that they take."""
        return sum(self._each_bytes)

    @property
    def _each_bytes(self) -> list[int]:
        answer = 1 + self.score_bytes * self.scores.shape[1]
        return [len(row) + answer for row in self.encoded]


def vectors_from_data(model: IntegerChain, X: ArrayLike) -> KnownAnswers:
    """Return up to 20 of raw points (n, features), n >= 1, evenly spread over their rows."""
    points = np.asarray(X)
    n = min(N_VECTORS, len(points))
    return _answered(model, model.quantize(points[[i * len(points) // n for i in range(n)]]))


def vectors_from_model(model: DeviceModel) -> KnownAnswers:
    """Return vectors of a model: all features at either end of their range, then `examples`."""
    both = ends(model.chain)
    made = examples(model, N_VECTORS - len(both))
    return _answered(model.chain, np.concatenate([both, made]))


def _answered(model: IntegerChain, Q: NDArray[np.uint8]) -> KnownAnswers:
    return KnownAnswers(Q, model.scores(Q), model.predict(Q), model.own_stages[-1].output.bits // 8)


def _without_runs(row: list[int]) -> tuple[int, ...]:
    encoded: list[int] = []
    for value, run in groupby(row):
        length = len(list(run))
        if value != 0:
            encoded += [value] * length
        else:
            for begin in range(0, length, _LONGEST_RUN):
                encoded += [0, min(length - begin, _LONGEST_RUN)]
    return tuple(encoded)


def try_on_host(files: Mapping[str, str]) -> Tried:
    """Run the self-test of plain C on this computer; raises as `try_on_board` does."""
    with scratch_folder() as folder:
        sources = _written(files, folder)
        try:
            program = build_host_executable(sources, folder, folder / "self_test")
        except InputError as error:
            return Tried(left_out=str(error))
        done = run_within(_DEADLINE_S, [str(program)], name="the self-test")
    return _judged("host C", done.stdout, f"exit code {done.returncode}")


def try_on_board(files: Mapping[str, str], main: str, board: Board) -> Tried:
    """Run a library's self-test, compiled from these sources and a `main`, on the emulated board.

    Nothing is tried if the board cannot be emulated here, or the program does not fit. Raises
    `WrongAnswers` if an answer differs or the program crashes or prints nothing, and `CheckFailed`
    if the compiler refuses the sources.
    """
    if (board.serial, board.baud) != ("usart0", _BAUD):
        return Tried(left_out=f"the self-test cannot print to the serial line of {board.name}")
    name = f"emulated {board.name}"
    with scratch_folder() as folder:
        try:
            elf = link_as_sketch({**files, _MAIN: main}, board, folder)
        except InputError as error:
            return Tried(left_out=str(error))
        sizes = read_program(elf, board).sections
        sram_bytes = sizes.sram_bytes + _STACK_BYTES
        if sizes.flash_bytes > board.flash_bytes or sram_bytes > board.sram_bytes:
            return Tried(left_out=f"the self-test does not fit {board.name}")
        with ExitStack() as stack:
            try:
                emulated = stack.enter_context(EmulatedBoard(elf, board=board))
            except InputError as error:
                return Tried(left_out=str(error))
            printed = _line_of(emulated)
            faults = emulated.stats().faults
    return _judged(name, printed, faults[0] if faults else "it printed no result")


def link_as_sketch(files: Mapping[str, str], board: Board, folder: Path) -> Path:
    """Compile and link C sources in `folder` as the Arduino IDE does; return the ELF, of any size.

    Raises `InputError` if there is no compiler, and `CheckFailed` if it refuses the sources.
    """
    sources, elf = _written(files, folder), folder / "program.elf"
    target = (f"-mmcu={board.mcu}", f"-DF_CPU={board.clock_hz}L", f"-I{folder}")
    command = [avr_gcc(), *target, *_FLAGS, *map(str, sources), "-o", str(elf), "-lm"]
    compile_sources(command, sources, deadline_s=_COMPILER_DEADLINE_S, name="avr-gcc")
    return elf


def _written(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write sources and headers into one folder; return the sources."""
    texts = {Path(name).name: text for name, text in files.items() if name.endswith((".c", ".h"))}
    write_plainly(folder, texts)
    return [folder / name for name in sorted(texts) if name.endswith(".c")]


def _line_of(emulated: EmulatedBoard) -> str:
    """Return the line that a program prints, or its beginning if it crashes or takes too long."""
    received, end = b"", time.monotonic() + _DEADLINE_S
    with socket.create_connection(("127.0.0.1", emulated.port), timeout=_POLL_S) as line:
        while not received.endswith(b"\n") and time.monotonic() < end:
            try:
                received += line.recv(_LONGEST_LINE)
            except TimeoutError:
                if emulated.stats().faults:
                    break
    return received.decode(errors="replace")


def _judged(execution: str, printed: str, otherwise: str) -> Tried:
    """Return the counts in the line that a self-test printed; raise `WrongAnswers` if it failed."""
    line = _PRINTED.fullmatch(printed)
    if line is None:
        raise WrongAnswers(
            Tried(execution), f"the library's self-test ({execution}) stopped: {otherwise}"
        )
    tried = Tried(execution, int(line[2]), int(line[1] or 0))
    if tried.mismatches:
        raise WrongAnswers(
            tried,
            f"the library's self-test ({execution}) differs from the NumPy model at "
            f"{tried.mismatches} of {tried.n} test vectors ({line[3].strip()})",
        )
    return tried
