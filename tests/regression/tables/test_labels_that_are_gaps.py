"""A cell ``n/a`` in the column of labels became a class, also with ``missing=drop``."""

from __future__ import annotations

import pytest
from flower_tables import Write

from protonn_edge.datasets import load_dataset
from protonn_edge.errors import InputError

ROWS = [(row, row % 5, "ab"[row % 2]) for row in range(12)]


@pytest.mark.parametrize("mark", ["n/a", "NaN", " NA ", "?"])
def test_a_row_with_a_gap_for_a_label_is_refused_or_left_out(write: Write, mark: str) -> None:
    path = write([*ROWS, (1, 2, mark)], ("x", "y", "state"))
    with pytest.raises(InputError, match=r"data.csv:14 has .*, which is not a label, in column 3"):
        load_dataset(path)
    dataset = load_dataset(path, missing="drop")
    assert dataset.classes == ("a", "b")
    assert len(dataset.y_train) == len(ROWS)


@pytest.mark.parametrize("name", ["none", "null", "-"])
def test_names_that_classes_have_are_classes(write: Write, name: str) -> None:
    path = write([*ROWS, (1, 2, name)], ("x", "y", "state"))
    assert name in load_dataset(path, missing="drop").classes
