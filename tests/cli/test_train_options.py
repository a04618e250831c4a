"""Every option of training reaches the estimator, and what cannot be meant is one sentence."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from protonn_edge.cli import main
from protonn_edge.model import ProtoNNModel, load_model, model_bytes


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file of 60 images of 3x4 pixels in two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    rows = rng.integers(0, 9, (60, 12)) + 6 * y[:, None] * (np.arange(12) < 6)
    path = tmp_path_factory.mktemp("images") / "images.csv"
    lines = [
        f"{'ab'[label]}," + ",".join(map(str, row)) for label, row in zip(y, rows, strict=True)
    ]
    header = "label," + ",".join(f"p{index}" for index in range(12))
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def run(data: Path, *options: object) -> Result:
    arguments = ["train", data, "-o", data.parent / "model.npz", "--prototypes", 4, *options]
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def train(data: Path, *options: object) -> ProtoNNModel:
    result = run(data, "--epochs", 3, "--iterations", 2, "--pass-epochs", 2, *options)
    assert result.exit_code == 0, result.output
    return load_model(data.parent / "model.npz")


@pytest.mark.parametrize(
    ("options", "name", "value"),
    [
        (["--optimizer", "alternating", "--step-sizes", "inverse"], "step_sizes", "inverse"),
        (["--optimizer", "alternating"], "optimizer", "alternating"),
        (["--init-projection", "gaussian"], "init_projection", "gaussian"),
        (["--init-prototypes", "sample"], "init_prototypes", "sample"),
        (["--class-weight", "balanced"], "class_weight", "balanced"),
        (["--no-quantization-aware"], "quantization_aware", False),
        (["--image-shape", "3x4", "--augment"], "image_shape", [3, 4]),
        (["--image-shape", "3x4", "--reduce", "2x2"], "reduced_shape", [2, 2]),
        (
            ["--image-shape", "3x4", "--crop", "2x4", "--reduce", "1x2"],
            "cropped_shape",
            [2, 4],
        ),
        (["--batch-size", 8], "batch_size", 8),
    ],
)
def test_options_are_settings(data: Path, options: list[str], name: str, value: object) -> None:
    settings = train(data, *options).record["settings"]
    assert settings[name] == value
    assert settings["pass_epochs"] == 2


def test_gamma_is_that_of_the_model(data: Path) -> None:
    assert train(data, "--gamma", 0.5).gamma == 0.5


def test_no_projection_is_the_identity_at_the_start(data: Path) -> None:
    assert train(data, "--init-projection", "identity").n_projections == 12


def test_training_goes_on_from_a_file(data: Path) -> None:
    first = train(data, "--projection-dim", 2)
    (data.parent / "first.npz").write_bytes((data.parent / "model.npz").read_bytes())
    further = train(data, "--start-from", data.parent / "first.npz")
    assert further.n_projections == 2
    assert (
        further.record["settings"]["initial_model"]
        == f"model {hashlib.sha256(model_bytes(first)).hexdigest()}"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--image-shape", "16"], "16x16"),
        (["--image-shape", "0x12"], "16x16"),
        (["--image-shape", "4x4", "--augment"], "16 pixels"),
        (["--augment"], "image_shape"),
        (["--reduce", "2x2"], "its own shape is not given"),
        (["--image-shape", "3x4", "--crop", "2x2"], "not to be reduced"),
        (["--image-shape", "3x4", "--reduce", "3x4"], "averages nothing"),
        (["--start-from", "nowhere.npz"], "nowhere.npz"),
    ],
)
def test_what_cannot_be_meant_is_refused(data: Path, options: list[str], words: str) -> None:
    result = run(data, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
