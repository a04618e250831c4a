"""Recordings are cut into windows of one label each, and test windows share no sample."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.data.naming import match_columns, sample_names
from protonn_edge.data.takes.recordings import cut_windows
from protonn_edge.system.errors import InputError


def recording(*runs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return samples that count up, in two channels, and the labels of runs of a length."""
    labels = np.repeat(*np.array(runs).T)
    samples = np.arange(len(labels), dtype=np.float32)
    return np.stack([samples, -samples], axis=1), labels


def test_windows_begin_with_each_run() -> None:
    cut = cut_windows(*recording((1, 7), (0, 3), (1, 4)), window=3)
    assert cut.X_train[:, 0, 0].tolist() == [0, 3, 7, 10]
    assert cut.X_train[0].tolist() == [[0, 0], [1, -1], [2, -2]]
    assert cut.y_train.tolist() == [1, 1, 0, 1]
    assert cut.X_test.shape == (0, 3, 2)


def test_windows_may_overlap() -> None:
    cut = cut_windows(*recording((0, 7)), window=4, stride=1)
    assert cut.X_train[:, 0, 0].tolist() == [0, 1, 2, 3]


@given(st.integers(2, 9), st.integers(1, 9), st.floats(0, 0.9), st.integers(20, 60))
@example(8, 1, 0.875, 20)  # all windows are for testing
def test_training_windows_share_no_sample_with_test_windows(
    window: int, stride: int, share: float, length: int
) -> None:
    samples, labels = recording((0, 50), (1, length))
    # of each class, a whole number of windows that is closest to its share
    tested_windows = [math.floor(run * share / window + 0.5) for run in (50, length)]
    kept = [
        run - window * min(count, run // window)
        for run, count in zip((50, length), tested_windows, strict=True)
    ]
    if max(kept) < window:
        with pytest.raises(
            InputError, match=f"for testing, but a window has {window}; use shorter"
        ):
            cut_windows(samples, labels, window, stride, share)
        return
    cut = cut_windows(samples, labels, window, stride, share)
    assert len(cut.X_train) == sum(max(0, run - window + stride) // stride for run in kept)
    trained = set(cut.X_train[:, :, 0].ravel().tolist())
    tested = cut.X_test[:, :, 0].ravel().tolist()
    assert not trained & set(tested)
    assert len(set(tested)) == len(tested)
    for X, y in ((cut.X_train, cut.y_train), (cut.X_test, cut.y_test)):
        assert (labels[X[:, :, 0].astype(int)] == y[:, None]).all()


@given(
    st.integers(2, 9),
    st.lists(st.integers(1, 60), min_size=2, max_size=30),
    st.floats(0.05, 0.6),
)
def test_the_share_for_testing_holds_for_many_short_runs(
    window: int, lengths: list[int], share: float
) -> None:
    runs = [(n % 2, length) for n, length in enumerate([200, 200, *lengths])]
    cut = cut_windows(*recording(*runs), window, None, share)
    for label in (0, 1):
        due = sum(length for each, length in runs if each == label) * share / window
        lost = sum(length % window for each, length in runs if each == label) / window
        assert abs((cut.y_test == label).sum() - due) <= 0.5 + lost


@pytest.mark.parametrize(
    "numbers", [(1, 1, 0.0), (4, 0, 0.0), (4, 1, 1.0), (4, 1, -0.1), (9, 1, 0)]
)
def test_numbers_that_give_no_windows_are_one_sentence(numbers: tuple[int, int, float]) -> None:
    with refused_by("data.takes.recordings"):
        cut_windows(*recording((0, 8), (1, 8)), *numbers)


@pytest.mark.parametrize("names", [("time", "ax", "ay"), ("time", "ax")])
def test_a_recording_for_a_model_of_windows_is_to_be_cut(names: tuple[str, ...]) -> None:
    with refused_by("data.naming"):
        match_columns(names, sample_names(("ax", "ay"), 8), "rec.csv")
