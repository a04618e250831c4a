"""An exported PlatformIO library builds with PlatformIO, and its self-test passes on the Uno."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from arduino_ide import assert_within_budget, export_for_uno, run_on_uno
from avr_tools import needs_avr_gcc
from model_factory import random_model

from protonn_edge.chips.toolchain.platformio import build_firmware

pytestmark = needs_avr_gcc


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")


def test_the_bare_self_test_passes_on_the_uno(tmp_path: Path):
    model = random_model(features=64, projections=10, prototypes=40, classes=10)
    export_for_uno(model, "platformio", tmp_path / "digits")
    ran = run_on_uno(build_firmware(tmp_path / "digits" / "examples" / "BareSelfTest"))
    assert ran.printed == "PASS: 20 test vectors\r\n"
    assert_within_budget(ran)
    # What PlatformIO left there is no reason to refuse the next export.
    export_for_uno(random_model(), "platformio", tmp_path / "digits")


def test_a_project_finds_it_in_its_lib_folder(tmp_path: Path):
    library, project = tmp_path / "lib" / "digits", tmp_path
    export_for_uno(random_model(), "platformio", library)
    bare = library / "examples" / "BareSelfTest"
    (project / "src").mkdir()
    shutil.copy(bare / "src" / "main.c", project / "src")
    settings = (bare / "platformio.ini").read_text()
    (project / "platformio.ini").write_text(settings[: settings.index("lib_deps")])
    assert run_on_uno(build_firmware(project)).printed == "PASS: 20 test vectors\r\n"


def test_its_sketches_are_those_of_the_arduino_library(tmp_path: Path):
    for kind in ("arduino", "platformio"):
        export_for_uno(random_model(), kind, tmp_path / kind, name="digits", prefix="pnn")
    same = ["src", *(f"examples/{name}" for name in ("Blink", "Classify", "Stream", "SelfTest"))]
    for folder in same:
        for path in (tmp_path / "arduino" / folder).iterdir():
            other = tmp_path / "platformio" / folder / path.name
            assert other.read_bytes() == path.read_bytes()


def test_library_json_says_what_platformio_asks_for(tmp_path: Path):
    export_for_uno(random_model(), "platformio", tmp_path / "digits")
    manifest = json.loads((tmp_path / "digits" / "library.json").read_text())
    assert manifest["name"] == "digits"
    assert (tmp_path / "digits" / "src" / manifest["headers"]).is_file()
    assert {"version", "description", "license", "frameworks", "platforms"} <= set(manifest)
