"""The commands in the order in which a newcomer types them, on a small data set."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from command_line import run, run_json, succeed
from model_factory import random_model
from programs import started
from sklearn.datasets import load_iris

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.device.results import ResultsFile, read_results
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.integer_chain import IntegerChain


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with iris.csv and a model of it."""
    folder = tmp_path_factory.mktemp("iris")
    iris = load_iris()
    names = [iris.target_names[label] for label in iris.target]
    rows = [",".join([name, *map(str, x)]) for name, x in zip(names, iris.data, strict=True)]
    (folder / "iris.csv").write_text("label,a,b,c,d\n" + "\n".join(rows) + "\n")
    options = ("--prototypes", 6, "--projection-dim", 3, "--epochs", 20, "--holdout", 0)
    succeed("train", folder / "iris.csv", "-o", folder / "model.npz", *options)
    return folder


@pytest.fixture(scope="module")
def project(folder: Path) -> Path:
    succeed("build", folder / "model.npz", "-o", folder / "project")
    return folder / "project"


def test_training_twice_gives_the_same_bytes(folder: Path) -> None:
    for name in ("first.npz", "second.npz"):
        succeed("train", folder / "iris.csv", "-o", folder / name, "--epochs", 3, "--seed", 7)
    assert (folder / "first.npz").read_bytes() == (folder / "second.npz").read_bytes()


def test_inspect_names_the_sizes_and_the_classes(folder: Path) -> None:
    record = run_json("inspect", folder / "model.npz")
    assert (record["features"], record["projections"], record["prototypes"]) == (4, 3, 6)
    assert record["classes"] == ["setosa", "versicolor", "virginica"]
    text = succeed("inspect", folder / "model.npz").stdout
    assert re.search(r"classifier +ProtoNN\b", text)
    assert "setosa, versicolor, virginica" in text
    assert record["model_sha256"][:16] in text
    assert len(record["zero"]) == len(record["step"]) == 4


def test_inspect_says_what_each_stage_of_quantization_costs(folder: Path) -> None:
    record = run_json("inspect", folder / "model.npz", "--data", folder / "iris.csv")
    assert record["n"] == 150
    stages = {stage["stage"]: stage for stage in record["stages"]}
    assert list(stages) == ["float", "inputs", "W", "prototypes", "Z"]
    assert stages["float"]["disagreements"] == 0
    assert stages["Z"]["accuracy"] == pytest.approx(stages["float"]["accuracy"], abs=0.05)
    text = succeed("inspect", folder / "model.npz", "--data", folder / "iris.csv").stdout
    assert "accuracy after each step of quantization, on 150 points" in text


@needs_avr_gcc
def test_build_is_reproducible_and_names_no_place_or_time(folder: Path, project: Path) -> None:
    generated = project / "firmware" / "generated"
    before = {path.name: path.read_bytes() for path in generated.iterdir()}
    of_model = {"model.npz", "pnn_model.c", "pnn_model.h", "pnn_inputs.h"}
    assert set(before) == {"build.json", "built.json", "parts.h", *of_model}
    succeed("build", folder / "model.npz", "-o", folder / "elsewhere")
    again = folder / "elsewhere" / "firmware" / "generated"
    assert {path.name: path.read_bytes() for path in again.iterdir()} == before
    assert all(str(folder).encode() not in content for content in before.values())


@needs_avr_gcc
def test_build_keeps_firmware_that_a_user_changed(folder: Path) -> None:
    target = folder / "changed"
    succeed("build", folder / "model.npz", "-o", target)
    source = target / "firmware" / "main.c"
    source.write_text(source.read_text() + "\n/* mine */\n")
    succeed("build", folder / "model.npz", "-o", target)
    assert source.read_text().endswith("/* mine */\n")


@needs_avr_gcc
def test_build_says_what_each_stage_takes(folder: Path) -> None:
    options = ["--max-sram", 400, "--max-flash", 20_000]
    arguments = ["build", folder / "model.npz", "-o", folder / "planned", *options]
    plan = run_json(*arguments)["plan"]
    names = [stage["name"] for stage in plan["stages"]]
    assert names == ["projection", "prototypes", "decision"]
    assert all(stage["flash_bytes"] > 0 for stage in plan["stages"][:2])


def test_build_within_less_flash_than_it_needs_names_the_limit(folder: Path) -> None:
    arguments = ["build", folder / "model.npz", "-o", folder / "small", "--max-flash", "2500"]
    result = run(*arguments)
    assert result.exit_code == 1
    assert "B of flash, but uno with your limits has 2,500 B; try fewer" in result.stderr


def test_build_with_data_compares_float_and_integers(folder: Path) -> None:
    record = run_json("build", folder / "model.npz", "-o", folder / "compared",
                      "--data", folder / "iris.csv", "--max-drop", 5)  # fmt: skip
    assert record["n"] == 150
    assert abs(record["float_accuracy"] - record["accuracy"]) <= 0.05
    assert record["stages"][-1]["accuracy"] == record["accuracy"]


@needs_emulated_avr
def test_values_beyond_the_training_data_are_counted(folder: Path) -> None:
    (folder / "beyond.csv").write_text("label,a,b,c,d\nsetosa,5,99,1,-7\nsetosa,5,3,1.5,0.2\n")
    record = run_json("verify", folder / "model.npz", folder / "beyond.csv")
    assert (record["saturations"], record["mismatches"]) == (2, 0)
    text = succeed("verify", folder / "model.npz", folder / "beyond.csv").stdout
    clamped = "inputs clamped: 2 of 8 values (25.00 %)"
    assert clamped in text
    done = succeed("predict", folder / "model.npz", folder / "beyond.csv")
    assert clamped in done.stderr
    assert clamped not in done.stdout


@needs_emulated_avr
def test_hil_measures_on_the_emulated_board_and_resumes(folder: Path, project: Path) -> None:
    results = folder / "results.csv"
    arguments = ["hil", folder / "iris.csv", "--emulate", "--project", project, "-o", results]
    record = run_json(*arguments)
    assert (record["n"], record["mismatches"], record["lost"]) == (150, 0, 0)
    assert record["accuracy"] > 0.9
    assert record["saturations"] == 0
    spread = record["cycles"]
    assert 0 < spread["min"] <= spread["mean"] <= spread["p99"] <= spread["max"]
    assert record["latency_ms"]["mean"] == pytest.approx(spread["mean"] / 16_000)
    assert record["energy_mj"]["mean"] == pytest.approx(0.2455 * spread["mean"] / 16_000)
    assert record["stack_peak_bytes"] <= record["stack_bytes"]
    assert np.sum(record["confusion"]) == 150

    whole = results.read_bytes()
    results.write_bytes(whole[: len(whole) // 2])  # as an interrupted run leaves it
    assert run_json(*arguments, "--resume")["cycles"] == spread
    assert len(read_results(results).results) == 150

    names, first, *others = whole.splitlines(keepends=True)
    index, label, *rest, run_id = first.split(b",")
    lost = b",".join([index, label, *[b""] * len(rest), run_id])
    results.write_bytes(b"".join([names, lost, *others]))
    healed = run_json(*arguments, "--resume")
    assert (healed["lost"], healed["cycles"]) == (0, spread)


@needs_emulated_avr
def test_hil_never_writes_over_a_file_that_holds_something_else(
    folder: Path, project: Path
) -> None:
    data = folder / "iris.csv"
    before = data.read_bytes()
    other = folder / "other.csv"
    other.write_bytes(before)
    for output, words in (
        (data, "which is also given as DATA"),
        (other, "would be overwritten"),
    ):
        result = run("hil", data, "--project", project, "-o", output)
        assert result.exit_code == 2
        assert words in result.stderr
        assert output.read_bytes() == before


@needs_emulated_avr
def test_resuming_with_other_data_leaves_the_file_as_it_is(folder: Path, project: Path) -> None:
    results = folder / "kept.csv"
    arguments = ["hil", folder / "iris.csv", "--project", project, "-o", results]
    succeed(*arguments)
    results.write_bytes(re.sub(rb"-\w{16}-", b"-0123456789abcdef-", results.read_bytes())[:-5])
    before = results.read_bytes()
    result = run(*arguments, "--resume")
    assert result.exit_code == 2
    assert "measured with other points" in result.stderr
    assert results.read_bytes() == before


@needs_avr_gcc
def test_generated_code_that_was_edited_is_not_measured(folder: Path) -> None:
    edited = folder / "edited"
    succeed("build", folder / "model.npz", "-o", edited)
    source = edited / "firmware" / "generated" / "pnn_model.c"
    constant = "#define PNN_PROJECTION_OUTPUTS "
    source.write_text(source.read_text().replace(constant, f"{constant}1"))
    result = run("hil", folder / "iris.csv", "--project", edited)
    assert result.exit_code == 2
    assert "pnn_model.c: not as 'build' writes it" in result.stderr


@needs_emulated_avr
def test_interrupted_measurement_says_how_to_go_on(
    folder: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = ResultsFile.append

    def interrupted(file: ResultsFile, result: Any) -> None:
        append(file, result)
        if result.index == 9:
            raise KeyboardInterrupt

    results = folder / "interrupted.csv"
    arguments = ["hil", folder / "iris.csv", "--project", project, "-o", results]
    with monkeypatch.context() as patch:
        patch.setattr(ResultsFile, "append", interrupted)
        stopped = run(*arguments)
    assert stopped.exit_code == 130
    assert "continue with --resume" in stopped.stderr
    assert len(read_results(results).results) == 10
    refused = run(*arguments)
    assert refused.exit_code == 2
    told = "10 of 150 results of a run that was stopped; delete the file, or continue with --resume"
    assert told in " ".join(refused.stderr.split())
    assert len(read_results(results).results) == 10
    assert run_json(*arguments, "--resume")["n"] == 150


@needs_emulated_avr
def test_hil_that_is_killed_goes_on_with_every_point_once(folder: Path, project: Path) -> None:
    results = folder / "killed.csv"
    elf = Project(project).compile(load_board("uno"))
    with EmulatedUno(elf, wire_speed=True) as uno:
        arguments = ["hil", folder / "iris.csv", "--project", project, "-o", results, "--resume"]
        command = [sys.executable, "-c", "from protonn_edge.cli import main; main()", *arguments]
        with started(*command, "--port", uno.url) as process:
            while not results.exists() or results.read_bytes().count(b"\n") < 40:
                assert process.poll() is None
                time.sleep(0.01)
        before = read_results(results).results
        results.write_bytes(results.read_bytes() + b"149,2,")  # had it been killed while writing
        assert run_json(*arguments, "--port", uno.url)["n"] == 150
    after = read_results(results).results
    assert 38 <= len(before) < 150
    assert after[: len(before)] == before
    assert sorted(result.index for result in after) == list(range(150))


@needs_emulated_avr
def test_hil_shares_the_points_among_boards_and_tells_how_they_differ(
    folder: Path, project: Path
) -> None:
    elf = Project(project).compile(load_board("uno"))
    with EmulatedUno(elf) as first, EmulatedUno(elf) as second:
        ports = ["--port", first.url, "--port", second.url]
        arguments = ["hil", folder / "iris.csv", "--project", project, *ports]
        record = run_json(*arguments, "--watts", 0.5, "--repeat", 100)
        text = succeed(*arguments).stdout
    assert [device["device"] for device in record["devices"]] == [first.url, second.url]
    assert sum(device["n"] for device in record["devices"]) == record["n"] == 150
    assert (record["mismatches"], record["lost"]) == (0, 0)
    assert record["comparison"] == {"n": 10, "answers_differ": 0, "cycles_differ": 0}
    cycles = record["cycles"]["mean"]
    assert record["energy_mj"]["mean"] == pytest.approx(0.5 * cycles / 16_000)
    assert record["repetition"]["n"] == 100
    assert "each board's share" in text
    assert "0 got different answers and 0 took different numbers of cycles" in text


@needs_avr_gcc
def test_build_over_budget_leaves_one_json_object_with_the_figures(folder: Path) -> None:
    save_model(random_model(projections=10, classes=54, prototypes=490), folder / "large.npz")
    result = run("build", folder / "large.npz", "-o", folder / "large", "--json")
    assert result.exit_code == 1
    record = json.loads(result.stdout)
    assert record["flash_bytes"] > 32_256
    assert f"the firmware needs {record['flash_bytes']:,} B of flash" in record["error"]


@needs_emulated_avr
def test_demo_runs_the_whole_way(tmp_path: Path) -> None:
    record = run_json("demo", "-o", tmp_path / "demo")
    assert (record["n"], record["mismatches"], record["lost"]) == (450, 0, 0)
    assert record["accuracy"] > 0.96
    digits = load_digits_dataset()
    floats = load_model(tmp_path / "demo" / "model.npz").predict(digits.X_test)
    assert np.mean(floats == digits.y_test) - record["accuracy"] <= 0.01
    assert record["flash_bytes"] <= 15_360
    assert record["sram_bytes"] + record["stack_bytes"] <= 410
    assert record["cycles"]["mean"] <= 5_700  # the emulator's, which are exact
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"model.npz", "firmware", "platformio.ini", "results.csv"} <= names


def test_demo_writes_a_table_that_train_reads_and_no_other_one_is_replaced(tmp_path: Path) -> None:
    written = load_dataset(Path(run_json("demo", "--csv", "-o", tmp_path / "new")["digits"]))
    digits = load_digits_dataset()
    np.testing.assert_array_equal(written.X_train[: len(digits.y_train)], digits.X_train)
    np.testing.assert_array_equal(written.y_train[len(digits.y_train) :], digits.y_test)
    assert written.feature_names == digits.feature_names
    succeed("demo", "--csv", "-o", tmp_path / "new")
    (tmp_path / "digits.csv").write_text("mine")
    result = run("demo", "--csv", "-o", tmp_path)
    assert result.exit_code == 2
    assert "digits.csv already exists" in result.stderr


def test_demo_looks_at_its_folder_first(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("somebody else's\n")
    result = run("demo", "-o", tmp_path)
    assert result.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


@needs_emulated_avr
def test_firmware_that_a_user_made_too_large_is_over_budget(folder: Path, project: Path) -> None:
    changed = folder / "hog"
    shutil.copytree(project, changed, ignore=shutil.ignore_patterns(".pio"))
    source = changed / "firmware" / "main.c"
    text = source.read_text().replace(
        "int main(void)", "volatile uint8_t hog[2000];\n\nint main(void)"
    )
    source.write_text(text.replace("uart_start();", "uart_start();\n    hog[sizeof hog - 1] = 1;"))
    result = run("hil", folder / "iris.csv", "--project", changed, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert "B of SRAM (variables 2," in error
    assert "uno has 2,048" in error


@needs_emulated_avr
def test_failed_check_leaves_one_json_object_with_the_figures(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong entry in the reference's table stands in for a bug in the generated code."""
    answers = IntegerChain.answers

    def wrong(model: IntegerChain, Q: Any) -> Any:
        classes, scores = answers(model, Q)
        return classes, scores + (Q.sum(axis=1) == Q.sum(axis=1)[7])[:, None]

    monkeypatch.setattr(IntegerChain, "answers", wrong)
    result = run("verify", folder / "model.npz", folder / "iris.csv", "--json")
    assert result.exit_code == 1
    record = json.loads(result.stdout)
    assert record["mismatches"] > 0
    assert record["executions"][0]["first"]["stage"] == "score 0"
    assert record["executions"][0]["first"]["point"] <= 7
    assert "host C differs from the NumPy model" in record["error"]


@needs_emulated_avr
def test_results_of_another_model_are_not_resumed(folder: Path, project: Path) -> None:
    results = folder / "resumed.csv"
    arguments = ["hil", folder / "iris.csv", "--emulate", "-o", results]
    succeed(*arguments, "--project", project)
    succeed("train", folder / "iris.csv", "-o", folder / "another.npz", "--epochs", 2, "--seed", 5)
    succeed("build", folder / "another.npz", "-o", folder / "another")
    result = run(*arguments, "--project", folder / "another", "--resume")
    assert result.exit_code == 2
    assert "another model" in result.stderr


@needs_emulated_avr
def test_text_for_people_has_the_figures_and_the_verdict(folder: Path, project: Path) -> None:
    text = succeed("hil", folder / "iris.csv", "--project", project).stdout
    for word in ("accuracy", "cycles", "latency", "0.2455 W", "flash", "stack", "fits uno"):
        assert word in text
    assert "equal on 150 points: NumPy = emulated uno" in text
    assert max(map(len, text.splitlines())) <= 80
