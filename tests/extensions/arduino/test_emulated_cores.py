"""The firmware on emulated cores: NumPy's scores, and instructions in place of times."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from arduino_ide import LINK, WARNINGS, build_core, compile_source, needs_arduino_core
from checkout import CHECKOUT
from command_line import run, run_json, succeed
from kinds.kind import kind_of
from model_factory import plain_model, random_window_model, window_features_of

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import pio_environment
from protonn_edge.codegen.export import export
from protonn_edge.codegen.families import family_in, family_of
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.tryout import WrongAnswers
from protonn_edge.extensions.arduino import family as arduino
from protonn_edge.extensions.arduino.machines import MACHINES
from protonn_edge.model.file import save_model

_NAMES = ("microbit", "bluepill", "uno-r4-minima", "teensy41", "esp32-c3", "esp32")
_MODELS = {
    "protonn": plain_model,
    "windows": lambda: random_window_model(window_features_of("mean,deviation,max")),
    **{kind: kind_of(kind).random_model for kind in ("linear", "forest", "dense")},
}


def needs_tools(board: str) -> None:
    machine = MACHINES[load_board(board).core]
    if None in map(shutil.which, (machine.compiler, machine.emulator.split()[0])):
        pytest.skip(f"needs {machine.packages}; to run: make chips")


@pytest.mark.parametrize("number", range(len(_NAMES)))
def test_every_core_answers_as_numpy(number: int, tmp_path: Path) -> None:
    name = _NAMES[number]
    needs_tools(name)
    board, kinds = load_board(name), sorted(_MODELS)
    model = _MODELS[kinds[number % len(kinds)]]()
    built = build(model, board, tmp_path)
    assert (built.tried.mismatches, built.tried.left_out) == (0, "")
    assert built.tried.n >= 8


@pytest.mark.parametrize("name", _NAMES)
def test_a_fault_of_one_byte_is_seen(name: str, tmp_path: Path, monkeypatch) -> None:
    needs_tools(name)
    compiled = arduino.ArduinoCores.compile

    def with_a_fault(self: arduino.ArduinoCores, folder: Path, board: object) -> Path:
        source = folder / "firmware" / "generated" / "pnn_model.c"
        row = re.compile(r"(prototypes_row {[^=]*= [{\s]+)(\d+)")
        text, found = row.subn(lambda at: f"{at[1]}{int(at[2]) + 1}", source.read_text())
        assert found == 1, "the generated C has another shape"
        source.write_text(text)
        return compiled(self, folder, board)

    monkeypatch.setattr(arduino.ArduinoCores, "compile", with_a_fault)
    with pytest.raises(WrongAnswers, match="differs from the NumPy model"):
        build(plain_model(), name, tmp_path)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, points of it, and its project for an emulated M4."""
    needs_tools("uno-r4-minima")
    folder = tmp_path_factory.mktemp("r4")
    model = plain_model()
    save_model(model, folder / "model.npz")
    X = np.random.default_rng(3).uniform(-1, 1, (12, model.n_features))
    rows = [",".join([model.classes[n % 3], *map(str, x)]) for n, x in enumerate(X)]
    names = ",".join(["label", *(f"x{n}" for n in range(model.n_features))])
    (folder / "test.csv").write_text("\n".join([names, *rows, ""]))
    build(model, "uno-r4-minima", folder / "project")
    return folder


def test_instructions_have_no_time_and_no_energy_anywhere(project: Path) -> None:
    words = ("hil", project / "test.csv", "--project", project / "project", "--repeat", 30)
    results = project / "results.csv"
    done = run_json(*words, "--emulate")
    assert (done["mismatches"], done["lost"]) == (0, 0)
    assert done["instructions"]["mean"] > 0
    for name in ("cycles", "latency_ms", "energy_mj", "cycles_possible"):
        assert done[name] is None
    assert done["devices"][0]["cycles_mean"] is None
    assert set(done["repetition"]) == {"n", "instructions"}
    assert not {"cycles", "latency_ms", "energy_mj"} & {each["key"] for each in done["figures"]}
    assert done["measured_by"]["counter"] == "instructions"
    assert done["measured_by"]["first_most_ms"] is None
    assert 32 <= done["stack_peak_bytes"] <= 1_088
    shown = succeed(*words, "--emulate", "-o", results).stdout
    assert "a Cortex-M4 of QEMU, which no Arduino Uno R4 Minima is" in shown
    for word in (" ms", " mJ", "cycles  ", "latency", "energy"):
        assert word not in shown
    assert results.read_text().startswith("index,label,predicted,instructions,mismatch,")


def test_a_report_of_instructions_has_no_time(project: Path) -> None:
    results, folder = project / "report.csv", project / "project"
    succeed("hil", project / "test.csv", "--project", folder, "--emulate", "-o", results)
    record = run_json(
        "report", results, "--project", folder, "--data", project / "test.csv",
        "--board", "uno-r4-minima", "-o", project / "report.html",
    )  # fmt: skip
    assert record["instructions"]["mean"] > 0
    assert [record[name] for name in ("cycles", "latency_ms", "energy_mj")] == [None] * 3
    page = (project / "report.html").read_text()
    assert "Histogram of latencies" not in page
    assert "instructions" in page


def test_results_of_cycles_are_not_continued_with_instructions(project: Path) -> None:
    results = project / "continued.csv"
    words = ("hil", project / "test.csv", "--project", project / "project", "-o", results)
    succeed(*words)
    text = results.read_text().replace(",instructions,", ",cycles,")
    results.write_text("".join(text.splitlines(keepends=True)[:5]))
    done = run(*words, "--resume")
    assert done.exit_code == 2
    assert "results in cycles, but this device counts instructions; name another" in done.stderr


def test_a_board_at_a_port_is_measured_with_the_model_alone(project: Path) -> None:
    board = load_board("uno-r4-minima")
    family = family_of(board)
    with family.emulated(family.compile(project / "project", board), board) as emulated:
        words = ("hil", project / "test.csv", "--model", project / "model.npz")
        done = run_json(*words, "--port", emulated.url)
        assert (done["board"], done["mismatches"], done["n"]) == ("unknown", 0, 12)
        assert done["latency_ms"] is None
        assert "flash_bytes" not in done
        emulated.reset()
        named = run_json(*words, "--port", emulated.url, "--board", "uno-r4-minima")
        assert named["board"] == "uno-r4-minima"


def test_without_a_compiler_a_project_is_written_and_said_not_to_be_tried(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(arduino.shutil, "which", lambda _: None)
    built = build(plain_model(), "esp32", tmp_path)
    assert built.usage is None
    assert "xtensa-lx106-elf-gcc: not on PATH; install" in built.tried.left_out
    assert (tmp_path / "platformio.ini").is_file()
    assert (tmp_path / "firmware" / "generated" / "pnn_model.c").is_file()
    assert family_in(tmp_path) is family_of(load_board("esp32"))


def test_a_core_without_f_cpu_has_the_clock_of_cmsis(tmp_path: Path) -> None:
    """As Arduino's cores on Mbed, such as the one of a Nano 33 BLE."""
    needs_tools("nano33ble")
    machine, folder = MACHINES["cortex-m4"], Path(arduino.__file__).parent
    includes = [f"-I{each}" for each in (folder / "core", folder / "port", CHECKOUT / "firmware")]
    command = ["arm-none-eabi-g++", *machine.target.split(), "-ffreestanding", *includes]
    made, source = tmp_path / "harness.o", folder / "port" / "harness.cpp"
    subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-c", source, "-o", made], check=True)
    assert b"SystemCoreClock" in made.read_bytes()


def test_an_avr_without_an_emulator_has_a_project_too(tmp_path: Path) -> None:
    built = build(plain_model(), "nano-every", tmp_path)
    assert "no core of QEMU stands for it" in built.tried.left_out
    assert (
        "platform = atmelmegaavr\nboard = nano_every\n" in (tmp_path / "platformio.ini").read_text()
    )


def test_platformio_reads_the_settings_of_a_project(tmp_path: Path) -> None:
    pytest.importorskip("platformio", reason="platformio missing; to run: make setup")
    for name in ("esp32-c3", "uno-r4-minima", "pico-arduino"):
        board = load_board(name)
        (tmp_path / "platformio.ini").write_text(
            str(family_of(board).sources(board)["platformio.ini"])
        )
        command = [sys.executable, "-m", "platformio", "project", "config", "--json-output"]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            check=True,
            timeout=100,
            env=pio_environment(),
        )
        sections = dict(json.loads(done.stdout))
        settings = dict(sections[f"env:{name}"])
        assert (settings["board"], settings["framework"]) == (board.platformio_board, ["arduino"])
        assert settings["platform"] == board.platform
        assert settings.get("board_build.core") == ("earlephilhower" if "pico" in name else None)


@needs_arduino_core
def test_the_sketch_measures_on_an_arduino_core(tmp_path: Path, project: Path) -> None:
    export(plain_model(), "arduino", tmp_path / "shapes", tries=False)
    sketch = tmp_path / "shapes" / "examples" / "Measure"
    made, includes = tmp_path / "made", [sketch, tmp_path / "shapes" / "src"]
    made.mkdir()
    sources = [*sketch.glob("*.c*"), *sketch.glob("*.ino"), includes[1] / "pnn_model.c"]
    objects = [
        compile_source(each, made / f"{each.name}.o", includes, *WARNINGS) for each in sources
    ]
    core = build_core(made)
    subprocess.run(["avr-gcc", *LINK, *objects, core, "-lm", "-o", made / "a.elf"], check=True)
    with EmulatedUno(made / "a.elf") as uno:
        words = ("hil", project / "test.csv", "--model", project / "model.npz")
        done = run_json(*words, "--port", uno.url)
    assert (done["mismatches"], done["measured_by"]["counter"]) == (0, "cycles")
    assert done["latency_ms"]["mean"] == pytest.approx(1e3 * done["cycles"]["mean"] / 16e6)
    assert 20 < done["stack_peak_bytes"] < 160
