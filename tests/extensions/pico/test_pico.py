"""From a model to an emulated Pico: what a user types, and what is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed
from sklearn.datasets import load_digits

from protonn_edge.chips import boards
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.families import family_of
from protonn_edge.extensions.pico import upload

TEST_POINTS = 40


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with digits, a model of them, and its project."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(return_X_y=True)
    names = ",".join(f"p{i}" for i in range(X.shape[1]))
    rows = [
        f"digit {label}," + ",".join(f"{v:g}" for v in x) for x, label in zip(X, y, strict=True)
    ]
    for name, part in (("train", rows[TEST_POINTS:]), ("test", rows[:TEST_POINTS])):
        (folder / f"{name}.csv").write_text("\n".join([f"label,{names}", *part, ""]))
    model = folder / "model.npz"
    succeed("train", folder / "train.csv", "-o", model, "--epochs", 10)
    built = run_json("build", "--board", "pico", model, "-o", folder / "project")
    assert built["tried"]["mismatches"] == 0
    return folder


def test_verify_finds_equal_scores(digits):
    done = run_json("verify", "--board", "pico", digits / "model.npz", digits / "test.csv")
    assert (done["n"], done["mismatches"], done["lost"]) == (TEST_POINTS, 0, 0)
    assert [each["execution"] for each in done["executions"]] == ["host C", "emulated pico"]


def test_a_built_program_is_a_uf2_file_in_the_project(digits):
    contents = (digits / "project" / "firmware.uf2").read_bytes()
    assert (contents[:4], len(contents) % 512) == (b"UF2\n", 0)


def test_the_share_of_the_model_is_a_part_of_the_program(digits):
    elf = digits / "project" / ".build" / "pico" / "firmware.elf"
    family = family_of(load_board("pico"))
    family.compile(digits / "project", load_board("pico"))
    share, whole = family.share(elf), family.read(elf).sections
    assert 1_000 < share.flash_bytes < whole.flash_bytes - 1_000
    assert 0 < share.bss < whole.bss


def test_a_project_is_uploaded_to_the_drive(digits, tmp_path):
    project = digits / "project"
    line = refusal(run("upload", project, "--port", tmp_path))
    assert "is not the drive RPI-RP2; hold the button BOOTSEL" in line
    (tmp_path / "INFO_UF2.TXT").write_text("UF2 Bootloader v3.0\r\nBoard-ID: RPI-RP2\r\n")
    done = run_json("upload", project, "--port", tmp_path)
    assert (done["environment"], done["port"]) == ("pico", str(tmp_path))
    assert (tmp_path / "firmware.uf2").read_bytes() == (project / "firmware.uf2").read_bytes()


def test_the_drive_is_found(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(upload, "_places", lambda: iter([tmp_path / "RPI-RP2"]))
    assert "no drive RPI-RP2 found" in refusal(run("upload", digits / "project"))
    (tmp_path / "RPI-RP2").mkdir()
    (tmp_path / "RPI-RP2" / "INFO_UF2.TXT").write_text("Board-ID: RPI-RP2")
    assert run_json("upload", digits / "project")["port"] == str(tmp_path / "RPI-RP2")


def test_a_project_keeps_its_user_s_sources(digits, tmp_path):
    project = tmp_path / "project"
    build = ("build", "--board", "pico", digits / "model.npz", "-o", project, "--no-try")
    succeed(*build)
    source = project / "firmware" / "rp2040" / "uart.c"
    source.write_text(source.read_text() + "\n/* mine */\n")
    succeed(*build)
    assert "/* mine */" in source.read_text()
    source.write_text("no C\n")
    done = run(*build)
    assert "arm-none-eabi-gcc failed: firmware/rp2040/uart.c:1:1: error" in refusal(done, 1)


def test_a_folder_may_be_called_as_the_board_is(digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        succeed("build", "--board", "pico", digits / "model.npz", "-o", "pico", "--no-try")


def test_projects_of_two_families_do_not_share_a_folder(digits, tmp_path):
    (tmp_path / "platformio.ini").touch()
    done = run("build", "--board", "pico", digits / "model.npz", "-o", tmp_path)
    assert "a project for another chip than that of pico" in refusal(done)
    done = run("build", digits / "model.npz", "-o", digits / "project")
    assert "a project for another chip than that of uno" in refusal(done)
    words = ("hil", digits / "test.csv", "--project", digits / "project", "--emulate")
    done = run(*words, "--board", "uno")
    assert "built for an RP2040, whose code does not run on uno" in refusal(done)
    done = run("verify", digits / "project", "--board", "pico")
    assert "there is no certificate for pico" in refusal(done)


def test_without_a_compiler_its_package_is_named(digits, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    done = run("build", "--board", "pico", digits / "model.npz", "-o", tmp_path / "project")
    assert "arm-none-eabi-gcc: not on PATH; install the Debian packages" in refusal(done)
    assert not (tmp_path / "project").exists()


def test_boards_say_that_there_is_firmware(digits):
    boards = json.loads(succeed("inspect", "--boards", "--json").stdout)
    pico = next(each for each in boards["boards"] if each["name"] == "pico")
    assert pico["proof"] == "firmware"
    assert np.isclose(pico["clock_hz"], 125e6)


def slower(tmp_path: Path, clock: str) -> Path:
    """Return the file of a Pico with another clock and baud rate."""
    facts = (Path(boards.__file__).parent / "exported" / "pico.toml").read_text()
    assert "125_000_000" in facts
    path = tmp_path / "slow.toml"
    path.write_text(facts.replace("125_000_000", clock).replace("115_200", "57_600"))
    return path


def test_a_board_of_ones_own_is_uploaded_as_it_was_built(digits, tmp_path):
    board, project = slower(tmp_path, "100_000_000"), tmp_path / "project"
    done = succeed("build", "--board", board, digits / "model.npz", "-o", project)
    assert "--environment" not in done.output
    (tmp_path / "INFO_UF2.TXT").write_text("UF2 Bootloader v3.0\r\nBoard-ID: RPI-RP2\r\n")
    succeed("upload", project, "--port", tmp_path)
    built = (project / "firmware.uf2").read_bytes()
    assert (tmp_path / "firmware.uf2").read_bytes() == built
    assert built != (digits / "project" / "firmware.uf2").read_bytes()
    refused = run("upload", project, "--port", tmp_path, "--environment", "uno")
    assert "--environment" in refusal(refused)


def test_a_project_keeps_only_what_is_read_of_its_build(digits):
    family_of(load_board("pico")).compile(digits / "project", load_board("pico"))
    builds = digits / "project" / ".build"
    assert (builds / ".gitignore").read_text() == "*\n"
    kept = sorted(path.name for path in (builds / "pico").iterdir())
    assert kept == ["firmware.elf", "firmware.elf-pnn_model.o"]


def test_an_elf_of_another_chip_leads_to_its_board(digits):
    elf = family_of(load_board("pico")).compile(digits / "project", load_board("pico"))
    assert "or name the board of another chip with --board" in refusal(run("emulate", elf))
    done = run("emulate", elf, "--board", "pico", "--buttons")
    assert "the emulated pico does not support --buttons" in refusal(done)


def test_the_board_of_a_project_is_read_from_it(digits, tmp_path):
    results = digits / "project" / "results.csv"
    words = ("--project", digits / "project", "--repeat", 3, "-o", results)
    done = run_json("hil", digits / "test.csv", *words)
    assert (done["board"], done["mismatches"]) == ("pico", 0)
    succeed("report", results, "--project", digits / "project", "-o", tmp_path / "report.html")
    assert "Raspberry Pi Pico" in (tmp_path / "report.html").read_text()
    results.unlink()


def test_a_board_that_the_emulator_cannot_be_is_not_advised_to_be_emulated(digits, tmp_path):
    board = slower(tmp_path, "100_000_000")
    for words in ((), ("--no-try",)):
        done = succeed(
            "build", "--board", board, digits / "model.npz", "-o", tmp_path / "slow", *words
        )
        assert "--emulate" not in done.output


@pytest.mark.parametrize("key", ["core", "sram_bytes", "flash_bytes"])
def test_an_rp2040_that_does_not_exist_is_refused(digits, tmp_path, key):
    board = slower(tmp_path, "100_000_000")
    values = {"core": '"cortex-m4"', "sram_bytes": "270_337", "flash_bytes": "16_777_217"}
    lines = board.read_text().splitlines()
    changed = [f"{key} = {values[key]}" if line.startswith(key) else line for line in lines]
    board.write_text("\n".join(changed))
    refused = run("build", "--board", board, digits / "model.npz", "-o", tmp_path / "project")
    assert f"{key} of slow" in refusal(refused)


@pytest.mark.parametrize("clock", ["62_000_000", "134_000_000", "100_500_000"])
def test_a_clock_that_the_firmware_cannot_set_up_is_refused(digits, tmp_path, clock):
    board = slower(tmp_path, clock)
    refused = run("build", "--board", board, digits / "model.npz", "-o", tmp_path / "project")
    assert "clock_hz" in refusal(refused)
