"""An exported Arduino library builds as the IDE builds it, and its examples run on the Uno."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from arduino_ide import (
    assert_within_budget,
    build_sketch,
    compile_libraries,
    export_for_uno,
    link_sketch,
    needs_arduino_core,
    run_on_uno,
)
from chains import replace
from model_factory import random_model, random_points, random_window_model, window_features_of

from protonn_edge.chips.avr.program import read_program
from protonn_edge.codegen.export import Export
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.rule import Rejection

pytestmark = needs_arduino_core


@dataclass(frozen=True)
class Compiled:
    """A library of a model, whose sources all of its examples are linked with."""

    library: Path
    exported: Export
    objects: list[Path]


@pytest.fixture(scope="module")
def compiled(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Return the library of a model."""
    folder = tmp_path_factory.mktemp("library")
    exported = export_for_uno(model, "arduino", folder / "digits")
    return Compiled(folder / "digits", exported, compile_libraries(folder, folder / "digits"))


def test_the_self_test_passes_on_the_uno(compiled: Compiled, arduino_core: Path):
    elf = link_sketch(compiled.library, "SelfTest", arduino_core, compiled.objects)
    ran = run_on_uno(elf)
    assert ran.printed == "PASS: 20 test vectors\r\n"
    assert_within_budget(ran)
    assert read_program(elf).sections.flash_bytes <= compiled.exported.flash_bytes


@pytest.mark.parametrize("example", ["Blink", "Classify", "Stream"])
def test_examples_print_a_class_within_the_budget(
    model: Model, compiled: Compiled, arduino_core: Path, example: str
):
    ran = run_on_uno(link_sketch(compiled.library, example, arduino_core, compiled.objects))
    assert_within_budget(ran)
    name = ran.printed.splitlines()[0]
    if model.policy.find(Rejection) is not None and name == "unknown":
        return
    assert name.startswith(model.classes)
    assert example != "Stream" or name.split()[-1].lstrip("-").isdecimal()  # its score


def windows_model() -> Model:
    """Return a model of windows of three channels, each in a unit of its own, at 200 Hz."""
    made = window_features_of("mean,deviation,crossings,bands:2", 20, 3)
    scale = replace(
        made.points.scale, zero=np.array([-500.0, 0.0, 100.0]), step=np.array([4.0, 1.5, 0.7])
    )
    return random_window_model(replace(made, points=replace(made.points, scale=scale, rate=200.0)))


@pytest.mark.parametrize(
    ("example", "model", "reads", "place"),
    [
        ("Classify", random_model(features=12), "A0", "feature"),
        ("Stream", random_model(features=12), "A0", "pushed"),
        ("Stream", windows_model(), "A0 + channel", "3 * pushed + channel"),
    ],
    ids=["a row", "streamed", "streamed samples"],
)
def test_examples_answer_what_the_integer_model_does(
    arduino_core: Path, tmp_path: Path, example: str, model: Model, reads: str, place: str
):
    export_for_uno(model, "arduino", tmp_path / "digits")
    sketch = tmp_path / "digits" / "examples" / example / f"{example}.ino"
    raw = np.rint(random_points(1, 1, model.n_features)).clip(-600, 700).astype(np.int16)
    text = sketch.read_text()
    assert f"analogRead({reads})" in text
    assert ("PERIOD_US = 5000;" in text) == ("channel" in reads)
    text = text.replace(f"analogRead({reads})", f"raw[{place}]")
    sketch.write_text(f"static const int16_t raw[] = {{{', '.join(map(str, raw[0]))}}};\n{text}")
    reference = quantize(model)
    Q = reference.raw_inputs.quantize(raw)
    ran = run_on_uno(build_sketch(tmp_path / "digits", example, arduino_core, tmp_path / "out"))
    expected = model.classes[reference.predict(Q)[0]]
    if example == "Stream":
        expected = f"{expected} {reference.scores(Q).max()}"
    assert ran.printed.splitlines()[0] == expected


def test_test_vectors_take_nothing_where_they_are_not_used(arduino_core: Path, tmp_path: Path):
    export_for_uno(random_model(features=64), "arduino", tmp_path / "digits")
    library = tmp_path / "digits"
    sketch = build_sketch(library, "Stream", arduino_core, tmp_path / "with")
    for name in ("pnn_self_test.c", "pnn_self_test.h"):
        (library / "src" / name).write_text("")
    without = build_sketch(library, "Stream", arduino_core, tmp_path / "without")
    assert read_program(sketch).sections == read_program(without).sections


def test_test_vectors_stay_in_flash(arduino_core: Path, tmp_path: Path):
    export_for_uno(random_model(features=64), "arduino", tmp_path / "digits")
    elf = build_sketch(tmp_path / "digits", "SelfTest", arduino_core, tmp_path / "out")
    initial = sum(len(constants.contents) for constants in read_program(elf).initial_values)
    assert initial < 64  # one vector's features would not fit


def test_a_name_and_classes_that_are_no_c_still_build(arduino_core: Path, tmp_path: Path):
    model = random_model(classes=3)
    names = ('"); } */ ??/', "a\\n%s$(x)", "höher")
    hostile = replace(model, classes=names, feature_names=("*/ #error",) * 12)
    folder = tmp_path / "folder"
    exported = export_for_uno(hostile, "arduino", folder, name="Arduino 9 */ lives\n#error")
    assert exported.name == "pnn_9_lives_error"
    ran = run_on_uno(build_sketch(folder, "Classify", arduino_core, tmp_path / "out"))
    assert ran.printed.splitlines()[0] in names
