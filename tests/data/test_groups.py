"""Groups of training points: where they are read from, and that holding out never splits one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import holdout
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.roles.groups import with_groups
from protonn_edge.system.errors import InputError

N = 24


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "walks.npz"
    y = np.arange(N) % 2
    X = np.arange(N, dtype=np.float32)[:, None]
    np.savez(
        path,
        X_train=X,
        y_train=y,
        X_test=X,
        y_test=y,
    )
    return path


def in_groups(of_each: list[int], n_classes: int = 2) -> Dataset:
    groups = np.repeat(np.arange(len(of_each)), of_each)
    y = np.concatenate([np.arange(count) % n_classes for count in of_each])
    X = np.arange(len(y), dtype=np.float32)[:, None]
    names = tuple("abc"[:n_classes])
    return Dataset(X, y, X[:0], y[:0], names, groups=groups)


def test_a_file_with_a_line_per_point_names_groups(archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "days.txt"
    path.write_text("\ufeffmonday \r\n" + "monday\n" * 7 + "friday\n" * 16 + "\n", encoding="utf-8")
    dataset = with_groups(load_dataset(archive), str(path), archive)
    assert dataset.groups is not None
    assert dataset.groups.tolist() == [1] * 8 + [0] * 16


@pytest.mark.parametrize("name", ["short.txt", "gap.txt"])
def test_what_names_no_groups_is_refused(
    archive: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(archive.parent)
    Path("short.txt").write_text("monday\n", encoding="utf-8")
    Path("gap.txt").write_text("monday\n\n" + "friday\n" * 22, encoding="utf-8")
    with refused_by("data.roles.groups"):
        with_groups(load_dataset(archive), name, archive)


@pytest.mark.parametrize("name", ["label", "Label"])
def test_the_column_of_labels_names_no_groups(name: str, tmp_path: Path) -> None:
    """The error asked whether "label" was meant."""
    path = tmp_path / "data.csv"
    path.write_text("a,label\n" + "".join(f"{row},{'xy'[row % 2]}\n" for row in range(N)))
    with pytest.raises(InputError) as caught:
        with_groups(load_dataset(path), name, path)
    assert "did you mean" not in str(caught.value)


@given(
    of_each=st.lists(st.integers(4, 9), min_size=2, max_size=9),
    fraction=st.floats(0.05, 0.95),
    seed=st.integers(0, 2**32),
)
def test_holdout_takes_whole_groups_and_leaves_some(
    of_each: list[int], fraction: float, seed: int
) -> None:
    whole = in_groups(of_each)
    assert whole.groups is not None
    count = min(max(round(fraction * len(of_each)), 1), len(of_each) - 1)
    split = holdout(whole, fraction, seed)
    trained, tested = (
        set(whole.groups[X[:, 0].astype(int)]) for X in (split.X_train, split.X_test)
    )
    assert not trained & tested
    assert len(tested) == count
    assert trained | tested == set(whole.groups)
    assert split.groups is not None
    assert set(split.groups) == trained


def test_a_class_of_one_group_alone_is_not_held_out() -> None:
    whole = in_groups([6, 6, 6])
    only_first = np.where(whole.groups == 0, whole.y_train, 0)
    for seed in range(9):
        split = holdout(replace(whole, y_train=only_first), 0.34, seed)
        assert set(split.y_train) == {0, 1}
        assert split.notices[-1].columns == ("b",)
    each_its_own = replace(whole, y_train=whole.groups, classes=("a", "b", "c"))
    with pytest.raises(InputError, match="none of the 3 groups; each class needs points in at le"):
        holdout(each_its_own, 0.34, 0)


def test_takes_of_one_class_each_are_held_out_for_every_class() -> None:
    takes = replace(in_groups([4] * 12), y_train=np.arange(48) // 4 % 4)
    takes = replace(takes, classes=("a", "b", "c", "d"))
    for seed in range(5):
        split = holdout(takes, 0.2, seed)
        assert np.bincount(split.y_test).tolist() == [4] * 4
        assert np.bincount(split.y_train).tolist() == [8] * 4


@pytest.mark.parametrize("seed", range(5))
def test_held_out_groups_have_every_class_if_they_can(seed: int) -> None:
    whole = in_groups([10] * 12)
    faults = np.isin(whole.groups, (2, 7)) & (whole.y_train == 1)
    split = holdout(replace(whole, y_train=faults.astype(int)), 0.25, seed)
    assert set(split.y_test) == set(split.y_train) == {0, 1}
    assert not [notice for notice in split.notices if notice.warning]
