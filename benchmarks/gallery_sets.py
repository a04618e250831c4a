"""Synthetic data sets, so that the gallery has a table of twelve classes and windows."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification

from protonn_edge.data.naming import sample_names
from protonn_edge.data.points.dataset import Dataset

MACHINE = (
    *("idle", "normal load", "full load", "unbalanced fan", "loose mount", "worn belt"),
    *("bearing, inner race", "bearing, outer race", "cavitation", "blocked filter"),
    *("motor, one phase lost", "stalled"),
)
_SENSORS = (
    *("current (A)", "voltage (V)", "temperature (°C)", "pressure (bar)", "flow (l/min)"),
    *("speed (1/min)", "vibration x (g)", "vibration y (g)", "vibration z (g)", "sound (dB)"),
)
_MIDDLE = np.array([4, 230, 60, 3, 20, 1450, 1, 1, 1, 70])
_SPREAD = np.array([1, 3, 8, 0.4, 5, 60, 0.3, 0.3, 0.3, 6])

MOTIONS = ("at rest", "circle", "left-right", "up-down")
RATE_HZ = 100.0
WINDOW = (128, 3)


def machine_states() -> Dataset:
    """Return twelve states of a pump, by ten sensors."""
    X, y = make_classification(
        n_samples=3600, n_features=10, n_informative=8, n_redundant=2, n_classes=12,
        n_clusters_per_class=1, class_sep=1.7, random_state=1,
    )  # fmt: skip
    return _parted(np.round(_MIDDLE + _SPREAD * X / 2, 2), y, MACHINE, _SENSORS)


def motions() -> Dataset:
    """Return windows of an accelerometer's three axes in mg, of four motions of a hand."""
    rng = np.random.default_rng(1)
    y = np.arange(560) % len(MOTIONS)
    X = np.stack([_motion(label, rng) for label in y.tolist()])
    return _parted(X, y, MOTIONS, sample_names(("ax", "ay", "az"), WINDOW[0]))


def _motion(label: int, rng: np.random.Generator) -> np.ndarray:
    turns = 2 * np.pi * (rng.uniform(1.2, 2.6) * np.arange(WINDOW[0]) / RATE_HZ + rng.random())
    wave, quarter = rng.uniform(160, 600) * np.array([np.sin(turns), np.cos(turns)])
    rest = np.zeros_like(wave)
    axes = [(rest, rest, rest), (wave, quarter, rest), (wave, rest, rest), (rest, rest, wave)]
    samples = np.stack(axes[label], axis=1) + rng.normal(0, 190, WINDOW) + (0, 0, 1000)
    return samples.round().ravel()


def _parted(
    X: np.ndarray, y: np.ndarray, classes: tuple[str, ...], names: tuple[str, ...]
) -> Dataset:
    """Return a data set with the last third of the points as its test part."""
    n = 2 * len(X) // 3
    points, labels = X.astype(np.float32), y.astype(np.int64)
    return Dataset(
        X_train=points[:n], y_train=labels[:n], X_test=points[n:], y_test=labels[n:],
        classes=classes, feature_names=names,
    )  # fmt: skip
