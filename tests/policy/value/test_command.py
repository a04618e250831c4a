"""From a table whose labels are numbers to values on the emulated Uno, and wrong ways."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import assert_one_sentence, refusal, run, run_json, succeed
from policy.value.numbers import write_table

from protonn_edge.model.file import load_model
from protonn_edge.policy.value.figures import Interval, interval_of_mean
from protonn_edge.policy.value.rule import Value

NAMED = ("--label", "temperature")
SMALL = ("--epochs", "20", "--prototypes", "12")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("values")
    write_table(place / "data.csv")
    return place


@pytest.fixture(scope="module")
def trained(folder: Path) -> dict[str, Any]:
    return run_json("train", folder / "data.csv", *NAMED, *SMALL, "-o", folder / "model.npz")


def value_of(folder: Path) -> Value:
    value = load_model(folder / "model.npz").policy.find(Value)
    assert value is not None
    return value


def test_labels_with_decimals_become_a_number_to_predict(
    trained: dict[str, Any], folder: Path
) -> None:
    assert trained["n"] == 60
    assert trained["test"]["r2"] > 0.8
    assert trained["test"]["mae"] < trained["test"]["mean_mae"] / 2
    model = load_model(folder / "model.npz")
    assert model.classes == ("temperature",)
    assert value_of(folder).half_width is not None


def test_a_model_of_a_number_is_not_shown_as_one_of_classes(
    trained: dict[str, Any], folder: Path
) -> None:
    assert trained["n"]
    shown = succeed("inspect", folder / "model.npz").stdout
    assert re.search(r"^ +predicts +a number: temperature *$", shown, re.MULTILINE)
    assert "classes L" not in shown
    assert_one_sentence(
        run("build", folder / "model.npz", "--observe", "-o", folder / "project"),
        "a model that predicts a number",
    )


def test_predictions_are_in_the_labels_unit(trained: dict[str, Any], folder: Path) -> None:
    output = folder / "predicted.csv"
    told = run_json("predict", folder / "model.npz", folder / "data.csv", "-o", output)
    assert told["errors"]["mae"] == pytest.approx(trained["test"]["mae"])
    rows = list(csv.DictReader(output.read_text().splitlines()))
    errors = [float(row["predicted_value"]) - float(row["temperature"]) for row in rows]
    assert np.abs(errors).mean() == pytest.approx(trained["test"]["mae"])
    known, value = [float(row["temperature"]) for row in rows], value_of(folder)
    assert np.min(known) < value.offset < np.max(known)
    off = np.abs(np.array(known) - value.offset).mean()
    assert told["errors"]["mean_mae"] == pytest.approx(off, abs=10.0**-value.decimals)


@pytest.fixture(scope="module")
def measured(trained: dict[str, Any], folder: Path) -> Path:
    """Return the results of a build on the emulated Uno; its project is beside them."""
    assert trained["n"]
    results = folder / "results.csv"
    succeed("build", folder / "model.npz", "-o", folder / "project")
    words = ("--project", folder / "project", "--emulate", "-o", results)
    said = succeed("hil", folder / "data.csv", *words)
    assert "without labels" not in said.output
    assert f"--data {folder / 'data.csv'}" in said.output  # of the command that writes a report
    return results


@needs_emulated_avr
def test_the_device_gives_the_same_numbers(folder: Path, measured: Path, tmp_path: Path) -> None:
    data, project, results = folder / "data.csv", folder / "project", tmp_path / "results.csv"
    told = run_json("hil", data, "--project", project, "--emulate", "-o", results)
    assert told["mismatches"] == 0
    predicted = run_json("predict", folder / "model.npz", data)
    assert told["errors"] == predicted["errors"]
    assert results.read_text() == measured.read_text()
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert [row["predicted"] for row in rows] == predicted["predicted"]
    temperatures = [row["temperature"] for row in csv.DictReader(data.read_text().splitlines())]
    true = [float(temperatures[int(row["index"])]) for row in rows]
    assert [float(row["true"]) for row in rows] == true
    width = told["interval"]["half_width"]
    for place, number in enumerate(map(float, predicted["predicted"])):
        ends = predicted["predicted_low"][place], predicted["predicted_high"][place]
        assert ends == pytest.approx((number - width, number + width))
    results.write_text(results.read_text().replace(f",{rows[0]['true']},", ",-77,", 1))
    refused = run("report", results, "--data", data, "--project", project)
    assert "'-77'" in refusal(refused)


def test_the_interval_covers_new_points() -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        width = Interval.of(rng.normal(size=50)).half_width
        assert width is not None
        covered.append((np.abs(rng.normal(size=400)) <= width).mean())
    assert 0.895 <= np.mean(covered) < 0.93  # 0.902 is expected


def test_the_interval_covers_points_of_new_groups() -> None:
    """That of the points alone covers 71 % of them."""
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        groups = np.repeat(np.arange(12), rng.integers(1, 60, size=12))
        of_group = 3 * rng.normal(size=13)
        width, n_groups = Interval.of(of_group[groups] + rng.normal(size=len(groups)), groups)
        assert width is not None
        assert n_groups == 0
        covered.append((np.abs(of_group[12] + rng.normal(size=400)) <= width).mean())
    assert 0.88 <= np.mean(covered) < 0.97  # at least 0.9 is expected


@pytest.mark.parametrize("n_groups", [None, 5, 40])
def test_the_confidence_of_the_error_holds_for_new_groups(n_groups: int | None) -> None:
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(400):
        groups, errors = None, rng.exponential(size=200)
        if n_groups is not None:
            groups = np.sort(rng.integers(n_groups, size=200))
            errors = errors * rng.uniform(0, 2, size=n_groups)[groups]
        interval = interval_of_mean(errors, groups)
        assert interval is not None
        covered.append(interval[0] <= 1 <= interval[1])
    assert np.mean(covered) >= 0.91


def test_too_few_points_give_no_interval() -> None:
    assert Interval.of(np.ones(8)) == (None, 0)
    assert Interval.of(np.ones(9)) == (1.0, 0)
    assert interval_of_mean(np.ones(1)) is None


def test_too_few_groups_give_an_interval_of_these_groups_alone() -> None:
    groups = np.arange(40) % 4
    assert Interval.of(np.arange(40.0), groups) == (36.0, 4)
    assert interval_of_mean(np.arange(40.0), np.zeros(40, np.int64)) is None
    assert "of the 4 held-out groups" in Value(1, 0, 1, 36.0, None, 4).interval_words


@needs_emulated_avr
def test_a_report_shows_the_errors_of_the_device(
    trained: dict[str, Any], folder: Path, measured: Path, tmp_path: Path
) -> None:
    page, given = tmp_path / "report.html", ("--project", folder / "project")
    told = run_json("report", measured, "--data", folder / "data.csv", *given, "-o", page)
    assert told["errors"]["mae"] == pytest.approx(trained["test"]["mae"])
    assert told["accuracy"] is None
    text = page.read_text()
    sections = set(re.findall('<section id="([a-z]+)">', text))
    assert {"errors", "sketch", "memory", "latency", "energy", "plan"} <= sections
    assert not {"accuracy", "mistakes", "space", "seen", "quantization"} & sections
    assert "<h1>temperature on an Uno</h1>" in text
    assert "Predicted and true temperature." in text
    assert f"RMSE {trained['test']['rmse']:.4g}" in text
    assert text.count("predicted = true") == 1


@needs_emulated_avr
@pytest.mark.usefixtures("measured")
def test_a_report_without_the_true_numbers_is_refused(folder: Path, tmp_path: Path) -> None:
    results, project = tmp_path / "results.csv", folder / "project"
    unlabelled, empty = tmp_path / "unlabelled.csv", tmp_path / "empty.csv"
    names, *rows = (folder / "data.csv").read_text().splitlines()
    bare = [line.rpartition(",")[0] for line in (names, *rows)]
    unlabelled.write_text("\n".join(bare) + "\n")
    empty.write_text("\n".join([names, *(f"{row}," for row in bare[1:])]) + "\n")
    said = succeed("hil", unlabelled, "--project", project, "--emulate", "-o", results)
    assert "write a report" not in said.output
    for options in ((), ("--data", unlabelled), ("--data", empty)):
        told = run("report", results, "--project", project, *options)
        assert "name the labelled file" in refusal(told)


def test_epochs_report_how_much_of_the_variance_is_explained(folder: Path, tmp_path: Path) -> None:
    options = ["--epochs", 2, "--verbose", "-o", tmp_path / "model.npz"]
    done = succeed("train", folder / "data.csv", *NAMED, *options)
    lines = [line for line in done.stdout.splitlines() if line.startswith("epoch")]
    assert len(lines) == 2
    for line in lines:
        assert re.search(r"objective \d+\.\d{4}, training R2 -?[\d.]+, test R2 -?[\d.]+$", line)


def test_a_tolerance_is_printed_by_all_commands(folder: Path, tmp_path: Path) -> None:
    data, model = folder / "data.csv", tmp_path / "model.npz"
    words = ("--classifier", "linear", "--within", 2)
    told = run_json("train", data, *NAMED, *words, "-o", model)
    value = load_model(model).policy.find(Value)
    assert value is not None
    assert value.tolerance == 2
    assert 0 < told["test"]["within"] < 1
    assert run_json("predict", model, data)["errors"]["within"] == told["test"]["within"]
    printed = succeed("predict", model, data, "-o", tmp_path / "predicted.csv").stdout
    assert f"{100 * told['test']['within']:.1f} %" in printed
    assert "within 2" in printed


def test_numbers_are_predicted_in_floats_alone(tmp_path: Path) -> None:
    table, output = write_table(tmp_path / "data.csv"), tmp_path / "predicted.csv"
    options = ("--normalization", "l2", "--epochs", "5", "-o", tmp_path / "model.npz")
    succeed("train", table, *NAMED, *options)
    told = run_json("predict", tmp_path / "model.npz", table, "-o", output)
    rows = list(csv.DictReader(output.read_text().splitlines()))
    X, y = (
        np.array([[float(row[f"x{i}"]) for i in range(5)] for row in rows]),
        np.array([float(row["temperature"]) for row in rows]),
    )
    found = np.array([float(row["predicted_value"]) for row in rows])
    assert told["errors"]["mae"] == pytest.approx(np.abs(found - y).mean(), abs=0.01)
    in_python = load_model(tmp_path / "model.npz").predict(X)
    np.testing.assert_allclose(in_python, found, atol=0.01)
