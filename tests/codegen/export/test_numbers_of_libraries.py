"""Libraries that are called, and with numbers, as nobody expects."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from any_order import (
    BEGIN,
    FINISH,
    Call,
    build_on_host,
    check_calls,
    name_of,
    predict,
    push,
    wrong_calls,
)
from avr_tools import EMULATED_AVR, skip_without
from chains import numbers_of, replace
from command_line import run_json, succeed
from convolution_factory import random_convolution
from decimal_data import DATA_SETS, in_sketch, trained
from generated_programs import assert_equal_to_reference
from hypothesis import given
from hypothesis import strategies as st
from linear_factory import random_chain as random_linear_chain
from linear_factory import random_linear_model
from model_factory import (
    forms_in_place_of,
    random_inputs,
    random_model,
    random_pooling_model,
    random_window_model,
    scaled,
    window_features_of,
)

from protonn_edge.chips.toolchain.process import build_host_executable
from protonn_edge.codegen.context import sendings
from protonn_edge.codegen.export.exporting import export
from protonn_edge.codegen.export.own_sketch import _feature
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import every_plan, make_plan
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.data.reading import load_points
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.raw_inputs import (
    MANY_DECIMALS,
    choose_exponents,
    raw_quantizer,
)
from protonn_edge.model.watch import DeviceForm
from protonn_edge.system.errors import CheckFailed

# Sketches that call the library in another order than its header says.


@pytest.mark.parametrize(
    "form", forms_in_place_of(random_model()), ids=lambda form: str(form.choice)
)
def test_forms_in_place_of_integers_answer_as_the_last_prediction(
    form: DeviceForm, tmp_path: Path
) -> None:
    """As `tests/laws/conformance` checks it of stages."""
    model = form.of(quantize(random_model()), random_model())
    points = np.random.default_rng(0).integers(0, 256, (2, model.n_features), np.uint8)
    calls = [BEGIN, *20 * [FINISH], push(1, 2), push(3), FINISH, *wrong_calls(points)]
    check_calls(build_on_host(model, None, tmp_path), model, calls)


def test_inputs_beyond_their_maximum_overflow_no_sum(tmp_path: Path) -> None:
    """Sums of 32 bits overflowed, which is undefined."""
    few = random_linear_chain(0, rows=3, features=6, bits=32, maximum=1)
    weights = np.full_like(numbers_of(few)["weights"], 127)
    model = replace(few, weights=weights, bias=numbers_of(few)["bias"] * 0 + 2**31 - 1 - 6 * 127)
    for place, plan in enumerate(every_plan(model)):
        folder = tmp_path / str(place)
        folder.mkdir()
        check_calls(build_on_host(model, plan, folder), model, [predict(b"\xff" * 6), FINISH])


def test_a_part_of_a_wide_row_may_be_256_pixels(tmp_path: Path) -> None:
    """It was taken for none, again and again."""
    model = quantize(random_pooling_model(average_pooling((1, 400), (1, 400), (1, 20))))
    calls = [BEGIN, push(*range(256)), push(*range(144)), FINISH]
    check_calls(build_on_host(model, None, tmp_path), model, calls)


def test_names_are_cut_between_letters(tmp_path: Path) -> None:
    """The ends of letters of two to four bytes were left out."""
    names = ("日本語" * 30, "äöü", "a😀b", "plain")
    model = replace(quantize(random_model(classes=len(names))), classes=names)
    calls: list[Call] = [name_of(label, size) for label in range(4) for size in range(256)]
    check_calls(build_on_host(model, None, tmp_path), model, calls)


# A model of data with decimals answers in the exported library as on the host.


@pytest.fixture(scope="session", params=DATA_SETS)
def decimals(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """Return the file of a model of data with decimals, trained once, and of its test points."""
    return trained(request.param, tmp_path_factory.mktemp(request.param))


# Classifies lines of integers as the exported README says; prints the class's index.
FEEDING = """
#include <stdio.h>
#include "pnn_model.h"
int main(void)
{
    for (;;) {
        pnn_begin();
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            int raw;
            if (scanf("%d", &raw) != 1) {
                return 0;
            }
            pnn_push(pnn_quantize(i, (int16_t)raw));
        }
        printf("%d\\n", pnn_finish());
    }
}
"""


def test_exported_c_answers_as_the_model(decimals: tuple[Path, Path], tmp_path: Path) -> None:
    model = load_model(decimals[0])
    X, y = load_points(decimals[1], Expected(n_features=model.n_features, classes=model.classes))
    succeed("export", decimals[0], "--c", tmp_path / "library", "--library", "prefix=pnn")
    (tmp_path / "feeding.c").write_text(FEEDING)
    sources = [tmp_path / "feeding.c", tmp_path / "library" / "pnn_model.c"]
    program = build_host_executable(sources, tmp_path / "library", tmp_path / "feeding")
    raw = in_sketch(X, factors_of(tmp_path / "library" / "pnn_model.h"))
    text = "\n".join(" ".join(map(str, row)) for row in raw.tolist())
    done = subprocess.run(
        [program], input=text, capture_output=True, text=True, check=True, timeout=60
    )
    answers = np.array(done.stdout.split(), int)
    reference = quantize(model)
    usual = reference.predict(reference.quantize(X))
    assert np.sum(answers == y) >= np.sum(usual == y) - 1


def factors_of(header: Path) -> list[float]:
    """Read the factors that a header lists, one line a feature."""
    text = header.read_text()
    table = text[text.index("multiply by") : text.index("pnn_input_t pnn_quantize(")]
    return [float(factor) for factor in re.findall(r"(?m)^ \* +\d+ +\D+? +([\d.e-]+) ", table)]


@pytest.fixture(scope="module")
def cancer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the file of a model of breast_cancer, and of its test points."""
    return trained("breast_cancer", tmp_path_factory.mktemp("cancer"))


def test_a_model_without_units_gets_them_from_its_ranges(cancer: tuple[Path, Path]) -> None:
    model = load_model(cancer[0])
    old = replace(model, raw_exponents=None)
    assert quantize(old).model_sha256 == quantize(model).model_sha256
    X, y = load_points(cancer[1], Expected(n_features=model.n_features, classes=model.classes))
    reference = quantize(old)
    usual = reference.predict(reference.quantize(X))
    own = reference.predict(reference.raw_inputs.quantize(reference.raw_inputs.integers(X)))
    assert np.sum(own == y) >= np.sum(usual == y) - 1


def test_inspect_names_the_unit_of_each_channel_of_windows_once(tmp_path: Path) -> None:
    model = random_window_model(window_features_of("mean,min", 8, 3))
    save_model(replace(model, raw_exponents=np.array([1, 1, 0])), tmp_path / "m.npz")
    shown = succeed("inspect", tmp_path / "m.npz").stdout
    assert "channel 0, channel 1 " in shown
    assert "channel 2 " in shown
    assert "feature 0" not in shown


def test_inspect_header_readme_and_sketches_name_the_unit(tmp_path: Path) -> None:
    model, _ = trained("iris", tmp_path)
    assert run_json("inspect", model)["raw_scale"] == [10.0] * 4
    assert " as tenths" in succeed("inspect", model).stdout
    library = tmp_path / "library"
    succeed("export", model, "--arduino", library)
    for name in ("src/pnn_model.h", "README.md", "examples/Classify/Classify.ino"):
        text = (library / name).read_text()
        assert "tenths" in text, name
        assert "pnn_quantize_float" in text, name
    assert "tenths" in (library / "examples" / "Stream" / "Stream.ino").read_text()


# The values that an export lists for gaps are what its functions take, in the same unit.


def test_a_value_for_gaps_is_listed_as_the_integer_to_pass(tmp_path: Path) -> None:
    generator, table = np.random.default_rng(0), tmp_path / "data.csv"
    rows = [
        f"{'' if row % 9 == 0 else f'{43 + generator.normal():.1f}'},{generator.normal():.2f},"
        f"{row % 2}"
        for row in range(120)
    ]
    table.write_text("\n".join(["degrees,speed,label", *rows]) + "\n")
    path = tmp_path / "model.npz"
    succeed("train", table, "--missing", "median", "--holdout", 0, "--epochs", 2, "-o", path)
    succeed("export", path, "--c", tmp_path / "library")
    readme = (tmp_path / "library" / "README.md").read_text()
    listed = re.findall(r"(?m)^\| \d \w+ \| (-?\d+) \| ([-.\d]+) \|$", readme)
    model = load_model(path)
    fills = Preparation.of_record(model.record, model.n_features).values
    assert [float(value) for _, value in listed] == [float(f"{fill:.7g}") for fill in fills]
    integers = quantize(model)
    passed = np.array([[int(integer) for integer, _ in listed]])
    assert listed[0][0] == f"{10 * fills[0]:.0f}"
    assert np.array_equal(
        integers.raw_inputs.quantize(passed), integers.quantize(np.array([fills]))
    )


# A report called the columns of a table pixels, since a converted network has layers of images.


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((1, 1, 46), "listed under this number in the library's README"),
        ((4, 3, 2), "channel i % 2 of pixel i / 2 of an image, row by row"),
        ((4, 3, 1), "pixel i of an image, row by row"),
        ((9, 1, 2), "channel i % 2 of sample i / 2 of a window"),
    ],
)
def test_a_feature_has_the_name_of_its_data(shape: tuple[int, int, int], words: str) -> None:
    assert _feature(layered((random_convolution(0, shape, side=1),))) == words


# Libraries for chips with more than 64 kB of flash hold no more tables than the code can read.


def test_a_self_test_has_room_beside_large_tables(tmp_path: Path) -> None:
    skip_without(*EMULATED_AVR)
    model = random_linear_model(features=500, classes=100)
    exported = export(model, "arduino", tmp_path / "large", "mega2560")
    assert exported.plan.table_bytes >= 50_000
    assert exported.tried.n == exported.vectors
    assert 1 <= exported.vectors < 20


def test_tables_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    model = random_linear_model(features=700, classes=100)
    with pytest.raises(
        CheckFailed, match=r"need 70,\d{3} B of flash, but .* can read only \d{2},\d{3} B"
    ):
        export(model, "platformio", tmp_path / "far", "mega2560", tries=False)
    assert not (tmp_path / "far").exists()
    export(model, "c", tmp_path / "c", tries=False)


def many_prototypes() -> Model:
    """Return a model in which each prototype is near enough to count for every point."""
    sizes = {"features": 30, "prototypes": 640, "classes": 100, "projections": 20}
    return random_model(1, **sizes, gamma_numerator=1.0)


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (many_prototypes, None),
        (lambda: random_linear_model(features=4_200, classes=16), "columns"),
    ],
)
def test_plain_c_reads_larger_tables(make: Callable[[], Model], kernel: str | None) -> None:
    model = quantize(make())
    plan = make_plan(model, kernel=kernel)
    assert plan.table_bytes > 1 << 16
    with host_program(model, plan, sanitize=True) as program:
        assert_equal_to_reference(program, model, random_inputs(9, 10, model))


# Raw values become the same bytes in NumPy and in generated C, whatever their range and unit.

ENDS = st.floats(-1e6, 1e6).map(lambda x: round(x, 4))


@given(ENDS, ENDS, st.integers(0, 6), st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=30))
def test_the_byte_is_at_most_one_from_that_of_the_float(
    zero: float, other: float, decimals: int, places: list[float]
) -> None:
    """Where the exponent that rounding needs fits 16 bits, and only near a half step."""
    lower, upper = np.array([min(zero, other)]), np.array([max(zero, other)])
    exponents = choose_exponents(lower, upper, np.array([MANY_DECIMALS]))
    features = InputQuantizer(np.array([zero]), np.array([(other - zero) / 255 or 1.0]), 255)
    X = np.round(zero + (other - zero) * np.array(places)[:, None], decimals)
    quantizer = raw_quantizer(features, exponents, fine=True)
    bytes_of_raw = quantizer.quantize(quantizer.integers(X)).astype(int)
    raw_step = 10.0 ** -exponents[0] / abs(features.step[0])  # in steps of a byte
    steps = (X - features.zero) / features.step
    reached = np.floor(
        np.clip(steps, -1, 256)[..., None] + 0.5 + np.array([-1, 1]) * reach(raw_step)
    )
    assert (bytes_of_raw >= np.clip(reached[..., 0], 0, 255)).all()
    assert (bytes_of_raw <= np.clip(reached[..., 1], 0, 255)).all()
    if raw_step <= 1:
        assert np.abs(bytes_of_raw - features.quantize(X)).max() <= 1


def reach(raw_step: float) -> float:
    """How far rounding to raw integers, and the quantizer's own, may move a byte, in steps."""
    return raw_step / 2 + 0.01


def test_channels_of_windows_have_units_of_their_own() -> None:
    window_features = scaled(
        window_features_of("mean,deviation", 20, 3), (-0.5, 0.0, 100.0), (0.004, 1.5, 0.7)
    )
    model = quantize(random_window_model(window_features))
    sent = [(each.features, each.unit) for each in sendings(model)]
    assert sent == [
        ("channel 0", "ten-thousandths"),
        ("channel 1", "tenths"),
        ("channel 2", "hundredths"),
    ]
    X = np.random.default_rng(0).uniform(-1, 120, (30, 60))
    raw = model.raw_inputs.integers(X)
    with host_program(model) as program:
        scores = program.run(raw, "raw")[1]
    assert np.array_equal(scores, model.answers(model.raw_inputs.quantize(raw))[1])
