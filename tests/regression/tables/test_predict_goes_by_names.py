"""`predict` took columns by position though both had names: what was said of them was wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from chains import replace
from command_line import refusal, run, run_json
from model_factory import random_model, random_points

from protonn_edge.chain.file import save_model

NAMES = ("a", "b", "c")


def saved_model(path: Path) -> Path:
    save_model(replace(random_model(4, features=3, classes=3), feature_names=NAMES), path)
    return path


def test_arrays_in_another_order_get_the_same_answers(tmp_path: Path) -> None:
    model, X = saved_model(tmp_path / "m.npz"), random_points(4, 40, 3)
    np.savez(tmp_path / "own.npz", X=X, feature_names=np.array(NAMES))
    np.savez(tmp_path / "turned.npz", X=X[:, [2, 0, 1]], feature_names=np.array(["c", "a", "b"]))
    said = [run_json("predict", model, tmp_path / name) for name in ("own.npz", "turned.npz")]
    assert said[0]["predicted"] == said[1]["predicted"]
    assert len(set(said[0]["predicted"])) > 1


def test_a_table_without_a_column_of_the_model_is_refused(tmp_path: Path) -> None:
    model = saved_model(tmp_path / "m.npz")
    (tmp_path / "x.csv").write_text("id,a,b\n1,2,3\n2,3,4\n")
    assert "'c'" in refusal(run("predict", model, tmp_path / "x.csv"))


def test_names_with_units_are_no_samples_of_windows(tmp_path: Path) -> None:
    model = saved_model(tmp_path / "m.npz")
    (tmp_path / "x.csv").write_text("a (V),b (V),c (V)\n1,2,3\n2,3,5\n")
    assert "rename columns" in refusal(run("predict", model, tmp_path / "x.csv"))


def test_answers_that_predict_wrote_before_are_no_labels(tmp_path: Path) -> None:
    """The accuracy of a model on its own answers was 100 %."""
    model, X = saved_model(tmp_path / "m.npz"), random_points(4, 40, 3)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c", comments="")
    run_json("predict", model, tmp_path / "x.csv", "-o", tmp_path / "y.csv")
    again = run_json("predict", model, tmp_path / "y.csv", "-o", tmp_path / "z.csv")
    assert "accuracy" not in again
    assert (tmp_path / "z.csv").read_text().startswith("a,b,c,predicted_class,predicted_class_2\n")
