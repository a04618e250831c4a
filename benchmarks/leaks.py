"""How often `data` finds columns that give the label away, and how often it warns of honest ones.

A family makes tables of 100 to 1,500 rows: columns of noise, two honest measurements of the class
or the number, and, except in honest families, one or a few columns that determine the label, some
with noise. A table counts as found if the first warning names only columns that the label was made
of, or copies of it. It counts as wrong if a warning names others, and in honest families if there
is any warning.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from columns import Record, named
from runner import Benchmark, Case

from protonn_edge.data.checks.leaks import leaks
from protonn_edge.data.reading import load_dataset
from protonn_edge.system.folders import scratch_folder

Generator = np.random.Generator
Made = tuple[Any, Any]  # columns (n, m) that give the label away, and the label

_NOISES = (0, 0, 0.003)  # of the spread of a number


def _spread(rng: Generator, n: int) -> Any:
    """Return numbers (n,) of a usual distribution, perhaps rounded."""
    x = (rng.normal(size=n), rng.uniform(size=n), rng.gamma(3, size=n))[rng.integers(3)]
    return (x * rng.choice([1, 50])).round(int(rng.integers(1, 4)))


def _classes(rng: Generator, x: Any, k: int) -> Any:
    """Return classes (n,), which numbers are cut into; the noise is in the numbers."""
    shares = np.cumsum(rng.uniform(0.5, 1.5, k))
    moved = x + rng.choice(_NOISES) * x.std() * rng.normal(size=len(x))
    return np.searchsorted(np.quantile(x, shares[:-1] / shares[-1]), moved, side="right")


def _copy(rng: Generator, n: int) -> Made:
    k = int(rng.integers(2, 9))
    y = rng.integers(0, k, n)
    codes = rng.permutation(9)[:k] * rng.choice([1, 0.5, 100])
    return codes[y][:, None], y


def _threshold(rng: Generator, n: int) -> Made:
    x = _spread(rng, n)
    return x[:, None], _classes(rng, x, 2)


def _cut(rng: Generator, n: int) -> Made:
    x = _spread(rng, n)
    return x[:, None], _classes(rng, x, int(rng.integers(3, 9)))


def _flags(rng: Generator, n: int) -> Made:
    """Return any, all or some of a few flags."""
    m = int(rng.integers(2, 6))
    F = rng.random((n, m)) < rng.uniform(0.05, 0.5, m)
    least = int(rng.integers(1, m + 1)) if m > 2 else 1
    return F.astype(float), (F.sum(axis=1) >= min(least, 2)).astype(int)


def _scores(rng: Generator, n: int) -> Made:
    """Return scores and the place of the largest or least score."""
    S = rng.normal(size=(n, int(rng.integers(3, 9)))).round(3)
    if rng.random() < 0.3:
        return S, S.argmin(axis=1)
    if rng.random() < 0.5:
        S = (np.exp(2 * S) / np.exp(2 * S).sum(axis=1, keepdims=True)).round(4)
    return S, S.argmax(axis=1)


def _xor(rng: Generator, n: int) -> Made:
    a, b = (_spread(rng, n) for _ in range(2))
    if rng.random() < 0.5:
        a, b = (rng.integers(0, 2, n) for _ in range(2))
        return np.stack([a, b], axis=1), a ^ b
    return np.stack([a, b], axis=1), _classes(rng, a, 2) ^ _classes(rng, b, 2)


def _limits(rng: Generator, n: int) -> Made:
    """Return one of two numbers, or both, beyond a limit."""
    a, b = (_spread(rng, n) for _ in range(2))
    over = _classes(rng, a, 2), _classes(rng, b, 2)
    return np.stack([a, b], axis=1), over[0] | over[1] if rng.random() < 0.5 else over[0] & over[1]


def _quotient(rng: Generator, n: int) -> Made:
    a, b = rng.gamma(4, size=n), rng.uniform(0.5, 2, n)
    made = (a / b, a * b, a - b)[rng.integers(3)]
    return np.stack([a, b], axis=1), _classes(rng, made, int(rng.integers(2, 5)))


def _number(rng: Generator, n: int) -> Made:
    """Return a copy of a number, the parts of a sum, or the factors of a product."""
    y, how = rng.gamma(4, size=n).round(3), rng.integers(3)
    part = rng.uniform(0.5, 2, n).round(4)
    if how == 0:
        return np.exp(y / 3)[:, None], y
    return np.stack([part, y / part if how == 1 else y - part], axis=1), y


def _sets(rng: Generator, n: int) -> Made:
    """Return one label of a set: a flag, a limit of a number, or any of a few flags."""
    Y = (rng.random((n, int(rng.integers(2, 6)))) < 0.4).astype(int)
    made, y = (_copy, _threshold, _flags, _limits)[rng.integers(4)](rng, n)
    Y[:, 0] = y != 0
    return made, Y


def _measured(rng: Generator, y: Any, m: int, apart: tuple[float, float]) -> Any:
    """Return m honest measurements (n, m) of labels, some deviations apart."""
    labels = y if y.ndim == 1 else y[:, rng.integers(y.shape[1])]
    _, codes = np.unique(labels, return_inverse=True)
    if y.dtype.kind == "f":
        return (labels / labels.std())[:, None] + rng.normal(0, rng.uniform(0.2, 2, m), (len(y), m))
    order = np.stack([rng.permutation(codes.max() + 1) for _ in range(m)], axis=1)
    noise = rng.normal(size=(len(y), m))
    X = order[codes] * rng.uniform(*apart, m) + (noise if rng.random() < 0.6 else noise**3 / 3)
    return X.round(int(rng.integers(0, 4)))


def _honest(rng: Generator, n: int, kind: str) -> Made:
    k = int(rng.integers(2, 9))
    y = rng.integers(0, k, n) if kind == "class" else (rng.random((n, k)) < 0.4).astype(int)
    return np.empty((n, 0)), rng.gamma(3, size=n) if kind == "value" else y


_LEAKS = (_copy, _threshold, _cut, _flags, _scores, _xor, _limits, _quotient, _number, _sets)
_HONEST = {"weak": (0.5, 3), "strong": (3, 6), "apart": (8, 12)}
_KINDS = {**_HONEST, "value": (1, 3), "sets": (3, 6)}
CASES = (
    *(Case(made.__name__[1:], (made, (0.5, 3))) for made in _LEAKS),
    *(
        Case(f"honest {name}", (partial(_honest, kind="class" if name in _HONEST else name), apart))
        for name, apart in _KINDS.items()
    ),
)


def warned(made: Callable[..., Made], apart: tuple[float, float], rng: Generator) -> str:
    """Return what is warned of in a random table: nothing, right or wrong columns."""
    n = int(np.exp(rng.uniform(np.log(100), np.log(1500))))
    given, y = made(rng, n)
    X = [given, _measured(rng, y, int(rng.integers(1, 4)), apart), rng.normal(size=(n, 3))]
    names = [
        f"{kind}{i}" for kind, each in zip("gmn", X, strict=True) for i in range(each.shape[1])
    ]
    order = rng.permutation(len(names))
    with scratch_folder() as folder:
        path = Path(folder) / "table.npz"
        arrays = {"X": np.hstack(X)[:, order].astype(np.float32), "y": y}
        np.savez(path, **arrays, feature_names=np.array(names)[order])
        found = list(leaks(load_dataset(path, target="value" if y.dtype.kind == "f" else "class")))
    named = {name[0] for notice in found for name in notice.columns}
    return "nothing" if not named else "right" if named == {"g"} else "wrong"


def measure(case: Case, tables: int, seed: int) -> Record:
    """Return how often there was which warning."""
    made, apart = case.given
    seeds = range(seed, seed + tables)
    found = [warned(made, apart, np.random.default_rng([each, 7])) for each in seeds]
    return {
        "family": case.name,
        **{each: found.count(each) for each in ("right", "nothing", "wrong")},
    }


BENCHMARKS = {
    "leaks": Benchmark(
        "Warnings of columns that give the label away, in random tables with and without them.",
        CASES,
        named("family", "right", "nothing", "wrong"),
        measure,
        options=(
            click.option("--tables", type=click.IntRange(1), default=67, help="Of a family."),
            click.option("--seed", type=click.IntRange(0), default=0, help="Of the first table."),
        ),
    ),
}
