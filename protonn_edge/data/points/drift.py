"""Rows that were recorded one after the other, while something drifted.

If each class is recorded in one go, a column that drifts distinguishes the classes: a board warms
up, a battery runs down. On another day it does not, and held-out rows that lie between training
rows hide this. The evidence is drift and not order: *inside* blocks of rows with one label, columns
depend on the place, and a linear model needs that dependence to answer well.

Whole blocks are then held out, or the ends of blocks if a class has only one. In the ends, the
*course* of each drifting column, a parabola per block that continues in the next one, is exchanged
at random, as on another day (a permutation of features; Breiman, 2001). The jumps between blocks,
which are the classes' own, and all that is not slow remain. Files that are named after classes are
in no order of recording, but each may begin where another one ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from protonn_edge.system.arrays import Array

WHOLE, ENDS = "whole", "ends"
"""The parts of blocks that are held out."""

Float64 = NDArray[np.float64]
Ints = NDArray[np.int64]

_FEWEST_ROWS, _FEWEST_IN_BLOCK = 40, 8
_MOST_ROWS, _MOST_CELLS = 10_000, 4_000_000  # judged, of those evenly spaced
_IN_ORDER = 0.5  # changes of the label, or its steps, of those in random order
_ONE_BLOCK = 0.8  # of the rows of a class
_MOST_IN_TURN = 30  # blocks of unknown order
_STRETCHES = 10  # of equal length, of rows that are labelled with numbers
_FOLDS = 5  # of the linear model, and stretches of a block that folds do not divide
_DEGREE, _DEGREE_OF_NUMBERS = 2, 6  # of the course in a block, or of all rows
_CHANCE = 0.01  # of one of the columns to seem to drift
_LEAST_SHARE = 0.02  # of the variance inside blocks that is slow
_EXPLAINED = 0.5  # of the variance between blocks, by the course
_SMOOTH, _FEWEST_SMOOTH = 0.2, 2  # steps, of those of rows in random order (von Neumann, 1941)
_MOST_COLUMNS, _REACH, _RIDGE = 100, 4, 1e-3  # of the linear model; in deviations
_WORSE, _ERRORS = 0.05, 2  # than at random: the share of answers, and standard errors
_DRAWS = 5
_DIVIDED, _RANGES = 5, 20  # columns whose range is divided, into as many parts


@dataclass(frozen=True, eq=False)
class Drift:
    """Evidence for blocks that must be held out.

    - `part`: `WHOLE` or `ENDS`, which is held out of them
    - `columns`: the features that drift, none if rows are merely like the one before
    - `promised`: the share of right answers of a linear model (R2 for numbers and sets) for rows
      that are held out at random, and for such parts of blocks
    """

    part: str
    columns: Ints
    promised: tuple[float, float] | None


def blocks_of(y: Array) -> Ints:
    """Return the block of each row: a run of equal labels (n,) or sets (n, L).

    For numbers (n, 1), which differ from row to row, blocks are stretches of equal length.
    """
    if are_numbers(y):
        return np.arange(len(y)) * _STRETCHES // max(1, len(y))
    changes = y[1:] != y[:-1]
    changes = changes if y.ndim == 1 else changes.any(axis=1)
    return np.concatenate([[0], np.cumsum(changes)])[: len(y)]


def stretches_of(y: Array, part: str) -> Ints:
    """Return what folds must not divide: whole blocks, or stretches of each."""
    blocks = blocks_of(y)
    if part == WHOLE:
        return blocks
    return _FOLDS * blocks + (_places(blocks) * _FOLDS).astype(np.int64)


def ends_of(y: Array, share: float) -> NDArray[np.bool_]:
    """Return which rows (n,) are the last ones of their block, a share of each."""
    return _places(blocks_of(y)) > 1 - share


def on_another_day(
    X: Array, y: Array, columns: Ints, seed: int, *, ordered: bool = True
) -> NDArray[np.float32]:
    """Return points (n, D) with the course of some columns at random; see `drift_in`."""
    course = _course(X[:, columns].astype(np.float64), y, ordered=ordered).course
    drawn = np.random.default_rng(seed).integers(len(X), size=len(X))
    other = np.array(X, np.float32)
    other[:, columns] += (course[drawn] - course).astype(np.float32)
    return other


def drift_in(X: Array, y: Array, *, ordered: bool = True) -> Drift | None:
    """Return the evidence in points (n, D) with labels y: (n,), sets (n, L) or numbers (n, 1).

    - `ordered`: whether blocks are in the order of recording; otherwise, a course goes on in the
      block that begins nearest to where it ends
    """
    rows = slice(None, None, max(1, -(-len(X) // _MOST_ROWS), -(-X.size // _MOST_CELLS)))
    X, y = X[rows].astype(np.float64), y[rows]
    if len(X) < _FEWEST_ROWS or (part := _part_of(y)) is None:
        return None
    gaps = np.isnan(X)
    if gaps.any():
        means = np.where(gaps, 0, X).sum(axis=0) / np.maximum(1, (~gaps).sum(axis=0))
        X = np.where(gaps, means, X)
    found, promised = _course(X, y, ordered=ordered), None
    drifts = found.drifts & (found.explains | (part == WHOLE)) & (np.ptp(_codes(y)) > 0)
    columns = np.flatnonzero(drifts)
    if len(columns):
        promised = _promised(X, y, columns, found.course, part)
    if promised is None and not _is_smooth(X, y):
        return None
    return Drift(part, columns if promised else columns[:0], promised)


def _places(blocks: Ints) -> Float64:
    """Return the place of each row in its block, 0 to 1."""
    counts = np.bincount(blocks)
    first = np.cumsum(counts) - counts
    return np.asarray((np.arange(len(blocks)) - first[blocks] + 0.5) / counts[blocks])


def are_numbers(y: Array) -> bool:
    """Return whether labels are numbers (n, 1), not classes (n,) or sets (n, L)."""
    return y.ndim > 1 and y.shape[1] == 1


def _codes(y: Array) -> Array:
    """Return a number for each label (n,), equal for equal ones."""
    if are_numbers(y):
        return y[:, 0]
    return np.unique(y, axis=0, return_inverse=True)[1].ravel()


def _labels_of_blocks(y: Array) -> Array:
    """Return the number of the label of each block."""
    return np.asarray(_codes(y)[np.cumsum(np.bincount(blocks_of(y))) - 1])


def _part_of(y: Array) -> str | None:
    """Return the part to hold out: whole blocks if each label has several, else ends of blocks.

    None unless labels change more seldom, or numbers by less, than in random order.
    """
    if are_numbers(y):
        in_order = np.square(np.diff(y[:, 0])).mean() <= _IN_ORDER * 2 * y.var()
        return ENDS if in_order else None
    counts, shares = np.bincount(blocks_of(y)), np.bincount(_codes(y)) / len(y)
    if len(counts) - 1 > _IN_ORDER * len(y) * (1 - np.square(shares).sum()):
        return None
    labels = _labels_of_blocks(y)
    most = [counts[labels == each].max() / counts[labels == each].sum() for each in set(labels)]
    return WHOLE if max(most) <= _ONE_BLOCK else ENDS


def _is_smooth(X: Float64, y: Array) -> bool:
    """Whether most columns hardly differ from the row before, unlike those of the same label."""
    codes = _codes(y)
    order = np.random.default_rng(0).permutation(len(y))
    order = order[np.argsort(codes[order], kind="stable")]
    steps, usual = (
        np.square(np.diff(X[rows], axis=0))[are_numbers(y) | (np.diff(codes[rows]) == 0)]
        for rows in (np.arange(len(y)), order)
    )
    smooth = steps.mean(axis=0) < _SMOOTH * usual.mean(axis=0)
    varies = usual.any(axis=0)
    return bool(smooth.sum() >= _FEWEST_SMOOTH and 2 * smooth[varies].sum() > varies.sum())


# --- the course of columns ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Course:
    course: Float64  # (n, D)
    drifts: NDArray[np.bool_]  # (D,): whether it is more than chance
    explains: NDArray[np.bool_]  # (D,): whether blocks differ by it


def _course(X: Float64, y: Array, *, ordered: bool) -> _Course:
    """Return the slow course of columns (n, D), without the jumps between blocks of labels y."""
    if are_numbers(y):
        return _course_beside(X, y[:, 0])
    blocks, course = blocks_of(y), np.zeros(X.shape)
    slow, every, rows = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    generator, judged = np.random.default_rng(0), list[tuple[int, int]]()
    parts = list(pairwise([0, *np.cumsum(np.bincount(blocks)).tolist()]))
    for begin, end in parts:
        if end - begin < _FEWEST_IN_BLOCK:
            continue
        x, basis = X[begin:end], _polynomials(np.arange(end - begin), _DEGREE)
        fitted, ranks = basis @ (basis.T @ x), _ranks(x, generator)
        slow += np.square(basis.T @ ranks).sum(axis=0)
        every += np.square(ranks).sum(axis=0)
        rows += end - begin - 1
        course[begin:end] = fitted - fitted[0]
        judged.append((begin, end))
    drifts, kept = _more_than_chance(slow, every, _DEGREE * len(judged), rows)
    reached = np.zeros(X.shape[1])
    for begin, end in parts if ordered else _in_turn(X[:, drifts], course[:, drifts], parts):
        course[begin:end] += reached
        reached = course[end - 1]
    pairs = [(X[b:e].mean(axis=0), course[b:e].mean(axis=0)) for b, e in judged] or [(reached,) * 2]
    between, expected = np.array(pairs).swapaxes(0, 1)
    explains = (between - expected).var(axis=0) <= (1 - _EXPLAINED) * between.var(axis=0)
    return _Course(kept * (course - course.mean(axis=0)), drifts, explains)


def _in_turn(X: Float64, course: Float64, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return blocks in the order in which each begins nearest to where the one before ends.

    Values are those of the columns (n, D) that drift, and the course is from the begin of a block.
    """
    if len(parts) > _MOST_IN_TURN:
        return parts
    spread = np.maximum(X.std(axis=0), 1e-9)
    begins = np.array([(X[b:e] - course[b:e]).mean(axis=0) / spread for b, e in parts])
    ends = begins + np.array([course[e - 1] / spread for _, e in parts])
    found = list[tuple[float, list[int]]]()
    for first in range(len(parts)):
        way, order = 0.0, [first]
        while len(order) < len(parts):
            apart = np.linalg.norm(begins - ends[order[-1]], axis=1)
            apart[order] = np.inf
            order.append(int(apart.argmin()))
            way += float(apart.min())
        found.append((way, order))
    return [parts[each] for each in min(found)[1]]


def _course_beside(X: Float64, y: Float64) -> _Course:
    """Return the slow course of columns (n, D) that also depend on numbers y (n,).

    Both are polynomials in one regression; what may be of either is of the numbers.
    """
    of_numbers = _polynomials(np.argsort(np.argsort(y, kind="stable")), _DEGREE_OF_NUMBERS)
    of_places = _polynomials(np.arange(len(y)), _DEGREE_OF_NUMBERS)
    beside = of_places - of_numbers @ (of_numbers.T @ of_places)
    U, sizes, V = np.linalg.svd(beside, full_matrices=False)
    free = np.square(sizes) > _LEAST_SHARE  # nothing if rows are sorted by their numbers
    U, sizes, V = U[:, free], sizes[free], V[free]
    ranks = _ranks(X, np.random.default_rng(0))
    ranks = ranks - of_numbers @ (of_numbers.T @ ranks)
    slow, every = np.square(U.T @ ranks).sum(axis=0), np.square(ranks).sum(axis=0)
    drifts, kept = _more_than_chance(slow, every, len(sizes), len(y) - 1 - _DEGREE_OF_NUMBERS)
    course = of_places @ (V.T @ ((U.T @ X) / sizes[:, None]))
    return _Course(kept * course, drifts, np.ones_like(drifts))


def _polynomials(places: Ints, degree: int) -> Float64:
    """Return polynomials of places (n,), orthonormal and without a mean, (n, degree)."""
    x = 2 * places / max(1, len(places) - 1) - 1
    return np.asarray(np.linalg.qr(np.polynomial.legendre.legvander(x, degree))[0][:, 1:])


def _ranks(X: Float64, generator: np.random.Generator) -> Float64:
    """Return the ranks of values in their columns (n, D), about 0 with variance 1; ties drawn."""
    drawn = generator.permutation(len(X))
    ranks = np.empty(X.shape)
    ranks[drawn] = np.argsort(np.argsort(X[drawn], axis=0, kind="stable"), axis=0)
    return np.asarray((ranks - ranks.mean(axis=0)) / max(ranks[:, 0].std(), 1e-9))


def _more_than_chance(
    slow: Float64, every: Float64, slow_degrees: int, degrees: int
) -> tuple[NDArray[np.bool_], Float64]:
    """Return which columns are slow by an F test, and the part of the course that is not chance.

    Squares (D,) and degrees of freedom are those of slow polynomials, and of all there is. The
    quantile is normal (Wilson and Hilferty, 1931).
    """
    others = degrees - slow_degrees
    if slow_degrees < 1 or others < 1:
        return np.zeros(len(slow), np.bool_), np.zeros(len(slow))
    F = slow / slow_degrees / np.maximum((every - slow) / others, 1e-12)
    a, b, root = 2 / (9 * slow_degrees), 2 / (9 * others), np.cbrt(F)
    z = ((1 - b) * root - (1 - a)) / np.sqrt(b * root**2 + a)
    share = slow / np.maximum(every, 1e-12) - slow_degrees / degrees
    drifts = (z > NormalDist().inv_cdf(1 - _CHANCE / len(F))) & (share > _LEAST_SHARE)
    return drifts, np.maximum(0, 1 - 1 / np.maximum(F, 1e-12))


# --- what a model would promise -------------------------------------------------------------------


def _promised(
    X: Float64, y: Array, columns: Ints, course: Float64, part: str
) -> tuple[float, float] | None:
    """Return the answers of a linear model to rows at random, and to the part; None if alike.

    It has values and squares of columns, those that drift first, and is fitted by least squares.
    Blocks in turn need more: the parts of its range in which a column has values.
    """
    used = np.concatenate([columns, np.setdiff1d(np.arange(X.shape[1]), columns)])[:_MOST_COLUMNS]
    X, course = X[:, used], course[:, used] * np.isin(used, columns)
    codes = _codes(y)
    Y = y - y.mean() if are_numbers(y) else np.eye(int(codes.max()) + 1)[codes]
    generator = np.random.default_rng(0)

    divided = _DIVIDED * (part == WHOLE)

    def right(folds: Ints, tested: Float64) -> Float64:
        found = np.zeros(len(Y))
        for fold in range(int(folds.max()) + 1):
            rows = folds == fold
            found[rows] = _right(X[~rows], Y[~rows], tested[rows], Y[rows], divided)
        return found

    folds = generator.permutation(len(y)) % _FOLDS
    at_random = right(folds, X)
    if part == WHOLE:
        of_part = right(_folds_of_blocks(y, generator), X)
    else:
        draws = generator.integers(len(y), size=(_DRAWS, len(y)))
        of_part = np.mean([right(folds, X + course[drawn] - course) for drawn in draws], axis=0)
    lost = at_random - of_part
    if lost.mean() < max(_WORSE, _ERRORS * lost.std() / np.sqrt(len(lost))):
        return None
    return float(at_random.mean()), float(of_part.mean())


def _folds_of_blocks(y: Array, generator: np.random.Generator) -> Ints:
    """Return the fold of each row, of which each has whole blocks of each label."""
    labels = _labels_of_blocks(y)
    n_folds = min(_FOLDS, int(np.bincount(labels).min()))
    folds = np.zeros(len(labels), np.int64)
    for label in set(labels.tolist()):
        own = np.flatnonzero(labels == label)
        folds[own] = generator.permutation(len(own)) % n_folds
    return folds[blocks_of(y)]


def _right(X: Float64, Y: Float64, X_test: Float64, Y_test: Float64, divided: int) -> Float64:
    """Return how right the answers to points are, (n,): 0 or 1; of numbers, their part of R2.

    The ranges of the first few columns are divided.
    """
    mean, deviation = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-9)
    bounds = np.quantile(X[:, :divided], np.arange(1, _RANGES) / _RANGES, axis=0)

    def inputs(points: Float64) -> Float64:
        z = np.clip((points - mean) / deviation, -_REACH, _REACH)
        beyond = (points[:, None, :divided] > bounds).reshape(len(z), -1)
        return np.column_stack([np.ones(len(z)), z, np.square(z), beyond])

    A = inputs(X)
    ridge = _RIDGE * len(A) * np.eye(A.shape[1])
    answers = inputs(X_test) @ np.linalg.solve(A.T @ A + ridge, A.T @ Y)
    if Y.shape[1] > 1:
        return np.asarray(answers.argmax(axis=1) == Y_test.argmax(axis=1), np.float64)
    answers = np.clip(answers, Y.min(), Y.max())
    return np.asarray(1 - np.square(answers - Y_test)[:, 0] / Y.var())
