"""A project of a small model, and projects of people who test it with pytest."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import succeed

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.project import build
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.file import save_model

DIGITS = load_digits_dataset()
# A light in front of a phototransistor at a0, for two seconds dark and for two seconds bright.
LIGHT = "# rate: 50 Hz\nlight\n" + "100\n" * 100 + "800\n" * 100
USERS_TEST = """
def test_model(pnn_measurement):
    assert pnn_measurement.accuracy >= 0.9
    assert pnn_measurement.cycles.max <= 60_000
    assert pnn_measurement.stack_bytes <= 200
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a project and test.csv."""
    folder = tmp_path_factory.mktemp("built")
    classifier = ProtoNNClassifier(n_prototypes=20, epochs=8, random_state=0)
    model = classifier.fit(DIGITS.X_train, DIGITS.y_train).to_model(classes=DIGITS.classes)
    build(model, load_board("uno"), folder)
    rows = np.column_stack([DIGITS.X_test[:60], DIGITS.y_test[:60]])
    names = ",".join([*(f"x{k}" for k in range(64)), "label"])
    np.savetxt(folder / "test.csv", rows, "%d", ",", header=names, comments="")
    return folder


@pytest.fixture(scope="session")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a project for a sensor at a0, and light.csv, which it may play."""
    folder = tmp_path_factory.mktemp("light")
    generator = np.random.default_rng(0)
    X = np.concatenate([generator.integers(level, level + 40, (20, 20)) for level in (80, 780)])
    classifier = ProtoNNClassifier(features="mean", window_shape=(20, 1), epochs=5, random_state=0)
    model = classifier.fit(X, np.repeat([0, 1], 20)).to_model(classes=("dark", "bright"))
    save_model(model, folder / "model.npz")
    built = ["build", folder / "model.npz", "--sensor", "a0", "--rate", 50, "--no-try"]
    succeed(*built, "-o", folder / "live")
    (folder / "light.csv").write_text(LIGHT)
    return folder


@pytest.fixture(autouse=True)
def labgrid_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let labgrid's plugin, if there is one, start again in a pytest within this pytest."""
    with contextlib.suppress(ImportError):
        from labgrid.logging import StepLogger

        monkeypatch.setattr(StepLogger, "_started", False)


@pytest.fixture
def user(built: Path, pytester: pytest.Pytester) -> pytest.Pytester:
    """Give the folder of somebody who has built the model and written test_board.py."""
    shutil.copytree(built, pytester.path, dirs_exist_ok=True)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider --pnn-data test.csv")
    pytester.makepyfile(test_board=USERS_TEST)
    return pytester
