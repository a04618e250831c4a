"""Both kinds from the command line: trained, built, verified, measured, reported, exported."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from command_line import run, run_json, succeed

from protonn_edge.datasets import load_digits_dataset
from protonn_edge.model import load_model

KINDS = {"bonsai": "Bonsai", "local-deep-kernel": "local deep kernel"}
SMALL = ("--epochs", "10", "--depth", "2", "--lambda-weights", "0.5", "--lambda-gates", "0.5")


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


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, data: Path) -> Path:
    path = data.with_name(f"{request.param}.npz")
    succeed("train", data, "-o", path, "--classifier", request.param, *SMALL)
    return path


def test_it_is_inspected(data: Path, model: Path) -> None:
    record = run_json("inspect", model, "--data", data)
    assert record["classifier"] == model.stem
    assert re.search(rf"classifier +{KINDS[model.stem]}", succeed("inspect", model).output)
    assert record["nodes"] == 7
    assert [stage["stage"] for stage in record["stages"]][-1] == "tree"
    assert load_model(model).record["settings"]["sparsity_gates"] == 0.5


@needs_emulated_avr
def test_it_is_built_measured_and_reported(data: Path, model: Path, tmp_path: Path) -> None:
    plan = run_json("build", model, "-o", tmp_path, "--data", data)["plan"]
    assert plan["stages"][-2]["name"] == "bonsai_tree"
    assert [each["mismatches"] for each in run_json("verify", model, data)["executions"]] == [0, 0]
    results = tmp_path / "results.csv"
    measured = run_json("hil", data, "--emulate", "--project", tmp_path, "-o", results)
    assert (measured["mismatches"], measured["lost"], measured["n"]) == (0, 0, 40)
    assert plan["cycles"]["least"] <= measured["cycles"]["min"]
    assert measured["cycles"]["max"] <= plan["cycles"]["worst"]
    assert plan["cycles"]["mean"] == pytest.approx(measured["cycles"]["mean"], rel=0.03)
    page = tmp_path / "report.html"
    succeed("report", results, "--project", tmp_path, "--data", data, "-o", page)
    assert "prototype" not in page.read_text(encoding="utf-8").lower()


@needs_avr_gcc
def test_the_c_library_passes_its_self_test(model: Path, tmp_path: Path) -> None:
    succeed("export", model, "--c", tmp_path / "library")
    done = subprocess.run(
        ["make", "test"], cwd=tmp_path / "library", capture_output=True, text=True, check=True
    )
    assert "PASS: 20 test vectors" in done.stdout


@needs_emulated_avr
def test_it_rejects_behind_averages(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    pooling = ("--image-shape", "8x8", "--average-pooling", "4x4", "--deskew")
    by = ("--rejection", "10%", "--rejection-by", "score", "--rejection-by", "margin")
    kernel = ("--classifier", "local-deep-kernel", "--epochs", "5")
    succeed("train", data, "-o", path, *kernel, *pooling, *by)
    assert load_model(path).rejection is not None
    assert [each["mismatches"] for each in run_json("verify", path, data)["executions"]] == [0, 0]


@needs_avr_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_that_fits_is_found(kind: str, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    options = ("--trials", 2, "--folds", 2, "--jobs", 1, "--max-latency-ms", "3")
    succeed("tune", data, "-o", path, "--classifier", kind, *options)
    assert load_model(path).kind == kind


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("bonsai", ("--prototypes", "20"), "--prototypes is given, but the classifier 'bonsai' do"),
        ("local-deep-kernel", ("--projection-dim", "9"), "--projection-dim is given, but the clas"),
        ("bonsai", ("--rejection", "5%", "--rejection-by", "distance"), "no distance to reject"),
    ],
)
def test_what_it_cannot_do_is_one_sentence(
    kind: str, options: tuple[str, ...], words: str, data: Path, tmp_path: Path
) -> None:
    done = run("train", data, "-o", tmp_path / "model.npz", "--classifier", kind, *options)
    assert words in done.stderr
    assert done.exit_code == 2
