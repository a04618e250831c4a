"""Numbers beyond 24 bits lost their last digits, by which one threshold parted the classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_json, succeed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused_by, refuses

from protonn_edge.datasets import TableOptions, load_dataset
from protonn_edge.datasets.recorded import read_recording

SMALL = np.random.default_rng(0).integers(-9000, 9000, (60, 2)) / 100
LABELS = np.array(["a", "b"])[(SMALL[:, 0] > 0).astype(int)]


def write(path: Path, base: float, points: np.ndarray = SMALL, labels: Sequence[str] = ()) -> Path:
    rows = [f"{base + x:.2f},{y}" for x, y in points]
    rows = [f"{row},{label}" for row, label in zip(rows, labels, strict=True)] if labels else rows
    header = "p,q,label" if len(labels) else "p,q"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize("base", [1.7e9, -4e9, 5.23e8])
def test_differences_are_kept_by_an_offset(tmp_path: Path, base: float) -> None:
    dataset = load_dataset(write(tmp_path / "t.csv", base, labels=LABELS.tolist()))
    offset = np.floor((base + SMALL[:, 0]).min())
    assert dataset.feature_names == (f"p{-offset:+.15g}", "q")
    assert dataset.preparation is not None
    assert dataset.preparation.offsets == {"p": offset}
    np.testing.assert_allclose(dataset.X_train[:, 0], base + SMALL[:, 0] - offset, atol=1e-4)


def test_numbers_whose_differences_are_kept_have_no_offset(tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path / "t.csv", 1e4, labels=LABELS.tolist()))
    assert dataset.feature_names == ("p", "q")
    assert dataset.preparation is None


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=st.integers(-(2**40), 2**40), spread=st.integers(10, 10**6))
def test_different_whole_numbers_stay_different(tmp_path: Path, base: int, spread: int) -> None:
    rng = np.random.default_rng(spread)
    values = base + rng.permutation(np.repeat(np.linspace(0, spread, 10).astype(int), 4))
    rows = [f"{value},{rng.normal():.3f},{'ab'[row % 2]}\n" for row, value in enumerate(values)]
    (tmp_path / "t.csv").write_text("p,q,label\n" + "".join(rows))
    X = load_dataset(tmp_path / "t.csv", keep="p").X_train
    assert len(np.unique(X[:, 0])) == len(np.unique(values))


def test_a_model_subtracts_the_offset_from_other_tables(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 1.7e9, labels=LABELS.tolist())
    model = tmp_path / "m.npz"
    done = run_json("train", path, "-o", model, "--classifier", "linear")
    assert done["accuracy"] > 0.9
    new = np.array([[-50.0, 1], [50.0, 1], [-20.0, -3], [20.0, -3]])
    other = write(tmp_path / "new.csv", 1.7e9, new)
    assert run_json("predict", model, other)["predicted"] == ["a", "b", "a", "b"]
    swapped = other.with_name("swapped.csv")
    swapped.write_text("q,p\n1,1699999950\n1,1700000050\n")
    assert run_json("predict", model, swapped)["predicted"] == ["a", "b"]


def test_data_lists_numbers_as_they_are_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 1.7e9, labels=LABELS.tolist())
    column = run_json("data", path)["columns"][0]
    assert (column["name"], column["distinct"]) == ("p", len(np.unique(SMALL[:, 0])))
    assert column["minimum"] == pytest.approx(1.7e9 + SMALL[:, 0].min(), abs=0.01)
    assert "p-16" in succeed("data", path).stdout


def test_gaps_in_large_numbers_are_filled_before_they_are_rounded(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 1.7e9, labels=LABELS.tolist())
    lines = path.read_text().splitlines()
    lines[5] = "," + lines[5].split(",", 1)[1]
    path.write_text("\n".join(lines) + "\n")
    dataset = load_dataset(path, missing="median")
    assert dataset.preparation is not None
    (offset,) = dataset.preparation.offsets.values()
    others = np.delete(SMALL[:, 0], 4) + 1.7e9 - offset
    assert dataset.X_train[4, 0] == pytest.approx(np.median(others), abs=0.01)


def test_large_numbers_without_a_name_or_of_a_recording_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 1.7e9, labels=np.repeat(["a", "b"], 30).tolist())
    with refused_by("datasets.points"):
        read_recording(path, TableOptions(keep=("p",)))
    path.write_text(path.read_text().partition("\n")[2])
    refuses(run("train", path, "-o", tmp_path / "m.npz"), "datasets.points")
