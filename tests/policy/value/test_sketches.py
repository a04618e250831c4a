"""The sketches of a library that predicts a number print it, and offer no classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arduino_ide import (
    assert_within_budget,
    build_sketch,
    export_for_uno,
    needs_arduino_core,
    run_on_uno,
)
from model_factory import random_window_model, window_features_of
from policy.value.numbers import fitted, points

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.export.own_sketch import NAME, own_sketch
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.value.rule import IntegerValue, Value

UNO = load_board("uno")
SKETCHES = {"Classify", "Measure", "Stream", "SelfTest", "Windows"}


def printed_for(chain: IntegerChain, raw: np.ndarray) -> list[str]:
    """Return the numbers that a device prints for raw integers (n, D)."""
    words = chain.policy.words(chain.scores(chain.raw_inputs.quantize(raw)), chain.classes)
    assert words is not None
    return words


def raw_point(chain: IntegerChain, seed: int = 1) -> np.ndarray:
    """Return one of `points` as a sketch passes it."""
    return chain.raw_inputs.integers(points(seed, 1)[0].astype(np.float64))


def window_model() -> Model:
    stage = window_features_of("mean,deviation,crossings", 24, 6)
    return with_rules(random_window_model(stage, classes=1), Value(40.0, 20.0, 2, 1.25))


@needs_arduino_core
@pytest.mark.parametrize("example", ["Classify", "Stream"])
def test_examples_print_the_number_of_the_integer_model(
    arduino_core: Path, tmp_path: Path, example: str
) -> None:
    model = fitted("protonn").model_
    export_for_uno(model, "arduino", tmp_path / "probe")
    sketch = tmp_path / "probe" / "examples" / example / f"{example}.ino"
    chain = quantize(model)
    raw = raw_point(chain)
    feature = "A0 + feature" if example == "Classify" else "A0"
    counter = "feature" if example == "Classify" else "pushed"
    text = sketch.read_text().replace(f"analogRead({feature})", f"raw[{counter}]")
    values = ", ".join(map(str, raw[0]))
    sketch.write_text(f"static const int16_t raw[] = {{{values}}};\n{text}")
    ran = run_on_uno(build_sketch(tmp_path / "probe", example, arduino_core, tmp_path / "out"))
    assert_within_budget(ran)
    assert ran.printed.splitlines()[:1] == printed_for(chain, raw)


@needs_arduino_core
def test_the_sketch_of_the_report_prints_the_number(arduino_core: Path, tmp_path: Path) -> None:
    model = fitted("protonn").model_
    sketch, chain = own_sketch(quantize(model), UNO), quantize(model)
    assert not sketch.constants
    export_for_uno(model, "arduino", tmp_path / NAME)
    raw = raw_point(chain)
    own = tmp_path / NAME / "examples" / "Own" / "Own.ino"
    own.parent.mkdir()
    code = sketch.code.replace("analogRead(A0 + i)", "values[i]")
    values = ", ".join(map(str, raw[0]))
    own.write_text(f"static const int16_t values[] = {{{values}}};\n{code}")
    ran = run_on_uno(build_sketch(tmp_path / NAME, "Own", arduino_core, tmp_path / "out"))
    assert ran.printed.splitlines()[:1] == printed_for(chain, raw)


@pytest.mark.parametrize("kind", ["arduino", "platformio", "c"])
def test_no_class_is_offered(tmp_path: Path, kind: str) -> None:
    model = window_model()
    export_for_uno(model, kind, tmp_path / "probe", prefix="pnn")  # type: ignore[arg-type]
    examples = tmp_path / "probe" / "examples"
    found = {path.name for path in examples.iterdir()} if examples.exists() else set()
    assert found - {"BareSelfTest"} == (set() if kind == "c" else SKETCHES)
    for path in (tmp_path / "probe").rglob("*"):
        text = path.read_text() if path.is_file() else ""
        assert "PNN_CLASS_" not in text, path
        assert "1 classes" not in text, path
    rule = quantize(model).policy.find(IntegerValue)
    assert rule is not None
    readme = (tmp_path / "probe" / "README.md").read_text()
    assert "int32_t value = pnn_value();" in readme
    assert "predicts the numbers of" in readme
    assert "classifies" not in readme
    assert f"{rule.lowest:,} to {rule.highest:,}" in readme
