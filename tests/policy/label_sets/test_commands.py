"""The commands on data whose points have sets of labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from command_line import run, run_json
from sklearn.datasets import make_multilabel_classification

from protonn_edge.data.reading import load_dataset
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize


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
    options = ("--epochs", 20, "--prototypes", 15, "--holdout", 0.3)
    result = run("train", path / "data.svm", "-o", path / "model.npz", *options)
    assert result.exit_code == 0, result.output
    (path / "said.txt").write_text(result.stdout)
    return path


def test_train_says_the_precision_at_one_three_and_five(folder: Path) -> None:
    said = (folder / "said.txt").read_text()
    assert "P@1/3/5" in said
    assert "on 90 test points" in said
    model = load_model(folder / "model.npz")
    assert model.policy.predicts == "labels"
    assert model.classes == ("0", "1", "2", "3", "4")


def test_train_has_the_precisions_in_its_json(folder: Path, tmp_path: Path) -> None:
    options = ("--epochs", 2, "--prototypes", 15, "--loss", "hinge")
    options = (*options, "--init-projection", "sleec")
    data = folder / "data.svm"
    record = run_json("train", data, "-o", tmp_path / "m.npz", "--holdout", 0.3, *options)
    shares = record["test"]["precision_at"]
    assert record["n"] == 90
    assert 0 < shares["5"] <= shares["3"] <= shares["1"] <= 1
    assert record["train"]["precision_at"]["1"] > 0
    assert record["no_device"] is None
    assert record["model_bytes"] > 0
    record = run_json("train", data, "-o", tmp_path / "m.npz", "--holdout", 0, *options)
    assert record["n"] == 0
    assert "test" not in record


def test_inspect_says_when_a_point_has_a_label(folder: Path) -> None:
    record = run_json("inspect", folder / "model.npz")
    assert record["threshold"] == load_model(folder / "model.npz").policy.rules[0].threshold
    assert "all labels with a score of at least" in run("inspect", folder / "model.npz").output


def test_predict_gives_the_labels_of_the_integers_in_order(folder: Path, tmp_path: Path) -> None:
    record = run_json("predict", folder / "model.npz", folder / "data.svm")
    integers = quantize(load_model(folder / "model.npz"))
    X = load_dataset(folder / "data.svm").X_train[record["rows"]]
    scores = integers.scores(integers.quantize(X))
    assert len(scores) == 90
    for said, row, chosen in zip(
        record["predicted"], scores, integers.policy.values(scores), strict=True
    ):
        labels = [int(label) for label in said.split(",") if label]
        assert sorted(labels) == np.flatnonzero(chosen).tolist()
        assert sorted(row[labels].tolist(), reverse=True) == row[labels].tolist()
    run("predict", folder / "model.npz", folder / "data.svm", "-o", tmp_path / "p.csv")
    assert "predicted_labels" in (tmp_path / "p.csv").read_text().splitlines()[0]


def test_a_matrix_of_labels_is_divided_again(folder: Path, tmp_path: Path) -> None:
    data = load_dataset(folder / "data.svm")
    names = np.array(["a", "b", "c", "d", "e"])
    np.savez(tmp_path / "d.npz", X=data.X_train, y=data.y_train, class_names=names)
    options = ("--epochs", 5, "--prototypes", 15, "--holdout", 0.3)
    record = run_json("train", tmp_path / "d.npz", "-o", tmp_path / "m.npz", *options)
    again = run_json("predict", tmp_path / "m.npz", tmp_path / "d.npz")
    assert again["n"] == 90
    assert again["labels"] == record["test"]


@needs_emulated_avr
def test_the_board_ranks_labels_as_numpy_does(folder: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    assert run("build", "--board", "uno", folder / "model.npz", "-o", project).exit_code == 0
    data = folder / "data.svm"
    record = run_json("hil", data, "--project", project, "--emulate", "-o", tmp_path / "r.csv")
    expected = run_json("predict", folder / "model.npz", data)
    assert record["mismatches"] == 0
    assert record["labels"] == expected["labels"]
    page = tmp_path / "report.html"
    given = ("--data", data, "--project", project, "-o", page)
    assert run("report", tmp_path / "r.csv", *given).exit_code == 0
    assert "The most frequent labels" in page.read_text()
