"""Boards with other chips: models are exported for them, and other commands name that."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import extension_parts
import pytest
from avr_tools import needs_avr_gcc
from codegen.words.chips import LX106
from codegen.words.exported import chip_of
from command_line import refusal, run, run_json, succeed
from kinds.kind import kind_of
from laws.conformance.instances import instances_of
from model_factory import random_model, random_window_model, window_features_of

from protonn_edge.chips.boards import board_names, export_board_names, load_export_board
from protonn_edge.codegen.planner import Limits, device_plans
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import parts_of

NAMES = sorted({*export_board_names()} - {*board_names()})


def test_they_are_these():
    esp = ["esp32", "esp32-c3", "esp32-s3", "esp8266"]
    nordic = ["feather-nrf52", "microbit", "microbit-v2", "nano33ble"]
    others = ["bluepill", "nano-every", "nucleo-f401re", "pico", "pico-arduino", "teensy41"]
    alone = ["attiny85", "uno-r4-minima", "uno-r4-wifi"]
    assert sorted([*esp, *nordic, *others, *alone]) == NAMES
    assert {load_export_board(name).cpu.family for name in NAMES} == {
        "avr",
        "cortex-m",
        "riscv",
        "xtensa",
    }


@pytest.mark.parametrize("kind", ["arduino", "platformio", "c"])
def test_models_are_exported_for_them_after_a_self_test_here(tmp_path, model_file, kind):
    folder = tmp_path / "library"
    done = succeed("export", model_file, f"--{kind}", folder, "--board", "pico", "--json")
    assert json.loads(done.stdout)["tried"]["execution"] == "host C"


def test_a_sensor_of_single_samples_is_refused(tmp_path, model_file):
    folder = tmp_path / "library"
    words = ("export", model_file, "--arduino", folder, "--board", "pico", "--rate", 100)
    line = refusal(run(*words, "--sensor", "a0"), 2)
    assert "the sketch Live for pico classifies windows of samples" in line


def test_a_board_of_one_s_own_is_described_in_a_file(tmp_path, model_file):
    board = tmp_path / "mine.toml"
    board.write_text(
        'title = "Mine"\nmcu = "stm32f411"\ncore = "cortex-m4"\nclock_hz = 100_000_000\n'
        "flash_bytes = 524_288\nsram_bytes = 131_072\nbaud = 115_200\npower_watts = 0.1\n"
    )
    assert "mine  " in succeed("inspect", board).stdout
    succeed("export", model_file, "--c", tmp_path / "library", "--board", board)
    assert "there is no firmware for mine" in refusal(run("build", model_file, "--board", board))


def test_the_self_test_that_is_named_exists(tmp_path, model_file):
    folder = tmp_path / "library"
    done = succeed("export", model_file, "--platformio", folder, "--board", "pico")
    assert "and run examples/SelfTest;" in done.stdout
    assert (folder / "examples" / "SelfTest" / "SelfTest.ino").is_file()
    assert not (folder / "examples" / "BareSelfTest").exists()


def test_boards_of_other_chips_are_listed_with_their_lines():
    shown = succeed("inspect", "--boards").stdout
    (line,) = (line for line in shown.splitlines() if "nano-every" in line)
    assert line.split()[-2:] == ["Serial,", "115,200"]


@pytest.mark.parametrize("name", sorted({*NAMES} - {"attiny85", "nano-every", "pico"}))
def test_a_board_is_said_to_be_tested_on_the_core_that_tests_emulate(name: str) -> None:
    board, chip = load_export_board(name), chip_of(name)
    similar = chip.name == LX106.name and board.core != LX106.name
    assert board.proof == ("similar" if similar else "emulated")
    assert chip.core == board.core


@needs_avr_gcc
@pytest.mark.parametrize("model", [random_model(), kind_of("forest").random_model()])
def test_an_avr_without_firmware_has_the_assembly_of_others(tmp_path, model):
    save_model(model, tmp_path / "model.npz")
    folder = tmp_path / "every"
    words = ("export", tmp_path / "model.npz", "--platformio", folder, "--board", "nano-every")
    done = run_json(*words)
    assert done["tried"]["execution"] == "host C"
    assert not (folder / "examples" / "BareSelfTest").exists()
    readme = (folder / "README.md").read_text()
    assert "BareSelfTest" not in readme
    assert "bound" not in readme
    # The compiler knows the core, but not the chip, which it says.
    strict = ["-Wall", "-Wextra", "-Werror", "-Wno-cpp"]
    command = ["avr-gcc", "-mmcu=avrxmega3", "-std=gnu11", *strict]
    for source in ("every_model.c", "every_self_test.c"):
        subprocess.run(
            [*command, "-c", folder / "src" / source, "-o", tmp_path / f"{source}.o"],
            check=True,
            timeout=60,
        )
    assert "__AVR_HAVE_MUL__" in (folder / "src" / "every_model.c").read_text()


def test_its_sketch_reads_pins_as_its_arduino_core_can(tmp_path):
    save_model(random_window_model(window_features_of("mean", 20, 1)), tmp_path / "model.npz")
    sketch = Path("examples", "Live", "Live.ino")
    for board, chosen in (("nano-every", False), ("uno-r4-minima", True)):
        words = ("--arduino", tmp_path / board, "--board", board, "--sensor", "a0", "--rate", 50)
        succeed("export", tmp_path / "model.npz", *words, "--no-try")
        text = (tmp_path / board / sketch).read_text()
        assert "analogRead(A0)" in text
        assert ("analogReadResolution" in text) == chosen


@extension_parts.needs("teaching")
def test_an_avr_without_firmware_has_no_parts():
    taught = next(each for each in instances_of("prototypes") if parts_of(each.model))
    limits = Limits.of(load_export_board("nano-every"))
    with pytest.raises(InputError, match="an ATmega4809 cannot have the part 'teaching'"):
        device_plans(taught.model, limits)


def test_an_unknown_core_is_told_with_all_that_fit(tmp_path):
    board = tmp_path / "mine.toml"
    board.write_text('title = "Mine"\ncore = "cortex-m9"\nproof = "firmware"\n')
    assert "core = 'cortex-m9', expected one of avr25" in refusal(run("inspect", board))
