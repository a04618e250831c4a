"""The same file is divided in the same way again; other options are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.division import Division, digest_of, held_out_rows
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import overlapping_runs, with_own_groups
from protonn_edge.system.errors import InputError

DIVISION = Division("ab" * 32, 0.25, 3, "person", "kind", 99)


def test_a_division_is_read_from_a_record_as_it_was_written() -> None:
    assert Division.of_record(DIVISION.to_record()) == DIVISION
    assert Division.of_record({}) is None


@pytest.mark.parametrize(
    "change",
    [
        {"share": 1.0},
        {"share": -0.1},
        {"share": float("nan")},
        {"share": "much"},
        {"seed": -1},
        {"seed": 1 << 64},
        {"seed": True},
        {"groups": None},
        {"sha256": 7},
        {"blocks": "some"},
        {"drifting": [1]},
        {"another": 1},
    ],
)
def test_a_damaged_record_is_refused(change: dict[str, object]) -> None:
    with refused_by("data.points.division"):
        Division.of_record({"file": {**DIVISION.to_record()["file"], **change}})
    with refused_by("data.points.division"):
        Division.of_record({"file": [change]})


def test_a_digest_is_of_the_bytes_of_a_file_and_of_the_names_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file, other = tmp_path / "a" / "x.csv", tmp_path / "y.csv"
    file.write_text("1")
    other.write_text("1")
    assert digest_of(file) == digest_of(other)
    before = digest_of(tmp_path)
    assert before == digest_of(tmp_path)
    file.rename(tmp_path / "a" / "z.csv")
    renamed = digest_of(tmp_path)
    (tmp_path / "a" / "z.csv").write_text("2")
    assert len({before, renamed, digest_of(tmp_path)}) == 3


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=60),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 9),
    grouped=st.booleans(),
)
def test_any_rows_are_divided_without_losing_a_class(
    rows: list[tuple[int, int]], share: float, seed: int, grouped: bool
) -> None:
    y, groups = np.array(rows).T
    chosen = held_out_rows(y, share, seed, groups if grouped else None)
    again = held_out_rows(y, share, seed, groups if grouped else None)
    assert np.array_equal(chosen, again)
    assert set(y[~chosen]) == set(y)
    if grouped:
        assert all(len(set(chosen[groups == group])) == 1 for group in set(groups))
        return
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        assert abs(chosen[y == label].sum() - min(share * count, count - 1)) <= 0.5


def test_points_of_no_class_are_all_held_out() -> None:
    y = np.where(np.arange(40) % 4, 0, NO_CLASS)
    chosen = Division("", 0.2).chosen(y, None)
    assert chosen[y == NO_CLASS].all()
    assert chosen[y == 0].sum() == 6


# --- groups of the file ---------------------------------------------------------------------------


def windows(stride: int, n_runs: int = 4, of_each: int = 9) -> np.ndarray:
    """Return windows (n, 16, 2) of recordings of noise."""
    signals = np.random.default_rng(0).normal(size=(n_runs, stride * (of_each - 1) + 16, 2))
    begins = range(0, stride * of_each, stride)
    every = [signal[begin : begin + 16] for signal in signals for begin in begins]
    return np.array(every, np.float32)


def of_windows(X: np.ndarray, shape: tuple[int, ...] = (16, 2)) -> Dataset:
    y = np.arange(len(X)) // 9 % 2
    flat = X.reshape(len(X), -1)
    return Dataset(flat, y, flat[:0], y[:0], ("a", "b"), point_shape=shape)


@pytest.mark.parametrize("stride", [1, 4, 13])
def test_windows_that_overlap_are_runs(stride: int) -> None:
    runs = overlapping_runs(of_windows(windows(stride)))
    assert runs is not None
    assert runs.tolist() == np.repeat(range(4), 9).tolist()


def test_windows_that_do_not_overlap_are_none() -> None:
    assert overlapping_runs(of_windows(windows(16))) is None
    constant = of_windows(np.zeros((20, 16, 2), np.float32))
    assert overlapping_runs(constant) is None
    pixels = replace(of_windows(windows(4)), pixels=True)
    assert overlapping_runs(pixels) is None


@pytest.mark.parametrize("levels", [2, 3, 10])
@pytest.mark.parametrize("columns", [3, 8, 16, 40])
def test_rows_of_coarse_tables_are_no_windows(levels: int, columns: int) -> None:
    X = np.random.default_rng(1).integers(0, levels, (300, columns)).astype(np.float32)
    assert overlapping_runs(of_windows(X, ())) is None
    one_hot = np.eye(columns, dtype=np.float32)[np.arange(300) % columns]
    assert overlapping_runs(of_windows(one_hot[:, ::-1].copy(), ())) is None or columns >= 16


def test_groups_of_the_file_are_an_array_or_a_column(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    X, names = windows(4), np.repeat(["ann", "bob", "cat", "dan"], 9)
    np.savez(path, X=X, y=np.arange(36) // 9 % 2, groups=names)
    dataset, name = with_own_groups(load_dataset(path), path)
    assert (name, dataset.group_names) == ("groups", ("ann", "bob", "cat", "dan"))
    np.savez(path, X=X, y=np.arange(36) // 9 % 2, groups=np.zeros(36))
    dataset, name = with_own_groups(load_dataset(path), path)
    assert (name, dataset.groups is not None and dataset.groups.max()) == ("", 3)
    np.savez(path, X=X, y=np.arange(36) // 9 % 2, groups=names[:9])
    with pytest.raises(InputError, match="'groups' of the shape .9,. for 36 training points"):
        with_own_groups(load_dataset(path), path)
    np.savez(path, X=X, y=np.arange(36) // 9 % 2, groups=np.where(np.arange(36) == 5, np.nan, 1))
    with pytest.raises(InputError, match="the group of point 5 is missing"):
        with_own_groups(load_dataset(path), path)
    table = tmp_path / "t.csv"
    rows = [f"{n % 7},{n % 5},p{n % 3},{'ab'[n % 2]}" for n in range(24)]
    table.write_text("\n".join(["x,y,person,label", *rows]) + "\n")
    dataset, name = with_own_groups(load_dataset(table), table)
    assert (name, dataset.group_names) == ("person", ("p0", "p1", "p2"))
