"""Recordings whose end is damaged are refused before anything is appended, or lose a torn row.

A long end without a line was cut in the middle, where the next row began; and a last time that is
no number made all times behind it such.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from protonn_edge.extensions.sensing.recorder import RecordingFile
from protonn_edge.extensions.sensing.sensor_board import LoggerDescription
from protonn_edge.system.errors import InputError

MPU6050 = LoggerDescription(1, 3, 6, 1, 160_000, 16_000_000, bytes(6))


def append(path: Path, label: str, samples: int) -> None:
    with RecordingFile(path, MPU6050, "first") as file:
        times = file.begin_s + np.arange(samples) / 100
        file.append(label, times, np.full((samples, 6), -1, np.int16))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    append(tmp_path / "r.csv", 'a "label", quoted', 3)
    return tmp_path / "r.csv"


def test_a_recording_that_is_cut_off_anywhere_goes_on_in_a_new_row(path: Path) -> None:
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        append(path, "b", 2)
        rows = path.read_bytes().splitlines()
        kept = max(2, whole[:cut].count(b"\n"))  # with the head
        assert rows[:kept] == whole.splitlines()[:kept]
        assert [row[:8] for row in rows[kept:]] == [b"b,first,"] * 2


@pytest.mark.parametrize(
    "end",
    [
        *(b"\0" * 70_000, b"x" * 70_000, b"\n", b"b,first\n"),
        *(b"b,first,nan,1,2,3,4,5,6\n", b"b,first,1e400,1,2,3,4,5,6\n", b"b,first,1.0,1,2\n"),
    ],
)
def test_a_recording_that_ends_in_no_row_is_refused_and_kept(path: Path, end: bytes) -> None:
    damaged = path.read_bytes() + end
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="the last row is not a sample"):
        append(path, "b", 2)
    assert path.read_bytes() == damaged
