"""Points without labels are classified as the device classifies them."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run_json, succeed
from model_factory import random_model, random_points

from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules, without_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.rule import Confidence, Sharpness

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def model(tmp_path: Path) -> Model:
    """Give a model of four named features and three classes, which is in m.npz."""
    model = random_model(1, features=4, projections=3, prototypes=6, classes=3)
    model = replace(model, feature_names=NAMES, classes=("no", "x,y", "yes"))
    model = with_rules(model, Sharpness(2.0))
    save_model(model, tmp_path / "m.npz")
    return model


@pytest.fixture
def points() -> np.ndarray:
    return random_points(2, 20, 4).round(2).astype(np.float32)


def answers(model: Model, X: np.ndarray) -> list[str]:
    integers = quantize(model)
    return [model.classes[i] for i in integers.predict(integers.quantize(X)).tolist()]


def write(path: Path, X: np.ndarray, header: str = "") -> Path:
    rows = [",".join(f"{value:g}" for value in row) for row in X]
    path.write_text("\n".join([*([header] if header else []), *rows]) + "\n")
    return path


def test_labels_that_are_exchanged_are_called_so(
    tmp_path: Path, model: Model, points: np.ndarray
) -> None:
    """The accuracy was 0 %, without a word."""
    right = [model.classes[i] for i in model.answers(points)[0].tolist()]
    a, b = sorted(set(right), key=right.count)[-2:]
    two = [(x, label) for x, label in zip(points, right, strict=True) if label in (a, b)] * 10
    other = {a: b, b: a}
    for names, said in ((other, True), ({a: a, b: b}, False), ({a: a, b: a}, False)):
        lines = [f'"{names[label]}",{",".join(map(str, x))}' for x, label in two]
        (tmp_path / "t.csv").write_text("\n".join(["label,a,b,c,d", *lines, ""]))
        record = run_json("predict", tmp_path / "m.npz", tmp_path / "t.csv")
        assert any(each["kind"] == "swapped_labels" for each in record["notices"]) == said


def test_columns_without_labels_are_matched_by_name_or_place(
    tmp_path: Path, model: Model, points: np.ndarray
) -> None:
    wanted = answers(model, points)
    assert len(set(wanted)) > 1
    files = [
        write(tmp_path / "named.csv", points[:, ::-1], "d,c,b,a"),
        write(tmp_path / "bare.csv", points),
        write(
            tmp_path / "more.csv", np.c_[points[:, :2], np.arange(20), points[:, 2:]], "a,b,n,c,d"
        ),
        write(tmp_path / "labelled.csv", np.c_[np.zeros(20), points], "label,a,b,c,d"),
    ]
    np.savez(tmp_path / "x.npz", X=points)
    for path in (*files, tmp_path / "x.npz"):
        record = run_json("predict", tmp_path / "m.npz", path)
        assert record["predicted"] == wanted, path.name
        assert sum(record["classes"].values()) == record["n"] == 20
    printed = succeed("predict", tmp_path / "m.npz", files[1]).stdout
    assert printed.splitlines() == wanted


def test_a_table_of_classes_is_written_and_replaced(
    tmp_path: Path, model: Model, points: np.ndarray
) -> None:
    data, out = write(tmp_path / "new.csv", points), tmp_path / "out.csv"
    for _ in range(2):
        succeed("predict", tmp_path / "m.npz", data, "-o", out)
    with out.open(newline="") as stream:
        (head, *rows) = csv.reader(stream)
    assert head == ["1", "2", "3", "4", "predicted_class", "confidence_percent"]
    assert [name for *_, name, _ in rows] == answers(model, points)
    assert [",".join(row[:4]) for row in rows] == data.read_text().splitlines()
    integers = quantize(model)
    sure = integers.policy.find(Confidence)
    assert sure is not None
    scores = integers.scores(integers.quantize(points))
    assert [int(each) for *_, each in rows] == sure.percent(scores).tolist()


def test_without_calibration_there_is_no_column_of_confidence(
    tmp_path: Path, model: Model, points: np.ndarray
) -> None:
    save_model(without_rules(model), tmp_path / "m.npz")
    data, out = write(tmp_path / "new.csv", points), tmp_path / "out.csv"
    assert "confidence_percent" not in run_json("predict", tmp_path / "m.npz", data, "-o", out)
    assert out.read_text().startswith("1,2,3,4,predicted_class\n")
