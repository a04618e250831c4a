"""Tables that nobody means are refused at once, or read, but never take for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import run
from refusals import refused_by, refuses

from protonn_edge.data import text
from protonn_edge.data.expected import Expected
from protonn_edge.data.options import TableOptions
from protonn_edge.data.reading import load_dataset, load_points


def test_a_very_wide_table_is_read(tmp_path: Path) -> None:
    """Work that grows with the square of the columns would not end."""
    names = [f"f{column}" for column in range(10_000)]
    rows = [",".join(["ab"[row % 2], *[str(row)] * len(names)]) for row in range(4)]
    (tmp_path / "d.csv").write_text("\n".join([",".join(["label", *names]), *rows]) + "\n")
    dataset = load_dataset(tmp_path / "d.csv", TableOptions(drop=("f0",)))
    assert dataset.X_train.shape == (4, 9_999)
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
    with refused_by("data.text"):
        load_dataset(tmp_path / "d.csv")


def test_a_list_of_columns_that_ends_within_a_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("label,a\na,1\nb,2\n")
    refuses(run("data", tmp_path / "d.csv", "--drop", "a\nb"), "data.options")
