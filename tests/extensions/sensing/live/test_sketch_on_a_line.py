"""`monitor` shows the answers of the sketch Live, which sends them beside what it prints."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import programs
import pytest
from arduino_ide import (
    ARDUINO,
    LINK,
    WARNINGS,
    compile_source,
    needs_arduino_core,
)
from command_line import refusal, run, succeed
from extensions.sensing.export.test_live_sketch import moving
from extensions.sensing.export.test_sketches_for_any_chip import PICO, motion, polled, program_of
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.export import export
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.windowing import Windowing
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.policy.value.rule import Value

needs_a_pty = pytest.mark.skipif(
    not hasattr(os, "openpty"), reason="needs Unix; to run: use Linux or macOS"
)


def raw_samples(model: Model, sensor: str) -> np.ndarray:
    kind = sensor_kind(sensor)
    return np.clip(moving(model, 70), kind.low, kind.high)


def answers(url: str, seconds: float) -> list[dict]:
    """Return the objects that `monitor` prints, one for each window."""
    done = succeed("monitor", "--port", url, "--seconds", seconds, "--json")
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_scores(shown: list[dict], windows: Windowing, raw: np.ndarray) -> None:
    """Compare all windows with the integer model, from some sample of the recording on."""
    used, reference = raw[:, windows.used], windows.model

    def scores(offset: int) -> list[list[int]]:
        places = [np.arange(each["first_sample"], each["first_sample"] + windows.window)
                  for each in shown]  # fmt: skip
        played = np.array([used[(place + offset) % len(raw)] for place in places])
        Q = reference.raw_inputs.quantize(played.reshape(len(shown), -1))
        return reference.scores(Q).tolist()

    got = [list(each["scores"].values()) for each in shown]
    assert any(scores(offset) == got for offset in range(len(raw)))
    for each in shown:
        best = max(each["scores"], key=each["scores"].get)
        assert each["class"] == best
    assert [each["missing"] for each in shown] == [0] * len(shown)


@needs_a_pty
@pytest.mark.parametrize(
    "sensors", [["mpu6050"], pytest.param(["a0", "a1"], marks=pytest.mark.nightly)]
)
def test_a_sketch_at_a_port_is_watched(sensors: list[str], tmp_path: Path) -> None:
    model = motion(6 if len(sensors) == 1 else 2)
    windows = polled(model, sensors, hop=9, votes=3)
    export(model, "arduino", tmp_path / "motion", PICO, windowing=windows, tries=False)
    raw = raw_samples(model, sensors[0])
    program = program_of(tmp_path / "motion", "Live", raw, tmp_path, "-DON_A_LINE")
    with programs.on_a_line(program) as port:
        shown = answers(port, 4)
        text = succeed("monitor", "--port", port, "--seconds", 2).stdout
    check_scores(shown, windows, raw)
    assert len(shown) > 20
    assert {each["reported_class"] for each in shown} & {*windows.model.classes}
    name = sensors[0] if len(sensors) == 1 else "analog"
    assert f"{name}: windows of 24 samples at 100 Hz, one every 9 samples (0.09 s)" in text
    assert "0 windows missing, 0 samples lost, 0 frames damaged" in text


@needs_a_pty
def test_a_number_of_a_sketch_is_watched(tmp_path: Path) -> None:
    model = with_rules(
        random_window_model(window_features_of("mean", 24, 1), classes=1), Value(2.0, 20.0, 1, 0.5)
    )
    windows = polled(model, ["a0"])
    export(model, "arduino", tmp_path / "level", PICO, windowing=windows, tries=False)
    raw = raw_samples(model, "a0")
    program = program_of(tmp_path / "level", "Live", raw, tmp_path, "-DON_A_LINE")
    with programs.on_a_line(program) as port:
        shown = answers(port, 3)
    found = []
    for offset in range(len(raw)):
        used = np.array([np.roll(raw[:, 0], -offset - each["first_sample"])[:24] for each in shown])
        scores = windows.model.scores(windows.model.raw_inputs.quantize(used))
        values = windows.model.policy.values(scores)
        assert values is not None
        found.append(values.ravel().round(1).tolist())
    assert [each["value"] for each in shown] in found
    assert len(shown) > 8


@needs_arduino_core
def test_a_sketch_on_an_arduino_core_is_watched(arduino_core: Path, tmp_path: Path) -> None:
    """The core and Wire are Arduino's, the chip and its sensor are emulated."""
    model = motion()
    windows = polled(model, ["mpu6050"], hop=9)
    export(model, "arduino", tmp_path / "motion", PICO, windowing=windows, tries=False)
    sketch, wire = tmp_path / "motion" / "examples" / "Live", ARDUINO / "libraries/Wire/src"
    own = [*sketch.glob("*.[ci]*"), tmp_path / "motion" / "src" / "pnn_model.c"]
    includes = [sketch, tmp_path / "motion" / "src", wire, wire / "utility"]
    objects = [
        *(compile_source(each, tmp_path / f"{each.name}.o", includes, *WARNINGS) for each in own),
        *(
            compile_source(each, tmp_path / f"{each.name}.o", includes, "-w")
            for each in (wire / "Wire.cpp", wire / "utility" / "twi.c")
        ),
    ]
    elf = tmp_path / "live.elf"
    subprocess.run(["avr-gcc", *LINK, *objects, arduino_core, "-lm", "-o", elf], check=True)
    raw = raw_samples(model, "mpu6050")
    with EmulatedUno(elf, sensors=[PlayedSensor(sensor_kind("mpu6050"), raw, 100.0)]) as uno:
        shown = answers(uno.url, 4)
    check_scores(shown, windows, raw)
    assert len(shown) > 20


@needs_a_pty
def test_a_sketch_without_its_sensor_says_so(tmp_path: Path) -> None:
    model = motion()
    windows = polled(model, ["mpu6050"])
    export(model, "arduino", tmp_path / "motion", PICO, windowing=windows, tries=False)
    sketch = tmp_path / "motion" / "examples" / "Live" / "Live.ino"
    text = sketch.read_text()
    asks = "if (!readRegisters(0x75, 1)"
    assert text.count(asks) == 1
    sketch.write_text(text.replace(asks, f"{asks} || true"))
    raw = raw_samples(model, "mpu6050")
    program = program_of(tmp_path / "motion", "Live", raw, tmp_path, "-DON_A_LINE")
    with programs.on_a_line(program) as port:
        done = run("monitor", "--port", port, "--seconds", 2)
    assert "the board cannot find its mpu6050; check the wires" in refusal(done, 1)
