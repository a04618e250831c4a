"""From training to a report with a model that answers "unknown"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run, run_json

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.rule import Rejection

SMALL = ["--epochs", "15", "--image-shape", "8x8"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give train.csv, calibration.csv and test.csv, and a test set half of which are negatives."""
    digits = load_digits_dataset()
    place = tmp_path_factory.mktemp("digits")
    negatives = 16 - digits.X_test[:40]
    for name, X, y in (
        ("train", digits.X_train[:900], digits.y_train[:900]),
        ("calibration", digits.X_train[900:], digits.y_train[900:]),
        ("test", digits.X_test[:60], digits.y_test[:60]),
        (
            "strange",
            np.concatenate([digits.X_test[:40], negatives]),
            np.tile(digits.y_test[:40], 2),
        ),
    ):
        rows = np.column_stack([y, X]).astype(int)
        header = "label," + ",".join(f"p{i}" for i in range(64))
        np.savetxt(place / f"{name}.csv", rows, "%d", ",", header=header, comments="")
    return place


@pytest.fixture(scope="module")
def model_file(folder: Path) -> Path:
    path = folder / "model.npz"
    told = run_json("train", folder / "train.csv", "-o", path, *SMALL, "--rejection", "2%")
    assert told["rejection"]["score"] > 0
    assert told["rejection"]["distance"] is None
    return path


def test_training_calibrates_and_adds_exposure_points(model_file: Path) -> None:
    model = load_model(model_file)
    assert model.record["rejection"] == {"rate": 0.02, "by": ["score"], "n": 720}
    assert model.record["settings"]["strangers"] == 0.5


def test_exposure_points_are_as_many_as_was_said(folder: Path) -> None:
    path = folder / "without.npz"
    options = ["--rejection", "0.05", "--outlier-exposure", 0, "--rejection-by", "margin"]
    run_json("train", folder / "train.csv", "-o", path, "--epochs", 3, *options)
    model = load_model(path)
    assert model.record["settings"]["strangers"] == 0
    assert model.policy.find(Rejection) is not None
    assert model.policy.find(Rejection).margin > 0
    assert model.policy.find(Rejection).score == 0


def test_calibration_points_set_the_threshold(folder: Path, model_file: Path) -> None:
    path = folder / "calibrated.npz"
    by = ["--rejection-by", "distance", "--rejection-by", "margin"]
    points = folder / "calibration.csv"
    told = run_json(
        "train", points, "--calibrate", model_file, "-o", path, "--rejection", "5%", *by
    )
    assert told["n"] == 447
    assert 0 < told["unknown_share"] <= 0.05
    assert told["rejection"]["score"] is None
    assert told["rejection"]["distance"] > 0
    assert told["model_sha256"] == quantize(load_model(path)).model_sha256
    shown = run("inspect", path).stdout
    assert "unknown if" in shown
    assert "RBF widths" in shown
    assert run_json("inspect", path)["rejection"] == told["rejection"]


@needs_emulated_avr
def test_the_whole_way_with_unknown_answers(folder: Path, model_file: Path) -> None:
    project, results = folder / "project", folder / "results.csv"
    points = folder / "strange.csv"
    built = run_json("build", model_file, "-o", project, "--data", points)
    assert 0.4 < built["unknown_share"] < 0.65
    assert built["plan"]["stages"][-1]["flash_bytes"] > 0  # of the comparison
    header = (project / "firmware" / "generated" / "pnn_model.h").read_text()
    assert "#define PNN_UNKNOWN 255u" in header
    told = run_json("hil", points, "--emulate", "--project", project, "-o", results)
    assert told["mismatches"] == 0
    assert 35 <= told["unknown"] <= 50
    assert told["accuracy"] <= 0.5
    assert told["accuracy_of_classified"] > 0.85
    counts = np.array(told["confusion"])
    assert counts.shape == (10, 11)
    assert (counts.sum(), counts[:, -1].sum()) == (80, told["unknown"])
    predicted = [line.split(",")[2] for line in results.read_text().splitlines()[1:]]
    assert predicted.count("unknown") == told["unknown"]
    page = folder / "report.html"
    shown = run("report", results, "--project", project, "--data", points, "-o", page)
    assert shown.exit_code == 0, shown.output
    text = page.read_text("utf-8")
    assert f"{told['unknown']} points were answered &#39;unknown&#39;" in text
    assert "of the other answers are correct" in text
    assert "taken for unknown" not in text


@needs_emulated_avr
def test_verify_agrees_on_unknown_answers(folder: Path, model_file: Path) -> None:
    told = run_json("verify", model_file, folder / "strange.csv")
    assert told["mismatches"] == 0
    assert {each["execution"] for each in told["executions"]} == {"host C", "emulated uno"}


def test_calibrating_with_the_held_out_points_gets_a_warning(folder: Path) -> None:
    data, path = folder / "train.csv", folder / "divided.npz"
    run_json("train", data, "-o", path, *SMALL)
    words = ("--calibrate", path, "-o", folder / "again.npz", "--rejection", "5%")
    done = run("train", data, *words)
    assert done.exit_code == 0
    assert "its held-out points, which now calibrate the model" in " ".join(done.output.split())
    assert "train with --rejection" in " ".join(done.output.split())


@pytest.mark.parametrize(("kind", "recognizes"), [("protonn", True), ("linear", False)])
def test_kinds_that_miss_far_inputs_say_so(folder: Path, kind: str, recognizes: bool) -> None:
    path = folder / f"{kind}.npz"
    options = ["--classifier", kind, "--rejection", "5%"]
    options += {"protonn": ["--epochs", "3"], "linear": ["--tolerance", "0.01"]}[kind]
    shown = run("train", folder / "train.csv", "-o", path, *options)
    assert shown.exit_code == 0, shown.output
    assert ("far from the training data" in shown.output) != recognizes
    model = load_model(path)
    integers = quantize(model)
    generator = np.random.default_rng(0)
    extremes = integers.quantize(1e3 * generator.integers(-1, 2, (200, model.n_features)))
    unknown = float(np.mean(integers.predict(extremes) == NO_CLASS))
    assert (unknown > 0.9) == recognizes
