"""Commands warn when they measure a model on rows that it was trained on, and say which share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run_json, succeed
from sklearn.svm import SVC

from protonn_edge.chain.file import load_model, save_model
from protonn_edge.datasets import hold_out_normal, load_dataset, of_normal_points
from protonn_edge.datasets.row_sketch import RowSketch
from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier


def shares(record: dict[str, Any]) -> list[str]:
    return [each["text"] for each in record["notices"] if each["kind"] == "training_rows"]


def write(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    rows = [",".join(f"{value:.3f}" for value in row) for row in X]
    lines = [f"{row},{'ab'[label]}" for row, label in zip(rows, y, strict=True)]
    path.write_text("\n".join(["p,q,r,label", *lines]) + "\n")
    return path


@pytest.fixture
def points() -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(120) % 2
    return np.random.default_rng(0).normal(size=(120, 3)) + 2 * y[:, None], y


@pytest.fixture
def folder(tmp_path: Path, points: tuple[np.ndarray, np.ndarray]) -> Path:
    """Give 80 rows to train on and 40 others, and a model that was trained on the former."""
    X, y = points
    write(tmp_path / "train.csv", X[:80], y[:80])
    write(tmp_path / "new.csv", X[80:], y[80:])
    write(tmp_path / "mixed.csv", X[60:], y[60:])
    succeed("train", tmp_path / "train.csv", "--classifier", "linear", "-o", tmp_path / "m.npz")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "share"), [("train", "100.0 % of the 80"), ("mixed", "33.3 % of the 60"), ("new", "")]
)
def test_predictions_of_training_rows_are_noticed(folder: Path, name: str, share: str) -> None:
    found = shares(run_json("predict", folder / "m.npz", folder / f"{name}.csv", "--json"))
    assert [share in text for text in found] == ([True] if share else [])


def test_so_are_measurements(folder: Path) -> None:
    verified = run_json(
        "verify", folder / "m.npz", folder / "mixed.csv", "--board", "host", "--json"
    )
    assert "33.3 % of the 60 points" in shares(verified)[0]


def test_a_model_without_a_sketch_says_nothing(folder: Path) -> None:
    model = load_model(folder / "m.npz")
    save_model(replace(model, training_rows=None), folder / "m.npz")
    assert not shares(run_json("predict", folder / "m.npz", folder / "train.csv", "--json"))


def test_held_out_rows_are_new_and_others_are_not(folder: Path) -> None:
    options = "--classifier", "linear", "--holdout", "0.25", "-o", folder / "h.npz", "--json"
    assert not shares(run_json("train", folder / "train.csv", *options))
    found = shares(run_json("predict", folder / "h.npz", folder / "train.csv", "--json"))
    assert "75.0 % of the 80 points" in found[0]


def test_points_that_were_held_out_are_found_in_the_data(folder: Path) -> None:
    data, model = folder / "train.csv", folder / "h.npz"
    groups = folder / "groups.txt"
    groups.write_text("".join(f"{row // 10}\n" for row in range(80)))
    options = "--classifier", "linear", "--holdout", "25%", "--groups", groups, "-o", model
    trained = run_json("train", data, *options, "--json")
    verified = run_json("verify", model, data, "--board", "host", "--json")
    assert (trained["n"], verified["n"]) == (20, 20)
    assert verified["accuracy"] == trained["accuracy"]
    assert not shares(verified)
    held_out = [each for each in verified["notices"] if each["kind"] == "held_out"]
    assert "held out 20 of these 80 points" in held_out[0]["text"]
    # Other rows are used as they are.
    others = run_json("verify", model, folder / "mixed.csv", "--board", "host", "--json")
    assert others["n"] == 60


def test_normal_points_that_were_held_out_come_with_all_others(folder: Path) -> None:
    whole = load_dataset(folder / "train.csv")
    divided = hold_out_normal(of_normal_points(whole, "a"), 0.2, seed=0)
    assert divided.held_out is not None
    rows = RowSketch(RowSketch.of([divided.X_train]).hashes, np.packbits(divided.held_out))
    chosen = rows.held_out_of(whole.X_train)
    assert chosen is not None
    assert np.bincount(whole.y_train[chosen]).tolist() == [8, 40]  # a fifth of the normal ones


def test_a_test_part_with_training_rows_is_noticed(
    tmp_path: Path, points: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = points
    np.savez(tmp_path / "d.npz", X_train=X[:80], y_train=y[:80], X_test=X[60:], y_test=y[60:])
    options = "--classifier", "linear", "-o", tmp_path / "m.npz", "--json"
    assert "33.3 % of the 60" in shares(run_json("train", tmp_path / "d.npz", *options))[0]


def test_a_conversion_remembers_its_training_data(
    tmp_path: Path, points: tuple[np.ndarray, np.ndarray]
) -> None:
    io = pytest.importorskip("skops.io")
    X, y = points
    names = np.array(["a", "b"])[y]
    io.dump(SVC().fit(X[:80], names[:80]), tmp_path / "m.skops")
    data = tmp_path / "d.npz"
    np.savez(data, X_train=X[:80], y_train=names[:80], X_test=X[60:], y_test=names[60:])
    model = tmp_path / "m.npz"
    found = run_json("convert", tmp_path / "m.skops", "--data", data, "-o", model, "--json")
    assert "33.3 % of the 60 points" in shares(found)[0]
    np.savez(data, X=X[:80])
    assert "100.0 % of the 80" in shares(run_json("predict", model, data, "--json"))[0]


def test_a_training_that_goes_on_remembers_all_rows(points: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = points
    X = X.astype(np.float32)
    whole = RowSketch.of([X]).hashes
    settings: dict[str, Any] = {"n_projections": 2, "n_prototypes": 4, "epochs": 1}
    first = ProtoNNClassifier(**settings, random_state=0).fit(X[:70], y[:70])
    again = ProtoNNClassifier(initial_model=first.to_model(), epochs=1, random_state=0)
    in_parts = ProtoNNClassifier(**settings, random_state=0).partial_fit(X[:70], y[:70], [0, 1])
    for each in (again.fit(X[50:], y[50:]), in_parts.partial_fit(X[50:], y[50:])):
        rows = each.to_model().training_rows
        assert rows is not None
        assert np.array_equal(rows.hashes, whole)


def test_the_same_rows_in_any_order_make_the_same_file(
    tmp_path: Path, points: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = points
    sketches = []
    for order in (np.arange(120), np.arange(120)[::-1]):
        LinearClassifier(random_state=0).fit(X[order], y[order]).save(tmp_path / "m.npz")
        rows = load_model(tmp_path / "m.npz").training_rows
        sketches.append(None if rows is None else rows.hashes.tolist())
    assert sketches[0] is not None
    assert sketches[0] == sketches[1]
