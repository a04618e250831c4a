"""A random model in a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_factory import random_model

from protonn_edge.model.file import save_model


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    save_model(random_model(), tmp_path / "model.npz")
    return tmp_path / "model.npz"
