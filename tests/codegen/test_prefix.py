"""Public C names begin with a prefix, so that one program can hold several models."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc, needs_emulated_avr
from chains import replace
from generated_programs import answers_in_bytes, assert_prints, write_c
from model_factory import (
    forms_in_place_of,
    random_images,
    random_inputs,
    random_model,
    random_pooling_model,
    rejecting_some,
    tiny_deskew_model,
    tiny_gradients_model,
    tiny_integer_model,
    tiny_pooling_model,
    tiny_windows_model,
)
from plans import plan_with
from refusals import refused_by

from protonn_edge.chips.boards import load_export_board
from protonn_edge.chips.cores import CORES, UNO_CORE, Core
from protonn_edge.codegen.planner import Limits, device_plans
from protonn_edge.codegen.renderer import check_prefix, prefix_of, render_c
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

MODELS = {
    "integers": tiny_integer_model(),
    "pooling": tiny_pooling_model(),
    "deskew": tiny_deskew_model(),
    "windows": tiny_windows_model(),
    **{
        form.choice: form.of(quantize(random_model()), random_model())
        for form in forms_in_place_of(random_model())
    },
}
TWO_MODELS = Path(__file__).with_name("two_models.c")
OURS = re.compile(r"pnn(?=_)", re.IGNORECASE)


@pytest.mark.parametrize("board", ["uno", "pico"])
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_prefix_changes_nothing_but_the_beginning_of_names(
    model: IntegerChain, board: str
) -> None:
    plan = device_plans(model, Limits.of(load_export_board(board)))[0]
    usual, other = render_c(model, plan), render_c(model, plan, "wake_word")
    assert list(other) == ["wake_word_model.h", "wake_word_model.c", "wake_word_inputs.h"]
    for before, after in zip(usual.values(), other.values(), strict=True):
        assert not OURS.search(after)
        assert after.replace("wake_word_", "pnn_").replace("WAKE_WORD_", "PNN_") == before


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_header_defines_no_macro_without_the_prefix(model: IntegerChain) -> None:
    header = render_c(model, prefix="wave")["wave_model.h"]
    macros = re.findall(r"#\s*define\s+(\w+)", header)
    assert macros
    assert all(macro.startswith("WAVE_") for macro in macros)


def test_names_that_come_from_data_stay_as_they_are() -> None:
    names = ("pnn_push", "PNN_CLASSES", "wave_push")
    model = replace(tiny_integer_model(), classes=names)
    code = render_c(model, prefix="wave")["wave_model.c"]
    for name in names:
        assert f'PNN_FLASH = "{name}";'.replace("PNN_FLASH", "WAVE_FLASH") in code
        assert f"/* {name} */" in code


@pytest.mark.parametrize(
    ("prefix", "reason"),
    [
        ("", "C names cannot begin"),
        ("Wave", "C names cannot begin"),
        ("2waves", "C names cannot begin"),
        ("_wave", "C names cannot begin"),
        ("wave_", "C names cannot begin"),
        ("wave__form", "C names cannot begin"),
        ("wave-form", "C names cannot begin"),
        ("wave\n", "C names cannot begin"),
        ("wellenlänge", "C names cannot begin"),
        ("x" * 16, "has at most 15 lower-case letters"),
        ("int", "reserved in C or C++"),
        ("class", "reserved in C or C++"),
        ("constexpr", "try 'constexpr_pnn'"),
        ("pgm", "reserved in C or C++"),
    ],
)
def test_a_bad_prefix_is_one_sentence(prefix: str, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)) as error:
        render_c(tiny_integer_model(), prefix=prefix)
    assert "\n" not in str(error.value)
    assert not str(error.value).endswith(".")


@pytest.mark.parametrize("prefix", ["pnn", "x", "wave2", "wake_word_2", "x" * 15])
def test_good_prefixes(prefix: str) -> None:
    check_prefix(prefix)


def test_public_names_are_told_apart_by_any_c99_linker() -> None:
    header = render_c(tiny_integer_model(), prefix="x" * 15)[f"{'x' * 15}_model.h"]
    functions = re.findall(r"(x{15}_\w+)\(", header)
    assert max(map(len, functions)) <= 31


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_library_may_have_the_name_of_a_stage(model: IntegerChain) -> None:
    for stage in (*model.stages, *tiny_gradients_model().stages):
        prefix = prefix_of(stage.kind)
        check_prefix(prefix)
        files = [f"{prefix}_{name}" for name in ("model.h", "model.c", "inputs.h")]
        assert list(render_c(model, prefix=prefix)) == files


def test_a_prefix_that_collides_with_a_stages_names_is_refused() -> None:
    """The stage has a static function of its own that is called so."""
    with refused_by("codegen.renderer"):
        render_c(tiny_gradients_model(), prefix="gradients")


def two_models() -> tuple[tuple[IntegerChain, np.ndarray], tuple[IntegerChain, np.ndarray]]:
    """Return an unrolled model of images, one of columns that rejects, and 16 inputs of each."""
    pooling = average_pooling((9, 11), (7, 8), (7, 3))
    image = quantize(random_pooling_model(pooling, projections=9))
    sensor = quantize(random_model(3, features=30, projections=6, classes=7))
    samples = random_inputs(4, 16, sensor)
    sensor = rejecting_some(sensor, samples, 7)
    assert NO_CLASS in sensor.answers(samples)[0]
    return (image, random_images(5, 16, pooling)), (sensor, samples)


def write_two_models(folder: Path, kernels: tuple[str, str], core: Core = UNO_CORE) -> bytes:
    """Write both models and their inputs for two_models.c; return what that sends."""
    answers = []
    lines = ["#define POINTS 16"]
    for name, kernel, (model, Q) in zip(("image", "sensor"), kernels, two_models(), strict=True):
        write_c(model, folder, plan_with(model, kernel, core=core), name)
        numbers = ", ".join(map(str, Q.ravel().tolist()))
        lines.append(f"static const uint8_t {name}_inputs[] FLASH = {{{numbers}}};")
        answers.append(answers_in_bytes(model, Q))
    (folder / "inputs.h").write_text("\n".join(lines) + "\n")
    return b"".join(image + sample for image, sample in zip(*answers, strict=True))


@needs_emulated_avr
@pytest.mark.parametrize("kernels", [("unrolled", "columns"), ("columns", "unrolled")])
def test_two_models_in_one_program_answer_in_turn_as_their_references(
    tmp_path: Path, kernels: tuple[str, str]
) -> None:
    assert_prints(TWO_MODELS, tmp_path, write_two_models(tmp_path, kernels))


@needs_avr_gcc
def test_two_unrolled_models_are_linked_as_one_unit_for_a_large_chip(tmp_path: Path) -> None:
    """Where calls go far, their code has labels of its own, which link-time optimization merges."""
    write_two_models(tmp_path, ("unrolled", "unrolled"), CORES["avr6"])
    flags = ["-Os", "-flto", f"-I{TWO_MODELS.parent}", "image_model.c", "sensor_model.c"]
    compile_text(TWO_MODELS.read_text(), tmp_path / "both.elf", *flags, mcu="atmega2560")
