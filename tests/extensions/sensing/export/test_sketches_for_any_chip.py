"""Sketches that run on any board: they compile for an AVR and for ARM, and answer as NumPy does."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkout import CHECKOUT
from extensions.sensing.export.test_live_sketch import expected_lines, moving
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.boards import load_export_board
from protonn_edge.codegen.export import export
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.windowing import Windowing, windowing_of
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.value.rule import Value
from protonn_edge.system.errors import InputError

STUB = CHECKOUT / "tests" / "arduino_stub"
COMPILERS = ("g++", "avr-g++", "arm-none-eabi-g++")
WARNINGS = ("-std=gnu++11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")
PICO = load_export_board("pico")
NAMES = ("int", "A0", 'ax"*/\\', "élan", "élan", "gz")  # of channels, as data may have them


def motion(channels: int = 6, samples: int = 24) -> Model:
    model = random_window_model(window_features_of("mean,deviation,crossings", samples, channels))
    names = [f"{NAMES[c]}[{s}]" for s in range(samples) for c in range(channels)]
    return replace(model, feature_names=tuple(names))


def polled(model: Model, sensors: list[str], **more: object) -> Windowing:
    kinds = [sensor_kind(name) for name in sensors]
    sampling = Sampling.of(kinds, 100.0, PICO, polled=True)
    return windowing_of(quantize(model), (), sampling, **more)  # type: ignore[arg-type]


def compiled(compiler: str, library: Path, example: str, *more: str | Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not on PATH; to run: make chips")
    sketch = library / "examples" / example / f"{example}.ino"
    command = [compiler, *WARNINGS, f"-I{STUB}", f"-I{library / 'src'}", "-include", "Arduino.h"]
    target = ["-mmcu=atmega328p"] if compiler == "avr-g++" else []
    subprocess.run([*command, *target, *more, "-x", "c++", sketch], check=True, timeout=60)


def program_of(
    library: Path, example: str, raw: np.ndarray, folder: Path, *more: str | Path
) -> Path:
    """Return a sketch as a program for this computer, which reads samples."""
    rows = ", ".join(f"{{ {', '.join(map(str, row))} }}" for row in raw.tolist())
    shape = f"[{raw.shape[0]}][{raw.shape[1]}]"
    (folder / "played.h").write_text(f"static const int played{shape} = {{ {rows} }};\n")
    sketch = library / "examples" / example
    main, program = folder / "main.cpp", folder / "program"
    text = (sketch / f"{example}.ino").read_text()
    main.write_text(f"#include <Arduino.h>\n{text}int main() {{ setup(); for (;;) loop(); }}\n")
    sources = [library / "src" / "pnn_model.c", *sketch.glob("*.c")]
    subprocess.run(["cc", "-c", *sources], cwd=folder, check=True)
    included = [f"-I{place}" for place in (STUB, library / "src", folder, sketch)]
    command = ["g++", *WARNINGS, *included, "-DPLAYED", *more, main, *folder.glob("*.o")]
    subprocess.run([*command, "-o", program], check=True, timeout=60)
    return program


def printed(library: Path, example: str, raw: np.ndarray, folder: Path) -> list[str]:
    """Return the lines that a sketch prints on this computer while it reads samples."""
    program = program_of(library, example, raw, folder)
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library with the sketches Windows and Live."""
    folder, model = tmp_path_factory.mktemp("library") / "motion", motion()
    export(model, "arduino", folder, PICO, windowing=polled(model, ["mpu6050"]), tries=False)
    return folder


@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_sketch_compiles_without_a_warning(library: Path, compiler: str) -> None:
    for folder in sorted((library / "examples").iterdir()):
        compiled(compiler, library, folder.name, "-fsyntax-only")


@pytest.mark.parametrize("board", ["uno", "pico"])
def test_windows_of_any_sensor_get_the_integer_models_answers(board: str, tmp_path: Path) -> None:
    model = motion(3)
    windows = replace(polled(model, ["adxl345"]), hop=12, votes=3)
    windows = replace(windows, model=quantize(model))
    export(model, "arduino", tmp_path / "motion", board, tries=False)
    raw = moving(model, 170)
    lines = printed(tmp_path / "motion", "Windows", raw, tmp_path)
    assert len(lines) > 13
    assert lines == expected_lines(windows, raw, len(lines))


@pytest.mark.parametrize(
    ("sensors", "more"),
    [(["mpu6050"], {"hop": 9, "votes": 3, "refractory_s": 0.3}), (["a0", "a1"], {"hop": 30})],
)
def test_a_sensor_of_a_pico_gets_the_integer_models_answers(
    sensors: list[str], more: dict[str, object], tmp_path: Path
) -> None:
    model = motion(6 if len(sensors) == 1 else 2)
    windows = polled(model, sensors, **more)
    export(model, "arduino", tmp_path / "motion", PICO, windowing=windows, tries=False)
    kind = sensor_kind(sensors[0])
    raw = np.clip(moving(model, 300), kind.low, kind.high)
    lines = printed(tmp_path / "motion", "Live", raw, tmp_path)
    assert len(lines) > 8
    assert lines == expected_lines(windows, raw, len(lines))


def test_channels_have_constants_whatever_they_are_called(library: Path) -> None:
    header = (library / "src" / "pnn_model.h").read_text()
    for number, name in enumerate(("INT", "A0", "AX", "ELAN_3", "ELAN_4", "GZ")):
        assert f" PNN_CHANNEL_{name} = {number}," in header
    assert "PNN_CHANNEL_ELAN_3\tLITERAL1\n" in (library / "keywords.txt").read_text()


def test_a_number_is_printed_without_votes(tmp_path: Path) -> None:
    model = with_rules(
        random_window_model(window_features_of("mean", 8, 1), classes=1), Value(2.0, 20.0, 1, 0.5)
    )
    export(model, "arduino", tmp_path / "level", PICO, tries=False)
    compiled("g++", tmp_path / "level", "Windows", "-fsyntax-only")


@pytest.mark.parametrize("sensor", ["microphone", "adxl345-spi"])
def test_what_only_interrupts_can_read_is_refused(sensor: str) -> None:
    with pytest.raises(InputError, match="by an AVR's interrupts; for pico, omit --sensor"):
        Sampling.of([sensor_kind(sensor)], 100.0, PICO, polled=True)
