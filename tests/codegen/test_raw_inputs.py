"""Raw integers become the same bytes in NumPy, host C and on the emulated Uno."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from any_order import Call, build_on_host, check_calls, check_on_uno, raw
from avr_tools import needs_avr_gcc, needs_emulated_avr
from byte_programs import answered_by, host_program
from chains import replace
from generated_programs import compile_with, write_c
from model_factory import forms_in_place_of, random_model, random_pooling_model
from refusals import refused_by

from protonn_edge.chips.avr.program import read_program
from protonn_edge.codegen.families.avr.checks import check_no_floats
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.model.raw_inputs import MANY_DECIMALS, choose_exponents, float_quantizer
from protonn_edge.model.watch import DeviceForm
from protonn_edge.system.errors import CheckFailed

RANGES = [(-32768, 32767), (0, 255), (-128, 127), (0, 1023), (0, 1), (-5, 5), (40_000, 50_000)]


def model_of_raw_ranges(form: DeviceForm | None = None) -> IntegerChain:
    """Return a model whose features have different integer ranges, each resting at either end."""
    each = [ends for low, high in RANGES for ends in ((low, high), (high, low))]
    zero, other = (np.array(column, np.float64) for column in zip(*each, strict=True))
    return with_inputs(zero, other, form)


def model_of_many_scales() -> IntegerChain:
    """Return a model with more different ranges than a byte can number."""
    return with_inputs(np.zeros(300), np.arange(300.0) + 100)


def with_inputs(
    zero: np.ndarray, other: np.ndarray, form: DeviceForm | None = None
) -> IntegerChain:
    """Return a random model whose inputs grow from one end of raw ranges (n,) to the other."""
    model = random_model(features=len(zero))
    integer_model = quantize(model)
    maximum = integer_model.inputs.maximum
    inputs = InputQuantizer(zero, (other - zero) / maximum, maximum)
    integer_model = replace(integer_model, inputs=inputs)
    return integer_model if form is None else form.of(integer_model, model)


def model_of_decimals(form: DeviceForm | None = None) -> IntegerChain:
    """Return a model of ranges of all sizes, whose raw values are sent in other units."""
    rng = np.random.default_rng(5)
    extent = 10.0 ** rng.uniform(-4, 5, 40)
    zero = extent * rng.uniform(-2, 2, 40)
    other = zero + extent * rng.choice([-1, 1], 40)
    many = np.full(40, MANY_DECIMALS)
    exponents = choose_exponents(np.minimum(zero, other), np.maximum(zero, other), many)
    model = with_inputs(zero, other, form)
    return replace(model, raw_exponents=exponents)


def questions(model: IntegerChain) -> tuple[np.ndarray, np.ndarray]:
    """Return features (n,) uint16 and raw values (n,) int16: ends of ranges, neighbours, any."""
    rng = np.random.default_rng(0)
    edges = [end + d for low, high in RANGES for end in (low, high) for d in (-1, 0, 1)]
    values = np.array([v for v in edges if -32768 <= v <= 32767] + [-32768, 32767], np.int16)
    several = np.concatenate([values, rng.integers(-32768, 32768, 20).astype(np.int16)])
    several = np.concatenate([several, rng.integers(-200, 1200, 20).astype(np.int16)])
    features = rng.choice(model.n_features, min(14, model.n_features), replace=False)
    pairs = np.array([(f, x) for f in features for x in several])
    return pairs[:, 0].astype(np.uint16), pairs[:, 1].astype(np.int16)


MODELS = {
    "ranges": model_of_raw_ranges,
    "many": model_of_many_scales,
    "decimals": model_of_decimals,
    "pixels": lambda: quantize(random_pooling_model(average_pooling((8, 8), (8, 8), (4, 4)))),
    **{
        f"{name}, {form.choice}": partial(made, form)
        for form in forms_in_place_of(random_model())
        for name, made in (("ranges", model_of_raw_ranges), ("decimals", model_of_decimals))
    },
}


@pytest.mark.parametrize("compiler", ["cc", pytest.param("avr-gcc", marks=needs_avr_gcc)])
def test_integers_of_any_type_are_limited_to_16_bits(tmp_path: Path, compiler: str):
    write_c(model_of_raw_ranges(), tmp_path)
    types = {"int16_t": (-32768, 32767), "uint16_t": (0, 65535), "int32_t": (-(2**31), 2**31 - 1)}
    types |= {"uint32_t": (0, 2**32 - 1), "uint8_t": (0, 255), "int64_t": (-(2**62), 2**62)}
    edges = [end + d for end in (-32768, -1, 32767) for d in (-1, 0, 1)]
    lines = [
        f'_Static_assert((int16_t)PNN_LIMIT(({kind})({value}LL)) == {limited}L, "{kind} {value}");'
        for kind, (low, high) in types.items()
        for value in (low, high, *edges)
        if low <= value <= high
        for limited in [min(max(value, -32768), 32767)]
    ]
    text = "\n".join(['#include "pnn_model.h"', *lines])
    command = [compiler, "-std=gnu11", "-fsyntax-only", "-x", "c", f"-I{tmp_path}", "-"]
    subprocess.run(command, input=text, check=True, timeout=60.0, text=True)


def test_a_limited_value_beyond_16_bits_becomes_the_nearest_byte(tmp_path: Path):
    """Clipped ranges have fine units, in which rare values are beyond 16 bits."""
    exponents = choose_exponents(np.zeros(1), np.full(1, 5.3), np.full(1, MANY_DECIMALS))
    model = replace(with_inputs(np.zeros(1), np.full(1, 5.3)), raw_exponents=exponents)
    values = np.array(
        [0, 5.2, 40, 1e4, -40, -1e4, 3e38, -3e38, np.inf, -np.inf, np.nan], np.float32
    )
    main = tmp_path / "limit_main.c"
    factor = f"{10.0 ** exponents[0]:g}"
    main.write_text(_LIMITING.replace("FACTOR", factor))
    received = answered_by(host_program(model, main, tmp_path), values.astype("<f4").tobytes())
    expected = model.quantize(np.nan_to_num(values, nan=-1.0, posinf=3e38, neginf=-3e38)[:, None])
    assert received == expected.tobytes()


_LIMITING = """#include "pnn_model.h"

#include <stdio.h>

int main(void)
{
    float x;
    while (fread(&x, sizeof x, 1, stdin) == 1) {
        putchar(pnn_quantize(0, (int16_t)PNN_LIMIT(FACTOR * x)));
    }
    return 0;
}
"""


def float_questions(model: IntegerChain) -> tuple[np.ndarray, np.ndarray]:
    """Return features (n,) uint16 and raw floats (n,): around every edge of bytes, and odd ones."""
    rng = np.random.default_rng(0)
    features = rng.integers(0, model.n_features, 1500)
    steps = rng.integers(-3, model.quantizer.maximum + 4, 1500) + rng.choice([0.5, 0.0, 0.3], 1500)
    zero, step = model.quantizer.zero[features], model.quantizer.step[features]
    raw = (zero + step * steps).astype(np.float32)
    raw = np.concatenate([raw, np.nextafter(raw, np.float32(np.inf))])
    odd = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, -3e38], np.float32)
    features = np.concatenate([features, features, np.zeros(len(odd), int)]).astype(np.uint16)
    return features, np.concatenate([raw, odd])


def test_floats_give_the_bytes_of_the_host_but_at_half_steps():
    model = model_of_decimals()
    X = np.random.default_rng(1).uniform(-0.2, 1.2, (500, model.n_features))
    X = (model.quantizer.zero + X * 255 * model.quantizer.step).astype(np.float32)
    steps = (X.astype(np.float64) - model.quantizer.zero) / model.quantizer.step
    edge = np.abs((steps + 0.5) - np.rint(steps + 0.5)) < 1e-3
    differs = float_quantizer(model.quantizer).quantize(X) != model.quantize(X)
    assert not (differs & ~edge).any()
    assert edge.mean() < 0.01


@needs_avr_gcc
@pytest.mark.parametrize(
    ("call", "floats"), [("pnn_quantize(0, 1)", False), ("pnn_quantize_float(0, 1.0f)", True)]
)
def test_floats_are_linked_only_where_they_are_called(tmp_path: Path, call: str, floats: bool):
    program = f'#include "pnn_model.h"\nint main(void) {{ return {call}; }}\n'
    flags = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
    elf = compile_with(model_of_decimals(), program, tmp_path, *flags)
    if floats:
        with refused_by("codegen.projects.checks", "codegen.families.avr.checks", kind=CheckFailed):
            check_no_floats(read_program(elf))
    else:
        check_no_floats(read_program(elf))


@needs_avr_gcc
def test_the_linker_leaves_it_out_where_nobody_calls_it(tmp_path: Path):
    program = '#include "pnn_model.h"\nint main(void) { pnn_begin(); return pnn_finish(); }\n'
    flags = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
    elf = compile_with(model_of_raw_ranges(), program, tmp_path, *flags)
    names = subprocess.run(["avr-nm", elf], capture_output=True, text=True, check=True).stdout
    assert "pnn_finish" in names
    assert "raw_" not in names
    assert "float_" not in names
    assert "pnn_quantize" not in names


def calls_of(model: IntegerChain) -> list[Call]:
    """Return the calls that ask for the bytes of raw integers, and of raw floats."""
    asked = (questions(model), float_questions(model))
    return [
        raw(int(f), value)
        for features, values in asked
        for f, value in zip(features, values, strict=True)
    ]


@pytest.mark.parametrize("name", MODELS)
def test_host_c_gives_the_bytes_of_numpy_under_sanitizers(tmp_path: Path, name: str):
    model = MODELS[name]()
    check_calls(build_on_host(model, None, tmp_path), model, calls_of(model))


@needs_emulated_avr
@pytest.mark.parametrize("name", MODELS)
def test_the_uno_gives_the_bytes_of_numpy(tmp_path: Path, name: str):
    model = MODELS[name]()
    check_on_uno(model, None, calls_of(model)[::3], tmp_path)
