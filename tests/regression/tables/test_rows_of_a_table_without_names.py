"""A report knows where the label of a table without a header is: it may be a number, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import succeed

from protonn_edge.cli.command import Output
from protonn_edge.cli.report import _given
from protonn_edge.data.options import TableOptions
from protonn_edge.model.file import load_model


def test_the_columns_of_the_features_are_named_as_in_the_page(tmp_path: Path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows = [
        f"{label},{x:.2f},{int(x > 0.7)}" for label, x in zip(y, rng.normal(y, 0.3), strict=True)
    ]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(rows) + "\n")
    read = ["--label", "first"]
    succeed("train", table, "-o", tmp_path / "m.npz", "--classifier", "linear", *read)
    model = load_model(tmp_path / "m.npz")
    given = _given(model, table, TableOptions(label="first"), Output(as_json=True))
    assert given["columns"] == ["column 1", "feature 0", "feature 1"]
