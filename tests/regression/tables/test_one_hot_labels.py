"""One-hot labels were features beside their last column, and 100 % was measured on noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed
from flower_tables import Write

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.recorded import read_recording
from protonn_edge.errors import InputError

NOISE = np.random.default_rng(0).normal(0, 9, (60, 2)).round(2).tolist()
NAMES = ("walk", "run", "idle")
CODES = [place * 7 % 3 for place in range(60)]


def table(write: Write, one: str = "1", zero: str = "0", labels: bool = False) -> Path:
    rows = [
        [*x, *(one if code == each else zero for each in range(3)), *[NAMES[code]] * labels]
        for x, code in zip(NOISE, CODES, strict=True)
    ]
    return write(rows, ["x", "y", *NAMES, *["label"] * labels])


@pytest.mark.parametrize(
    ("one", "zero"), [("1", "0"), ("1.0", "0.0"), ("True", "False"), ("x", "")]
)
def test_columns_of_which_each_row_has_one_are_the_classes(
    write: Write, one: str, zero: str
) -> None:
    dataset = load_dataset(table(write, one, zero))
    assert dataset.feature_names == ("x", "y")
    assert [dataset.classes[index] for index in dataset.y_train] == [NAMES[code] for code in CODES]
    (notice,) = dataset.notices
    assert str(notice) == (
        "warning: exactly one of 'walk', 'run', 'idle' is 1 in each row, so these columns are the "
        "classes; --read label=NAME names another column"
    )


def test_a_row_with_two_ones_makes_them_features(write: Write) -> None:
    path = table(write)
    path.write_text(path.read_text().replace(",1,0,0\n", ",1,1,0\n", 1))
    assert load_dataset(path, label="idle").feature_names == ("x", "y", "walk", "run")


def test_all_indicators_of_a_label_are_asked_about_at_once(write: Write) -> None:
    path = table(write, labels=True)
    with pytest.raises(InputError, match="'walk' has a 1 for only one class, so it may") as asked:
        load_dataset(path)
    assert (
        "(the same holds for 'run', 'idle'); leave it out with --read drop=walk,run,idle, or"
        in (str(asked.value))
    )
    assert load_dataset(path, drop=NAMES).feature_names == ("x", "y")
    assert load_dataset(path, keep=NAMES).feature_names == ("x", "y", *NAMES)


def test_a_recording_may_have_a_column_of_marks_for_each_class(tmp_path: Path) -> None:
    rows = [
        f"{20 * place},{x},{y},{'x' * (place < 30)},{'x' * (place >= 30)}"
        for place, (x, y) in enumerate(NOISE)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["time,x,y,walk,run", *rows]) + "\n")
    recording = read_recording(tmp_path / "log.csv")
    assert recording.channels == ("x", "y")
    assert recording.dataset.classes == ("run", "walk")
    assert (recording.dataset.y_train[:30] == 1).all()


@pytest.mark.parametrize("names", [("walk", "run"), (0, 1), (0, 2, 5)])
def test_arrays_of_labels_may_be_columns(tmp_path: Path, names: tuple[object, ...]) -> None:
    y = np.array(names)[np.arange(12) % len(names)]
    np.savez(tmp_path / "d.npz", X_train=np.arange(24.0).reshape(12, 2), y_train=y[:, None])
    assert load_dataset(tmp_path / "d.npz").classes == tuple(sorted(map(str, names)))


def test_an_array_with_a_one_in_each_row_has_classes(tmp_path: Path) -> None:
    y = np.eye(3, dtype=np.int64)[np.arange(12) % 3]
    np.savez(tmp_path / "d.npz", X_train=np.arange(24.0).reshape(12, 2), y_train=y)
    dataset = load_dataset(tmp_path / "d.npz")
    assert dataset.classes == ("0", "1", "2")
    assert dataset.y_train.tolist() == [0, 1, 2] * 4


def test_data_lists_what_is_in_doubt_with_its_evidence(write: Write) -> None:
    path = table(write, labels=True)
    columns = run_json("data", path)["columns"]
    assert [each["role"] for each in columns[2:]] == ["in doubt"] * 3 + ["label"]
    evidence = "it has a 1 for only one class, so it may copy the label"
    assert {each["evidence"] for each in columns[2:5]} == {evidence}
    assert "--read keep=walk,run,idle" in succeed("data", path).stderr
    assert "--read drop=walk,run,idle" in refusal(run("train", path, "-o", path.with_name("m.npz")))
