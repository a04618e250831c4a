"""One-hot labels of -1 and 1 were features; channels of joined sensors could not be chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import read_recording
from protonn_edge.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(0, 2, (240, 2)).round(2)


def write(path: Path, names: str, columns: list[list[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([names, *rows]) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("pair", [(0, 100), (-1, 1), (1, 2)])
@pytest.mark.parametrize("labelled", [False, True])
def test_one_hot_labels_of_two_numbers(
    tmp_path: Path, pair: tuple[int, int], *, labelled: bool
) -> None:
    classes = RNG.integers(0, 3, 240)
    hot: list[list[object]] = [[pair[int(each == k)] for each in classes] for k in range(3)]
    table = [X[:, 0].tolist(), X[:, 1].tolist(), *hot, *([classes.tolist()] if labelled else [])]
    names = "x,y,gehen,ruhe,sprung" + (",label" if labelled else "")
    path = write(tmp_path / "t.csv", names, table)
    if labelled:
        with pytest.raises(InputError, match="has a 1 only for class|may copy the label"):
            load_dataset(path)
    else:
        found = load_dataset(path)
        assert found.feature_names == ("x", "y")
        assert [found.classes[each] for each in found.y_train] == [
            ("gehen", "ruhe", "sprung")[each] for each in classes
        ]


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


@pytest.mark.parametrize("parts", [("train", "holdout"), ("entraînement", "test")])
def test_parts_of_which_one_is_known_are_asked_about(
    tmp_path: Path, parts: tuple[str, str]
) -> None:
    for part in parts:
        for name in ("idle", "wave"):
            write(tmp_path / part / f"{name}.csv", "x,y", [X[:, 0].tolist(), X[:, 1].tolist()])
    with refused_by("datasets.takes"):
        read_recording(tmp_path)


def test_a_class_may_be_called_train(tmp_path: Path) -> None:
    for name in ("bus", "train"):
        for take in range(2):
            path = tmp_path / name / f"{take}.csv"
            write(path, "x,y", [X[:, 0].tolist(), X[:, 1].tolist()])
    assert read_recording(tmp_path).dataset.classes == ("bus", "train")
