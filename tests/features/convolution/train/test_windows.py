"""Convolutions along time, learned on windows of samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, succeed
from convolution_factory import image_shape_of
from refusals import refused_by

from protonn_edge.kinds.linear.train import LinearClassifier
from protonn_edge.learn.augmentation import SignalMovement
from protonn_edge.model.file import load_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.signals import Signal

SHAPE = (32, 3)
N = 120


def windows() -> tuple[np.ndarray, np.ndarray]:
    """Return windows (n, 32, 3) of waves, the faster ones of class 1, in units of each channel."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    phase = rng.uniform(0, 2 * np.pi, (N, 1, 1))
    waves = np.sin(np.arange(32)[:, None] * (0.3 + 0.7 * y[:, None, None]) + phase)
    X = waves * [1.0, 50.0, 1000.0] + rng.normal(0, 0.1, (N, *SHAPE)) * [1.0, 50.0, 1000.0]
    return X.astype(np.float32), y


def classifier(features: str, **settings: object) -> LinearClassifier:
    settings = {"window_shape": SHAPE, "sample_rate": 50.0, "network_epochs": 6, **settings}
    return LinearClassifier(features=features, random_state=0, **settings)


@pytest.fixture(scope="module")
def model() -> Model:
    X, y = windows()
    return classifier("conv:4x5/2,max2,6x3,average").fit(X.reshape(N, -1), y).to_model()


def test_waves_are_told_apart_along_time(model: Model) -> None:
    X, y = windows()
    stage = model.features
    assert stage is not None
    assert [layer.output_shape for layer in stage.stages] == [
        (14, 1, 4),
        (7, 1, 4),
        (5, 1, 6),
        (1, 1, 6),
    ]
    integers = quantize(model)
    found = integers.predict(integers.quantize(X.reshape(N, -1)))
    assert np.mean(found == y) > 0.9


def test_each_channel_has_its_own_scale(model: Model) -> None:
    X, _ = windows()
    stage = model.features
    assert stage is not None
    assert stage.points.signal == Signal(32, 3, 50.0)
    assert len(stage.points.scale.zero) == 3
    ends = stage.points.to_bytes(X.reshape(N, -1)).reshape(-1, 3)
    assert (ends.min(axis=0) == 0).all()
    assert (ends.max(axis=0) == 255).all()


def test_averages_are_along_time() -> None:
    X, y = windows()
    made = classifier("conv:average4,4x3", network_epochs=1).fit(X.reshape(N, -1), y)
    stage = made.to_model().features
    assert stage is not None
    assert stage.points.shape == (32, 3)
    assert stage.stages[1].shape == (8, 1, 3)
    flat = stage.points.to_bytes(X.reshape(N, -1)).astype(int).reshape(N, 8, 4, 3)
    averages = stage.stages[0].run(stage.points.to_bytes(X.reshape(N, -1))).reshape(N, 8, 3)
    assert np.abs(averages - flat.mean(axis=2)).max() <= 1


def test_a_share_of_signals_moves_in_place() -> None:
    X = windows()[0].reshape(N, -1)
    movement = SignalMovement(0.1, speed=1.2, gain=1.2, noise=0.1)
    for share, least, most in ((0.0, 0, 0), (0.5, 30, 90), (1.0, N, N)):
        moved = X.copy()
        movement.move(moved, SHAPE, np.random.default_rng(0), share)
        assert least <= (moved != X).any(axis=1).sum() <= most


@pytest.mark.parametrize(
    "settings",
    [
        {"image_shape": (32, 3)},
        {"window_shape": (32, 2)},
        {"features": "crop:8x3,conv:4x3"},
        {"features": "conv:4x3,max2,4x5,max2,4x5,4x3"},
    ],
)
def test_what_does_not_fit_windows_is_refused(settings: dict) -> None:
    X, y = windows()
    settings = {"features": "conv:4x3", **settings}
    with refused_by(
        "features.convolution.train.notation",
        "features.window_features.scale",
        "learn.training_request",
    ):
        classifier(**settings).fit(X.reshape(N, -1), y)


def test_data_says_what_its_points_are(tmp_path: Path) -> None:
    X, y = windows()
    named = {"channel_names": np.array(["x", "y", "z"]), "sample_rate": np.array(50.0)}
    for name, facts in (("windows.npz", named), ("images.npz", {})):
        np.savez(tmp_path / name, X_train=X, y_train=y, **facts)
    words = ["--classifier", "linear", "--features", "conv:4x3/2,max", "--network-epochs", "1"]
    shapes = []
    for name, given in (("windows", []), ("images", []), ("images", ["--window", "32x3"])):
        path = tmp_path / "model.npz"
        succeed("train", tmp_path / f"{name}.npz", "-o", path, *words, *given)
        stage = load_model(path).features
        assert stage is not None
        shapes.append(
            (
                image_shape_of(stage),
                None if stage.points.signal is None else stage.points.signal.rate,
            )
        )
    assert shapes == [((32, 1, 3), 50.0), ((32, 3, 1), None), ((32, 1, 3), None)]
    shape = ["--image-shape", "32x3", "--window", "32x3", "-o", tmp_path / "both.npz"]
    both = refusal(run("train", tmp_path / "windows.npz", *words, *shape))
    assert "--image-shape is given with the shape or the features of windows" in both
