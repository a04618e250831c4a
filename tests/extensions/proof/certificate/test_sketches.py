"""Certificates of sketches: an exported library with the Arduino core, built as the IDE builds."""

from __future__ import annotations

import dataclasses
import socket
from pathlib import Path

import numpy as np
import pytest
from arduino_ide import (
    compile_libraries,
    export_for_uno,
    link_sketch,
    needs_arduino_core,
)
from checkout import CHECKOUT
from command_line import refusal, run, run_json
from model_factory import plain_model, random_model, random_pooling_model
from random_shapes import random_points

from protonn_edge import ForestClassifier, LinearClassifier
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

pytestmark = needs_arduino_core

# Classifies what comes over the serial line, with interrupts off, and marks that span.
SKETCH = """
#include <MODEL.h>

static pnn_input_t features[PNN_FEATURES];

void setup() {
  Serial.begin(115200);
}

void loop() {
  if (Serial.readBytes((char *)features, PNN_FEATURES) < PNN_FEATURES) {
    return;
  }
  Serial.flush();
  noInterrupts();
  GPIOR0 = 1;
  uint8_t class_index = pnn_predict(features);
  GPIOR0 = 0;
  interrupts();
  Serial.write(class_index);
}
"""
AROUND = 1 + 3 + 4  # cycles: the OUT that begins a span, the features' address, the call

MODELS = {
    "prototypes": plain_model,
    "many features": lambda: random_model(features=64, projections=10, prototypes=40, classes=10),
    "deskew": lambda: random_pooling_model(
        average_pooling((28, 28), (24, 24), (12, 12), deskew=True), projections=8
    ),
}
POINTS = {"prototypes": 1_000}
_FEW_POINTS = 40


def sketch_of(model: Model, core: Path, folder: Path) -> Path:
    """Return the ELF file of a sketch that classifies with a model."""
    library = folder / "classifier"
    export_for_uno(model, "arduino", library)
    (name,) = (each.stem for each in (library / "src").glob("*.h") if "_" not in each.stem)
    example = library / "examples" / "Points"
    example.mkdir()
    (example / "Points.ino").write_text(SKETCH.replace("MODEL", name))
    out = folder / "out"
    out.mkdir()
    return link_sketch(library, "Points", core, compile_libraries(out, library))


def measured(elf: Path, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes and the cycles of points (n, features) uint8."""
    labels, cycles, before = [], [], 0
    with EmulatedUno(elf) as uno, socket.create_connection(("127.0.0.1", uno.port), 60) as line:
        for point in Q:
            line.sendall(point.tobytes())
            labels.append(line.recv(1)[0])
            stats = uno.stats()
            cycles.append(stats.marked_cycles - before)
            before = stats.marked_cycles
        assert uno.stats().faults == ()
    return np.array(labels), np.array(cycles)


@pytest.mark.parametrize("name", MODELS)
def test_a_sketch_keeps_the_bounds_of_its_certificate(
    tmp_path: Path, arduino_core: Path, name: str
) -> None:
    model = MODELS[name]()
    elf = sketch_of(model, arduino_core, tmp_path)
    claims = {
        each["name"]: each
        for each in run_json("verify", elf, "-o", tmp_path / "certificate.json")["claims"]
    }
    chain = quantize(model)
    Q = random_points(np.random.default_rng(0), POINTS.get(name, _FEW_POINTS), chain)
    labels, cycles = measured(elf, Q)
    assert (labels == chain.answers(Q)[0]).all()
    assert claims["cycles-most"]["status"] == "proven"
    least, most = (claims[f"cycles-{each}"]["value"] for each in ("least", "most"))
    assert least <= cycles.min()
    assert cycles.max() <= most + AROUND


def readme_sketch() -> str:
    """Return the sketch in the README."""
    text = (CHECKOUT / "README.md").read_text("utf-8")
    return text.split("```cpp\n", 1)[1].split("```", 1)[0]


def linked(sketch: str, kind: type[DeviceClassifier], core: Path, folder: Path) -> list[Path]:
    """Return the files of a model of ten classes, and of a sketch with its library."""
    X, y = np.random.default_rng(0).normal(size=(200, 4)), np.arange(200) % 10
    X[:, 0] += y
    model, library = kind(random_state=0).fit(X, y).to_model(), folder / "digits"
    save_model(model, folder / "model.npz")
    export_for_uno(model, "arduino", library)
    (library / "examples" / "Own").mkdir()
    (library / "examples" / "Own" / "Own.ino").write_text(sketch)
    (folder / "out").mkdir()
    elf = link_sketch(library, "Own", core, compile_libraries(folder / "out", library))
    return [folder / "model.npz", elf]


@pytest.mark.parametrize("kind", [LinearClassifier, ForestClassifier])
def test_the_sketch_of_the_readme_can_be_proven(
    tmp_path: Path, arduino_core: Path, kind: type[DeviceClassifier]
) -> None:
    files = linked(readme_sketch(), kind, arduino_core, tmp_path)
    claims = {each["name"]: each for each in run_json("verify", *files)["claims"]}
    assert claims["every-input"]["status"] == "proven"
    cycles = claims["every-input-cycles"]["statement"]
    assert "pnn_predict takes at least " in cycles
    assert " and at most " in cycles


PUSHES = """
  pnn_begin();
  for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
    pnn_push(pnn_quantize(i, analogRead(A0)));
  }
  digitalWrite(LED_BUILTIN, pnn_finish() == PNN_CLASS_7 ? HIGH : LOW);
}
"""


@pytest.mark.parametrize("kind", [LinearClassifier, ForestClassifier])
def test_a_sketch_that_pushes_is_told_how_to_be_proven(
    tmp_path: Path, arduino_core: Path, kind: type[DeviceClassifier]
) -> None:
    begin = "void loop() {"
    sketch = readme_sketch().partition(begin)[0] + begin + PUSHES
    files = linked(sketch, kind, arduino_core, tmp_path)
    done = run("verify", *files)
    assert done.exit_code in (1, 2)
    assert "put all features into an array, and pass it to pnn_predict" in done.stderr
    other = refusal(run("verify", *files, "--entry", "other_predict"))
    assert "name its function with --entry pnn_predict" in other


def test_a_sketch_is_proven_to_compute_the_model_that_it_links(
    tmp_path: Path, arduino_core: Path
) -> None:
    model = MODELS["prototypes"]()
    elf = sketch_of(model, arduino_core, tmp_path)
    save_model(model, tmp_path / "model.npz")
    claims = run_json("verify", tmp_path / "model.npz", elf)["claims"]
    (claim,) = (each for each in claims if each["name"] == "every-input")
    assert claim["status"] == "proven"
    assert "computes the scores and the class of the integer model" in claim["statement"]
    assert "'features'" in claim["by"]

    another = dataclasses.replace(model, head=dataclasses.replace(model.head, gamma=0.25))
    save_model(another, tmp_path / "another.npz")
    failed = run("verify", tmp_path / "another.npz", elf)
    assert failed.exit_code == 1
    assert "it is not proven that pnn_predict" in failed.stderr
