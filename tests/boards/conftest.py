"""A small model of the digits, 100 of their test points, and a random model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from model_factory import random_model

from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.model import Model

POINTS = 100


@dataclass(frozen=True)
class Digits:
    """A folder with model.npz and test.csv, and the model in it."""

    folder: Path
    model: Model
    X: np.ndarray

    @property
    def model_file(self) -> Path:
        return self.folder / "model.npz"

    @property
    def points_file(self) -> Path:
        return self.folder / "test.csv"


@pytest.fixture(scope="session")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Digits:
    dataset, folder = load_digits_dataset(), tmp_path_factory.mktemp("digits")
    classifier = ProtoNNClassifier(n_projections=6, n_prototypes=20, epochs=8)
    classifier.fit(dataset.X_train, dataset.y_train)
    save_model(classifier.to_model(classes=dataset.classes), folder / "model.npz")
    X, y = dataset.X_test[:POINTS], dataset.y_test[:POINTS]
    rows = [",".join([dataset.classes[k], *map(str, x)]) for k, x in zip(y, X, strict=True)]
    names = ",".join(["label", *(f"pixel{i}" for i in range(X.shape[1]))])
    (folder / "test.csv").write_text("\n".join([names, *rows]) + "\n")
    return Digits(folder, load_model(folder / "model.npz"), X)


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    save_model(random_model(), tmp_path / "model.npz")
    return tmp_path / "model.npz"
