"""Numbers with something unusual attached were left out as text, with an information line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.recorded import read_recording

X = np.random.default_rng(0).normal(0, 2, (60, 2)).round(2)


def written(path: Path, cells: list[str]) -> Path:
    rows = [
        f"{cell},{y},{'ab'[place // 30]}"
        for place, (cell, y) in enumerate(zip(cells, X[:, 1], strict=True))
    ]
    path.write_text("\n".join(["x,y,label", *rows]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("form", ["{} m s-2", "{} €", "\u200e{}", "\u200b{}"])
def test_more_of_what_is_attached_is_read(tmp_path: Path, form: str) -> None:
    dataset = load_dataset(written(tmp_path / "t.csv", [form.format(x) for x in X[:, 0]]))
    assert dataset.feature_names == ("x", "y")
    assert np.allclose(dataset.X_train, X)


@pytest.mark.parametrize("form", ["{} 1/s", "#{}", "x->{}", "'{}", "{}±0.1", "{} 0.3", "{}/2"])
def test_numbers_that_cannot_be_read_are_asked_about(tmp_path: Path, form: str) -> None:
    path = written(tmp_path / "t.csv", [form.format(x) for x in X[:, 0]])
    for read in (load_dataset, read_recording):
        with refused_by("datasets.roles"):
            read(path)


def test_a_minus_behind_numbers_is_asked_about(tmp_path: Path) -> None:
    cells = [f"{abs(x)}{'-' if x < 0 else ''}" for x in X[:, 0]]
    with refused_by("datasets.points"):
        load_dataset(written(tmp_path / "t.csv", cells))


@pytest.mark.parametrize("form", ["frame_{:04}", "img_{}.png"])
def test_names_that_end_in_a_counter_are_left_out(tmp_path: Path, form: str) -> None:
    dataset = load_dataset(written(tmp_path / "t.csv", [form.format(row) for row in range(60)]))
    assert dataset.feature_names == ("y",)


def test_a_table_with_such_numbers_is_shown(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", [f"{x} 1/s" for x in X[:, 0]])
    dataset = load_dataset(path, missing="shown")
    assert dataset.feature_names == ("y",)
    assert any(each.warning and "has 60 cells such as" in each.text for each in dataset.notices)


def test_names_with_counters_may_be_many(tmp_path: Path) -> None:
    """More different texts than are searched ended in an `IndexError`."""
    path = tmp_path / "d.csv"
    numbers = np.random.default_rng(0).permutation(5_000).tolist()
    rows = [f"{n % 7},frame_{n},{'ab'[row % 2]}" for row, n in enumerate(numbers)]
    path.write_text("\n".join(["x,name,label", *rows]) + "\n")
    assert load_dataset(path).feature_names == ("x",)
