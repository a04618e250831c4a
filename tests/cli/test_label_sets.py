"""The commands on data whose points have sets of labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, run, run_json
from sklearn.datasets import make_multilabel_classification

from protonn_edge.chain.file import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a libsvm file of label sets and a model of it."""
    path = tmp_path_factory.mktemp("label-sets")
    X, Y = make_multilabel_classification(
        n_samples=300, n_features=12, n_classes=5, n_labels=2, random_state=0
    )
    lines = [
        f"{','.join(map(str, np.flatnonzero(labels)))} "
        + " ".join(f"{place + 1}:{point[place]:g}" for place in np.flatnonzero(point))
        for point, labels in zip(X, Y, strict=True)
    ]
    (path / "data.svm").write_text("\n".join(lines))
    options = ("--epochs", 20, "--prototypes", 15, "--holdout", 0.3, "--set", "normalization=l2")
    result = run("train", path / "data.svm", "-o", path / "model.npz", *options)
    assert result.exit_code == 0, result.output
    (path / "said.txt").write_text(result.stdout)
    return path


def test_train_says_the_precision_at_one_three_and_five(folder: Path) -> None:
    assert "P@1/3/5" in (folder / "said.txt").read_text()
    assert "90 held-out points" in (folder / "said.txt").read_text()
    model = load_model(folder / "model.npz")
    assert model.multilabel
    assert model.classes == ("0", "1", "2", "3", "4")


def test_train_has_the_precisions_in_its_json(folder: Path, tmp_path: Path) -> None:
    options = (
        "--epochs",
        2,
        "--prototypes",
        15,
        "--loss",
        "hinge",
        "--set",
        "init_projection=sleec",
    )
    data = folder / "data.svm"
    record = run_json("train", data, "-o", tmp_path / "m.npz", "--holdout", 0.3, *options)
    assert record["n"] == 90
    assert 0 < record["precision_at_5"] <= record["precision_at_3"] <= record["precision_at_1"] <= 1
    assert record["train_precision_at_1"] > 0
    assert record["paper_bytes"] > 0
    assert "sets of labels (5 in all)" in record["no_device"]
    record = run_json("train", data, "-o", tmp_path / "m.npz", "--holdout", 0, *options)
    assert record["n"] == 0
    assert record["precision_at_1"] is None


def test_inspect_says_that_there_is_no_device_for_it(folder: Path) -> None:
    record = run_json("inspect", folder / "model.npz")
    assert record["multilabel"] is True
    assert record["normalization"] == "l2"
    assert "model_bytes" not in record
    assert "sets of labels" in run("inspect", folder / "model.npz").output


@pytest.mark.parametrize(
    "arguments", [("build", "model.npz"), ("verify", "model.npz", "data.svm")], ids=lambda a: a[0]
)
def test_what_needs_a_device_refuses_in_one_sentence(
    folder: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    command, *files = arguments
    result = run(command, *(folder / name for name in files))
    assert_one_sentence(result, "sets of labels (5 in all), but the device answers with one class")


def test_points_of_unit_norm_are_for_floats_alone(tmp_path: Path) -> None:
    lines = "".join(f"{i % 2} {1 + i % 2}:{1 + i} 3:1\n" for i in range(40))
    (tmp_path / "d.svm").write_text(lines)
    options = ("--set", "normalization=l2", "--prototypes", 4, "--epochs", 5)
    record = run_json("train", tmp_path / "d.svm", "-o", tmp_path / "m.npz", *options)
    assert record["train_accuracy"] == 1.0
    assert "unit norm" in record["no_device"]
    said = run("train", tmp_path / "d.svm", "-o", tmp_path / "m.npz", *options).stdout
    assert "floats only" in said
    result = run("build", tmp_path / "m.npz", "-o", tmp_path / "project")
    assert result.exit_code == 2
    assert "unit norm" in result.stderr
