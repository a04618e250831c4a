"""Shapes that contradict the images' own, though both have as many pixels, are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, run, succeed

PIL = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'protonn-edge[images]'")


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    for label, mean in ("a", 60), ("b", 190):
        (folder / label).mkdir()
        for number in range(6):
            pixels = np.clip(rng.normal(mean, 30, (12, 8)), 0, 255).astype(np.uint8)
            PIL.fromarray(pixels).save(folder / label / f"{number}.png")
    return folder


@pytest.mark.parametrize("features", [(), ("--features", "gradients:2x2")])
def test_images_are_scaled_as_the_model_knows_them(
    images: Path, tmp_path: Path, features: tuple[str, ...]
) -> None:
    model = tmp_path / "m.npz"
    succeed("train", images, "-o", model, "--size", "4x6", "--epochs", 1, *features)
    complaint = "--size is 6x4, but the model was trained on images of 4x6 pixels; omit it"
    assert_one_sentence(run("predict", model, images, "--size", "6x4"), complaint)
    right = succeed("predict", model, images).stdout
    assert succeed("predict", model, images, "--size", "4x6").stdout == right


def test_another_shape_than_that_of_the_images_is_refused(images: Path, tmp_path: Path) -> None:
    done = run("train", images, "-o", tmp_path / "m.npz", "--size", "4x6", "--image-shape", "6x4")
    assert_one_sentence(done, "but the images have 4x6 pixels; omit --image-shape")
    same = ("--size", "4x6", "--image-shape", "4x6", "--epochs", 1)
    succeed("train", images, "-o", tmp_path / "m.npz", *same)
