"""Raw integers become the same bytes in NumPy, host C and on the emulated Uno."""

from __future__ import annotations

import dataclasses
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from generated_programs import compile_with, write_c
from model_factory import random_model, random_reduced_model

from protonn_edge.emulator import EmulatedUno
from protonn_edge.quantization import DeviceModel, InputQuantizer, float32_model, quantize
from protonn_edge.reduction import Reduction
from protonn_edge.resources import resource
from protonn_edge.toolchain.host import build_host_executable

MAIN = Path(__file__).with_name("raw_main.c")
RANGES = [(-32768, 32767), (0, 255), (-128, 127), (0, 1023), (0, 1), (-5, 5), (40_000, 50_000)]


def model_of_raw_ranges(precision: str = "int8") -> DeviceModel:
    """Return a model whose features have different integer ranges, each resting at either end."""
    each = [ends for low, high in RANGES for ends in ((low, high), (high, low))]
    zero, other = (np.array(column, np.float64) for column in zip(*each, strict=True))
    return with_inputs(zero, other, precision)


def model_of_many_scales() -> DeviceModel:
    """Return a model with more different ranges than a byte can number."""
    return with_inputs(np.zeros(300), np.arange(300.0) + 100, "int8")


def with_inputs(zero: np.ndarray, other: np.ndarray, precision: str) -> DeviceModel:
    """Return a random model whose inputs grow from one end of raw ranges (n,) to the other."""
    model = random_model(features=len(zero))
    integer_model = quantize(model)
    maximum = integer_model.inputs.maximum
    inputs = InputQuantizer(zero, (other - zero) / maximum, maximum)
    integer_model = dataclasses.replace(integer_model, inputs=inputs)
    return float32_model(model, integer_model) if precision == "float32" else integer_model


def questions(model: DeviceModel) -> tuple[np.ndarray, np.ndarray]:
    """Return features (n,) uint16 and raw values (n,) int16: ends of ranges, neighbours, any."""
    rng = np.random.default_rng(0)
    edges = [end + d for low, high in RANGES for end in (low, high) for d in (-1, 0, 1)]
    values = np.array([v for v in edges if -32768 <= v <= 32767] + [-32768, 32767], np.int16)
    several = np.concatenate([values, rng.integers(-32768, 32768, 20).astype(np.int16)])
    several = np.concatenate([several, rng.integers(-200, 1200, 20).astype(np.int16)])
    features = rng.choice(model.n_features, min(14, model.n_features), replace=False)
    pairs = np.array([(f, x) for f in features for x in several])
    return pairs[:, 0].astype(np.uint16), pairs[:, 1].astype(np.int16)


def expected_bytes(model: DeviceModel, features: np.ndarray, values: np.ndarray) -> bytes:
    rows = np.repeat(values[:, None], model.n_features, axis=1)
    return model.raw_inputs.quantize(rows)[np.arange(len(rows)), features].tobytes()


def wire(features: np.ndarray, values: np.ndarray) -> bytes:
    pairs = np.stack([features.astype("<u2"), values.astype("<i2").view("<u2")], axis=1)
    return pairs.astype("<u2").tobytes()


MODELS = {
    "ranges": model_of_raw_ranges,
    "floats": lambda: model_of_raw_ranges("float32"),
    "many": model_of_many_scales,
    "pixels": lambda: quantize(random_reduced_model(Reduction((8, 8), (8, 8), (4, 4)))),
}


@pytest.mark.parametrize("name", MODELS)
def test_host_c_gives_the_bytes_of_numpy_under_sanitizers(tmp_path: Path, name: str):
    model = MODELS[name]()
    write_c(model, tmp_path)
    sources = [MAIN, tmp_path / "pnn_model.c"]
    program = build_host_executable(sources, tmp_path, tmp_path / "raw", sanitize=True)
    features, values = questions(model)
    done = subprocess.run(
        [program], input=wire(features, values), capture_output=True, check=True, timeout=60
    )
    assert done.stdout == expected_bytes(model, features, values)


@needs_emulated_avr
@pytest.mark.parametrize("name", MODELS)
def test_the_uno_gives_the_bytes_of_numpy(tmp_path: Path, name: str):
    model = MODELS[name]()
    write_c(model, tmp_path)
    firmware = resource("firmware")
    sources = [MAIN, tmp_path / "pnn_model.c", firmware / "uart.c", firmware / "cycle_counter.c"]
    command = ["avr-gcc", "-mmcu=atmega328p", "-DF_CPU=16000000L", "-std=gnu99", "-O2", "-Wall"]
    command += ["-Wextra", "-Werror", f"-I{tmp_path}", f"-I{firmware}", "-o", tmp_path / "raw.elf"]
    subprocess.run([*command, *sources, "-lm"], check=True, timeout=60)
    features, values = questions(model)
    with EmulatedUno(tmp_path / "raw.elf") as uno:
        line = socket.create_connection(("127.0.0.1", uno.port), timeout=20.0)
        with line:
            line.sendall(wire(features, values))
            received = b""
            while len(received) < len(features):
                received += line.recv(4096)
        assert uno.stats().faults == ()
    assert received == expected_bytes(model, features, values)


@needs_avr_gcc
def test_the_linker_leaves_it_out_where_nobody_calls_it(tmp_path: Path):
    program = '#include "pnn_model.h"\nint main(void) { pnn_begin(); return pnn_finish(); }\n'
    flags = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
    elf = compile_with(model_of_raw_ranges(), program, tmp_path, *flags)
    names = subprocess.run(["avr-nm", elf], capture_output=True, text=True, check=True).stdout
    assert "pnn_finish" in names
    assert "raw_" not in names
    assert "pnn_quantize" not in names
