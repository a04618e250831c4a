"""Columns of several files of a take are chosen and renamed, each in the file that has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.datasets import TableOptions
from protonn_edge.datasets.recorded import read_recording


@pytest.fixture
def takes(tmp_path: Path) -> Path:
    """Two takes with the files acc.csv, of columns a and x, and gyr.csv, of columns g and x."""
    generator = np.random.default_rng(0)
    for name in ("run", "walk"):
        folder = tmp_path / "takes" / name / "1"
        folder.mkdir(parents=True)
        for file, column in (("acc", "a"), ("gyr", "g")):
            samples = generator.normal(0, 1, (60, 2)).tolist()
            rows = [f"{n * 0.02:.2f},{one:.3f},{two:.3f}" for n, (one, two) in enumerate(samples)]
            (folder / f"{file}.csv").write_text("\n".join([f"time,{column},x", *rows]) + "\n")
    return tmp_path / "takes"


@pytest.mark.parametrize(
    ("options", "channels"),
    [
        ({}, ("a", "acc x", "g", "gyr x")),
        ({"channels": ("ax=a", "gx=g")}, ("ax", "gx")),
        ({"channels": ("ax=acc x", "gx=gyr x")}, ("ax", "gx")),
        ({"channels": ("x",)}, ("acc x", "gyr x")),
        ({"drop": ("a",)}, ("acc x", "g", "gyr x")),
        ({"drop": ("gyr x",)}, ("a", "x", "g")),
    ],
)
def test_each_file_gets_the_options_of_its_columns(
    takes: Path, options: dict[str, tuple[str, ...]], channels: tuple[str, ...]
) -> None:
    chosen = TableOptions(files=("acc", "gyr"), **options)
    assert read_recording(takes, chosen).channels == channels


@pytest.mark.parametrize("channels", [("a",), ("a", "g", "q")])
def test_what_no_file_or_not_every_file_has_is_refused(
    takes: Path, channels: tuple[str, ...]
) -> None:
    with refused_by("datasets.joined", "datasets.named"):
        read_recording(takes, TableOptions(files=("acc", "gyr"), channels=channels))
