"""The iris flowers in tables as people have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

Write = Callable[..., Path]
Flowers = list[tuple[list[float], str]]
NAMES = ("sepal length", "sepal width", "petal length", "petal width")


def shuffled_flowers() -> Flowers:
    """Return the 150 flowers in random order: four measurements and the species."""
    iris = load_iris()
    order = np.random.default_rng(0).permutation(150)
    species = [str(iris.target_names[label]) for label in iris.target[order]]
    return list(zip(iris.data[order].tolist(), species, strict=True))
