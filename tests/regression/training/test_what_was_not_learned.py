"""Models that learned nothing, or not all classes: training ended well, without a word.

And scikit-learn asked at each of its fits whether many classes were measurements.
"""

from __future__ import annotations

import numpy as np
import pytest

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
