"""Turns of the matrices are reported as the reference does."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from command_line import run


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of 60 images of 3x4 pixels in two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows = rng.integers(0, 9, (60, 12)) + 6 * y[:, None] * (np.arange(12) < 6)
    path = tmp_path_factory.mktemp("images") / "images.csv"
    lines = [
        f"{'ab'[label]}," + ",".join(map(str, row)) for label, row in zip(y, rows, strict=True)
    ]
    header = "label," + ",".join(f"p{index}" for index in range(12))
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def run_train(data: Path, *options: object) -> Result:
    sizes = () if "--start-from" in options else ("--prototypes", 4)
    return run("train", data, "-o", data.parent / "model.npz", *sizes, *options)


def test_each_matrixs_turn_is_reported_as_the_reference_does(data: Path) -> None:
    options = ["--optimizer", "alternating", "--iterations", "2", "--pass-epochs", "3"]
    result = run_train(data, *options, "--holdout", 0.25, "--verbose")
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if line.startswith("iteration")]
    assert [line.split(", ")[1][:2] for line in lines] == ["Z:", "B:", "W:"] * 2
    assert [line.split(",")[0] for line in lines] == [
        f"iteration {index} of 2" for index in (1, 1, 1, 2, 2, 2)
    ]
    for line in lines:
        assert re.search(
            r"objective \d+\.\d{4}, training accuracy [\d.]+ %, test accuracy [\d.]+ %$", line
        )
