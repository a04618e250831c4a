"""The sets of `defaults.py`: tables of classes and numbers, and points of other devices.

None of them chose a constant of the rules. They are generated, complete enumerations of a rule,
or come with scikit-learn; the others are read from PROTONN_EDGE_DATA.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from runner import Case
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
    make_regression,
    make_sparse_uncorrelated,
)
from sklearn.model_selection import train_test_split
from trained import DATA

Points = tuple[NDArray[Any], NDArray[Any]]
_ASIDE = 0.3
_MOST = 3_000  # points of a set


class Parts(NamedTuple):
    """Points to train on, and those put aside."""

    X: NDArray[np.float32]
    y: NDArray[Any]
    X_aside: NDArray[np.float32]
    y_aside: NDArray[Any]


def divided(points: Points, seed: int, *, classes: bool) -> Parts:
    """Return at most 3,000 points, 30 % of which are put aside."""
    X, y = points
    rows = np.random.default_rng(seed).permutation(len(y))[:_MOST]
    X, y = X[rows].astype(np.float32), y[rows]
    if classes:
        y = np.unique(y, return_inverse=True)[1]
    X, aside, y, y_aside = train_test_split(
        X, y, test_size=_ASIDE, random_state=seed, stratify=y if classes else None
    )
    return Parts(X, y, aside, y_aside)


def both_parts(name: str) -> Points:
    """Return the points of a file, of its training part and of its test part."""
    arrays = np.load(DATA / name, allow_pickle=False)
    X, y = (np.concatenate([arrays[f"{key}_train"], arrays[f"{key}_test"]]) for key in "Xy")
    return X.reshape(len(X), -1), y


def _of_file(name: str) -> Any:
    return lambda _: both_parts(name)


def _made(n: int, informative: int, classes: int, clusters: int = 2, noise: float = 0.05) -> Any:
    def make(seed: int) -> Points:
        found: Points = make_classification(
            n,
            20,
            n_informative=informative,
            n_redundant=2,
            n_classes=classes,
            n_clusters_per_class=clusters,
            flip_y=noise,
            class_sep=0.8,
            random_state=seed,
        )
        return found

    return make


def _thresholds(seed: int) -> Points:
    """Return switches and states: the class depends on which ranges two features are in."""
    rng = np.random.default_rng(seed)
    X = rng.random((1_500, 8)) * [1, 10, 100, 1, 1, 1, 5, 5]
    y = (np.floor(X[:, 0] * 4) + np.floor(X[:, 1] / 3)) % 3
    return X, np.where(rng.random(1_500) < 0.05, rng.integers(3, size=1_500), y).astype(int)


def _rule(seed: int) -> Points:
    """Return a number that steps with thresholds of two of eight features."""
    rng = np.random.default_rng(seed)
    X = rng.random((1_500, 8))
    levels = rng.normal(size=(5, 4))
    y = levels[np.floor(5 * X[:, 0]).astype(int), np.floor(4 * X[:, 1]).astype(int)]
    return X, y + rng.normal(0, 0.2, 1_500)


def _leds(seed: int) -> Points:
    """Return the segments of digits, a tenth of them wrong, and 17 features of noise (Breiman)."""
    rng = np.random.default_rng(seed)
    lit = ("abcefg", "cf", "acdeg", "acdfg", "bcdf", "abdfg", "abdefg", "acf", "abcdefg", "abcdfg")
    digits = np.array([[each in word for each in "abcdefg"] for word in lit])
    y = rng.integers(10, size=2_000)
    segments = digits[y] ^ (rng.random((2_000, 7)) < 0.1)
    return np.hstack([segments, rng.random((2_000, 17)) < 0.5]), y


def _breiman_waves(seed: int) -> Points:
    """Return mixtures of two of three triangles, 21 samples with noise (Breiman)."""
    rng = np.random.default_rng(seed)
    t = np.arange(21)
    h = np.stack([np.maximum(6 - np.abs(t - middle), 0) for middle in (6, 14, 10)])
    y, u = rng.integers(3, size=2_000), rng.random((2_000, 1))
    first, second = np.array([[0, 1], [0, 2], [1, 2]])[y].T
    return u * h[first] + (1 - u) * h[second] + rng.normal(size=(2_000, 21)), y


def _rings(seed: int) -> Points:
    """Return a normal distribution around a narrower one, of 20 features (Breiman)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=2_000)
    X = rng.normal(size=(2_000, 20))
    return np.where(y[:, None], X + 2 / np.sqrt(20), 2 * X), y


def _scale(_: int) -> Points:
    """Return all weights and distances of a balance, and to which side it tips."""
    X = np.array([*product(range(1, 6), repeat=4)])
    return X, np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]) + 1


def _noughts(_: int) -> Points:
    """Return all boards of noughts and crosses at the end of a game, and whether x has won."""
    lines = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8],
                      [0, 4, 8], [2, 4, 6]])  # fmt: skip
    X = np.array([*product((-1, 0, 1), repeat=9)])
    won, lost = ((X[:, lines] == side).all(axis=2).any(axis=1) for side in (1, -1))
    crosses, noughts = (X == 1).sum(axis=1), (X == -1).sum(axis=1)
    by_cross, by_nought = crosses == noughts + 1, crosses == noughts
    full = crosses + noughts == 9
    ended = (won & ~lost & by_cross) | (lost & ~won & by_nought) | (full & ~won & ~lost & by_cross)
    return X[ended], won[ended].astype(int)


def _monks(_: int) -> Points:
    """Return the second of the MONK's problems: exactly two of six attributes have value 1."""
    X = np.array([*product(*(range(1, most + 1) for most in (3, 3, 2, 3, 4, 2)))])
    return X, ((X == 1).sum(axis=1) == 2).astype(int)


def _of_ranges(formula: Callable[..., Any], *ranges: tuple[float, float]) -> Any:
    """Return what draws points of a test function of computer experiments; 2 % noise."""

    def make(seed: int) -> Points:
        rng = np.random.default_rng(seed)
        low, high = np.array(ranges).T
        X = rng.uniform(low, high, (1_500, len(ranges)))
        y = formula(*X.T)
        return X, y + rng.normal(0, 0.02 * y.std(), len(y))

    return make


def _borehole(rw: Any, r: Any, Tu: Any, Hu: Any, Tl: Any, Hl: Any, L: Any, Kw: Any) -> Any:
    far = np.log(r / rw)
    return 2 * np.pi * Tu * (Hu - Hl) / (far * (1 + 2 * L * Tu / (far * rw**2 * Kw) + Tu / Tl))


def _piston(M: Any, S: Any, V0: Any, k: Any, P0: Any, Ta: Any, T0: Any) -> Any:
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2 * k) * (np.sqrt(A**2 + 4 * k * P0 * V0 * Ta / T0) - A)
    return 2 * np.pi * np.sqrt(M / (k + S**2 * P0 * V0 * Ta / (T0 * V**2)))


def _amplifier(b1: Any, b2: Any, f: Any, c1: Any, c2: Any, beta: Any) -> Any:
    Vb1, b = 12 * b2 / (b1 + b2), beta * (c2 + 9)
    total = b + f
    return (Vb1 + 0.74) * b / total + 11.35 * f / total + 0.74 * f * b / (total * c1)


def _arm(*given: Any) -> Any:
    angles, lengths = np.cumsum(given[:4], axis=0), np.array(given[4:])
    return np.hypot((lengths * np.cos(angles)).sum(axis=0), (lengths * np.sin(angles)).sum(axis=0))


def _planes(seed: int) -> Points:
    """Return a number that is on one of two planes (Breiman)."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (2_000, 10))
    X[:, 0] = 2 * rng.integers(2, size=2_000) - 1
    one = 3 + 3 * X[:, 1] + 2 * X[:, 2] + X[:, 3]
    other = -3 + 3 * X[:, 4] + 2 * X[:, 5] + X[:, 6]
    return X, np.where(X[:, 0] > 0, one, other) + rng.normal(size=2_000)


def _feature(load: Any, column: int) -> Any:
    """Return what predicts one feature of a set by the others."""

    def make(_: int) -> Points:
        X, _y = load(return_X_y=True)
        return np.delete(X, column, axis=1), X[:, column]

    return make


KINDS = (
    *(
        Case(name, lambda _, load=load: load(return_X_y=True))
        for name, load in (("digits", load_digits), ("cancer", load_breast_cancer))
    ),
    Case("wine", lambda _: load_wine(return_X_y=True)),
    Case("moons", lambda seed: make_moons(1_500, noise=0.25, random_state=seed)),
    Case("quantiles", lambda s: make_gaussian_quantiles(n_samples=2_000, n_features=6,
                                                        n_classes=3, random_state=s)),
    Case("hastie", lambda seed: make_hastie_10_2(2_000, random_state=seed)),
    Case("thresholds", _thresholds),
    Case("made, 2 classes", _made(1_500, 5, 2)),
    Case("made, linear", _made(1_200, 10, 2, clusters=1, noise=0.2)),
    Case("made, noisy", _made(2_000, 6, 2, noise=0.3)),
    Case("made, 5 classes", _made(3_000, 8, 5)),
    Case("made, few points", _made(600, 6, 3)),
    Case("displays", _leds),
    Case("triangles", _breiman_waves),
    Case("rings", _rings),
    Case("balance", _scale),
    Case("noughts and crosses", _noughts),
    Case("monks", _monks),
    Case("mnist", _of_file("mnist10.npz"), "mnist10.npz"),
    Case("spoken digits", _of_file("fsdd_mfcc.npz"), "fsdd_mfcc.npz"),
)  # fmt: skip

NUMBERS = (
    Case("diabetes", lambda _: load_diabetes(return_X_y=True)),
    Case("friedman1", lambda seed: make_friedman1(2_000, noise=1, random_state=seed)),
    Case("friedman2", lambda seed: make_friedman2(2_000, noise=50, random_state=seed)),
    Case("friedman3", lambda seed: make_friedman3(2_000, noise=0.1, random_state=seed)),
    Case("sparse", lambda seed: make_sparse_uncorrelated(1_500, 20, random_state=seed)),
    Case("linear", lambda seed: make_regression(1_000, 30, n_informative=12, noise=60,
                                                random_state=seed)),
    Case("steps", _rule),
    Case("borehole", _of_ranges(_borehole, (0.05, 0.15), (100, 50_000), (63_070, 115_600),
                                (990, 1_110), (63.1, 116), (700, 820), (1_120, 1_680),
                                (9_855, 12_045))),
    Case("piston", _of_ranges(_piston, (30, 60), (0.005, 0.02), (0.002, 0.01), (1_000, 5_000),
                              (90_000, 110_000), (290, 296), (340, 360))),
    Case("amplifier", _of_ranges(_amplifier, (50, 150), (25, 70), (0.5, 3), (1.2, 2.5),
                                 (0.25, 1.2), (50, 300))),
    Case("robot arm", _of_ranges(_arm, *4 * [(0, 2 * np.pi)], *4 * [(0, 1)])),
    Case("two planes", _planes),
    Case("alcohol of wine", _feature(load_wine, 0)),
    Case("texture of cells", _feature(load_breast_cancer, 21)),
    Case("intensity of a pixel", _feature(load_digits, 28)),
)  # fmt: skip


_TAILS: dict[str, Callable[[Any], Any]] = {
    "even": lambda Z: Z,
    "skewed": lambda Z: np.sign(Z) * np.expm1(2.0 * np.abs(Z)),
    "heavy": lambda Z: Z**3,
    "bursts": lambda Z: np.where(np.abs(Z) > 2.5, 20 * Z, Z),
}
_SHIFTS = ("gains", "offsets", "people", "days")


def _shifted(tail: str, shift: str, seed: int) -> Parts:
    """Return points with a tail of values, and others of another device, day or person.

    Devices differ by gains or offsets of features. People have classes of their own, which resemble
    each other. Later days have larger values.
    """
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(3, 6))

    def of_groups(first: int, groups: int) -> Points:
        n = groups * 100
        Z, more = rng.normal(size=(n, 6)), 0.15 if first else 0.05
        of_group = rng.normal(size=(groups, 6)).repeat(100, axis=0)
        own = rng.normal(size=(groups, 3, 6)).repeat(100, axis=0) * (
            more if shift == "people" else 0
        )
        scores = np.einsum("ij,ikj->ik", Z, directions + own) + rng.gumbel(0, 0.5, (n, 3))
        X = _TAILS[tail](Z)
        if shift == "offsets":
            X = X + 2 * more * of_group
        if shift == "gains":
            X = X * np.exp(more * of_group)
        if shift == "days" and first:
            X = X * np.linspace(1, 1.5, n)[:, None]
        return X, scores.argmax(axis=1)

    return Parts(*(part for first in (0, 1) for part in of_groups(first, 6)))


def _given_parts(name: str) -> Any:
    def load(_: int) -> Any:
        arrays = np.load(DATA / name, allow_pickle=False)
        return [arrays[each] for each in ("X_train", "y_train", "X_test", "y_test")]

    return load


CLIPS = (
    *(
        Case(f"{tail}, {shift}", partial(_shifted, tail, shift))
        for tail in _TAILS
        for shift in _SHIFTS
    ),
    *(
        Case(name.removesuffix(".npz"), _given_parts(name), name)
        for name in ("har_hapt.npz", "watch_exercise.npz", "gesturepod_blocks.npz", "occupancy.npz")
    ),
)
