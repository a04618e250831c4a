"""Models that learned nothing, or not all classes: training ended well, without a word.

And scikit-learn asked at each of its fits whether many classes were measurements.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run_json, succeed

from protonn_edge.cli.trained import unlearned
from protonn_edge.data.dataset import Dataset


def data_set(y_train: np.ndarray, y_test: np.ndarray, classes: int) -> Dataset:
    X_train, X_test = (np.zeros((len(y), 1), np.float32) for y in (y_train, y_test))
    return Dataset(X_train, y_train, X_test, y_test, tuple("abcdefgh"[:classes]))


Y = np.arange(100) % 4 // 3  # every fourth point is a "b"
EMPTY = np.empty(0, np.int64)
RIGHT = np.concatenate([Y[:50], 1 - Y[50:]])  # a half of all


@pytest.mark.parametrize(
    ("answers", "kinds"),
    [
        (Y, []),
        (np.where(np.arange(100) < 20, 0, Y), []),  # 95 %, by 20 points more than "a"
        (1 - Y, ["chance"]),
        (RIGHT, ["chance"]),
        (np.where(np.arange(100) < 92, 0, Y), ["chance"]),  # 77 %, two points more
        (np.zeros(100, np.int64), ["chance", "never_answered"]),
        (np.full(100, 255), ["chance", "never_answered"]),  # unknown
    ],
)
def test_what_is_no_better_than_one_answer_is_called_that(
    answers: np.ndarray, kinds: list[str]
) -> None:
    assert [each.kind for each in unlearned(data_set(Y, EMPTY, 2), answers, EMPTY)] == kinds
    tested = unlearned(data_set(Y, Y, 2), Y, answers)
    assert [each.kind for each in tested] == [kind for kind in kinds if kind == "chance"]


def test_the_share_of_one_answer_is_that_of_the_tested_points() -> None:
    (notice,) = unlearned(data_set(1 - Y, Y, 2), 1 - Y, np.where(np.arange(100) < 80, 0, 1 - Y))
    assert (
        "test points are classified correctly, which is not clearly better than always answering "
        "'a' (75.00 %)" in str(notice)
    )


def test_points_of_one_class_are_not_judged_by_it() -> None:
    assert unlearned(data_set(Y, np.zeros(9, np.int64), 2), Y, np.zeros(9, np.int64)) == []


def test_train_warns_of_a_class_that_is_never_answered(tmp_path: Path) -> None:
    data = tmp_path / "few.csv"
    names = ["rare" if n in (0, 100) else ("left", "right")[n % 2] for n in range(400)]
    # A rare point is like a left one; left and right ones overlap.
    rows = [f"{n % 2 + n * 37 % 100 / 80},{name}" for n, name in enumerate(names)]
    data.write_text("x,label\n" + "\n".join(rows) + "\n")
    command = ("train", data, "--classifier", "linear", "-o", tmp_path / "m.npz", "--holdout", 0)
    notices = run_json(*command)["notices"]
    assert [each["kind"] for each in notices if each["warning"]] == ["never_answered"]
    assert "warning: the model never answers 'rare'; add more" in succeed(*command).stderr


@pytest.mark.parametrize("kind", ["linear", "forest"])
def test_many_classes_are_asked_about_once(tmp_path: Path, kind: str) -> None:
    data = tmp_path / "many.csv"
    data.write_text("x,y,label\n" + "\n".join(f"{n},{n % 7},c{n % 30}" for n in range(40)) + "\n")
    done = succeed("train", data, "--classifier", kind, "-o", tmp_path / "m.npz")
    assert done.stderr.count("the labels may be measurements") == 1
    assert "could represent" not in done.stderr
