"""Tables that nobody means are refused at once, or read, but never take for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run, run_json
from refusals import refused_by, refuses

from protonn_edge.datasets import Expected, TableOptions, load_dataset, load_points, text


def test_a_very_wide_table_is_read(tmp_path: Path) -> None:
    """Work that grows with the square of the columns would not end."""
    names = [f"f{column}" for column in range(30_000)]
    rows = [",".join(["ab"[row % 2], *[str(row)] * len(names)]) for row in range(4)]
    (tmp_path / "d.csv").write_text("\n".join([",".join(["label", *names]), *rows]) + "\n")
    dataset = load_dataset(tmp_path / "d.csv", TableOptions(drop=("f0",)))
    assert dataset.X_train.shape == (4, 29_999)
    wanted = tuple(names[:0:-1])
    X, _ = load_points(
        tmp_path / "d.csv",
        Expected(n_features=len(wanted), feature_names=wanted, classes=("a", "b")),
    )
    assert np.array_equal(X, dataset.X_train[:, ::-1])


@pytest.mark.parametrize("data", [np.zeros((3, 2)), None, {"a": [1]}])
def test_data_instead_of_its_file_is_refused(data: Any) -> None:
    with refused_by("system.files"):
        load_dataset(data)


def test_more_columns_than_features_may_be_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "INDEX_LIMIT", 3)
    (tmp_path / "d.csv").write_text("1,2,3,4\n")
    with refused_by("datasets.text"):
        load_dataset(tmp_path / "d.csv")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("label,t\n" + "".join(f"{'ab'[i % 2]},{i}\n" for i in range(9)), {}),
        ("label,a\na,1\nb,2\n", {"drop": ("a",)}),
        ("label,a\na,1\nb,2\n", {"drop": ("1", "2")}),
        ("label,a\na,1\nb,2\n", {"drop": ("label",), "label": "label"}),
        ("label,a,a\na,1,2\nb,2,3\n", {"drop": ("a",)}),
        ("label,a\na,1\nb,2\n", {"drop": ("9999999",)}),
        ("a,b\nx,y\nz,w\n", {}),
    ],
)
def test_what_leaves_no_features_is_refused(
    tmp_path: Path, text: str, options: dict[str, object]
) -> None:
    (tmp_path / "d.csv").write_text(text)
    with refused_by("datasets.named", "datasets.points", "datasets.roles"):
        load_dataset(tmp_path / "d.csv", TableOptions(**options))  # type: ignore[arg-type]


def test_a_list_of_columns_that_ends_within_a_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("label,a\na,1\nb,2\n")
    refuses(run("data", tmp_path / "d.csv", "--read", "drop=a\nb"), "datasets.options")


def test_features_are_described_one_by_one_up_to_a_number(tmp_path: Path) -> None:
    """A libsvm file of four lines may have a million of them."""
    (tmp_path / "d.libsvm").write_text("1 1:0.5 5000:2\n2 3:1\n1 2:1\n2 5:1\n")
    record = run_json("data", tmp_path / "d.libsvm")
    assert record["n_features"] == 5_000
    assert record["features"] == []
