"""Windows begin where movement does, with a little before it."""

from __future__ import annotations

import numpy as np

from protonn_edge.data.takes.recordings import cut_windows, runs_of
from protonn_edge.extensions.sensing.recordings.tested_takes import last_takes
from protonn_edge.extensions.sensing.recordings.triggers import Trigger

RNG = np.random.default_rng(0)
WINDOW, BEFORE = 40, 8
MOVES = (100, 250, 400)


def samples() -> np.ndarray:
    """Return 500 samples of two channels at rest, one with an offset, that move for 30 at MOVES."""
    found = np.stack([RNG.normal(0, 1, 500), 8000 + RNG.normal(0, 1, 500)], axis=1)
    for begin in MOVES:
        found[begin : begin + 30, 1] += 500 * np.sin(np.arange(30) / 3)
    return found.astype(np.float32)


def test_a_window_begins_a_little_before_each_movement_above_a_level() -> None:
    signal, labels = samples(), np.zeros(500, np.int64)
    trigger = Trigger.of(signal, runs_of(labels), WINDOW, BEFORE, 100.0)
    cut = cut_windows(signal, labels, WINDOW, trigger=trigger)
    assert np.abs(cut.begins - (np.array(MOVES) - BEFORE)).max() <= 3
    assert cut.X_train.shape == (3, WINDOW, 2)


def test_no_window_spans_a_seam_or_reaches_into_the_test_part() -> None:
    signal, labels = samples(), np.zeros(500, np.int64)
    seams = np.zeros(500, np.bool_)
    seams[MOVES[1] - 2] = True
    trigger = Trigger.of(signal, runs_of(labels, seams), WINDOW, BEFORE)
    cut = cut_windows(signal, labels, WINDOW, None, 0.3, seams, trigger=trigger)
    assert MOVES[1] - 2 in cut.begins
    assert not ((cut.begins < MOVES[1] - 2) & (cut.begins + WINDOW > MOVES[1] - 2)).any()
    assert len(cut.y_test) > 0


def test_takes_to_test_with_are_the_last_of_each_class() -> None:
    take_of, labels = np.repeat(np.arange(6), 5), np.repeat([0, 1], 15)
    assert np.unique(take_of[last_takes(take_of, labels, 0.4)]).tolist() == [2, 5]
    assert np.unique(take_of[last_takes(take_of, labels, 0.99)]).tolist() == [1, 2, 4, 5]
    assert np.unique(take_of[last_takes(take_of, labels, 0.2)]).tolist() == [2, 5]  # at least one
