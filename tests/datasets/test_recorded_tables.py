"""Tables that `record` writes are read as they are: a comment, one session, times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from refusals import refused_by

from protonn_edge.datasets import Dataset, load_dataset

MARK = "# protonn-edge recording 1; sensor: adxl345; rate: 50 Hz; units: 1/256 g; a, b; c\n"
HEADER = "label,session,time,ax,ay\n"
ROWS = "".join(
    f"{'ab'[i // 6]},monday,{i / 50:.6f},{7 * i % 13},{-(5 * i % 11)}\n" for i in range(12)
)


def load(folder: Path, text: str) -> Dataset:
    path = folder / "recording.csv"
    path.write_text(text)
    dataset = load_dataset(path)
    assert isinstance(dataset, Dataset)
    return dataset


def test_the_first_line_and_a_single_session_are_no_features(tmp_path: Path) -> None:
    dataset = load(tmp_path, MARK + HEADER + ROWS)
    assert dataset.feature_names == ("ax", "ay")
    assert dataset.classes == ("a", "b")
    assert np.array_equal(dataset.X_train[:, 0], 7 * np.arange(12) % 13)
    assert dataset.sessions is not None
    assert set(dataset.sessions) == {"monday"}
    assert dataset.times is not None


def test_lines_are_counted_with_the_comment(tmp_path: Path) -> None:
    with refused_by("datasets.tables"):
        load(tmp_path, MARK + HEADER + ROWS + "a,monday,1.0,5\n")


def test_other_comments_are_skipped_with_a_notice(tmp_path: Path) -> None:
    dataset = load(tmp_path, "# my own remark, with a comma\n" + HEADER + ROWS)
    assert dataset.feature_names == ("ax", "ay")
    (text,) = (each.text for each in dataset.notices if each.kind == "skipped")
    assert "# my own remark" in text
