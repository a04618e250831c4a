"""Labels that look like numbers are predicted, asked about, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run
from policy.value.numbers import points
from refusals import refused_by

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.values import ValueDataset
from protonn_edge.kinds.linear.value.train import LinearRegressor


def table(folder: Path, form: str, *, other: str = "", n: int = 200) -> Path:
    """Write a table whose labels are numbers of a form, with one other label."""
    rng = np.random.default_rng(0)
    x = rng.uniform(10, 30, n).round(3)
    labels = [form.format(value) for value in x]
    labels[3] = other or labels[3]
    rows = [f'{value},"{label}"' for value, label in zip(x, labels, strict=True)]
    path = folder / "data.csv"
    path.write_text("\n".join(["x,y", *rows]) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> Dataset:
    return load_dataset(path, label="y")


@pytest.mark.parametrize("form", ["{:.2f}", "-{:.1f}", "\u2212{:.2f}", "{:.4e}", "{:.2f}e-9"])
def test_decimal_numbers_are_predicted(tmp_path: Path, form: str) -> None:
    assert isinstance(read(table(tmp_path, form)), ValueDataset)


@pytest.mark.parametrize("form", ["${:.2f}", "{:.2f} €", "{:.1f}%", "{:.1f} C", "~{:.2f}"])
def test_numbers_with_a_unit_are_predicted(tmp_path: Path, form: str) -> None:
    decimals = "{:.1f}" if ".1f" in form else "{:.2f}"
    plain = read(table(tmp_path, decimals))
    assert np.array_equal(read(table(tmp_path, form)).y_train, plain.y_train)


def test_numbers_with_thousands_that_may_be_decimals_are_refused(tmp_path: Path) -> None:
    with refused_by("data.values"):
        read(table(tmp_path, "1,{:06.2f}"))


def test_numbers_with_different_units_are_refused(tmp_path: Path) -> None:
    with refused_by("data.values"):
        read(table(tmp_path, "{:.1f} C", other="71.2 F"))


@pytest.mark.parametrize("other", ["high", "<10.0", "n/d"])
def test_a_label_that_is_no_number_among_numbers_is_refused(tmp_path: Path, other: str) -> None:
    with refused_by("data.values"):
        read(table(tmp_path, "{:.2f}", other=other))


def test_classes_with_numbers_in_their_names_are_classes(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    noise = np.random.default_rng(0).normal(size=400)
    rows = [f"{x:.2f},user_{row % 40}" for row, x in enumerate(noise)]
    path.write_text("\n".join(["x,y", *rows]) + "\n")
    assert read(path).n_classes == 40


def test_a_label_far_from_all_others_is_noticed(tmp_path: Path) -> None:
    dataset = read(table(tmp_path, "{:.2f}", other="50000.5"))
    assert [each.kind for each in dataset.notices if each.warning] == ["far_label"]


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e12, 1e30])
def test_a_unit_beyond_the_devices_is_refused(scale: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    with refused_by("policy.value.train"):
        LinearRegressor().fit(X, scale * X[:, 0])


def test_a_model_no_better_than_the_mean_is_a_warning(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "data.csv"
    rows = [f"{x:.3f},{y:.3f}" for x, y in rng.normal(size=(200, 2))]
    path.write_text("\n".join(["x,y", *rows]) + "\n")
    options = ("--label", "y", "--classifier", "linear", "-o", tmp_path / "model.npz")
    done = run("train", path, *options)
    assert done.exit_code == 0
    assert "not clearly better than always answering the mean" in done.stderr


def test_numbers_beside_the_names_of_classes_are_refused(tmp_path: Path) -> None:
    X, y = points()
    np.savez(tmp_path / "data.npz", X=X, y=y, classes=np.array(["low", "high"]))
    with refused_by("data.arrays"):
        load_dataset(tmp_path / "data.npz")
