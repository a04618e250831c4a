"""A project of a small model, and projects of people who test it with pytest."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from protonn_edge.boards import load_board
from protonn_edge.build.project import build
from protonn_edge.datasets import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier

DIGITS = load_digits_dataset()
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


@pytest.fixture
def user(built: Path, pytester: pytest.Pytester) -> pytest.Pytester:
    """Give the folder of somebody who has built the model and written test_board.py."""
    shutil.copytree(built, pytester.path, dirs_exist_ok=True)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider --pnn-data test.csv")
    pytester.makepyfile(test_board=USERS_TEST)
    return pytester
