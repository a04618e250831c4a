"""What commands print of tables, the defaults for small data, and arrays that are no tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed
from flower_tables import NAMES, Flowers, Write

from protonn_edge.data.reading import load_dataset
from protonn_edge.model.file import load_model

CODES = {"setosa": 0, "versicolor": 1, "virginica": 2}


def test_keras_names_are_read(tmp_path: Path) -> None:
    X = np.arange(48, dtype=np.uint8).reshape(12, 2, 2)
    y = np.arange(12) % 2
    np.savez(tmp_path / "d.npz", x_train=X, y_train=y, x_test=X[:4], y_test=y[:4])
    dataset = load_dataset(tmp_path / "d.npz")
    assert (dataset.X_train.shape, dataset.X_test.shape) == ((12, 4), (4, 4))


def test_defaults_suit_small_data(write: Write, flowers: Flowers) -> None:
    few = [next(each for each in flowers if each[1] == kind) for kind in CODES] + flowers[:4]
    path, model = write([[kind, *x] for x, kind in few], ["label", *NAMES]), "m.npz"
    words = ("train", path, "-o", path.with_name(model), "--holdout", 0)
    succeed(*words, "--epochs", 1)
    assert load_model(path.with_name(model)).head.n_prototypes == 12
    asked = run(*words, "--prototypes", 40)
    assert "--prototypes is 40, but the data has only 7 training points" in refusal(asked)


def test_data_says_how_a_file_is_read(write: Write, flowers: Flowers) -> None:
    rows = [[row, *x, kind] for row, (x, kind) in enumerate(flowers)]
    record = run_json("data", write(rows, ["", *NAMES, "species"], delimiter=";"))
    assert record["table"] == {
        "delimiter": ";",
        "header": True,
        "decimal_comma": False,
        "label": "column 'species'",
        "label_found": "the last one",
        "left_out": ["column 1"],
        "session": "",
        "time": "",
        "rules": {
            "delimiter": "semicolons, found in the first lines",
            "header": "the first row, because no cell is a number",
            "label": "column 'species', the last one",
            "features": "4 columns; left out: column 1 (index)",
            "missing": "nothing",
        },
    }
    assert record["features"][0] == {
        "name": "sepal length",
        "minimum": pytest.approx(4.3),
        "maximum": pytest.approx(7.9),
        "decimals": 1,
    }
    assert record["repeated"] == {"in_train": 1, "contradicting": 0, "in_test": 0}
    assert [notice["kind"] for notice in record["notices"]] == ["delimiter", "left_out", "label"]
