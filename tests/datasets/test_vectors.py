"""Feature vectors apart from their labels, and the persons beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.groups import with_groups

X = np.random.default_rng(0).normal(0, 9, (20, 3)).round(4)
Y = [1 + row % 2 for row in range(20)]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Give a function that writes lines into a file of the folder."""

    def write_lines(name: str, lines: Sequence[object]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return tmp_path

    return write_lines


def numbers(points: np.ndarray) -> list[str]:
    return ["  " + " ".join(f"{value: .7e}" for value in point) for point in points]


@pytest.fixture
def folder(write: Callable[..., Path]) -> Path:
    """Give a folder with a training part."""
    write("X_train.txt", numbers(X))
    return write("y_train.txt", Y)


Write = Callable[..., Path]


# --- X_train.txt ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "X_train.txt"])
def test_each_line_is_a_point_with_the_label_of_the_other_file(folder: Path, name: str) -> None:
    dataset = load_dataset(folder / name)
    assert np.array_equal(dataset.X_train, X.astype(np.float32))
    assert [dataset.classes[index] for index in dataset.y_train] == list(map(str, Y))
    assert dataset.feature_names == ()
    assert not len(dataset.y_test)


def test_persons_may_be_the_groups(folder: Path, write: Write) -> None:
    write("subject_train.txt", [row // 5 for row in range(20)])
    dataset = with_groups(load_dataset(folder), str(folder / "subject_train.txt"), folder)
    assert dataset.groups is not None
    assert dataset.groups.tolist() == [row // 5 for row in range(20)]
