"""The function that measures in a program in C: two functions for the line, on any chip."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import programs
import pytest
from command_line import run_json
from model_factory import plain_model

from protonn_edge.codegen.export import export
from protonn_edge.model.file import save_model

WARNINGS = ("-std=gnu99", "-Os", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
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


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs Unix; to run: use Linux or macOS")
def test_a_program_of_two_functions_is_measured_at_a_port(library: Path, tmp_path: Path) -> None:
    (tmp_path / "board.c").write_text(_BOARD)
    (tmp_path / "ticks.h").write_text(_TICKS)
    settings = ("MEASURE_CLOCK_HZ=2000000000u", "MEASURE_TICKS=ticks", "MEASURE_TICKS_HZ=1000000u")
    subprocess.run(
        [
            *("cc", *WARNINGS, "-include", tmp_path / "ticks.h", f"-I{library / 'measure'}"),
            *(f"-D{each}" for each in settings),
            *sorted((library / "measure").glob("*.c")),
            *(library / "wave_model.c", tmp_path / "board.c", "-o", tmp_path / "board"),
        ],
        check=True,
    )
    model = plain_model()
    save_model(model, tmp_path / "model.npz")
    X = np.random.default_rng(3).uniform(-1, 1, (12, model.n_features))
    names = ",".join(["label", *(f"x{n}" for n in range(model.n_features))])
    rows = [",".join([model.classes[n % 3], *map(str, x)]) for n, x in enumerate(X)]
    (tmp_path / "test.csv").write_text("\n".join([names, *rows, ""]))
    with programs.on_a_line(tmp_path / "board") as port:
        done = run_json("hil", tmp_path / "test.csv", "--model", tmp_path / "model.npz",
                        "--port", port)  # fmt: skip
    assert (done["n"], done["mismatches"], done["lost"]) == (12, 0, 0)
    assert done["measured_by"]["counter"] == "timer"
    assert done["latency_ms"]["mean"] > 0


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
