"""Options that have new names go by their first ones, which the help does not show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_json


@pytest.fixture
def points(tmp_path: Path) -> Path:
    """Give 200 training points of 2 classes, 4 features each."""
    y = np.arange(200) % 2
    X = np.random.default_rng(0).normal(size=(200, 4)) + 3 * y[:, None]
    np.savez(tmp_path / "points.npz", X_train=X, y_train=y, X_test=X[:20], y_test=y[:20])
    return tmp_path / "points.npz"


@pytest.mark.parametrize(
    ("first", "now", "others"),
    [
        (
            ["--reduce", "1x2"],
            ["--average-pooling", "1x2"],
            ["--epochs", 2, "--image-shape", "1x4"],
        ),
        (["--strangers=0.5"], ["--outlier-exposure=0.5"], ["--epochs", 2]),
        (
            ["--unknown=10%", "--unknown-by", "margin"],
            ["--rejection=10%", "--rejection-by", "margin"],
            ["--epochs", 2],
        ),
    ],
    ids=lambda words: str(words[:1]),
)
def test_an_option_goes_by_its_first_name_too(
    points: Path, first: list[str], now: list[str], others: list[object]
) -> None:
    records = [
        run_json("train", points, "-o", points.with_name("m.npz"), *others, *options)
        for options in (first, now)
    ]
    assert records[0] == records[1]
    assert first[0].split("=")[0] + " " not in run("train", "--help").stdout
