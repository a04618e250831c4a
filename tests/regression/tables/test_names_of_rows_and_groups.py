"""Rows of predictions name files; held-out groups and persons are named."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from command_line import succeed
from PIL import Image


def test_predictions_of_a_folder_name_the_files(tmp_path: Path) -> None:
    generator, folder = np.random.default_rng(0), tmp_path / "images"
    for label, shade in {"dark": 40, "light": 220}.items():
        (folder / label).mkdir(parents=True)
        for number in range(8):
            pixels = shade + generator.integers(-20, 20, (4, 4))
            Image.fromarray(pixels.astype(np.uint8)).save(folder / label / f"{number}.png")
    model, out = tmp_path / "m.npz", tmp_path / "p.csv"
    succeed("train", folder, "-o", model, "--classifier", "linear", "--holdout", 0)
    succeed("predict", model, folder, "-o", out)
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = [f"{label}/{number}.png" for label in ("dark", "light") for number in range(8)]
    assert [row["file"] for row in rows] == names
    assert {(row["file"].split("/")[0], row["predicted_class"]) for row in rows} == {
        ("dark", "dark"),
        ("light", "light"),
    }
