"""`train --calibrate FIRST --then SECOND` writes a cascade."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json, succeed

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.model.file import load_model
from protonn_edge.model.quantization import quantize


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models, and points that they have not learned."""
    folder = tmp_path_factory.mktemp("cascade")
    digits = load_digits_dataset()
    X, y = digits.X_train.astype(np.float32), digits.y_train
    np.savez(folder / "learned.npz", X=X[:600], y=y[:600])
    np.savez(folder / "held.npz", X=X[600:], y=y[600:])
    np.savez(folder / "unlabelled.npz", X=X[600:])
    for name, options in (("first", "--trees 3 --size-budget 600"), ("second", "--trees 20")):
        words = f"--classifier forest {options} --holdout 0 --seed 0".split()
        succeed("train", folder / "learned.npz", "-o", folder / f"{name}.npz", *words)
    return folder


def test_two_models_become_one(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "cascade.npz"
    models = ["--calibrate", folder / "first.npz", "--then", folder / "second.npz"]
    record = run_json("train", folder / "held.npz", *models, "-o", output)
    model = load_model(output)
    assert record["passed_on_share"] == model.record["passed_on_share"] > 0
    assert model.head.kind == "cascade"
    assert record["model_sha256"] == quantize(model).model_sha256
    assert "confidence" in quantize(model).policy.c_functions
    rejecting = tmp_path / "rejecting.npz"
    rate = ["--rejection", "5%", "--rejection-by", "margin"]
    done = succeed("train", folder / "held.npz", "--calibrate", output, *rate, "-o", rejecting)
    assert "unknown if" in done.output
    assert [each.name for each in load_model(rejecting).policy.other_answers] == ["unknown"]


def test_the_share_that_is_passed_on_is_printed(folder: Path, tmp_path: Path) -> None:
    models = ["--calibrate", folder / "first.npz", "--then", folder / "second.npz"]
    options = ["--pass-on", "20%", "-o", tmp_path / "cascade.npz"]
    done = succeed("train", folder / "held.npz", *models, *options)
    assert "passed on" in done.output
    assert "unknown" not in done.output


def test_points_without_classes_are_refused(folder: Path, tmp_path: Path) -> None:
    models = ["--calibrate", folder / "first.npz", "--then", folder / "second.npz"]
    output = tmp_path / "cascade.npz"
    refused = run("train", folder / "unlabelled.npz", *models, "-o", output)
    assert "--then needs the classes of all points in DATA" in refusal(refused)
