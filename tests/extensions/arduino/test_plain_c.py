"""The function that measures in a program in C: two functions for the line, on any chip."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import programs
import pytest
from click.testing import Result
from command_line import run
from model_factory import plain_model

from protonn_edge.codegen.export import export
from protonn_edge.model.file import save_model

WARNINGS = ("-std=gnu99", "-Os", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
needs_a_pty = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="needs Unix; to run: use Linux or macOS"
)
# The line is the terminal that the program was started with.
_BOARD = """
#include "measure.h"
#include <poll.h>
#include <unistd.h>

int wave_measure_receive(void)
{
    struct pollfd line = {0, POLLIN, 0};
    uint8_t byte;

    return poll(&line, 1, 10) == 1 && read(0, &byte, 1) == 1 ? byte : -1;
}

void wave_measure_send(uint8_t byte)
{
    if (write(0, &byte, 1) != 1) {
        _exit(1);
    }
}

int main(void)
{
    for (;;) {
        wave_measure();
    }
}
"""
_TICKS = """
#include <stdint.h>
#include <time.h>
static inline uint32_t ticks(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_sec * 1000000u + (uint32_t)now.tv_nsec / 1000u;
}
static inline uint32_t first_tick(void)
{
    static uint32_t at;

    return at != 0 ? at : (at = ticks());
}
"""
_CHIPS = {
    "avr-gcc": "-mmcu=atmega328p -DF_CPU=16000000UL",
    "arm-none-eabi-gcc": "-mcpu=cortex-m4 -mthumb -DMEASURE_CLOCK_HZ=84000000u",
    "riscv64-unknown-elf-gcc": "-march=rv32imc -mabi=ilp32 -ffreestanding "
    "-DMEASURE_CLOCK_HZ=160000000u -DMEASURE_TICKS=ticks -DMEASURE_TICKS_HZ=1000000u "
    "-Dticks()=0",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "wave"
    export(plain_model(), "c", folder, name="wave", tries=False)
    return folder


def at_a_port(library: Path, folder: Path, counter: str, clock_hz: int) -> Result:
    """Run `hil` with a program at the end of a line, whose counter is this expression."""
    (folder / "board.c").write_text(_BOARD)
    (folder / "ticks.h").write_text(
        f"{_TICKS}static inline uint32_t counted(void) {{ return {counter}; }}\n"
    )
    settings = (
        f"MEASURE_CLOCK_HZ={clock_hz}u",
        "MEASURE_TICKS=counted",
        "MEASURE_TICKS_HZ=1000000u",
    )
    subprocess.run(
        [
            *("cc", *WARNINGS, "-include", folder / "ticks.h", f"-I{library / 'measure'}"),
            *(f"-D{each}" for each in settings),
            *sorted((library / "measure").glob("*.c")),
            *(library / "wave_model.c", folder / "board.c", "-o", folder / "board"),
        ],
        check=True,
    )
    model = plain_model()
    save_model(model, folder / "model.npz")
    X = np.random.default_rng(3).uniform(-1, 1, (12, model.n_features))
    names = ",".join(["label", *(f"x{n}" for n in range(model.n_features))])
    rows = [",".join([model.classes[n % 3], *map(str, x)]) for n, x in enumerate(X)]
    (folder / "test.csv").write_text("\n".join([names, *rows, ""]))
    words = ("hil", folder / "test.csv", "--model", folder / "model.npz", "--json")
    with programs.on_a_line(folder / "board") as port:
        return run(*words, "--port", port)


@needs_a_pty
@pytest.mark.parametrize("counter", ["ticks()", "ticks() - first_tick() - 100000u"])
def test_a_program_of_two_functions_is_measured_at_a_port(
    counter: str, library: Path, tmp_path: Path
) -> None:
    """The second counter is 0 again, 0.1 s after the start."""
    ended = at_a_port(library, tmp_path, counter, 2_000_000_000)
    done = json.loads(ended.stdout)
    assert (done["n"], done["mismatches"], done["lost"]) == (12, 0, 0)
    assert done["measured_by"]["counter"] == "timer"
    assert 0 < done["latency_ms"]["max"] < 100


@needs_a_pty
@pytest.mark.parametrize(
    ("counter", "said"), [("7", "stands still, so its times"), ("0u - ticks()", "counter jumps;")]
)
def test_a_counter_that_does_not_count_is_refused(
    counter: str, said: str, library: Path, tmp_path: Path
) -> None:
    ended = at_a_port(library, tmp_path, counter, 200_000_000)
    assert ended.exit_code == 1
    assert said in ended.output


@pytest.mark.parametrize("compiler", _CHIPS)
def test_it_compiles_without_a_warning(compiler: str, library: Path, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}; to run: make chips")
    words = [compiler, *_CHIPS[compiler].split(), *WARNINGS, "-c"]
    for each in (library / "measure").glob("*.c"):
        subprocess.run([*words, each, "-o", tmp_path / "x.o"], check=True)


@pytest.mark.parametrize(
    ("settings", "missing"),
    [("", "define MEASURE_CLOCK_HZ"), ("-DMEASURE_CLOCK_HZ=48000000u", "define MEASURE_TICKS")],
)
def test_what_it_cannot_know_is_asked_for(
    settings: str, missing: str, library: Path, tmp_path: Path
) -> None:
    words = ["cc", *WARNINGS, *settings.split(), "-c", library / "measure" / "measure.c"]
    done = subprocess.run(
        [*words, "-o", tmp_path / "x.o"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert missing in done.stderr
