"""Points with numbers or sets of labels may be in groups.

The default strength of the shift was refused as if it had been given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import extension_parts
import numpy as np
import pytest
from command_line import refusal, run, run_json
from policy.value.numbers import points
from refusals import refused_by

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.kinds.protonn.value.train import ProtoNNRegressor

X, NUMBERS = points(n=120)
GROUPS = np.arange(120) % 4
SETS = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)


@pytest.mark.parametrize(
    ("kind", "y"), [(ProtoNNRegressor, NUMBERS), (ProtoNNClassifier, SETS)], ids=["numbers", "sets"]
)
def test_groups_do_not_shift_points_without_classes(kind: Any, y: Any) -> None:
    estimator = kind(epochs=3, n_prototypes=4, random_state=0)
    in_groups, alone = (estimator.fit(X, y, groups=each).predict(X) for each in (GROUPS, None))
    np.testing.assert_array_equal(in_groups, alone)
    with refused_by("learn.refusals"):
        estimator.set_params(group_shift=2.0).fit(X, y, groups=GROUPS)


def test_a_table_of_numbers_is_divided_by_groups(tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    rows = [
        f"{a:.3f},{b:.3f},p{g},{y:.2f}"
        for (a, b), g, y in zip(X[:, :2], GROUPS, NUMBERS, strict=True)
    ]
    table.write_text("\n".join(["a,b,person,y", *rows]) + "\n")
    options = ("--label", "y", "--groups", "person", "--epochs", "3")
    told = run_json("train", table, *options, "-o", tmp_path / "model.npz")
    assert told["n"] == 30  # one person
    asked = run("train", table, *options, "--group-shift", "1.5", "-o", tmp_path / "other.npz")
    assert "--group-shift is for points of one class each" in refusal(asked)


@pytest.mark.parametrize("y", [[10**400, *NUMBERS[1:]], [None, *NUMBERS[1:]]])
def test_targets_beyond_floats_are_refused(y: list[Any]) -> None:
    with refused_by("policy.value.train"):
        ProtoNNRegressor().fit(X, y)


@extension_parts.needs("one_class")
def test_a_regressor_of_one_class_is_refused() -> None:
    with refused_by("learn.refusals"):
        ProtoNNRegressor(one_class=True).fit(X, NUMBERS)
