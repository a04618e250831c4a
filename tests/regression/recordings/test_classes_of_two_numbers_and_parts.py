"""Channels of joined sensors could not be chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import read_recording

RNG = np.random.default_rng(0)
X = RNG.normal(0, 2, (240, 2)).round(2)


def write(path: Path, names: str, columns: list[list[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([names, *rows]) + "\n", "utf-8")
    return path


def test_channels_of_joined_sensors_are_chosen_by_their_new_names(tmp_path: Path) -> None:
    times = [row / 50 for row in range(240)]
    for name in ("sit", "walk"):
        for file, factor in (("Acc", 1), ("Gyr", 10)):
            columns = [times, (factor * X[:, 0]).tolist(), (factor * X[:, 1]).tolist()]
            write(tmp_path / name / "0" / f"{file}.csv", "t,x,y", columns)
    options = TableOptions(files=("Acc", "Gyr"), channels=("wy=Gyr y", "ax=Acc x"))
    found = read_recording(tmp_path, options)
    assert found.channels == ("wy", "ax")
    assert np.allclose(found.samples[:240], X[:, ::-1] * [10, 1], atol=1e-4)
