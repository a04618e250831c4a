"""Folders of images with links that lead nowhere, and with 16 bits and transparent areas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, run

from protonn_edge.data.reading import load_dataset

PIL = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'protonn-edge[images]'")


def folder_of_two(path: Path) -> Path:
    for label in "ab":
        (path / label).mkdir()
        PIL.fromarray(np.full((4, 4), 90, np.uint8)).save(path / label / "0.png")
    return path


def test_a_link_to_itself_is_one_sentence(tmp_path: Path) -> None:
    (folder_of_two(tmp_path) / "a" / "1.png").symlink_to("1.png")
    assert_one_sentence(run("data", tmp_path), "1.png: Too many levels of symbolic links")


def test_transparent_areas_of_16_bits_are_white(tmp_path: Path) -> None:
    values = np.full((4, 4), 40_000, np.uint16)
    values[0] = 700
    path = folder_of_two(tmp_path) / "a" / "0.png"
    PIL.fromarray(values).save(path, transparency=700)
    image = load_dataset(str(tmp_path)).X_train[0].reshape(4, 4)
    assert (image[0] == 255).all()
    assert (image[1:] == 40_000 >> 8).all()
