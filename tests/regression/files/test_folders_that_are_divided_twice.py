"""`split` of a folder of images: no file of one division gets into another one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import assert_one_sentence, run, succeed

PIL = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'protonn-edge[images]'")


def folder_of_images(path: Path) -> Path:
    rng = np.random.default_rng(0)
    for label in "ab":
        (path / label).mkdir(parents=True)
        for number in range(8):
            pixels = rng.integers(0, 256, (4, 4), dtype=np.uint8)
            PIL.fromarray(pixels).save(path / label / f"{number}.png")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.png"))


def test_another_division_into_the_same_folder_is_refused(tmp_path: Path) -> None:
    data, parts = folder_of_images(tmp_path / "data"), tmp_path / "parts"
    succeed("split", data, "-o", parts)
    once = names(parts)
    assert len(once) == 16
    assert_one_sentence(run("split", data, "-o", parts, "--seed", 3), ".png already exists;")
    assert names(parts) == once
    succeed("split", data, "-o", parts)
    assert names(parts) == once


@pytest.mark.parametrize("inside", [".", "a", "parts"])
def test_parts_in_the_folder_that_is_divided_are_refused(tmp_path: Path, inside: str) -> None:
    data = folder_of_images(tmp_path / "data")
    assert_one_sentence(
        run("split", data, "-o", data / inside), "the folder to divide; choose a folder"
    )
    assert len(names(data)) == 16
