"""A linear model from the command line: trained, built, verified, measured, reported, exported."""

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

LINEAR = ("--classifier", "linear")


def write_digits(path: Path, classes: int) -> None:
    """Write the digits, or whether they are 5 or more."""
    digits = load_digits_dataset()
    merged = 10 // classes
    np.savez(
        path,
        X_train=digits.X_train[::3],
        y_train=digits.y_train[::3] // merged,
        X_test=digits.X_test[:40],
        y_test=digits.y_test[:40] // merged,
    )


@pytest.fixture(scope="module", params=[2, 10])
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    write_digits(path, request.param)
    return path


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    path = data.with_name("model.npz")
    succeed("train", data, "-o", path, *LINEAR, "--regularization", "0.001")
    return path


def test_training_says_what_became_of_it(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    record = run_json("train", data, "-o", path, *LINEAR, "--regularization", "0.002")
    assert record["accuracy"] > 0.75
    trained = load_model(path)
    assert trained.kind == "linear"
    assert trained.record["settings"]["regularization"] == 0.002
    done = succeed("train", data, "-o", path, *LINEAR, "--max-iterations", "1", "--verbose")
    assert "epoch 1 of 1, objective" in done.output
    assert "training had not converged after 1 passes" in done.output


def test_it_is_inspected(data: Path, model: Path) -> None:
    record = run_json("inspect", model, "--data", data)
    assert record["classifier"] == "linear"
    assert re.search(r"classifier +linear\b", succeed("inspect", model).output)
    assert set(record["nonzero"]) == {"W", "b"}
    assert [stage["stage"] for stage in record["stages"]] == ["float", "inputs", "W"]
    low, high = record["accumulator_range"]
    assert low < 0 < high


@needs_emulated_avr
def test_every_execution_agrees(data: Path, model: Path) -> None:
    record = run_json("verify", model, data)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


@needs_emulated_avr
def test_it_is_built_measured_and_reported(data: Path, model: Path, tmp_path: Path) -> None:
    plan = run_json("build", model, "-o", tmp_path, "--data", data)["plan"]
    assert plan["stages"][0]["name"] == "linear"
    results = tmp_path / "results.csv"
    measured = run_json("hil", data, "--emulate", "--project", tmp_path, "-o", results)
    assert (measured["mismatches"], measured["lost"], measured["n"]) == (0, 0, 40)
    assert plan["cycles"]["least"] <= measured["cycles"]["min"]
    assert measured["cycles"]["max"] <= plan["cycles"]["worst"]
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
    succeed("train", data, "-o", path, *LINEAR, "--rejection", "10%", *by)
    assert load_model(path).rejection is not None
    record = run_json("verify", path, data)
    assert [each["mismatches"] for each in record["executions"]] == [0, 0]


@needs_avr_gcc
def test_the_best_that_fits_is_found(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    options = ("--trials", 3, "--folds", 2, "--jobs", 1, "--max-latency-ms", "0.3")
    record = run_json("tune", data, "-o", path, *LINEAR, *options)
    assert record["planned"]["worst_cycles"] <= 4_800
    assert load_model(path).kind == "linear"


def test_averages_and_deskew_come_first(tmp_path: Path) -> None:
    data, path = tmp_path / "digits.npz", tmp_path / "model.npz"
    write_digits(data, 10)
    pooling = ("--image-shape", "8x8", "--average-pooling", "4x4", "--deskew")
    succeed("train", data, "-o", path, *LINEAR, *pooling)
    assert (load_model(path).n_features, load_model(path).n_inputs) == (64, 16)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--prototypes", "20"), "--prototypes is given, but the classifier 'linear' does not"),
        (("--solver", "liblinear"), "the solver liblinear tells two classes apart"),
        (("--rejection", "5%", "--rejection-by", "distance"), "no distance to reject points by"),
    ],
)
def test_what_it_cannot_do_is_one_sentence(
    options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    data = tmp_path / "digits.npz"
    write_digits(data, 10)
    done = run("train", data, "-o", tmp_path / "model.npz", *LINEAR, *options)
    assert words in done.stderr
    assert done.exit_code == 2


def test_its_options_are_not_protonns(tmp_path: Path) -> None:
    data = tmp_path / "digits.npz"
    write_digits(data, 10)
    done = run("train", data, "-o", tmp_path / "model.npz", "--regularization", "1")
    assert_one_sentence(done, "--regularization is given, but the classifier 'protonn' does not")
