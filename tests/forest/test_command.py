"""A forest from the command line: trained, built, verified, measured, reported, exported."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from command_line import assert_one_sentence, run, run_json, succeed

from protonn_edge.datasets import load_digits_dataset
from protonn_edge.model import load_model

FOREST = ("--classifier", "forest", "--trees", "8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    digits = load_digits_dataset()
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    np.savez(
        path,
        X_train=digits.X_train[::3],
        y_train=digits.y_train[::3],
        X_test=digits.X_test[:40],
        y_test=digits.y_test[:40],
    )
    return path


@pytest.fixture(scope="module", params=["random", "extra", "boosting"])
def model(request: pytest.FixtureRequest, data: Path) -> Path:
    path = data.with_name(f"{request.param}.npz")
    succeed("train", data, "-o", path, *FOREST, "--ensemble", request.param, "--size-budget", "6kB")
    return path


def test_training_says_what_became_of_it(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    options = ("--max-depth", "6", "--min-leaf", "2", "--shrinkage", "0.3", "--size-budget", "4kB")
    record = run_json("train", data, "-o", path, *FOREST, *options)
    assert record["accuracy"] > 0.6
    trained = load_model(path)
    assert trained.kind == "forest"
    settings = trained.record["settings"]
    assert (settings["n_trees"], settings["max_depth"], settings["size_budget"]) == (8, 6, 4_000)


def test_it_is_inspected(data: Path, model: Path) -> None:
    record = run_json("inspect", model, "--data", data)
    assert record["classifier"] == "forest"
    assert re.search(r"classifier +forest\b", succeed("inspect", model).output)
    assert record["trees"] >= 8
    assert [stage["stage"] for stage in record["stages"]] == ["float", "inputs", "leaves"]
    assert record["model_bytes"] <= 6_000


@needs_emulated_avr
def test_every_execution_agrees(data: Path, model: Path) -> None:
    record = run_json("verify", model, data)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


@needs_emulated_avr
def test_it_is_built_measured_and_reported(data: Path, model: Path, tmp_path: Path) -> None:
    plan = run_json("build", model, "-o", tmp_path, "--data", data)["plan"]
    assert plan["stages"][0]["name"] == "forest"
    results = tmp_path / "results.csv"
    measured = run_json("hil", data, "--emulate", "--project", tmp_path, "-o", results)
    assert (measured["mismatches"], measured["lost"], measured["n"]) == (0, 0, 40)
    assert plan["cycles"]["least"] <= measured["cycles"]["min"]
    assert measured["cycles"]["max"] <= plan["cycles"]["worst"]
    assert plan["cycles"]["mean"] == pytest.approx(measured["cycles"]["mean"], rel=0.02)
    page = tmp_path / "report.html"
    succeed("report", results, "--project", tmp_path, "--data", data, "-o", page)
    assert "prototype" not in page.read_text(encoding="utf-8").lower()


@needs_avr_gcc
@pytest.mark.parametrize("vectors", ["data", "model"])
def test_the_c_library_passes_its_self_test(
    data: Path, model: Path, tmp_path: Path, vectors: str
) -> None:
    given = ["--data", data] if vectors == "data" else []
    succeed("export", model, "--c", tmp_path / "library", *given)
    done = subprocess.run(
        ["make", "test"], cwd=tmp_path / "library", capture_output=True, text=True, check=True
    )
    assert "PASS: 20 test vectors" in done.stdout


@needs_emulated_avr
def test_it_rejects_on_the_device_too(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    by = ("--rejection-by", "score", "--rejection-by", "margin")
    shares = ("--leaves", "shares", "--min-leaf", "3", "--trees", "30")
    succeed("train", data, "-o", path, *FOREST, *shares, "--rejection", "10%", *by)
    assert load_model(path).rejection is not None
    record = run_json("verify", path, data)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


@needs_emulated_avr
def test_averages_and_deskew_come_first(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    pooling = ("--image-shape", "8x8", "--average-pooling", "4x4", "--deskew")
    succeed("train", data, "-o", path, *FOREST, *pooling)
    assert (load_model(path).n_features, load_model(path).n_inputs) == (64, 16)
    record = run_json("verify", path, data)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


@needs_avr_gcc
def test_the_best_that_fits_is_found(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    options = ("--trials", 4, "--folds", 2, "--jobs", 1, "--max-latency-ms", "1")
    done = succeed("tune", data, "-o", path, *FOREST[:2], *options)
    assert load_model(path).kind == "forest"
    assert "--plan" not in done.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--prototypes", "20"), "--prototypes is given, but the classifier 'forest' does not"),
        (("--size-budget", "40"), "a budget of 40 B leaves nothing"),
        (("--rejection", "5%", "--rejection-by", "distance"), "no distance to reject points by"),
    ],
)
def test_what_it_cannot_do_is_one_sentence(
    options: tuple[str, ...], words: str, data: Path, tmp_path: Path
) -> None:
    done = run("train", data, "-o", tmp_path / "model.npz", *FOREST, *options)
    assert words in done.stderr
    assert done.exit_code == 2


def test_a_way_to_read_weights_is_none_of_its_plans(
    data: Path, model: Path, tmp_path: Path
) -> None:
    done = run("build", model, "-o", tmp_path, "--plan", "columns")
    assert_one_sentence(done, "--plan columns")
