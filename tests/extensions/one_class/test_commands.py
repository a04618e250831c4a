"""From normal points to a report with a model that knows what is normal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import refusal, run, run_json, succeed

from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize

RNG = np.random.default_rng(0)


def write(path: Path, n: int, others: int) -> Path:
    """Write points of a machine that runs, and of one that is broken."""
    X = np.concatenate([RNG.normal(100, 10, (n, 4)), RNG.normal(160, 10, (others, 4))])
    rows = [
        ",".join(["fine" if i < n else "broken", *map(str, x.round().astype(int))])
        for i, x in enumerate(X)
    ]
    path.write_text("\n".join(["label,a,b,c,d", *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give normal.csv, mixed.csv and test.csv."""
    place = tmp_path_factory.mktemp("machine")
    write(place / "normal.csv", 300, 0)
    write(place / "mixed.csv", 300, 60)
    write(place / "test.csv", 40, 20)
    return place


@pytest.fixture(scope="module")
def model_file(folder: Path) -> Path:
    path = folder / "model.npz"
    options = ["--one-class", "--normal", "fine", "--rejection", "5%", "--prototypes", 8]
    record = run_json("train", folder / "mixed.csv", "-o", path, *options)
    assert (record["one_class"]["normal"], record["one_class"]["others"]) == (60, 60)
    assert record["one_class"]["found"] == 60
    assert record["one_class"]["false_alarms"] <= 10
    return path


def test_points_of_one_class_are_enough(folder: Path) -> None:
    path = folder / "alone.npz"
    done = succeed("train", folder / "normal.csv", "-o", path, "--one-class", "--holdout", 0.5)
    assert "false alarms" in done.stdout
    assert "of 150 normal points" in done.stdout
    assert "detected" not in done.stdout


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (
            "mixed.csv",
            ["--one-class"],
            "2 classes, 'broken', 'fine'; name the normal class",
        ),
        ("mixed.csv", ["--one-class", "--normal", "new"], "not one of the classes"),
        ("normal.csv", ["--one-class", "--epochs", 3], "--one-class trains without an optimizer"),
        ("normal.csv", ["--one-class", "--rejection-by", "margin"], "has no margin"),
        ("normal.csv", [], "only one class"),
        ("normal.csv", ["--classifier", "linear", "--one-class"], "'linear' has no such parameter"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(
    folder: Path, data: str, options: list[object], sentence: str
) -> None:
    refused = run("train", folder / data, "-o", folder / "none.npz", *options)
    assert sentence in refusal(refused)


def test_normal_needs_one_class(folder: Path) -> None:
    done = run("train", folder / "mixed.csv", "-o", folder / "none.npz", "--normal", "fine")
    assert done.exit_code == 2
    assert "give both" in done.output


@needs_emulated_avr
def test_a_device_tells_normal_from_all_else(
    folder: Path, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = folder / "test.csv"
    succeed("build", model_file, "--data", data)
    run_record = run_json("hil", data, "--emulate", "-o", "results.csv")
    assert (run_record["n"], run_record["mismatches"], run_record["lost"]) == (60, 0, 0)
    assert (run_record["others"], run_record["others_found"]) == (20, 20)
    assert run_record["accuracy"] > 0.8
    confusion = run_record["confusion"]
    assert [sum(row) for row in confusion] == [40, 20]
    assert confusion[1] == [0, 20]
    told = succeed("report", "results.csv", "--data", data, "-o", "report.html")
    assert "100.00 % of 20 other points" in told.stdout
    assert "unknown" in (tmp_path / "report.html").read_text()
    assert quantize(load_model(model_file)).model_sha256 == run_record["model_sha256"]


def test_an_export_of_one_class_answers_unknown(model_file: Path, tmp_path: Path) -> None:
    succeed("export", model_file, "--c", tmp_path / "library")
    header = (tmp_path / "library" / "pnn_model.h").read_text()
    assert "PNN_UNKNOWN" in header
    assert "PNN_UNKNOWN" in (tmp_path / "library" / "README.md").read_text()
    succeed("inspect", model_file)
