"""Training on sums of gradients by direction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from model_factory import random_images
from sklearn.datasets import load_digits

from protonn_edge.cli import main
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.file import load_model
from protonn_edge.model.model import raw_ends
from protonn_edge.model.quantization import quantize

SMALL = {"image_shape": (8, 8), "features": "gradients:3x3", "n_projections": 6, "epochs": 4}


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    data = load_digits()
    return data.data, data.target


def test_digits_are_told_apart_by_their_gradients(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    classifier = ProtoNNClassifier(**{**SMALL, "epochs": 15}, random_state=0)
    classifier.fit(X[:1200], y[:1200])
    model = classifier.to_model()
    integers = quantize(model)
    assert (model.n_features, model.n_inputs) == (64, 72)
    assert np.mean(integers.predict(integers.quantize(X[1200:])) == y[1200:]) > 0.9
    assert model.features.stages[-1].kind == "gradients"
    assert model.features.points.scale.step == 16 / 255


def test_dark_strokes_on_light_ground_have_a_background_of_0() -> None:
    stage = gradient_features((8, 8), (8, 8), (2, 2))
    X = 1.0 - random_images(0, 200, stage) / 255
    y = np.arange(200) % 2
    settings = {**SMALL, "features": "gradients:2x2", "random_state": 0}
    model = ProtoNNClassifier(**settings).fit(X, y).to_model()
    assert model.features.stages[-1].kind == "gradients"
    assert model.features.points.scale.zero == 1.0
    assert model.features.points.scale.step < 0
    lower, upper = raw_ends(model)
    assert (lower, upper) == (0.0, 1.0)


def test_the_command_line_trains_on_gradients(
    digits: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, y = digits
    np.savez(tmp_path / "digits.npz", X_train=X[:300], y_train=y[:300])
    options = "--image-shape 8x8 --features crop:8x7,deskew,gradients:3x2/4 --epochs 2"
    model = tmp_path / "model.npz"
    command = ["train", str(tmp_path / "digits.npz"), "-o", str(model), *options.split()]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    stage = load_model(model).features
    assert stage.stages[-1].kind == "gradients"
    assert [each.kind for each in stage.stages] == ["deskew", "gradients"]
    cells = stage.stages[1].cells
    assert (cells.cells, cells.image_shape, cells.directions) == ((3, 2), (8, 7), 4)
    shown = CliRunner().invoke(main, ["inspect", str(model)])
    assert "cells 3x2, directions 4" in " ".join(shown.output.split())
