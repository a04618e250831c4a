"""The sketch that a report offers compiles with the exported library, and answers as the model."""

from __future__ import annotations

import shlex
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from arduino_ide import build_sketch, needs_arduino_core, run_on_uno
from command_line import run, succeed
from evidence_factory import hostile_model
from extension_parts import needs
from model_factory import (
    random_model,
    random_points,
    random_window_model,
    tiny_gradients_model,
    window_features_of,
)

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export.own_sketch import NAME, own_sketch
from protonn_edge.model.file import save_model
from protonn_edge.model.model import units_of
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.rule import Rejection

UNO = load_board("uno")


@needs_arduino_core
def test_it_answers_what_the_model_does(
    arduino_core: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The names of the classes want to break out of comments, too."""
    monkeypatch.chdir(tmp_path)
    model = with_rules(hostile_model(), Rejection(rbf=1e-6))
    reference = quantize(model)
    sketch = own_sketch(reference, UNO)
    (tmp_path / "firmware" / "generated").mkdir(parents=True)
    save_model(model, tmp_path / "firmware" / "generated" / "model.npz")
    words = shlex.split(sketch.command)
    assert words[0] == "protonn-edge"
    assert run(*words[1:]).exit_code == 0
    raw = np.rint(random_points(0, 300, 12)[:1] * [float(f"1e{k}") for k in units_of(model)])
    label = int(reference.predict(reference.raw_inputs.quantize(raw.astype(np.int16)))[0])
    own = tmp_path / NAME / "examples" / "Own" / "Own.ino"
    own.parent.mkdir()
    values = ", ".join(map(str, raw.astype(int)[0]))
    code = sketch.code.replace("analogRead(A0)", "values[i]")
    case = f"case {sketch.constants[label][0]}: /*"
    assert case in code
    code = code.replace(case, f'case {sketch.constants[label][0]}: Serial.println("yes"); /*')
    own.write_text(f"static const int16_t values[] = {{{values}}};\n{code}")
    ran = run_on_uno(build_sketch(tmp_path / NAME, "Own", arduino_core, tmp_path / "out"))
    assert ran.printed.startswith("yes\r\n")


@pytest.mark.parametrize(("features", "pin"), [(6, "A0 + i"), (7, "A0")])
def test_few_features_are_read_from_pins_of_their_own(features: int, pin: str):
    """The example Classify of the library does the same."""
    code = own_sketch(quantize(random_model(features=features)), UNO).code
    assert f"analogRead({pin});" in code


@pytest.mark.parametrize(("classes", "cases", "more"), [(2, 2, 0), (5, 5, 0), (26, 4, 22)])
def test_many_classes_are_not_all_spelt_out(classes: int, cases: int, more: int):
    sketch = own_sketch(quantize(random_model(classes=classes)), UNO)
    assert sketch.code.count("case PNN_CLASS_") == cases
    assert (f"default: /* {more} more */" in sketch.code) == (more > 0)
    assert len(sketch.constants) == classes
    assert len(sketch.code.splitlines()) <= 20


def test_a_board_is_named_where_it_is_not_the_usual_one():
    command = own_sketch(quantize(random_model()), load_board("mega2560")).command
    assert command.endswith("--arduino my_model --board mega2560")


def test_a_feature_of_a_window_is_a_sample_of_a_channel():
    model = quantize(random_window_model(window_features_of("mean,deviation")))
    assert own_sketch(model, UNO).feature == "channel i % 2 of sample i / 2 of a window"


@needs("sensing")
@pytest.mark.parametrize("sensors", ["", "a0, a1"])
def test_a_model_of_windows_is_in_the_sketch_live(tmp_path: Path, sensors: str):
    """The functions that are shown are those of the exported sketch."""
    stage = window_features_of("mean,deviation", 24, 2)
    model = random_window_model(stage)
    sketch = own_sketch(quantize(model), UNO, sensors)
    words = shlex.split(sketch.command)[1:]
    assert words[:4] == ["export", "firmware/generated/model.npz", "--arduino", "my_model.zip"]
    named = ["a0", "--sensor", "a1"] if sensors else ["SENSOR"]
    assert words[4:] == ["--sensor", *named, "--rate", "HZ"]
    assert ("SENSOR" in sketch.live) == (not sensors)
    save_model(model, tmp_path / "model.npz")
    place, read = tmp_path / "my_model.zip", ("--sensor", "a0", "--sensor", "a1", "--rate", 50)
    succeed("export", tmp_path / "model.npz", "--arduino", place, *read)
    with ZipFile(place) as archive:
        live = archive.read("my_model/examples/Live/Live.ino").decode()
    for name in ("printName", "onWindow", "onClass"):
        shown = sketch.code.partition(f"static void {name}(")[2].partition("\n}")[0]
        assert shown
        assert shown in live


def test_a_feature_of_an_image_is_a_pixel():
    model = tiny_gradients_model()
    assert own_sketch(model, UNO).feature == "pixel i of an image, row by row"
