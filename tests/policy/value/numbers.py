"""Points whose label is a number, and models of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.kinds.dense.value.train import DenseRegressor
from protonn_edge.kinds.forest.value.train import ForestRegressor
from protonn_edge.kinds.linear.value.train import LinearRegressor
from protonn_edge.kinds.protonn.value.train import ProtoNNRegressor

TRAINED: dict[str, Any] = {"epochs": 100, "learning_rate": 0.03, "random_state": 0}
REGRESSORS: dict[str, Any] = {
    "protonn": ProtoNNRegressor(n_projections=3, n_prototypes=8, epochs=10, random_state=0),
    "linear": LinearRegressor(random_state=0),
    "dense": DenseRegressor(hidden="12", **TRAINED),
    "layers": DenseRegressor(hidden="12,6", size_budget=120, **TRAINED),
    "forest": ForestRegressor(n_trees=12, min_samples_leaf=2, random_state=0),
    "extra": ForestRegressor(ensemble="extra", n_trees=12, size_budget=3_000, random_state=0),
    "boosting": ForestRegressor(ensemble="boosting", n_trees=60, random_state=0),
}


def points(seed: int = 0, n: int = 300, features: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return points X (n, features), and temperatures y (n,) that follow from them, noisily."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, features)).astype(np.float32)
    y = 20 + 8 * np.sin(3 * X[:, 0]) + 3 * X[:, 1] + rng.normal(0, 0.3, n)
    return X, y


@cache
def fitted(kind: str) -> Any:
    """Return a small regressor of a kind, fitted to `points`."""
    return REGRESSORS[kind].fit(*points())


def write_table(path: Path, n: int = 300, decimals: int = 2) -> Path:
    """Write `points` as a table with the column ``temperature`` last."""
    X, y = points(n=n)
    header = ",".join([*(f"x{i}" for i in range(X.shape[1])), "temperature"])
    formats = ["%.4f"] * X.shape[1] + [f"%.{decimals}f"]
    np.savetxt(path, np.column_stack([X, y]), formats, ",", header=header, comments="")
    return path
