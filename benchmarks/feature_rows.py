"""Rows of features: of images and windows, at the same size or as they are; and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from columns import Column, percent
from four_bit_network import convolutional_network
from kind_rows import (
    ACCURACY,
    BYTES,
    FLOAT,
    INTEGERS,
    MNIST,
    MODEL,
    ON_UNO,
    SECONDS,
    SIZES,
    USPS,
)
from runner import Benchmark
from sklearn.model_selection import train_test_split
from trained import DATA, Row, Trained

from protonn_edge.codegen.projects.project import BuildOptions
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.model.model import Model
from protonn_edge.system.arrays import Array

# --- features at the same size --------------------------------------------------------------------

_TRAINED, _TESTED = 10_000, 5_000
_MOST_WINDOWS = 2_500


def _of_the_training_part(dataset: Dataset) -> Dataset:
    """Return some of the training points to train, and others to test."""
    order = np.random.default_rng(0).permutation(len(dataset.y_train))
    trained, tested = order[:_TRAINED], order[_TRAINED : _TRAINED + _TESTED]
    X, y = dataset.X_train, dataset.y_train
    return replace(
        dataset, X_train=X[trained], y_train=y[trained], X_test=X[tested], y_test=y[tested]
    )


def _divided(dataset: Dataset, seed: int, test_size: float = 0.4) -> Dataset:
    """Return the data set with a part of its windows, by default 40 %, for testing."""
    X = np.concatenate([dataset.X_train, dataset.X_test])
    y = np.concatenate([dataset.y_train, dataset.y_test])
    some = np.random.default_rng(0).permutation(len(y))[:_MOST_WINDOWS]
    X, y = X[some], y[some]
    parts = train_test_split(X, y, test_size=test_size, random_state=seed, stratify=y)
    names = ("X_train", "X_test", "y_train", "y_test")
    return replace(dataset, **dict(zip(names, parts, strict=True)))


def _hundred(dataset: Dataset, seed: int) -> Dataset:
    """Return the data set with 100 windows for training, and the others for testing."""
    return _divided(dataset, seed, test_size=len(dataset.y_train) - 100)


def generated(name: str, _digits: Dataset) -> Dataset:
    """Return 500 windows of 128 samples: of shapes, modulations or noises, at any phase."""
    rng = np.random.default_rng(3)
    y, t = rng.integers(0, len(_GENERATED[name](rng, np.zeros((1, 1)))), 500), np.arange(128)
    forms = np.stack(_GENERATED[name](rng, np.tile(t, (500, 1))))[y, np.arange(500)]
    X = forms * rng.uniform(0.7, 1.4, (500, 1)) + rng.normal(0, 0.6, forms.shape)
    windows, classes = np.asarray(X, np.float32), tuple("abcd"[: y.max() + 1])
    return Dataset(X_train=windows, y_train=y, X_test=windows[:0], y_test=y[:0], classes=classes)


def _shapes(rng: np.random.Generator, t: Array) -> list[Array]:
    """Return a sine, a square, a triangle and a saw of the same power, and of any frequency."""
    turn = (rng.uniform(0.03, 0.06, (len(t), 1)) * t + rng.uniform(0, 1, (len(t), 1))) % 1
    wave = np.sin(2 * np.pi * turn)
    return [1.41 * wave, np.sign(wave), 3.46 * np.abs(2 * turn - 1) - 1.73, 3.46 * turn - 1.73]


def _modulated(rng: np.random.Generator, t: Array) -> list[Array]:
    """Return a tone as it is, one whose loudness swells, and one whose frequency does."""
    slow, first = rng.uniform(0.012, 0.02, (len(t), 1)), rng.uniform(0, 1, (len(t), 1))
    swell, turn = np.sin(2 * np.pi * (slow * t + first)), 2 * np.pi * (0.12 * t + first)
    return [np.sin(turn), (1 + 0.8 * swell) * np.sin(turn), np.sin(turn + 2 * swell)]


def _noises(rng: np.random.Generator, t: Array) -> list[Array]:
    """Return noises of four colours."""
    white = rng.normal(0, 1, (len(t), t.shape[1] + 1))
    return [white[:, 1:] + share * white[:, :-1] for share in (-0.5, 0.0, 0.5, 1.0)]


_GENERATED = {"shapes": _shapes, "modulated": _modulated, "noises": _noises}


def vibration(_digits: Dataset) -> Dataset:
    """Return 600 windows, 128 x 3, of four frequencies at any phase, level and loudness."""
    rng = np.random.default_rng(5)
    y, t = rng.integers(0, 4, 600), np.arange(128)[:, None]
    frequency = np.array([0.03, 0.08, 0.2, 0.35])[y] * np.exp(rng.normal(0, 0.25, 600))
    loud = 30 * np.exp(rng.normal(0, 0.5, (600, 1, 1))) * rng.uniform(0.3, 1, (600, 1, 3))
    phase, level = rng.uniform(0, 6.3, (600, 1, 3)), rng.normal(0, 40, (600, 1, 3))
    X = level + loud * np.sin(2 * np.pi * frequency[:, None, None] * t + phase)
    windows = np.asarray(X + rng.normal(0, 12, X.shape), np.float32).reshape(600, -1)
    classes = tuple("abcd")
    return Dataset(X_train=windows, y_train=y, X_test=windows[:0], y_test=y[:0], classes=classes)


def _digits(name: str, **settings: Any) -> Row:
    settings = {"image_shape": (8, 8), "budget": 1000, **settings}
    return Row(f"digits-{name}-1000", None, settings)


def _mnist(name: str, budget: int, features: str) -> Row:
    settings = {"image_shape": (28, 28), "epochs": 30, "budget": budget}
    settings["features"] = f"crop:24x24,{features}"
    return Row(f"mnist-{name}-{budget}", MNIST, settings, part=_of_the_training_part)


_LISTS = {
    "auto": "auto",  # found by the windows for training
    "usual": "mean,deviation,min,max,change,crossings,bands:6",  # if there are few windows
    "default": "mean,deviation,min,max,crossings",
    "kernels": "kernels:96",
    "samples": "samples",
}
_WINDOWS: dict[str, tuple[str | None, tuple[int, int]]] = {
    "magic_wand": ("magic_wand.npz", (119, 6)),
    "gunpoint": ("gunpoint.npz", (150, 1)),
    "ecg5000": ("ecg5000.npz", (140, 1)),
    "vibration": (None, (128, 3)),  # generated
}
FEATURES = [
    _digits("pixels"),
    _digits("gradients-4x4", features="gradients:4x4"),
    _mnist("averages-9x9", 2000, "pool:9x9"),
    _mnist("averages-9x9", 5200, "pool:9x9"),
    _mnist("gradients-4x4-4", 2000, "gradients:4x4/4"),
    _mnist("gradients-4x4", 5200, "gradients:4x4"),
    *(
        Row(
            f"{name}-{each}",
            file,
            {"features": text, "window_shape": shape},
            part=None if file else vibration,
            divided=_divided,
        )
        for name, (file, shape) in _WINDOWS.items()
        for each, text in _LISTS.items()
    ),
    *(
        Row(
            f"{name}-{each}",
            None,
            {"features": _LISTS[each], "window_shape": (128, 1)},
            part=partial(generated, name),
            divided=_hundred,
        )
        for name in _GENERATED
        for each in ("auto", "usual", "kernels")
    ),
]

# --- raw windows ----------------------------------------------------------------------------------

_RUN_WINDOWS = 1_000  # those of the test part first, then those of training


def _every_window(dataset: Dataset) -> Dataset:
    X = np.concatenate([dataset.X_test, dataset.X_train])[:_RUN_WINDOWS]
    y = np.concatenate([dataset.y_test, dataset.y_train])[:_RUN_WINDOWS]
    return replace(dataset, X_test=X, y_test=y)


def _raw(name: str, file: str, d: int, m: int, averages: dict[str, Any], **settings: Any) -> Row:
    """Return a row; `averages` are the settings of the model that averages samples instead."""
    settings = {"n_projections": d, "n_prototypes": m, **settings}
    return Row(name, file, settings, tested=_every_window, about=averages)


# Settings were chosen on parts of the training data.
RAW_WINDOWS = (
    _raw("magic_wand", "magic_wand.npz", 10, 20, {"image_shape": (119, 6), "features": "pool:17x6"},
         input_noise=0.5, features="mean,min,max,bands:6", window_shape=(119, 6)),
    _raw("har", "har_raw.npz", 10, 30, {"image_shape": (128, 6), "features": "pool:16x6"},
         features="mean,min,max,crossings:2,bands:5", window_shape=(128, 6)),
    _raw("ecg5000", "ecg5000.npz", 8, 20, {"image_shape": (1, 140), "features": "pool:1x35"},
         input_noise=0.4, features="mean,deviation,min,max,change,crossings:4,bands:7"),
)  # fmt: skip


def averaged(row: Trained) -> float:
    """Return the accuracy, in integers, of a model of the same size for averages of samples."""
    settings = {key: row.row.settings[key] for key in row.row.settings if key != "window_shape"}
    averages = replace(row.row, settings=settings | row.row.about)
    return Trained(averages, row.dataset, [0]).accuracies[0]


# --- convolutional networks -----------------------------------------------------------------------


@dataclass(frozen=True)
class Imported(Row):
    """The network of Gural and Murmann (ICML 2019), which nobody here trained."""

    def train(self, dataset: Dataset, seed: int) -> Model:  # noqa: ARG002
        """Return it as a model; some training points give the ranges of its features."""
        with np.load(DATA / "mnist_cnn_4bit.npz", allow_pickle=False) as numbers:
            images = np.asarray(dataset.X_train)[:2_000]
            return convolutional_network(numbers, images, 28, dataset.classes)


def network(name: str, file: str, layers: str, **settings: Any) -> Row:
    """Return a row of a network with 4-bit weights, with a linear classifier behind its layers."""
    settings = {"features": f"conv:{layers},bits:4", **settings}
    return Row(name, file, settings, kind="linear")


# Layers, rates and moved shares were compared on a sixth of the training parts, held out; widths
# follow from the limits of bytes. Those of windows were compared in five folds.
LARGER = {
    "image_shape": (28, 28),
    "network_epochs": 24,
    "network_moved_share": 1.0,
    "network_still_epochs": 3,
    "solver": "network",
}
NETWORKS = (
    Imported("mnist-cnn-4bit", MNIST, build=BuildOptions(sram_bytes=1_300)),
    network("mnist10-2kB", MNIST, "average2,8x3,6x3,8x3,10x3,max2,18x3", image_shape=(28, 28),
            network_epochs=36),
    network("mnist10-12kB", MNIST, "8x5/2,8x3,12x3,24x3,max2,80x3", **LARGER),
    network("mnist10-12kB-fast", MNIST, "6x5/2,12x3,max2,30x3,64x3", **LARGER),
    network("usps10-4kB", USPS, "8x3,12x3,max2,16x3,28x3,average", image_shape=(16, 16),
            network_epochs=100, network_moved_share=1.0),
    network("ecg5000", "ecg5000.npz", "average2,8x5/2,12x3,max2", window_shape=(140, 1)),
)  # fmt: skip


def of_networks(row: Row, dataset: Dataset, seeds: Sequence[int]) -> Trained:
    """Train with each seed what is trained here."""
    return Trained(row, dataset, seeds[:1] if isinstance(row, Imported) else seeds)


BENCHMARKS = {
    "features": Benchmark(
        "Features at the same size: of images, and of windows, with those that `auto` finds. All "
        "other settings are the usual ones. MNIST's points are of its training part; 60 % of "
        "windows, at random, are for training.",
        FEATURES,
        (
            *(MODEL, SIZES, BYTES, INTEGERS),
            Column("mean cycles", lambda r: r.uno["cycles"]["mean"], ",.0f"),
            Column("flash B", lambda r: r.uno["flash_bytes"], ","),
            Column("training s", lambda r: r.seconds, ".2f"),
        ),
        seeds=5,
    ),
    "windows": Benchmark(
        "Raw windows of sensors, by features that the device makes; beside a model of the same "
        "size for averages. har_raw.npz is made as docs/sensors.md describes.",
        RAW_WINDOWS,
        (
            *(MODEL, Column("features", lambda r: r.row.settings["features"]), SIZES, FLOAT),
            ACCURACY,
            Column("averages %", averaged, percent),
            *ON_UNO[1:],
        ),
        lambda row, dataset: Trained(row, dataset, [0]),
    ),
    "networks": Benchmark(
        "Convolutional networks; mnist-cnn-4bit was trained by others, in 4 bits.",
        NETWORKS,
        (MODEL, BYTES, *ON_UNO[:-1], SECONDS),
        of_networks,
        seeds=5,
    ),
}
