"""scikit-learn's data sets of measurements with decimals, as CSV files, and models of them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from command_line import succeed
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import train_test_split

DATA_SETS = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}


def trained(name: str, folder: Path) -> tuple[Path, Path]:
    """Train by default settings; return the model file, and a CSV file of 30 % for testing."""
    bunch = DATA_SETS[name]()
    split = train_test_split(
        bunch.data, bunch.target, test_size=0.3, random_state=0, stratify=bunch.target
    )
    files = []
    for part, X, y in (("train", split[0], split[2]), ("test", split[1], split[3])):
        files.append(folder / f"{name}-{part}.csv")
        with files[-1].open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["label", *bunch.feature_names])
            for row, label in zip(X.tolist(), y.tolist(), strict=True):
                table.writerow([bunch.target_names[label], *map(repr, row)])
    model = folder / f"{name}.npz"
    succeed("train", files[0], "-o", model)
    return model, files[1]


def in_sketch(X: np.ndarray, factors: list[float]) -> np.ndarray:
    """Return points (n, D) as the header asks for: times these factors (D,), rounded to int16."""
    return np.floor(X.astype(np.float64) * factors + 0.5).astype(np.int16)
