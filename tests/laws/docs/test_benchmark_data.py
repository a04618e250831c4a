"""Data of benchmarks become arrays: published files, as short as they may be, and their points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from checkout import CHECKOUT, skip_unless_checked_out
from click.testing import CliRunner

LETTERS = "26 1:-0.733333 2:-0.466667\n3 1:-1 2:1\n"
USPS = "7 1:-1 2:-0.5\n1 2:1\n"
SERIES = "2\t-0.5\t1.25\n1\t0.5\t-3\n"
ROOM = (
    '"date","Temperature","Humidity","Light","CO2","HumidityRatio","Occupancy"\n'
    '"1","2015-02-04 17:51:00",23.18,27.272,426,721.25,0.005,1\n'
    '"2","2015-02-04 17:52:00",23.15,27.25,0,714,0.004,0\n'
)
DIGITS = (
    "@RELATION digits\n@ATTRIBUTE pixel1 REAL\n@ATTRIBUTE pixel2 REAL\n"
    "@ATTRIBUTE class {0,1,5}\n@DATA\n0,255,5\n"
) + "7,9,0\n" * 60_000

CASES = {
    "letter26.npz": (LETTERS, [[2, 4], [0, 15]], [1, 0]),
    "usps10_libsvm.npz": (USPS, [[-1, -0.5], [0, 1]], [1, 0]),
    "ecg5000.npz": (SERIES, [[-0.5, 1.25], [0.5, -3]], [1, 0]),
    "gunpoint.npz": (SERIES, [[-0.5, 1.25], [0.5, -3]], [1, 0]),
    "occupancy.npz": (ROOM, [[23.18, 27.272, 426, 721.25, 0.005], [23.15, 27.25, 0, 714, 0.004]],
                      [1, 0]),
    "mnist10.npz": (DIGITS, [[0, 255], [7, 9]], [1, 0]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_published_files_become_points_and_numbers(name, tmp_path, monkeypatch):
    skip_unless_checked_out("benchmarks")
    monkeypatch.syspath_prepend(CHECKOUT / "benchmarks")
    import make_data

    content, points, labels = CASES[name]
    files = [Path(tmp_path / each) for each in (("all",) if name == "mnist10.npz" else ("a", "b"))]
    for file in files:
        file.write_text(content, "utf-8")
    words = [name, *map(str, files), "-o", str(tmp_path / "made")]
    done = CliRunner().invoke(make_data.main, words)
    assert done.exit_code == 0, done.output
    with np.load(tmp_path / "made" / name) as found:
        assert found["X_train"][:2] == pytest.approx(np.float32(points), abs=1e-6)
        assert found["y_train"][:2].tolist() == labels
        assert found["X_test"].shape[1] == len(points[0])
        assert len(found["y_test"]) == (1 if name == "mnist10.npz" else 2)
