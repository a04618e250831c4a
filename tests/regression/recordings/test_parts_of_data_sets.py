"""Folders of images called train, valid and test were classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from protonn_edge.data.reading import load_dataset


def test_images_have_parts_too(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for part in ("train", "valid", "test"):
        for name in ("circle.0.png", "circle.1.png", "square.0.png", "square.1.png"):
            (tmp_path / part).mkdir(exist_ok=True)
            image.new("L", (2, 2), len(part)).save(tmp_path / part / name)
    dataset = load_dataset(tmp_path)
    assert dataset.classes == ("circle", "square")
    assert (len(dataset.y_train), len(dataset.y_test)) == (8, 4)
