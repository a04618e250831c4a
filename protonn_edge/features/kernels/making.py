"""How kernels are drawn at random, and how the most useful of them are chosen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from protonn_edge.features.kernels.integers import BIASES, Bytes, IntegerKernels, KernelBank
from protonn_edge.features.window_features.scale import ChannelScale
from protonn_edge.model.features import Features
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.point_format import PointFormat
from protonn_edge.model.shapes import Shape
from protonn_edge.system.arrays import Array

# Shares of drawn kernels: of a level alone, and of one difference; the others have two of them.
_LEVELS, _DIFFERENCES = 0.12, 0.28
_WIDEST = 0.75  # of the window, that taps span
_WINDOWS = 4  # whose responses give a kernel's biases
_GOLDEN_RATIO = 0.6180339887  # steps of which are spread evenly for any number of quantiles
_STEPS = 4  # in which kernels are left out
_PENALTIES = np.logspace(-1, 4, 11)


def drawn_kernels(x: Bytes, window: Shape, n: int, generator: np.random.Generator) -> KernelBank:
    """Return n kernels, whose biases are quantiles of their responses in windows x (m, N C)."""
    samples, channels = window
    taps, weights = zip(*(_drawn_taps(samples, generator) for _ in range(n)), strict=True)
    bank = KernelBank(
        generator.integers(channels, size=n).astype(np.uint8),
        np.array(taps, np.uint8),
        np.array(weights, np.uint8),
        np.zeros((n, BIASES), np.int16),
    )
    windows = x.reshape(-1, *window).transpose(2, 1, 0).astype(np.int16)
    shares = np.arange(1, BIASES * n + 1).reshape(n, BIASES) * _GOLDEN_RATIO % 1
    for kernel, each in enumerate(shares):
        some = windows[:, :, generator.integers(len(x), size=_WINDOWS)]
        quantiles = np.floor(np.quantile(bank.responses(some, kernel), each))
        bank.biases[kernel] = np.sort(quantiles)
    return bank


def _drawn_taps(samples: int, generator: np.random.Generator) -> tuple[tuple[int, int, int], int]:
    """Return taps, as in `KernelBank`, with gaps of any order of magnitude, and the weight."""
    kind = generator.random()
    one = _gap(samples, generator)
    if kind < _LEVELS:
        return (0, 0, 0), 0
    if kind < _LEVELS + _DIFFERENCES:
        return (0, 0, one), 2
    other = _gap(samples, generator)
    while one + other >= _WIDEST * samples:
        one, other = _gap(samples, generator), _gap(samples, generator)
    first, second, third = np.roll((0, one, one + other), generator.integers(3)).tolist()
    return (first, second, third), 2


def _gap(samples: int, generator: np.random.Generator) -> int:
    return int(2 ** generator.uniform(0, np.log2(samples // 2)))


def chosen_kernels(counts: Bytes, targets: Array, n: int) -> NDArray[np.int64]:
    """Return which n kernels explain targets (m, L) best by their counts (m, K, 3), sorted.

    A ridge regression leaves out those of the smallest weights, in a few steps.
    """
    kept = np.arange(counts.shape[1])
    for size in np.geomspace(len(kept), n, _STEPS + 1).astype(int)[1:]:
        columns = counts[:, kept].reshape(len(counts), -1)
        weights = _ridge_weights(columns.astype(np.float64), targets)
        strength = np.square(weights).reshape(len(kept), -1).sum(axis=1)
        kept = np.sort(kept[np.argsort(-strength, kind="stable")[:size]])
    return kept


def _ridge_weights(X: Array, Y: Array) -> Array:
    """Return the weights (k, L) of standardized columns X (m, k) that explain Y (m, L).

    Of the penalties, that with the least error of points left out one by one.
    """
    Z, T = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-6), Y - Y.mean(axis=0)
    U, scales, V = np.linalg.svd(Z, full_matrices=False)
    projected, squares = U.T @ T, np.square(scales)

    def error(penalty: float) -> float:
        shrunk = squares / (squares + penalty)
        left = 1 - np.square(U) @ shrunk - 1 / len(X)
        return float(np.square((T - U @ (shrunk[:, None] * projected)) / left[:, None]).mean())

    penalty = min(_PENALTIES, key=error)
    weights: Array = V.T @ ((scales / (squares + penalty))[:, None] * projected)
    return weights


def kernels_of(
    x: Bytes, window: Shape, bank: KernelBank, scale: ChannelScale, rate: float | None = None
) -> Features:
    """Return kernels as features, whose counts in windows x (n, N C) span their bytes."""
    counts = bank.counts(x, window)
    least, most = counts.min(axis=0), counts.max(axis=0)
    factors = BYTE_MAXIMUM // np.maximum(most - least, 1)
    stage = IntegerKernels(window, bank, least, factors.astype(np.uint8))
    return Features(PointFormat(scale.quantizer(), window, is_signal=True, rate=rate), (stage,))
